package ir

import (
	"encoding/binary"
	"math"

	"github.com/tracehandler/tracehandler/clp/encoding"
)

// Kind is the type of a Value.
type Kind uint8

const (
	Null  Kind = iota
	Empty      // an object without members
	Int
	Float
	Bool
	String
	Array // JSON text
)

func (k Kind) String() string {
	return [...]string{"null", "empty object", "integer", "float", "boolean", "string", "array"}[k]
}

// Value is the value of a key in an event that was read. Text in it belongs to the reader, like the event.
type Value struct {
	kind    Kind
	encoded bool
	num     uint64
	text    encodedText // of a plain string, logtype is the string itself
}

// Kind returns the type of v.
func (v *Value) Kind() Kind { return v.kind }

// Int returns the value of an Int.
func (v *Value) Int() int64 { return int64(v.num) }

// Float returns the value of a Float; NaN and infinities can be carried.
func (v *Value) Float() float64 { return math.Float64frombits(v.num) }

// Bool returns the value of a Bool.
func (v *Value) Bool() bool { return v.num != 0 }

// AppendText appends the bytes of a String, or the JSON text of an Array, to dst. The error is an
// *encoding.DecodeError.
func (v *Value) AppendText(dst []byte) ([]byte, error) {
	if v.encoded {
		return v.text.appendTo(dst)
	}
	return append(dst, v.text.logtype...), nil
}

// Message loads the text of a String or Array into m as it is encoded, for a search that does not want to decode it.
// Of a string that is not encoded it reports false.
func (v *Value) Message(m *encoding.Message) bool {
	if v.encoded {
		v.text.load(m)
	}
	return v.encoded
}

// pair is a key of an event and its value, small: 24 bytes, because a pair takes only two in a stream. Where its node
// hangs in the tree is in the marks of the node.
type pair struct {
	node int32
	kind Kind
	form uint8  // of text: how it is kept
	mid  uint32 // of encoded text: where the log type starts, with its tag
	num  uint64 // a number; of text: where it starts (high half) and ends (low half) in the buffer
}

const (
	formPlain = iota
	formFour
	formEight
)

// load makes a Value of p.
func (p *pair) load(buf []byte, v *Value) {
	if p.kind != String && p.kind != Array {
		*v = Value{kind: p.kind, num: p.num}
		return
	}
	from, end := p.num>>32, p.num&math.MaxUint32
	*v = Value{kind: p.kind, encoded: p.form != formPlain}
	if !v.encoded {
		v.text.logtype = buf[from:end:end]
		return
	}
	if p.form == formFour {
		v.text.width = encoding.FourByte
	}
	_, head := sizeOf(buf[p.mid:], tagLogtype8)
	v.text.variables = buf[from:p.mid:p.mid]
	v.text.logtype = buf[int(p.mid)+head : end : end]
}

// suits reports whether a key of this type can have the value of p.
func (p *pair) suits(t nodeType) bool {
	switch t {
	case nodeInt:
		return p.kind == Int
	case nodeFloat:
		return p.kind == Float
	case nodeBool:
		return p.kind == Bool
	case nodeString:
		return p.kind == String
	case nodeArray:
		return p.kind == String && p.form != formPlain
	}
	return p.kind == Null || p.kind == Empty
}

// value reads a value into p.
func (c *cursor) value(p *pair) error {
	tag, err := c.tag()
	if err != nil {
		return err
	}
	p.kind, p.form, p.num = Null, formPlain, 0
	var i int64
	switch tag {
	case tagInt8, tagInt16, tagInt32, tagInt64:
		p.kind = Int
		i, err = c.integer(1 << (tag - tagInt8))
		p.num = uint64(i)
	case tagFloat:
		p.kind = Float
		i, err = c.integer(8)
		p.num = uint64(i)
	case tagTrue:
		p.kind, p.num = Bool, 1
		c.pos++
	case tagFalse:
		p.kind = Bool
		c.pos++
	case tagString8, tagString16, tagString32:
		p.kind = String
		var text []byte
		text, err = c.sized(tagString8, false)
		p.num = uint64(c.pos-len(text))<<32 | uint64(c.pos)
	case tagText4, tagText8:
		p.kind, p.form = String, formFour
		width := encoding.FourByte
		if tag == tagText8 {
			p.form, width = formEight, encoding.EightByte
		}
		c.pos++
		from := c.pos
		var text encodedText
		text, err = c.text(width)
		p.mid = uint32(from + len(text.variables))
		p.num = uint64(from)<<32 | uint64(c.pos)
	case tagEmpty:
		p.kind = Empty
		c.pos++
	case tagNull:
		c.pos++
	default:
		return c.bad(ErrTag, "0x%02X where a value is due", tag)
	}
	return err
}

// appendInteger appends the shortest form of an integer behind the first of four tags.
func appendInteger(dst []byte, tag8 byte, v int64) []byte {
	switch {
	case v == int64(int8(v)):
		return append(dst, tag8, byte(v))
	case v == int64(int16(v)):
		return append(dst, tag8+1, byte(v>>8), byte(v))
	case v == int64(int32(v)):
		return binary.BigEndian.AppendUint32(append(dst, tag8+2), uint32(v))
	}
	return binary.BigEndian.AppendUint64(append(dst, tag8+3), uint64(v))
}

func appendFloat(dst []byte, v float64) []byte {
	return binary.BigEndian.AppendUint64(append(dst, tagFloat), math.Float64bits(v))
}
