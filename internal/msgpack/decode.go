package msgpack

import (
	"encoding/binary"
	"errors"
	"log/slog"
	"math"

	"github.com/tracehandler/tracehandler/event"
)

// ErrInvalid is the error of bytes that are no MessagePack of the kind that this package reads.
var ErrInvalid = errors.New("msgpack: no value that is known here")

const maxDepth = 100

// unpacker reads MessagePack: maps with string keys, arrays, and scalars.
type unpacker struct {
	b   []byte
	pos int
}

func (u *unpacker) take(n uint64) ([]byte, error) {
	if n > uint64(len(u.b)-u.pos) {
		return nil, ErrInvalid
	}
	b := u.b[u.pos : u.pos+int(n)]
	u.pos += int(n)
	return b, nil
}

// uint reads n bytes, most significant first.
func (u *unpacker) uint(n uint64) (uint64, error) {
	b, err := u.take(n)
	if err != nil {
		return 0, err
	}
	var wide [8]byte
	copy(wide[8-n:], b)
	return binary.BigEndian.Uint64(wide[:]), nil
}

// value reads one value: nil, a bool, int64, uint64 (only beyond int64), float64, string, []byte, []any, or []slog.Attr
// for a map, whose order is kept.
func (u *unpacker) value(depth int) (any, error) {
	if depth > maxDepth {
		return nil, ErrInvalid
	}
	tag, err := u.uint(1)
	if err != nil {
		return nil, err
	}
	switch {
	case tag < 0x80:
		return int64(tag), nil
	case tag < 0x90:
		return u.mapping(tag&0xF, depth)
	case tag < 0xA0:
		return u.array(tag&0xF, depth)
	case tag < 0xC0:
		b, err := u.take(tag & 0x1F)
		return string(b), err
	case tag >= 0xE0:
		return int64(int8(tag)), nil
	}
	switch tag {
	case 0xC0:
		return nil, nil
	case 0xC2, 0xC3:
		return tag == 0xC3, nil
	case 0xCA:
		v, err := u.uint(4)
		return float64(math.Float32frombits(uint32(v))), err
	case 0xCB:
		v, err := u.uint(8)
		return math.Float64frombits(v), err
	case 0xCC, 0xCD, 0xCE, 0xCF:
		v, err := u.uint(1 << (tag - 0xCC))
		if v > math.MaxInt64 {
			return v, err
		}
		return int64(v), err
	case 0xD0:
		v, err := u.uint(1)
		return int64(int8(v)), err
	case 0xD1:
		v, err := u.uint(2)
		return int64(int16(v)), err
	case 0xD2:
		v, err := u.uint(4)
		return int64(int32(v)), err
	case 0xD3:
		v, err := u.uint(8)
		return int64(v), err
	}
	var width uint64
	switch tag {
	case 0xC4, 0xC5, 0xC6:
		width = 1 << (tag - 0xC4)
	case 0xD9, 0xDA, 0xDB:
		width = 1 << (tag - 0xD9)
	case 0xDC, 0xDD:
		width = 2 << (tag - 0xDC)
	case 0xDE, 0xDF:
		width = 2 << (tag - 0xDE)
	default:
		return nil, ErrInvalid
	}
	n, err := u.uint(width)
	if err != nil {
		return nil, err
	}
	switch {
	case tag <= 0xC6:
		return u.take(n)
	case tag <= 0xDB:
		b, err := u.take(n)
		return string(b), err
	case tag <= 0xDD:
		return u.array(n, depth)
	}
	return u.mapping(n, depth)
}

func (u *unpacker) array(n uint64, depth int) (any, error) {
	if n > uint64(len(u.b)-u.pos) {
		return nil, ErrInvalid
	}
	list := []any{}
	for range n {
		v, err := u.value(depth + 1)
		if err != nil {
			return nil, err
		}
		list = append(list, v)
	}
	return list, nil
}

func (u *unpacker) mapping(n uint64, depth int) (any, error) {
	if n > uint64(len(u.b)-u.pos) {
		return nil, ErrInvalid
	}
	attrs := []slog.Attr{}
	for range n {
		key, err := u.value(depth + 1)
		if err != nil {
			return nil, err
		}
		name, ok := key.(string)
		if !ok {
			return nil, ErrInvalid
		}
		v, err := u.value(depth + 1)
		if err != nil {
			return nil, err
		}
		attrs = append(attrs, slog.Any(name, plain(v)))
	}
	return attrs, nil
}

// plain turns maps inside arrays into what events have for them.
func plain(v any) any {
	list, ok := v.([]any)
	if !ok {
		return v
	}
	for i, v := range list {
		if group, ok := v.([]slog.Attr); ok {
			list[i] = event.New(group...)
		} else {
			list[i] = plain(v)
		}
	}
	return list
}

// Decode reads exactly one value, and nothing behind it: nil, a bool, int64, uint64 (only beyond int64), float64, string, []byte, []any,
// or []slog.Attr for a map, whose order is kept; a map in an array is an event. Maps have strings as keys. What is returned is in proportion to b.
func Decode(b []byte) (any, error) {
	u := unpacker{b: b}
	v, err := u.value(0)
	if err == nil && u.pos != len(b) {
		err = ErrInvalid
	}
	return plain(v), err
}
