package archive

import (
	"encoding/binary"
	"fmt"
	"log/slog"

	"github.com/tracehandler/tracehandler/internal/msgpack"
)

// origin is a run of records that come from one place.
type origin struct {
	first  int64  // its first record
	fields []byte // MessagePack: a map
}

// NextSource says that the records which follow come from somewhere else: fields are to them what WriterOptions.Fields are to those
// before. Records of different sources are not told apart by anything else.
func (w *Writer) NextSource(fields []slog.Attr) error {
	m, err := msgpack.AppendMap(nil, fields)
	if err != nil {
		return fmt.Errorf("archive: fields: %w", err)
	}
	w.sources = append(w.sources, origin{w.records, m})
	w.held.Add(int64(len(m)) + 40)
	return nil
}

// SetFields replaces the fields of the source that records come from now, those before included.
func (w *Writer) SetFields(fields []slog.Attr) error {
	if w.err != nil {
		return w.err
	}
	m, err := msgpack.AppendMap(nil, fields)
	if err != nil {
		return fmt.Errorf("archive: fields: %w", err)
	}
	s := &w.sources[len(w.sources)-1]
	w.held.Add(int64(len(m) - len(s.fields)))
	s.fields = m
	return nil
}

// ranges makes the packet that says where records come from.
func (w *Writer) ranges() []byte {
	b := binary.BigEndian.AppendUint32([]byte{0xDD}, uint32(len(w.sources)))
	if n := len(w.sources); n < 16 {
		b = []byte{0x90 | byte(n)}
	}
	for i, s := range w.sources {
		end := w.records
		if i+1 < len(w.sources) {
			end = w.sources[i+1].first
		}
		b = msgpack.AppendUint(append(b, 0x83, 0xA1, 'e'), uint64(end))
		b = append(append(b, 0xA1, 'f'), s.fields...)
		b = msgpack.AppendUint(append(b, 0xA1, 's'), uint64(s.first))
	}
	return b
}
