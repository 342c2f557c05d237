package msgpack

import (
	"bytes"
	"log/slog"
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/tracehandler/tracehandler/event"
)

// TestRoundTrip writes values and reads them.
func TestRoundTrip(t *testing.T) {
	many := make([]slog.Attr, 70_000)
	for i := range many {
		many[i] = slog.Int("k", i)
	}
	for _, c := range []struct {
		value any
		want  any
		bytes int
	}{
		{nil, nil, 1}, {true, true, 1}, {false, false, 1},
		{0, int64(0), 1}, {127, int64(127), 1}, {128, int64(128), 2}, {1 << 8, int64(1 << 8), 3}, {1 << 16, int64(1 << 16), 5}, {int64(1 << 32), int64(1 << 32), 9},
		{-1, int64(-1), 9}, {int64(math.MinInt64), int64(math.MinInt64), 9}, {uint64(math.MaxUint64), uint64(math.MaxUint64), 9}, {1.5, 1.5, 9},
		{"", "", 1}, {strings.Repeat("x", 31), strings.Repeat("x", 31), 32}, {strings.Repeat("x", 32), strings.Repeat("x", 32), 34},
		{strings.Repeat("x", 256), strings.Repeat("x", 256), 259}, {strings.Repeat("x", 1<<16), strings.Repeat("x", 1<<16), 1<<16 + 5},
		{[]any{int64(1), "a", []any{}}, []any{int64(1), "a", []any{}}, 5}, {make([]any, 20), make([]any, 20), 25},
		{[]slog.Attr{}, []slog.Attr{}, 1}, {[]slog.Attr{slog.Int("b", 1), slog.String("a", "")}, []slog.Attr{slog.String("a", ""), slog.Int64("b", 1)}, 7},
		{many[:16], nil, 3 + 16*3}, {many, nil, 0},
	} {
		b, err := Append(nil, slog.AnyValue(c.value))
		if err != nil || c.bytes > 0 && len(b) != c.bytes {
			t.Errorf("%.40v: %d bytes, %v", c.value, len(b), err)
			continue
		}
		got, err := Decode(b)
		if attrs, is := c.value.([]slog.Attr); is && c.want == nil {
			if err != nil || len(got.([]slog.Attr)) != len(attrs) {
				t.Errorf("a map of %d: %v", len(attrs), err)
			}
			continue
		}
		if err != nil || !reflect.DeepEqual(got, c.want) {
			t.Errorf("%.40v came back as %.40v, %v", c.value, got, err)
		}
	}
	if _, err := Append(nil, slog.AnyValue(struct{}{})); err == nil {
		t.Error("a struct was written")
	}
	list := []any{event.New(slog.Int("n", 1))}
	b, err := Append(nil, slog.AnyValue(list))
	if err != nil {
		t.Fatal(err)
	}
	if got, err := Decode(b); err != nil || !event.Equal(got.([]any)[0].(event.Event), list[0].(event.Event)) {
		t.Error(got, err)
	}
}

func TestDecodeDamage(t *testing.T) {
	for _, b := range []string{"", "\xC1", "\xA1", "\x92\x01", "\x81\x01\x01", "\x01\x01", "\xDD\xFF\xFF\xFF\xFF\x01", "\xDF\xFF\xFF\xFF\xFF\x01", "\xDB\xFF\xFF\xFF\xFF",
		strings.Repeat("\x91", 200) + "\x01"} {
		if v, err := Decode([]byte(b)); err != ErrInvalid {
			t.Errorf("%.20q: %v, %v", b, v, err)
		}
	}
}

// FuzzDecode reads any bytes. What was read, written and read again, is the same.
func FuzzDecode(f *testing.F) {
	f.Add([]byte("\x81\xA5files\x91\x82\xA1n\xA2/0\xA1o\xCC\x80"))
	f.Add([]byte("\x91\x83\xA1s\x00\xA1e\xD1\x01\x00\xA1f\xDE\x00\x01\xA1k\xCB\x40\x00\x00\x00\x00\x00\x00\x00"))
	f.Fuzz(func(t *testing.T, data []byte) {
		v, err := Decode(data)
		if err != nil {
			return
		}
		b, err := Append(nil, slog.AnyValue(v))
		if err != nil {
			return // bytes that are no text
		}
		again, err := Decode(b)
		if err != nil {
			t.Fatal(err)
		}
		if c, err := Append(nil, slog.AnyValue(again)); err != nil || !bytes.Equal(b, c) {
			t.Fatalf("%v became %v, %v", v, again, err)
		}
	})
}
