package ir

import (
	"encoding/binary"
	"math"

	"github.com/tracehandler/tracehandler/clp/encoding"
)

// encodedText is a text as it stands in a stream: its variables, each with a tag, and its log type. The slices are
// those of the input.
type encodedText struct {
	variables []byte
	logtype   []byte
	width     encoding.Width
}

// textEncoder appends encoded text. The log type comes behind the variables, so it is built aside.
type textEncoder struct {
	width   encoding.Width
	logtype []byte
}

func appendText[T encoding.Text](e *textEncoder, dst []byte, text T) []byte {
	lt := e.logtype[:0]
	for from := 0; ; {
		start, end, escapes := encoding.NextVariable(text, from)
		if escapes {
			lt = encoding.AppendConstant(lt, text[from:start])
		} else {
			lt = append(lt, text[from:start]...)
		}
		if start == end {
			break
		}
		kind, bits := encoding.EncodeVariable(e.width, text[start:end])
		lt = append(lt, kind.Placeholder())
		switch {
		case kind == encoding.Dict:
			dst = appendLength(dst, tagDict8, end-start)
			dst = append(dst, text[start:end]...)
		case e.width == encoding.FourByte:
			dst = append(dst, tagVar4)
			dst = binary.BigEndian.AppendUint32(dst, uint32(bits))
		default:
			dst = append(dst, tagVar8)
			dst = binary.BigEndian.AppendUint64(dst, uint64(bits))
		}
		from = end
	}
	e.logtype = lt
	dst = appendLength(dst, tagLogtype8, len(lt))
	return append(dst, lt...)
}

// appendLength appends a length behind the first of three tags that go with 8, 16 and 32 bits.
func appendLength(dst []byte, tag8 byte, n int) []byte {
	switch {
	case n <= math.MaxUint8:
		return append(dst, tag8, byte(n))
	case n <= math.MaxUint16:
		return append(dst, tag8+1, byte(n>>8), byte(n))
	}
	return append(dst, tag8+2, byte(n>>24), byte(n>>16), byte(n>>8), byte(n))
}

// text reads encoded text from c.
func (c *cursor) text(width encoding.Width) (t encodedText, err error) {
	t.width = width
	from := c.pos
	for {
		if c.pos == len(c.b) {
			return t, c.short(1)
		}
		switch tag := c.b[c.pos]; tag {
		case tagDict8, tagDict16, tagDict32:
			if _, err = c.sized(tagDict8, true); err != nil {
				return t, err
			}
		case tagVar4, tagVar8:
			size := 1 + 8
			if width == encoding.FourByte {
				size = 1 + 4
			}
			if (tag == tagVar4) != (width == encoding.FourByte) {
				return t, c.bad(ErrTag, "number of the other encoding (tag 0x%02X in %v text)", tag, width)
			}
			if len(c.b)-c.pos < size {
				return t, c.short(int64(size))
			}
			c.pos += size
		case tagLogtype8, tagLogtype16, tagLogtype32:
			t.variables = c.b[from:c.pos:c.pos]
			t.logtype, err = c.sized(tagLogtype8, true)
			return t, err
		default:
			return t, c.bad(ErrTag, "0x%02X where a variable or a log type is due", tag)
		}
	}
}

// appendTo appends the text itself to dst. The error is an *encoding.DecodeError.
func (t *encodedText) appendTo(dst []byte) ([]byte, error) {
	// Encoded and dictionary variables are two lists, mixed. Each list has its own place in the mix.
	numbers, words := t.variables, t.variables
	lt, from := t.logtype, 0
	for i := 0; i < len(lt); i++ {
		c := lt[i]
		if c != encoding.Escape && c-encoding.IntPlaceholder > encoding.FloatPlaceholder-encoding.IntPlaceholder {
			continue
		}
		dst = append(dst, lt[from:i]...)
		from = i + 1
		var err error
		switch c {
		case encoding.Escape:
			if from == len(lt) {
				err = encoding.ErrEscape
			}
			i++
		case encoding.DictPlaceholder:
			var word []byte
			if word, words, err = nextWord(words); err == nil {
				dst = append(dst, word...)
			}
		default:
			var bits int64
			if bits, numbers, err = nextNumber(numbers, t.width); err == nil {
				if c == encoding.IntPlaceholder {
					dst = encoding.AppendInt(dst, bits)
				} else {
					dst, err = encoding.AppendFloat(dst, t.width, bits)
				}
			}
		}
		if err != nil {
			return dst, &encoding.DecodeError{Pos: from - 1, Err: err}
		}
	}
	return append(dst, lt[from:]...), nil
}

// load copies the text, still encoded, into m.
func (t *encodedText) load(m *encoding.Message) {
	m.Reset(t.width)
	m.Logtype = append(m.Logtype, t.logtype...)
	for v := t.variables; len(v) > 0; {
		if v[0] == tagVar4 || v[0] == tagVar8 {
			var bits int64
			bits, v, _ = nextNumber(v, t.width)
			m.Encoded = append(m.Encoded, bits)
		} else {
			var word []byte
			word, v, _ = nextWord(v)
			m.AddWord(word)
		}
	}
}

// nextWord returns the first dictionary variable of a list, and the list behind it. The list was checked by
// cursor.text.
func nextWord(v []byte) (word, rest []byte, err error) {
	for len(v) > 0 {
		switch v[0] {
		case tagVar4:
			v = v[5:]
			continue
		case tagVar8:
			v = v[9:]
			continue
		}
		size, head := sizeOf(v, tagDict8)
		return v[head : head+size], v[head+size:], nil
	}
	return nil, nil, encoding.ErrVariable
}

// nextNumber is nextWord for encoded variables.
func nextNumber(v []byte, width encoding.Width) (bits int64, rest []byte, err error) {
	for len(v) > 0 {
		switch v[0] {
		case tagVar4:
			return int64(int32(binary.BigEndian.Uint32(v[1:]))), v[5:], nil
		case tagVar8:
			return int64(binary.BigEndian.Uint64(v[1:])), v[9:], nil
		}
		size, head := sizeOf(v, tagDict8)
		v = v[head+size:]
	}
	return 0, nil, encoding.ErrVariable
}

// sizeOf returns the length that a checked list starts with, behind the first of three tags, and the size of both.
func sizeOf(v []byte, tag8 byte) (size, head int) {
	switch v[0] - tag8 {
	case 0:
		return int(v[1]), 2
	case 1:
		return int(binary.BigEndian.Uint16(v[1:])), 3
	}
	return int(binary.BigEndian.Uint32(v[1:])), 5
}
