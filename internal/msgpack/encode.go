package msgpack

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"log/slog"
	"math"
	"slices"
	"strings"

	"github.com/tracehandler/tracehandler/event"
)

// AppendString appends a string.
func AppendString(dst []byte, s string) []byte {
	switch n := len(s); {
	case n < 32:
		dst = append(dst, 0xA0|byte(n))
	case n < 1<<8:
		dst = append(dst, 0xD9, byte(n))
	case n < 1<<16:
		dst = binary.BigEndian.AppendUint16(append(dst, 0xDA), uint16(n))
	default:
		dst = binary.BigEndian.AppendUint32(append(dst, 0xDB), uint32(n))
	}
	return append(dst, s...)
}

// AppendUint appends a number, as short as can be.
func AppendUint(dst []byte, v uint64) []byte {
	switch {
	case v < 128:
		return append(dst, byte(v))
	case v < 1<<8:
		return append(dst, 0xCC, byte(v))
	case v < 1<<16:
		return binary.BigEndian.AppendUint16(append(dst, 0xCD), uint16(v))
	case v < 1<<32:
		return binary.BigEndian.AppendUint32(append(dst, 0xCE), uint32(v))
	}
	return binary.BigEndian.AppendUint64(append(dst, 0xCF), v)
}

// AppendMap appends attributes as a map, in the order of their keys.
func AppendMap(dst []byte, attrs []slog.Attr) ([]byte, error) {
	attrs = slices.Clone(attrs)
	slices.SortStableFunc(attrs, func(a, b slog.Attr) int { return strings.Compare(a.Key, b.Key) })
	switch n := len(attrs); {
	case n < 16:
		dst = append(dst, 0x80|byte(n))
	case n < 1<<16:
		dst = binary.BigEndian.AppendUint16(append(dst, 0xDE), uint16(n))
	default:
		dst = binary.BigEndian.AppendUint32(append(dst, 0xDF), uint32(n))
	}
	for _, a := range attrs {
		dst = AppendString(dst, a.Key)
		var err error
		if dst, err = Append(dst, a.Value); err != nil {
			return nil, fmt.Errorf("%q: %w", a.Key, err)
		}
	}
	return dst, nil
}

// Append appends a value: a scalar, a group, or what events have for null, arrays and numbers.
func Append(dst []byte, v slog.Value) ([]byte, error) {
	switch v = v.Resolve(); v.Kind() {
	case slog.KindString:
		return AppendString(dst, v.String()), nil
	case slog.KindInt64:
		if i := v.Int64(); i < 0 {
			return binary.BigEndian.AppendUint64(append(dst, 0xD3), uint64(i)), nil
		}
		return AppendUint(dst, uint64(v.Int64())), nil
	case slog.KindUint64:
		return AppendUint(dst, v.Uint64()), nil
	case slog.KindFloat64:
		return binary.BigEndian.AppendUint64(append(dst, 0xCB), math.Float64bits(v.Float64())), nil
	case slog.KindBool:
		dst = append(dst, 0xC2)
		if v.Bool() {
			dst[len(dst)-1]++
		}
		return dst, nil
	case slog.KindGroup:
		return AppendMap(dst, v.Group())
	case slog.KindAny:
		switch x := v.Any().(type) {
		case nil:
			return append(dst, 0xC0), nil
		case json.Number:
			f, err := x.Float64()
			if err != nil {
				return AppendString(dst, x.String()), nil
			}
			return Append(dst, slog.Float64Value(f))
		case event.Event:
			attrs, err := x.Attrs()
			if err != nil {
				return nil, err
			}
			return AppendMap(dst, attrs)
		case []any:
			if n := len(x); n < 16 {
				dst = append(dst, 0x90|byte(n))
			} else {
				dst = binary.BigEndian.AppendUint32(append(dst, 0xDD), uint32(n))
			}
			for _, e := range x {
				var err error
				if dst, err = Append(dst, slog.AnyValue(e)); err != nil {
					return nil, err
				}
			}
			return dst, nil
		}
	}
	return nil, fmt.Errorf("msgpack: a %v", v.Kind())
}
