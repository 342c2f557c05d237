package ir

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
)

// cursor reads a unit from what is in memory of the stream. Its methods return errShort if the unit goes on behind b
// (need then says how many bytes of b it takes at least), or a *CorruptError whose Offset counts from b.
type cursor struct {
	b    []byte
	pos  int
	need int64
}

var errShort = errors.New("ir: unit goes on")

// short asks for n bytes more than b has from pos on.
func (c *cursor) short(n int64) error {
	c.need = int64(c.pos) + n
	return errShort
}

func (c *cursor) bad(err error, format string, args ...any) error {
	return &CorruptError{Offset: int64(c.pos), Detail: fmt.Sprintf(format, args...), Err: err}
}

// sized reads a tag, one of three from tag8 on, a length of 8, 16 or 32 bits, and as many bytes. A 32-bit length has a
// sign if signed.
func (c *cursor) sized(tag8 byte, signed bool) ([]byte, error) {
	b := c.b[c.pos:]
	if len(b) < 2 {
		return nil, c.short(2)
	}
	var n, head int
	switch b[0] - tag8 {
	case 0:
		n, head = int(b[1]), 2
	case 1:
		if len(b) < 3 {
			return nil, c.short(3)
		}
		n, head = int(binary.BigEndian.Uint16(b[1:])), 3
	case 2:
		if len(b) < 5 {
			return nil, c.short(5)
		}
		u := binary.BigEndian.Uint32(b[1:])
		if signed && u > math.MaxInt32 {
			return nil, c.bad(ErrLength, "%d", int32(u))
		}
		if int64(u) > int64(len(b))-5 {
			return nil, c.short(int64(u) + 5)
		}
		n, head = int(u), 5
	default:
		return nil, c.bad(ErrTag, "0x%02X where a length is due", b[0])
	}
	if len(b)-head < n {
		return nil, c.short(int64(n) + int64(head))
	}
	c.pos += head + n
	return b[head : head+n : head+n], nil
}

// integer reads a signed integer of 1, 2, 4 or 8 bytes behind the tag byte at pos; which is width.
func (c *cursor) integer(width int) (int64, error) {
	b := c.b[c.pos:]
	if len(b) < 1+width {
		return 0, c.short(1 + int64(width))
	}
	c.pos += 1 + width
	switch width {
	case 1:
		return int64(int8(b[1])), nil
	case 2:
		return int64(int16(binary.BigEndian.Uint16(b[1:]))), nil
	case 4:
		return int64(int32(binary.BigEndian.Uint32(b[1:]))), nil
	}
	return int64(binary.BigEndian.Uint64(b[1:])), nil
}

// tag returns the byte at pos and does not move.
func (c *cursor) tag() (byte, error) {
	if c.pos == len(c.b) {
		return 0, c.short(1)
	}
	return c.b[c.pos], nil
}
