package encoding

import (
	"errors"
	"fmt"
)

// What is wrong with a message that cannot be decoded; a *DecodeError carries one of them.
var (
	ErrFloat    = errors.New("encoding: parts of an encoded float contradict each other")
	ErrVariable = errors.New("encoding: placeholder without a variable")
	ErrEscape   = errors.New("encoding: log type ends in an escape byte")
)

// DecodeError says where in the log type decoding failed. Err is ErrFloat, ErrVariable or ErrEscape.
type DecodeError struct {
	Pos int // byte in the log type
	Err error
}

func (e *DecodeError) Error() string {
	return fmt.Sprintf("%v (byte %d of the log type)", e.Err, e.Pos)
}
func (e *DecodeError) Unwrap() error { return e.Err }

// Message is an encoded message. Its slices are reused by EncodeMessage and Reset.
type Message struct {
	Width   Width
	Logtype []byte
	Encoded []int64 // integers and floats, in the order of their placeholders
	words   []byte  // dictionary variables, one behind the other
	ends    []int   // where each of them ends
}

// Reset empties m and keeps its memory.
func (m *Message) Reset(w Width) {
	m.Width, m.Logtype, m.Encoded, m.words, m.ends = w, m.Logtype[:0], m.Encoded[:0], m.words[:0], m.ends[:0]
}

// Words returns the number of dictionary variables.
func (m *Message) Words() int { return len(m.ends) }

// Word returns the i-th dictionary variable. It is valid until m is reset or encoded again.
func (m *Message) Word(i int) []byte {
	from := 0
	if i > 0 {
		from = m.ends[i-1]
	}
	return m.words[from:m.ends[i]:m.ends[i]]
}

// AddWord appends a dictionary variable; it is copied.
func (m *Message) AddWord(word []byte) {
	m.words = append(m.words, word...)
	m.ends = append(m.ends, len(m.words))
}

// EncodeMessage encodes text into m, whose former content is gone.
func EncodeMessage[T Text](m *Message, w Width, text T) {
	m.Reset(w)
	for from := 0; ; {
		start, end, escapes := NextVariable(text, from)
		if escapes {
			m.Logtype = AppendConstant(m.Logtype, text[from:start])
		} else {
			m.Logtype = append(m.Logtype, text[from:start]...)
		}
		if start == end {
			return
		}
		kind, bits := EncodeVariable(w, text[start:end])
		m.Logtype = append(m.Logtype, kind.Placeholder())
		if kind == Dict {
			m.words = append(m.words, text[start:end]...)
			m.ends = append(m.ends, len(m.words))
		} else {
			m.Encoded = append(m.Encoded, bits)
		}
		from = end
	}
}

// DecodeMessage appends the text of m to dst. The error is a *DecodeError; dst then holds the text before it.
// Variables that no placeholder asks for are no error, as in the reference.
func DecodeMessage(dst []byte, m *Message) ([]byte, error) {
	encoded, word, from := 0, 0, 0
	for i := 0; i < len(m.Logtype); i++ {
		c := m.Logtype[i]
		if classes[c]&isEscape == 0 {
			continue
		}
		dst = append(dst, m.Logtype[from:i]...)
		from = i + 1
		var err error
		switch {
		case c == Escape:
			if from == len(m.Logtype) {
				err = ErrEscape
				break
			}
			i++ // literal, whatever it is
		case c == DictPlaceholder:
			if word == m.Words() {
				err = ErrVariable
				break
			}
			dst = append(dst, m.Word(word)...)
			word++
		default:
			if encoded == len(m.Encoded) {
				err = ErrVariable
				break
			}
			if c == IntPlaceholder {
				dst = AppendInt(dst, m.Encoded[encoded])
			} else {
				dst, err = AppendFloat(dst, m.Width, m.Encoded[encoded])
			}
			encoded++
		}
		if err != nil {
			return dst, &DecodeError{Pos: from - 1, Err: err}
		}
	}
	return append(dst, m.Logtype[from:]...), nil
}
