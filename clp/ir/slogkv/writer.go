package slogkv

import (
	"encoding/binary"
	"errors"

	"github.com/tracehandler/tracehandler/clp/ir"
)

// Writer turns packed events into the bytes of one stream. It is for one goroutine at a time.
type Writer struct {
	enc  *ir.Encoder
	dec  *Decoder
	line []byte
}

// NewWriter returns a Writer for a new stream, which starts with AppendPreamble.
func NewWriter(l ir.Limits) *Writer { return ContinueWriter(ir.NewEncoder(ir.FourByte, l)) }

// spareKeys is enough for an event that a stream cannot hold as it is: time, level and source with their objects (11),
// @viewer, @exact and @exact.json, and the message.
const spareKeys = 16

// ContinueWriter returns a Writer that goes on with a stream whose keys enc knows.
func ContinueWriter(enc *ir.Encoder) *Writer {
	enc.Spare = spareKeys
	return &Writer{enc: enc, dec: &Decoder{ours: true}}
}

// AppendPreamble appends the start of a stream.
func (w *Writer) AppendPreamble(dst []byte) ([]byte, error) { return w.appendPreamble(dst, nil) }

// AppendJournalPreamble is AppendPreamble for a stream that is the journal of an archive.
func (w *Writer) AppendJournalPreamble(dst []byte, j Journal) ([]byte, error) {
	return w.appendPreamble(dst, &j)
}

func (w *Writer) appendPreamble(dst []byte, j *Journal) ([]byte, error) {
	metadata, err := metadataOf(j)
	if err != nil {
		return dst, err
	}
	return ir.AppendPreamble(dst, ir.FourByte, &ir.Metadata{Version: ir.VersionKV, User: metadata})
}

// IsEvent reports whether p looks like one packed event: whether its size is what it says.
func IsEvent(p []byte) bool {
	return len(p) >= 8 && uint64(len(p)-4) == uint64(binary.LittleEndian.Uint32(p))
}

// First returns the first of packed events that stand one behind the other, and the others.
func First(events []byte) (first, rest []byte) {
	n := 4 + int(binary.LittleEndian.Uint32(events))
	return events[:n:n], events[n:]
}

// Append appends a packed event to a stream, behind the keys that it uses first. An event that a stream cannot hold as it
// is gets @exact.json. The error is an *ir.LimitError if the event is too large, or ir.ErrBuilder if packed is no event;
// dst is as it was then.
func (w *Writer) Append(dst, packed []byte) ([]byte, error) {
	if !IsEvent(packed) {
		return dst, ir.ErrBuilder
	}
	packed = packed[4:]
	out, err := w.enc.AppendPacked(dst, packed)
	if err == nil {
		return out, nil
	}
	var limit *ir.LimitError
	switch {
	case errors.Is(err, ir.ErrIDTwice), errors.Is(err, ir.ErrSameKey), errors.Is(err, ir.ErrObjectValue):
	case errors.As(err, &limit) && limit.What != "bytes of an event":
	default:
		return dst, err
	}
	visit := func(n ir.Namespace, v ir.Visitor) error { return ir.VisitPacked(packed, n, v) }
	if w.line, err = w.dec.append(w.line[:0], visit); err != nil {
		return dst, err
	}
	defer func() { w.enc.Spare = spareKeys }()
	l := newLayout(nil)
	defer l.free()
	for _, keep := range []bool{true, false} {
		if keep && limit != nil {
			continue
		}
		if !keep {
			w.enc.Spare = 0
		}
		l.start()
		if err := w.repair(l, visit, keep); err != nil {
			return dst, err
		}
		if out, err = w.enc.Append(dst, &l.b); err == nil {
			return out, nil
		}
	}
	return dst, err
}

// repair lays out an event that carries w.line, and for other readers the first of each key, or only the message.
func (w *Writer) repair(l *layout, visit func(ir.Namespace, ir.Visitor) error, keep bool) error {
	auto := copier{b: &l.b, skip: keyExact}
	if err := visit(ir.Auto, &auto); err != nil {
		return err
	}
	l.b.Open(keyExact)
	l.b.StringBytes(keyJSON, w.line)
	l.b.Close()
	l.b.User()
	return visit(ir.User, &copier{b: &l.b, first: !keep})
}

// copier is a visitor that adds to a builder what it is told, of equal names in an object only the first.
type copier struct {
	b     *ir.Builder
	skip  string // an object that is left out
	first bool   // only the first value, if it is the message
	seen  []map[string]bool
	deep  int // inside an object that is left out
	text  []byte
}

func (c *copier) fresh(name []byte) bool {
	if len(c.seen) == 0 {
		c.seen = append(c.seen, map[string]bool{})
	}
	top := c.seen[len(c.seen)-1]
	if c.deep > 0 || top[string(name)] {
		return false
	}
	top[string(name)] = true
	return true
}

func (c *copier) Open(name []byte) error {
	if c.first || !c.fresh(name) || len(c.seen) == 1 && c.skip != "" && string(name) == c.skip {
		c.deep++
		return nil
	}
	c.b.Open(string(name))
	c.seen = append(c.seen, map[string]bool{})
	return nil
}

func (c *copier) Close() error {
	if c.deep > 0 {
		c.deep--
		return nil
	}
	c.b.Close()
	c.seen = c.seen[:len(c.seen)-1]
	return nil
}

func (c *copier) Value(name []byte, v *ir.Value) (err error) {
	if !c.fresh(name) || c.first && (len(c.seen[0]) > 1 || string(name) != keyMessage) {
		return nil
	}
	key := string(name)
	switch v.Kind() {
	case ir.Null:
		c.b.Null(key)
	case ir.Empty:
		c.b.Open(key)
		c.b.Close()
	case ir.Int:
		c.b.Int(key, v.Int())
	case ir.Float:
		c.b.Float(key, v.Float())
	case ir.Bool:
		c.b.Bool(key, v.Bool())
	default:
		if c.text, err = v.AppendText(c.text[:0]); err != nil {
			return err
		}
		if v.Kind() == ir.Array {
			c.b.Array(key, c.text)
		} else {
			c.b.StringBytes(key, c.text)
		}
	}
	return nil
}
