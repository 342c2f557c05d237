package archive

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

// metadata makes the packets, uncompressed.
func (w *Writer) metadata(offsets []uint64, own []ownPacket) ([]byte, error) {
	files := append([]byte("\x81\xA5files"), 0x90|byte(len(offsets)))
	for i, name := range sectionNames {
		files = append(files, 0x82, 0xA1, 'n')
		files = appendMsgpackString(files, name)
		files = appendMsgpackUint(append(files, 0xA1, 'o'), offsets[i])
	}
	packets := []ownPacket{{packetArchiveInfo, []byte("\x81\xACnum_segments\x01")}, {packetFiles, files}, {packetTimestamps, w.timeDictionary()}}
	packets = append(append(packets, ownPacket{packetRanges, w.ranges()}), own...)
	b := []byte{byte(len(packets))}
	for _, p := range packets {
		b = append(b, p.typ)
		b = binary.LittleEndian.AppendUint32(b, uint32(len(p.payload)))
		b = append(b, p.payload...)
	}
	return b, nil
}

// timeDictionary makes the packet of the times and their patterns.
func (w *Writer) timeDictionary() []byte {
	if !w.span.began {
		return bytesLE(nil, 0, 0)
	}
	var words []string
	for _, word := range w.options.TimeKey {
		words = append(words, escapeKey(word))
	}
	key := strings.Join(words, ".")
	if w.options.TimeAuto {
		key = autoKey + key
	}
	b := appendText(bytesLE(nil, 1), key)
	b = bytesLE(b, 1)
	b = binary.LittleEndian.AppendUint32(b, uint32(w.timeNode()))
	floor, ceil := w.span.first/1e6, w.span.last/1e6
	if w.span.first%1e6 < 0 {
		floor--
	}
	if w.span.last%1e6 > 0 {
		ceil++
	}
	b = bytesLE(b, 1, uint64(floor), uint64(ceil), uint64(len(w.times.spelling)))
	for id, p := range w.times.spelling {
		b = appendText(bytesLE(b, uint64(id)), p)
	}
	return b
}

func (w *Writer) timeNode() int32 {
	return int32(slices.IndexFunc(w.nodes, func(n Node) bool { return n.Type == Timestamp }))
}

// escapeKey writes a key as a word of a path in a query.
func escapeKey(key string) string {
	var b strings.Builder
	for i := range len(key) {
		if strings.IndexByte(`\.*@$!#"`, key[i]) >= 0 {
			b.WriteByte('\\')
		}
		b.WriteByte(key[i])
	}
	return b.String()
}

func appendMsgpackString(dst []byte, s string) []byte {
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

func appendMsgpackUint(dst []byte, v uint64) []byte {
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

// appendMsgpackMap appends attributes as a map, in the order of their keys, as the reference does.
func appendMsgpackMap(dst []byte, attrs []slog.Attr) ([]byte, error) {
	attrs = slices.Clone(attrs)
	slices.SortStableFunc(attrs, func(a, b slog.Attr) int { return strings.Compare(a.Key, b.Key) })
	if len(attrs) >= 1<<16 {
		return nil, &LimitError{What: "fields", Limit: 1<<16 - 1}
	}
	if len(attrs) < 16 {
		dst = append(dst, 0x80|byte(len(attrs)))
	} else {
		dst = binary.BigEndian.AppendUint16(append(dst, 0xDE), uint16(len(attrs)))
	}
	for _, a := range attrs {
		dst = appendMsgpackString(dst, a.Key)
		var err error
		if dst, err = appendMsgpackValue(dst, a.Value); err != nil {
			return nil, fmt.Errorf("archive: field %q: %w", a.Key, err)
		}
	}
	return dst, nil
}

// appendMsgpackValue appends a value: a scalar, a group, or what events have for null, arrays and numbers.
func appendMsgpackValue(dst []byte, v slog.Value) ([]byte, error) {
	switch v = v.Resolve(); v.Kind() {
	case slog.KindString:
		return appendMsgpackString(dst, v.String()), nil
	case slog.KindInt64:
		if i := v.Int64(); i < 0 {
			return binary.BigEndian.AppendUint64(append(dst, 0xD3), uint64(i)), nil
		}
		return appendMsgpackUint(dst, uint64(v.Int64())), nil
	case slog.KindUint64:
		return appendMsgpackUint(dst, v.Uint64()), nil
	case slog.KindFloat64:
		return binary.BigEndian.AppendUint64(append(dst, 0xCB), math.Float64bits(v.Float64())), nil
	case slog.KindBool:
		dst = append(dst, 0xC2)
		if v.Bool() {
			dst[len(dst)-1]++
		}
		return dst, nil
	case slog.KindGroup:
		return appendMsgpackMap(dst, v.Group())
	case slog.KindAny:
		switch x := v.Any().(type) {
		case nil:
			return append(dst, 0xC0), nil
		case json.Number:
			f, err := x.Float64()
			if err != nil {
				return appendMsgpackString(dst, x.String()), nil
			}
			return appendMsgpackValue(dst, slog.Float64Value(f))
		case event.Event:
			attrs, err := x.Attrs()
			if err != nil {
				return nil, err
			}
			return appendMsgpackMap(dst, attrs)
		case []any:
			dst = binary.BigEndian.AppendUint32(append(dst, 0xDD), uint32(len(x)))
			for _, e := range x {
				var err error
				if dst, err = appendMsgpackValue(dst, slog.AnyValue(e)); err != nil {
					return nil, err
				}
			}
			return dst, nil
		}
	}
	return nil, fmt.Errorf("a %v", v.Kind())
}
