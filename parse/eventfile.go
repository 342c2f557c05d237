package parse

import (
	"bytes"
	"errors"
	"io"
	"os"

	"github.com/klauspost/compress/zstd"

	"github.com/tracehandler/tracehandler/clp/archive"
	"github.com/tracehandler/tracehandler/event"
	"github.com/tracehandler/tracehandler/format"
	"github.com/tracehandler/tracehandler/internal/vfs"
	"github.com/tracehandler/tracehandler/sink"
)

// eventFile is an output file in a format that holds events, not lines.
type eventFile struct {
	encoder eventEncoder
	unzip   *zstd.Decoder
	packed  bytes.Buffer
	plain   []byte
	events  int64
}

// eventEncoder encodes events into one file. add returns archive.ErrFull, and leaves the event out, if the file takes no
// more; close completes the file and returns its size, abandon leaves it as it is.
type eventEncoder interface {
	add(line []byte) error
	close() (size int64, err error)
	abandon()
}

func newEventFile(fsys vfs.FS, path string, f format.Format, level int, memory int64) (*eventFile, error) {
	if f == format.CLPIR {
		return &eventFile{encoder: newStreamEncoder(path, level)}, nil
	}
	e, err := newArchiveEncoder(fsys, path, level, memory)
	return &eventFile{encoder: e}, err
}

// lines writes whole lines of JSON. It returns how many bytes of them it has written, all if the error is nil.
func (s *eventFile) lines(b []byte) (n int, err error) {
	for n < len(b) {
		line, end := b[n:], len(b)
		if i := bytes.IndexByte(line, '\n'); i >= 0 {
			line, end = line[:i], n+i+1
		}
		if err := s.encoder.add(line); err != nil {
			return n, err
		}
		s.events++
		n = end
	}
	return n, nil
}

// unpack returns the lines of a block of the spill, until it is called again.
func (s *eventFile) unpack(from *spill, b block) ([]byte, error) {
	if s.unzip == nil {
		var err error
		if s.unzip, err = zstd.NewReader(nil, zstd.WithDecoderConcurrency(1)); err != nil {
			return nil, err
		}
	}
	s.packed.Reset()
	if err := from.copyTo(&s.packed, b); err != nil {
		return nil, err
	}
	var err error
	s.plain, err = s.unzip.DecodeAll(s.packed.Bytes(), s.plain[:0])
	return s.plain, err
}

// close completes the file and returns its size.
func (s *eventFile) close() (int64, error) {
	if s.unzip != nil {
		s.unzip.Close()
	}
	return s.encoder.close()
}

// abandon leaves the file as it is, for a parse that has failed.
func (s *eventFile) abandon() {
	if s.unzip != nil {
		s.unzip.Close()
	}
	s.encoder.abandon()
}

// streamEncoder writes a CLP IR stream.
type streamEncoder struct {
	path    string
	sink    sink.Sink
	encoder event.Encoder
	buf     *event.Buffer
}

func newStreamEncoder(path string, level int) *streamEncoder {
	s := sink.File(path, sink.Options{Format: format.CLPIR, Level: level})
	return &streamEncoder{path: path, sink: s, encoder: s.Encoder(event.Options{}), buf: event.GetBuffer()}
}

func (s *streamEncoder) add(line []byte) error {
	s.buf.Reset()
	s.encoder.AppendEvent(s.buf, event.Lazy(line))
	return s.sink.Append(s.buf.B)
}

func (s *streamEncoder) close() (int64, error) {
	err := s.sink.Close()
	s.buf.Free()
	st, e := os.Stat(s.path)
	if e != nil {
		return 0, errors.Join(err, e)
	}
	return st.Size(), err
}

func (s *streamEncoder) abandon() { _, _ = s.close() } // nobody wants what is in it

// archiveMemory is what the archive that is being made may hold, in bytes. One that would hold more is continued in
// another file.
const archiveMemory = 128 << 20

// archiveEncoder writes a CLP archive. What it writes is complete or removed with the staging folder, so it needs no journal
// as a sink does.
type archiveEncoder struct {
	file vfs.File
	w    *archive.Writer
}

func newArchiveEncoder(fsys vfs.FS, path string, level int, memory int64) (*archiveEncoder, error) {
	f, err := fsys.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	w, err := archive.NewWriter(f, &archive.WriterOptions{Level: level, Memory: memory, TimeKey: []string{"timestamp"}})
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return &archiveEncoder{f, w}, nil
}

func (a *archiveEncoder) add(line []byte) error { return a.w.Write(line) }

func (a *archiveEncoder) close() (size int64, err error) {
	err = a.w.Close()
	if err == nil {
		err = a.file.Sync()
	}
	if err == nil {
		size, err = a.file.Seek(0, io.SeekEnd)
	}
	return size, errors.Join(err, a.file.Close())
}

func (a *archiveEncoder) abandon() {
	a.w.Abort()
	_ = a.file.Close() // nobody wants what is in it
}
