package event

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"strings"
	"testing"
	"time"
)

// source makes attributes of bytes, and next to them the attributes that their event must have.
type source struct{ data []byte }

func (s *source) byte() byte {
	if len(s.data) == 0 {
		return 0
	}
	c := s.data[0]
	s.data = s.data[1:]
	return c
}

func (s *source) word() uint64 {
	var b [8]byte
	s.data = s.data[copy(b[:], s.data):]
	return binary.LittleEndian.Uint64(b[:])
}

func (s *source) string() string {
	n := min(int(s.byte())%24, len(s.data))
	text := string(s.data[:n])
	s.data = s.data[n:]
	return text
}

// clean returns what a string reads back as.
func clean(s string) string {
	var b strings.Builder
	for _, r := range s {
		b.WriteRune(r) // U+FFFD for a bad byte
	}
	return b.String()
}

// attrs returns up to eight attributes, and what is left of them after the rules of slog.Handler.
func (s *source) attrs(depth int) (in, want []slog.Attr) {
	for range s.byte() % 8 {
		key := s.string()
		kind := s.byte() % 24
		if depth == 0 && kind >= 22 {
			continue
		}
		var v, w slog.Value
		switch kind {
		case 0, 1:
			if kind == 0 {
				in = append(in, slog.Attr{})
				continue
			}
			v, w = slog.AnyValue(nil), slog.AnyValue(nil)
		case 2, 3, 4, 5:
			if depth == 0 {
				continue
			}
			attrs, left := s.attrs(depth - 1)
			v = group(attrs)
			if kind == 5 {
				v = slog.AnyValue(valuer{v})
			}
			if key != "" && len(left) > 0 {
				want = append(want, slog.Attr{Key: clean(key), Value: group(left)})
			} else {
				want = append(want, left...)
			}
			in = append(in, slog.Attr{Key: key, Value: v})
			continue
		case 6, 7:
			text := s.string()
			v, w = slog.StringValue(text), slog.StringValue(clean(text))
		case 8:
			v = slog.Int64Value(int64(s.word()))
			w = v
		case 9:
			v = slog.Uint64Value(s.word())
			w = v
		case 10, 11:
			f := math.Float64frombits(s.word())
			if kind == 11 {
				f = float64(int64(f*1000)) / 1000
			}
			v, w = slog.Float64Value(f), slog.Float64Value(f)
			if math.IsNaN(f) || math.IsInf(f, 0) {
				w = slog.StringValue(fmt.Sprintf("%+g", f))
			}
			if math.IsNaN(f) {
				w = slog.StringValue("NaN")
			}
		case 12:
			v = slog.BoolValue(s.byte()&1 == 1)
			w = v
		case 13:
			d := time.Duration(s.word())
			v, w = slog.DurationValue(d), slog.Int64Value(int64(d))
		case 14, 15:
			t := time.Unix(int64(s.word())>>(s.byte()%40), int64(s.word()%1e9)).In(time.FixedZone("", int(int16(s.word()))))
			v, w = slog.TimeValue(t), slog.StringValue(t.Format(time.RFC3339Nano))
		case 16:
			text := s.string()
			v, w = slog.AnyValue(errors.New(text)), slog.StringValue(clean(text))
		case 17:
			text := []byte(s.string())
			v, w = slog.AnyValue(text), slog.AnyValue([]byte(text))
		case 18:
			v, w = slog.AnyValue(panicJSON{}), slog.StringValue("!PANIC: json\n")
		case 19:
			raw := []byte(s.string())
			if !json.Valid(raw) || bytes.Contains(raw, []byte("\xff")) {
				raw = []byte("[1, {} ]")
			}
			v, w = slog.AnyValue(json.RawMessage(raw)), mustGet([]byte(`{"x":`+string(raw)+`}`))
		case 20:
			l := slog.Level(s.word())
			v, w = slog.AnyValue(l), slog.StringValue(l.String())
		case 21:
			a, b := s.string(), s.string()
			v, w = slog.AnyValue([]string{a, b}), slog.AnyValue([]any{clean(a), clean(b)})
		case 22:
			attrs, left := s.attrs(depth - 1)
			v, w = slog.AnyValue([]any{slog.GroupValue(attrs...), attrs}), slog.AnyValue([]any{New(left...), New(left...)})
		case 23:
			attrs, _ := s.attrs(depth - 1)
			v, w = slog.AnyValue(New(attrs...)), group(literal(attrs))
		}
		in = append(in, slog.Attr{Key: key, Value: v})
		if key != "" || w.Kind() != slog.KindAny || w.Any() != nil {
			want = append(want, slog.Attr{Key: clean(key), Value: w})
		}
	}
	return in, want
}

// literal returns what New(attrs...) reads back as.
func literal(attrs []slog.Attr) []slog.Attr {
	e, err := Parse(New(attrs...).AppendJSON(nil))
	if err != nil {
		panic(err)
	}
	out, _ := e.Attrs()
	return out
}

func mustGet(line []byte) slog.Value {
	v, ok := Lazy(line).Get("x")
	if !ok {
		panic("no x")
	}
	return v
}

func corpus() [][]byte {
	seeds := [][]byte{nil, []byte("\x07\x03abc\x06\x04text"), bytes.Repeat([]byte("\x07\x01k\x02"), 40), bytes.Repeat([]byte{7, 1, 'g', 2, 3, 0, 0, 1, 'x', 8}, 20)}
	for kind := range byte(24) {
		seeds = append(seeds, append([]byte{1, 2, 'k', 0x80 + kind, kind}, bytes.Repeat([]byte("\x05a\xff\"\n\xe2\x80\xa8"), 8)...))
		seeds = append(seeds, append([]byte{7, 2, 'k', '"', kind, 8, 1, 2, 3, 4, 5, 6, 7, 8}, bytes.Repeat([]byte{kind, 3, 1, 'b'}, 30)...))
	}
	return seeds
}

