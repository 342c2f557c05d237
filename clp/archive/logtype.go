package archive

import (
	"encoding/json"
	"fmt"

	"github.com/tracehandler/tracehandler/clp/encoding"
)

// logtype is a log type taken apart: text and, behind each piece but the last, a variable.
type logtype struct {
	pieces []piece
	tail   []byte
	err    error
}

type piece struct {
	text []byte
	kind byte // placeholder
}

// logtypes has the log types that were needed so far.
type logtypes struct {
	dict   *dictionary
	escape bool // the text is the inside of a JSON string
	known  map[uint64]*logtype
	bytes  int
}

const maxLogtypes = 8 << 20 // bytes of known log types, about

func (l *logtypes) get(id uint64) (*logtype, error) {
	if t := l.known[id]; t != nil {
		return t, t.err
	}
	text, err := l.dict.entry(id)
	if err != nil {
		return nil, err
	}
	if l.bytes > maxLogtypes || l.known == nil {
		l.known, l.bytes = map[uint64]*logtype{}, 0
	}
	t := parseLogtype(text, l.escape)
	l.known[id] = t
	l.bytes += 128 + len(text) + 32*len(t.pieces)
	return t, t.err
}

func parseLogtype(text []byte, escape bool) *logtype {
	t := &logtype{}
	var b []byte
	var ends []int
	plain := func(run []byte) {
		if escape {
			b = appendEscaped(b, run)
		} else {
			b = append(b, run...)
		}
	}
	run := 0 // start of text that stands for itself
	for i := 0; i < len(text); i++ {
		switch c := text[i]; c {
		case encoding.IntPlaceholder, encoding.DictPlaceholder, encoding.FloatPlaceholder:
			plain(text[run:i])
			run = i + 1
			ends = append(ends, len(b))
			t.pieces = append(t.pieces, piece{kind: c})
		case encoding.Escape:
			plain(text[run:i])
			run = i + 1
			if i++; i == len(text) {
				t.err = &encoding.DecodeError{Pos: i - 1, Err: encoding.ErrEscape}
				return t
			}
		}
	}
	plain(text[run:])
	from := 0
	for i, end := range ends {
		t.pieces[i].text = b[from:end:end]
		from = end
	}
	t.tail = b[from:]
	return t
}

// appendClp appends the text of row i of a column of encoded texts.
func (t *tableReader) appendClp(dst []byte, c *column, i int, known *logtypes) ([]byte, error) {
	cell := c.values[i]
	if err := t.r.loadDictionary(known.dict); err != nil {
		return dst, err
	}
	l, err := known.get(cell & 0xFFFFFF)
	if err != nil {
		return dst, err
	}
	n := len(l.pieces)
	if n == 0 {
		return append(dst, l.tail...), nil
	}
	vars, err := t.variables(c, cell>>24, n)
	if err != nil {
		return dst, err
	}
	for j := range l.pieces {
		p := &l.pieces[j]
		dst = append(dst, p.text...)
		switch p.kind {
		case encoding.IntPlaceholder:
			dst = encoding.AppendInt(dst, int64(vars[j]))
		case encoding.FloatPlaceholder:
			if dst, err = encoding.AppendFloat(dst, encoding.EightByte, int64(vars[j])); err != nil {
				return dst, err
			}
		default:
			word, err := t.r.variable(vars[j])
			if err != nil {
				return dst, err
			}
			if known.escape {
				dst = appendEscaped(dst, word)
			} else {
				dst = append(dst, word...)
			}
		}
	}
	return append(dst, l.tail...), nil
}

// variables returns n encoded variables of a column from index on.
func (t *tableReader) variables(c *column, index uint64, n int) ([]uint64, error) {
	if index > uint64(c.variables) || uint64(n) > uint64(c.variables)-index {
		return nil, fmt.Errorf("%w: %d from %d on, of %d", ErrVariable, n, index, c.variables)
	}
	from := int64(index)
	if from < c.first || from+int64(n) > c.first+int64(len(c.window)) {
		size := int(min(int64(max(n, batchRows)), c.variables-from))
		if cap(c.window) < size {
			c.window = make([]uint64, size)
		}
		c.window, c.first = c.window[:size], from
		if err := t.words(c.window, c.off+8*t.t.records+8+8*from); err != nil {
			c.window = c.window[:0]
			return nil, err
		}
	}
	return c.window[from-c.first:][:n], nil
}

// appendArray appends an array that is kept as text.
func (t *tableReader) appendArray(dst []byte, c *column, i int) ([]byte, error) {
	from := len(dst)
	dst, err := t.appendClp(dst, c, i, &t.r.arrayTypes)
	if err == nil {
		if b := dst[from:]; len(b) == 0 || b[0] != '[' || !json.Valid(b) {
			err = ErrArray
		}
	}
	return dst, err
}
