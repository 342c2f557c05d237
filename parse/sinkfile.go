package parse

import (
	"bytes"
	"errors"
	"os"

	"github.com/klauspost/compress/zstd"

	"github.com/tracehandler/tracehandler/event"
	"github.com/tracehandler/tracehandler/format"
	"github.com/tracehandler/tracehandler/sink"
)

// sinkFile is an output file in a format that holds events, not lines. A sink encodes them.
type sinkFile struct {
	path    string
	sink    sink.Sink
	encoder event.Encoder
	buf     *event.Buffer
	unzip   *zstd.Decoder
	packed  bytes.Buffer
	plain   []byte
}

func newSinkFile(path string, f format.Format) *sinkFile {
	s := sink.File(path, sink.Options{Format: f})
	return &sinkFile{path: path, sink: s, encoder: s.Encoder(event.Options{}), buf: event.GetBuffer()}
}

// lines writes whole lines of JSON.
func (s *sinkFile) lines(b []byte) error {
	for len(b) > 0 {
		line := b
		if i := bytes.IndexByte(b, '\n'); i >= 0 {
			line, b = b[:i], b[i+1:]
		} else {
			b = nil
		}
		s.buf.Reset()
		s.encoder.AppendEvent(s.buf, event.Lazy(line))
		if err := s.sink.Append(s.buf.B); err != nil {
			return err
		}
	}
	return nil
}

// unpack writes the lines of a block of the spill.
func (s *sinkFile) unpack(from *spill, b block) error {
	if s.unzip == nil {
		var err error
		if s.unzip, err = zstd.NewReader(nil, zstd.WithDecoderConcurrency(1)); err != nil {
			return err
		}
	}
	s.packed.Reset()
	if err := from.copyTo(&s.packed, b); err != nil {
		return err
	}
	var err error
	if s.plain, err = s.unzip.DecodeAll(s.packed.Bytes(), s.plain[:0]); err != nil {
		return err
	}
	return s.lines(s.plain)
}

// close completes the file and returns its size.
func (s *sinkFile) close() (int64, error) {
	err := s.sink.Close()
	s.buf.Free()
	if s.unzip != nil {
		s.unzip.Close()
	}
	st, e := os.Stat(s.path)
	if e != nil {
		return 0, errors.Join(err, e)
	}
	return st.Size(), err
}
