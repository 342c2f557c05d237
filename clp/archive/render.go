package archive

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"strconv"

	"github.com/tracehandler/tracehandler/clp/encoding"
	"github.com/tracehandler/tracehandler/internal/jsontext"
	"github.com/tracehandler/tracehandler/internal/timepattern"
)

// renderer makes text of the rows of batches. It is not safe for concurrent use; each goroutine has its own.
type renderer struct {
	r            *Reader
	logs, arrays logtypes
	raw          logtypes // of logs, whose text is not for JSON
	clocks       map[uint64]*timepattern.Clock
	clock        *timepattern.Clock // the last one
	clockID      uint64
	word, line   []byte
	whole        []byte // the record of JSON
	bytes        []byte
	vars         []uint64
}

func newRenderer(r *Reader) *renderer {
	return &renderer{
		r: r, logs: logtypes{dict: &r.logs, escape: true}, arrays: logtypes{dict: &r.arrays}, raw: logtypes{dict: &r.logs}, clocks: map[uint64]*timepattern.Clock{},
	}
}

// appendRecord appends the JSON of a row of a batch: as it was written, if the side channel has kept that.
func (v *renderer) appendRecord(dst []byte, b *rowBatch, row int64) ([]byte, error) {
	l := b.t.layout
	if b.t.side != nil {
		if b.except {
			line, _, isOne := v.exception(b, row)
			if isOne && v.r.project != nil {
				return v.r.project.appendLine(dst, line), nil
			} else if isOne {
				return append(dst, bytes.TrimSpace(line)...), nil
			}
		}
		l = b.t.shaped(b, row)
	}
	return v.append(dst, b, row, l)
}

// exception returns the text of a row that is an exception: the record, and what the logging library made if there is any.
func (v *renderer) exception(b *rowBatch, row int64) (line, auto []byte, isOne bool) {
	text, isOne, err := b.t.side.appendException(v.line[:0], row)
	if v.line = text; err == nil && isOne {
		end, _ := jsontext.ScanValue(text, jsontext.SkipSpace(text, 0), 0)
		if end >= 0 {
			line, auto = text[:end], bytes.TrimSpace(text[end:])
		}
		if end < 0 || len(auto) > 0 && (auto[0] != '{' || !jsontext.Valid(auto)) {
			err = fmt.Errorf("%w: row %d of schema %d is not JSON", ErrSide, row, b.t.s.id)
		}
	}
	if err != nil {
		v.r.sideFailed(err)
		return nil, nil, false
	}
	return line, auto, isOne
}

// appendAuto appends the keys that the logging library made as a JSON object.
func (v *renderer) appendAuto(dst []byte, b *rowBatch, row int64) ([]byte, error) {
	l := b.t.layout
	if b.t.side != nil {
		if b.except {
			if _, auto, isOne := v.exception(b, row); isOne && len(auto) > 0 {
				return append(dst, auto...), nil
			}
		}
		l = b.t.shaped(b, row)
	}
	if l.auto == nil {
		return append(dst, "{}"...), nil
	}
	return v.append(dst, b, row, l.auto)
}

// append appends the JSON of a row as l lays it out, and says where damage is.
func (v *renderer) append(dst []byte, b *rowBatch, row int64, l *layout) ([]byte, error) {
	dst, err := v.appendRow(dst, b, int(row-b.from), l)
	if err != nil {
		var limit *LimitError
		if errors.As(err, &limit) {
			return dst, limit
		}
		return dst, &CorruptError{Section: sectionData, Stream: int(b.t.t.stream), Offset: b.t.t.from, Record: row, Schema: b.t.s.id, Err: err}
	}
	return dst, nil
}

func (v *renderer) appendRow(dst []byte, b *rowBatch, i int, l *layout) ([]byte, error) {
	at := int32(0)
	var err error
	for _, cut := range l.cuts {
		dst = append(dst, l.text[at:cut.at]...)
		at = cut.at
		if dst, err = v.appendValue(dst, b, int(cut.column), i); err != nil {
			return dst, err
		}
	}
	return append(dst, l.text[at:]...), nil
}

