package event

import (
	"unicode/utf8"

	"github.com/tracehandler/tracehandler/internal/jsontext"
)

// cursor walks over the members of one object in text that perhaps nobody has checked.
type cursor struct {
	b     []byte
	i     int  // before a key, or before a value after next
	valid bool // somebody has
}

// members returns a cursor in the event's object. It reports false if the event has no text or the text no object.
func (e Event) members() (cursor, bool) {
	c := cursor{b: e.line, valid: e.checked}
	ok := c.enter(jsontext.SkipSpace(e.line, 0))
	return c, ok
}

// enter moves into the object at i. It reports false if there is none.
func (c *cursor) enter(i int) bool {
	if i >= len(c.b) || c.b[i] != '{' {
		return false
	}
	c.i = i + 1
	return true
}

// next moves to the next value and returns the text of its key. It reports false at the end and where the text is wrong.
func (c *cursor) next() (key []byte, ok bool) {
	b, i := c.b, jsontext.SkipSpace(c.b, c.i)
	if i < len(b) && b[i] == ',' {
		i = jsontext.SkipSpace(b, i+1)
	}
	if i >= len(b) || b[i] != '"' {
		return nil, false
	}
	first := i + 1
	if i, _ = jsontext.ScanString(b, first); i < 0 { // checked, so that the key can be decoded
		return nil, false
	}
	key = b[first : i-1]
	if i = jsontext.SkipSpace(b, i); i >= len(b) || b[i] != ':' {
		return nil, false
	}
	c.i = jsontext.SkipSpace(b, i+1)
	return key, true
}

// skip moves behind the value. It reports false if the value does not end.
func (c *cursor) skip() bool {
	end := jsontext.ValueEnd(c.b, c.i)
	if end < 0 {
		return false
	}
	c.i = end
	return true
}

// value moves behind the value and returns its text. It reports false if it is not valid.
func (c *cursor) value() ([]byte, bool) {
	first := c.i
	if c.valid {
		ok := c.skip()
		return c.b[first:c.i], ok
	}
	end, _ := jsontext.ScanValue(c.b, first, 1)
	if end < 0 {
		return nil, false
	}
	c.i = end
	return c.b[first:end], true
}

// decodedKey returns what the text of a key means: nearly always the text itself.
func decodedKey(text []byte) []byte {
	for _, c := range text {
		if c == '\\' || c >= utf8.RuneSelf {
			return jsontext.AppendText(make([]byte, 0, len(text)), text)
		}
	}
	return text
}