// FuzzRecord encodes arbitrary attributes: a record is one valid line, and decodes to the same event.
func FuzzRecord(f *testing.F) {
	for _, seed := range corpus() {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		s := &source{data}
		name, open := s.string(), s.byte()
		extra, wantExtra := s.attrs(1)
		with, wantWith := s.attrs(2)
		attrs, want := s.attrs(4)
		want = append(wantWith, want...)
		enc := NewJSON(Options{})
		if open&1 == 1 && name != "" {
			enc = enc.WithGroup(name)
			if len(want) > 0 {
				want = []slog.Attr{{Key: clean(name), Value: group(want)}}
			}
		}
		enc = enc.WithAttrs(with)
		r := slog.NewRecord(when, slog.LevelInfo, name, 0)
		r.AddAttrs(attrs...)
		var b Buffer
		enc.AppendRecord(&b, r, extra)
		checkLine(t, b.B)

		head := []slog.Attr{slog.String("time", when.Format(time.RFC3339Nano)), slog.String("level", "INFO"), slog.String("msg", clean(name))}
		expected := New(append(append(head, wantExtra...), want...)...)
		got, _ := Parse(b.B)
		if !Equal(got, expected) {
			t.Errorf("got  %s\nwant %s", b.B, expected.AppendJSON(nil))
		}
		// The same through ReplaceAttr, which takes the other way through the encoder.
		enc = NewJSON(Options{ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr { return a }})
		if open&1 == 1 {
			enc = enc.WithGroup(name)
		}
		var b2 Buffer
		enc.WithAttrs(with).AppendRecord(&b2, r, extra)
		if !bytes.Equal(b.B, b2.B) {
			t.Errorf("with ReplaceAttr %s\nwithout         %s", b2.B, b.B)
		}
	})
}

// FuzzParse reads arbitrary lines: Parse and encoding/json agree which are valid; attributes written
// again are the same event; and nothing that looks at a line without checking it fails otherwise.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		`{}`, ` {"a":1}` + "\r\n", `{"a":[1,-0,1.5e+10,1E400,{"b":null}],"":{"":{}},"\u00e9\ud83c\udf89\ud83c":"\\\"\/\b"}`, "{\"\xff\":\"\xe2\x80\xa8\"}", `{"a":tru}`, `[{}]`, `{"a":1}}`, `{"a":"x`,
		`{"time":"2026-11-30T10:46:59Z","level":"INFO","msg":"m","a":1,"a":2}`, `{"ts":1.7e9,"level":30,"message":"x","x":{"y":[[[]]]}}`, `{"a":18446744073709551616,"b":0.1000,"c":1e-9999999999999999999999}`,
		strings.Repeat(`{"a":[`, 600) + "1" + strings.Repeat("]}", 600), `{"time":` + strings.Repeat("[", MaxDepth+1), `{"a":` + strings.Repeat("[", MaxDepth-1) + strings.Repeat("]", MaxDepth-1) + "}",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		e, err := Parse(line)
		valid := json.Valid(line) && bytes.HasPrefix(bytes.TrimLeft(line, " \t\r\n"), []byte("{"))
		if (err == nil) != valid {
			t.Fatalf("Parse: %v, encoding/json: %v", err, valid)
		}
		if syntax := (*SyntaxError)(nil); errors.As(err, &syntax) && (syntax.Offset < 0 || syntax.Offset > len(line)) {
			t.Fatalf("offset %d of %d", syntax.Offset, len(line))
		}
		lazy := Lazy(line)
		lazy.Time()
		lazy.Level()
		lazy.Message()
		lazy.Get("a")
		lazy.Get("x", "y")
		n := 0
		for a := range lazy.All() {
			lazy.Get(a.Key, "a")
			n++
		}
		attrs, lazyErr := lazy.Attrs()
		if (lazyErr == nil) != (err == nil) {
			t.Fatalf("Attrs: %v, Parse: %v", lazyErr, err)
		}
		if !Equal(lazy, lazy.Clone()) {
			t.Fatal("not equal to itself")
		}
		record(t, NewJSON(Options{}), slog.Any("e", lazy))
		if err != nil {
			return
		}
		if n != len(attrs) {
			t.Fatalf("All: %d attributes of %d", n, len(attrs))
		}
		back := New(attrs...).AppendJSON(nil)
		checkLine(t, append(back, '\n'))
		again, _ := Parse(back)
		if !Equal(e, again) || !Equal(New(attrs...), e) {
			t.Fatalf("%q became %q", line, back)
		}
		for i, a := range attrs {
			first := true
			for _, b := range attrs[:i] {
				first = first && b.Key != a.Key
			}
			if v, ok := e.Get(a.Key); first && (!ok || !Equal(New(slog.Attr{Key: "k", Value: v}), New(slog.Attr{Key: "k", Value: a.Value}))) {
				t.Fatalf("Get(%q): %v, %v; want %v", a.Key, v, ok, a.Value)
			}
		}
		// encoding/json reads the same values.
		var std, our map[string]any
		if json.Unmarshal(line, &std) == nil {
			if err := json.Unmarshal(back, &our); err != nil || fmt.Sprint(std) != fmt.Sprint(our) {
				t.Fatalf("%q: encoding/json reads %v, then %v, %v", line, std, our, err)
			}
		}
	})
}