func (v *renderer) appendValue(dst []byte, b *rowBatch, column, i int) ([]byte, error) {
	vs := &b.cols[column]
	x := vs.first[i]
	switch b.t.cols[column].typ {
	case Integer, DeltaInteger:
		return strconv.AppendInt(dst, int64(x), 10), nil
	case VarString:
		text, err := v.r.vars.entry(x, &v.word)
		if err != nil {
			return dst, err
		}
		dst = append(dst, '"')
		return append(appendEscaped(dst, text), '"'), nil
	case ClpString:
		dst, err := v.appendClp(append(dst, '"'), b, column, i, &v.logs)
		return append(dst, '"'), err
	case UnstructuredArray:
		return v.appendArray(dst, b, column, i)
	case Boolean:
		return strconv.AppendBool(dst, x != 0), nil
	case FormattedFloat:
		return appendFormatted(dst, math.Float64frombits(x), uint16(vs.second[i]))
	case DictionaryFloat:
		text, err := v.r.vars.entry(x, &v.word)
		if err == nil && !jsontext.IsNumber(text) {
			err = ErrFloat
		}
		if err != nil {
			return dst, err
		}
		return append(dst, text...), nil
	case Float:
		return appendFixed(dst, math.Float64frombits(x)), nil
	case Timestamp:
		return v.appendTime(dst, vs.second[i], int64(x))
	default: // DateString
		text, ok := v.r.box.meta.patterns[vs.second[i]]
		if !ok {
			return dst, fmt.Errorf("%w: pattern %d is not there", ErrTimestamp, vs.second[i])
		}
		var err error
		if v.word, err = timepattern.AppendDateString(v.word[:0], text, int64(x)); err != nil {
			return dst, fmt.Errorf("%w: %w", ErrTimestamp, err)
		}
		return append(appendEscaped(append(dst, '"'), v.word), '"'), nil
	}
}

// appendTime appends a time as the pattern spells it.
func (v *renderer) appendTime(dst []byte, id uint64, ns int64) ([]byte, error) {
	if v.clock == nil || v.clockID != id {
		c := v.clocks[id]
		if c == nil {
			text, ok := v.r.box.meta.patterns[id]
			if !ok {
				return dst, fmt.Errorf("%w: pattern %d is not there", ErrTimestamp, id)
			}
			p, err := timepattern.Parse(text)
			if err != nil {
				return dst, fmt.Errorf("%w: pattern %d, %q: %v", ErrTimestamp, id, text, err)
			}
			c = timepattern.NewClock(p)
			v.clocks[id] = c
		}
		v.clock, v.clockID = c, id
	}
	dst, err := v.clock.Append(dst, ns)
	if err != nil {
		return dst, fmt.Errorf("%w: %w", ErrTimestamp, err)
	}
	return dst, nil
}

// appendClp appends an encoded text.
func (v *renderer) appendClp(dst []byte, b *rowBatch, column, i int, known *logtypes) ([]byte, error) {
	cell := b.cols[column].first[i]
	l, err := known.get(cell & 0xFFFFFF)
	if err != nil {
		return dst, err
	}
	n := len(l.pieces)
	if n == 0 {
		return append(dst, l.tail...), nil
	}
	vars, err := v.variables(b, column, cell>>24, n)
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
			word, err := v.r.vars.entry(vars[j], &v.word)
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
func (v *renderer) variables(b *rowBatch, column int, index uint64, n int) ([]uint64, error) {
	c, vs := &b.t.cols[column], &b.cols[column]
	if index > uint64(c.variables) || uint64(n) > uint64(c.variables)-index {
		return nil, fmt.Errorf("%w: %d from %d on, of %d", ErrVariable, n, index, c.variables)
	}
	from := int64(index)
	if from >= vs.at && from+int64(n) <= vs.at+int64(len(vs.vars)) {
		return vs.vars[from-vs.at:][:n], nil
	}
	v.vars = resize(v.vars[:0], n)
	for i := 0; i < n; {
		m := min(n-i, batchRows)
		bytes, err := b.t.data.slice(c.off+8*b.t.t.records+8+8*(from+int64(i)), 8*m, &v.bytes)
		if err != nil {
			return nil, err
		}
		words(v.vars[i:i+m], bytes)
		i += m
	}
	return v.vars, nil
}

// appendArray appends an array that is kept as text.
func (v *renderer) appendArray(dst []byte, b *rowBatch, column, i int) ([]byte, error) {
	from := len(dst)
	dst, err := v.appendClp(dst, b, column, i, &v.arrays)
	if err == nil {
		if b := dst[from:]; len(b) == 0 || b[0] != '[' || !jsontext.Valid(b) {
			err = ErrArray
		}
	}
	return dst, err
}
