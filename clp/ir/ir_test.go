package ir

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tracehandler/tracehandler/clp/encoding"
)

func TestRandomEvents(t *testing.T) {
	for _, width := range []Width{FourByte, EightByte} {
		for _, out := range []Output{{}, {Zstd: true, FrameSize: 2000}} {
			g := randomEvents{r: rand.New(rand.NewPCG(5, uint64(width)))}
			var stream bytes.Buffer
			w, err := NewKVWriter(&stream, &KVOptions{Width: width, Output: out})
			check(t, err)
			var b Builder
			var want [][]byte
			for i := range 5000 {
				want = append(want, g.event(&b))
				check(t, w.Write(&b))
				if i%700 == 0 {
					check(t, w.Flush())
				}
			}
			check(t, w.Close())
			check(t, w.Close())
			if err := w.Write(&b); err != ErrClosed {
				t.Errorf("Write after Close: %v", err)
			}
			r, err := NewReader(&stream, nil)
			check(t, err)
			n := 0
			for e, err := range r.All() {
				check(t, err)
				got, err := e.AppendJSON(nil)
				check(t, err)
				if !bytes.Equal(got, want[n]) {
					t.Fatalf("event %d:\n got %s\nwant %s", n, got, want[n])
				}
				n++
			}
			if n != len(want) || r.Width() != width {
				t.Errorf("%d events of %d, %v", n, len(want), r.Width())
			}
		}
	}
}

func TestPacked(t *testing.T) {
	g := randomEvents{r: rand.New(rand.NewPCG(6, 6))}
	direct, packed := NewEncoder(FourByte, Limits{}), NewEncoder(FourByte, Limits{})
	var b Builder
	for range 500 {
		g.event(&b)
		want, err := direct.Append(nil, &b)
		check(t, err)
		p, err := b.AppendTo([]byte("before"))
		check(t, err)
		got, err := packed.AppendPacked(nil, p[len("before"):])
		check(t, err)
		if !bytes.Equal(got, want) {
			t.Fatalf("got % X, want % X", got, want)
		}
	}
}

func TestMembersApart(t *testing.T) {
	// {a:{x:1}, b:2, a:{y:3}}: a legal stream names the leaves in any order.
	enc := NewEncoder(FourByte, Limits{})
	var b Builder
	b.User()
	b.Open("a")
	b.Int("x", 1)
	b.Int("y", 3)
	b.Close()
	b.Int("b", 2)
	stream, err := AppendPreamble(nil, FourByte, &Metadata{Version: VersionKV})
	check(t, err)
	stream, err = enc.Append(stream, &b)
	check(t, err)
	// IDs: a 1, x 2, y 3, b 4.
	stream = append(stream, tagID8, 2, tagID8, 4, tagID8, 3, tagInt8, 1, tagInt8, 2, tagInt8, 3, tagEnd)
	r, err := NewReader(bytes.NewReader(stream), nil)
	check(t, err)
	for e, err := range r.All() {
		check(t, err)
		got, err := e.AppendObject(nil, User)
		check(t, err)
		if want := `{"a":{"x":1,"y":3},"b":2}`; string(got) != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
	if r.Number() != 2 {
		t.Errorf("%d events", r.Number())
	}
}

func TestEncoderRefusesAndRollsBack(t *testing.T) {
	tests := []struct {
		name  string
		build func(b *Builder)
		err   error
	}{
		{"same key", func(b *Builder) { b.User(); b.Int("new", 1); b.Int("new", 2) }, ErrIDTwice},
		{"two types", func(b *Builder) { b.User(); b.Int("new", 1); b.String("new", "x") }, ErrSameKey},
		{"object and value", func(b *Builder) { b.Open("new"); b.Int("a", 1); b.Close(); b.Null("new") }, ErrObjectValue},
		{"value and object", func(b *Builder) { b.Null("new"); b.Open("new"); b.Int("a", 1); b.Close() }, ErrIDTwice},
		{"object twice", func(b *Builder) { b.Open("new"); b.Close(); b.Open("new"); b.Close() }, ErrIDTwice},
		{"object again", func(b *Builder) {
			b.Open("new")
			b.Int("a", 1)
			b.Close()
			b.Open("new")
			b.Int("b", 1)
			b.Close()
		}, ErrIDTwice},
		{"open", func(b *Builder) { b.Open("new") }, ErrBuilder},
		{"close", func(b *Builder) { b.Close() }, ErrBuilder},
		{"user twice", func(b *Builder) { b.User(); b.User() }, ErrBuilder},
		{"user inside", func(b *Builder) { b.Open("new"); b.User(); b.Close() }, ErrBuilder},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			enc, fresh := NewEncoder(FourByte, Limits{}), NewEncoder(FourByte, Limits{})
			var b Builder
			good := func() {
				b.Reset()
				b.String("level", "INFO")
				b.User()
				b.Open("g")
				b.Int("n", 1)
				b.Close()
			}
			good()
			_, err := enc.Append(nil, &b)
			check(t, err)
			_, err = fresh.Append(nil, &b)
			check(t, err)
			for range 2 {
				b.Reset()
				tt.build(&b)
				dst, err := enc.Append([]byte("kept"), &b)
				if !errors.Is(err, tt.err) || string(dst) != "kept" {
					t.Fatalf("got %q, %v, want %v", dst, err, tt.err)
				}
			}
			good()
			b.Int("more", 5)
			got, err := enc.Append(nil, &b)
			check(t, err)
			want, err := fresh.Append(nil, &b)
			check(t, err)
			if !bytes.Equal(got, want) || enc.Keys() != fresh.Keys() {
				t.Errorf("the refused event left a trace: % X, want % X", got, want)
			}
		})
	}
}

func TestBuilder(t *testing.T) {
	var b Builder // zero
	b.Open("empty")
	b.Close()
	m := b.Mark()
	b.Open("dropped")
	b.Int("x", 1)
	b.Drop(m)
	b.User()
	b.String("bad\xffkey", "bad\xffvalue")
	b.Float("nan", math.NaN())
	stream := kvStream(t, nil, &b)
	r, err := NewReader(bytes.NewReader(stream), nil)
	check(t, err)
	e, err := r.Next()
	check(t, err)
	got, err := e.AppendJSON(nil)
	check(t, err)
	if want := `{"auto-generated":{"empty":{}},"user-generated":{"bad�key":"bad�value","nan":null}}`; string(got) != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if v, ok := e.Lookup(User, "nan"); !ok || v.Kind() != Float || !math.IsNaN(v.Float()) {
		t.Errorf("nan: %v %v", v, ok)
	}
	if _, ok := e.Lookup(User, "empty"); ok {
		t.Error("found a key of the other tree")
	}
}

// kvStream writes a stream of the events in bs.
func kvStream(t testing.TB, o *KVOptions, bs ...*Builder) []byte {
	t.Helper()
	var stream bytes.Buffer
	w, err := NewKVWriter(&stream, o)
	check(t, err)
	for _, b := range bs {
		check(t, w.Write(b))
	}
	check(t, w.Close())
	return stream.Bytes()
}

func TestTextWriter(t *testing.T) {
	var stream bytes.Buffer
	w, err := NewTextWriter(&stream, &TextOptions{Reference: 1000, TimeZone: "Europe/Zürich", Limits: Limits{Event: 100}})
	check(t, err)
	check(t, w.Write(1000, []byte(" INFO nul \x00 and bad \xff byte\n")))
	if err := w.Write(math.MinInt64, nil); err != ErrTimestamp {
		t.Errorf("overflow: %v", err)
	}
	if le := (*LimitError)(nil); !errors.As(w.Write(5, bytes.Repeat([]byte{'x'}, 101)), &le) {
		t.Error("a message over the limit is accepted")
	}
	check(t, w.Write(990, nil))
	check(t, w.Close())
	if !bytes.Contains(stream.Bytes(), []byte(`Z\u00fcrich`)) {
		t.Error("metadata is not ASCII")
	}
	r, err := NewReader(&stream, nil)
	check(t, err)
	var got []string
	for e, err := range r.All() {
		check(t, err)
		m, err := e.AppendMessage(nil)
		check(t, err)
		got = append(got, fmt.Sprintf("%d %v %q", e.Time(), e.Level(), m))
	}
	want := `1000 INFO " INFO nul � and bad � byte\n"|990  ""`
	if s := strings.Join(got, "|"); s != want || r.Metadata().TimeZone != "Europe/Zürich" {
		t.Errorf("got %s, %q", s, r.Metadata().TimeZone)
	}
}

func TestMetadataRefused(t *testing.T) {
	for _, user := range []string{`[]`, `null`, `{`, `{} {}`, `{"_filename":1}`, `{"a":"` + strings.Repeat("x", 66_000) + `"}`} {
		if _, err := NewKVWriter(io.Discard, &KVOptions{User: []byte(user)}); err == nil {
			t.Errorf("%.30s is accepted", user)
		}
	}
	if _, err := NewTextWriter(io.Discard, &TextOptions{Version: "0.0.9"}); !errors.Is(err, ErrVersion) {
		t.Errorf("version: %v", err)
	}
}

// TestPrefixes cuts every golden stream at every byte. The events of a prefix are those of the whole, as many as fit.
func TestPrefixes(t *testing.T) {
	for _, file := range vectors(t) {
		data := readFile(t, file)
		if strings.HasSuffix(file, ".zst") {
			continue
		}
		whole, end := dump(t, bytes.NewReader(data))
		last := 0
		for n := range data {
			if n > 600 && n%17 != 0 && n != len(data)-1 {
				continue
			}
			got, err := dump(t, bytes.NewReader(data[:n]))
			ie := (*IncompleteError)(nil)
			if !errors.As(err, &ie) || ie.Offset != int64(n) || ie.Unit > int64(n) {
				t.Fatalf("%s cut at %d: %v", file, n, err)
			}
			if got == nil {
				continue
			}
			if len(got) < last || len(got) > len(whole) {
				t.Fatalf("%s cut at %d: %d events after %d", file, n, len(got)-1, last-1)
			}
			last = len(got)
			for i := range got[1:] {
				if !bytes.Equal(got[1+i], whole[1+i]) {
					t.Fatalf("%s cut at %d: event %d differs", file, n, i)
				}
			}
		}
		if end == nil && last != len(whole) {
			t.Errorf("%s: %d events without the last byte, %d with it", file, last-1, len(whole)-1)
		}
	}
}

// TestGrowing reads a stream while it is written.
func TestGrowing(t *testing.T) {
	data := readFile(t, filepath.Join(vectorDir, "15-kv4-autogen.clp"))
	src := &growing{data: data, end: 300}
	r, err := NewReader(src, nil)
	check(t, err)
	n := 0
	for {
		_, err := r.Next()
		if err == nil {
			n++
			continue
		}
		if errors.Is(err, io.ErrUnexpectedEOF) {
			src.end++
			continue
		}
		if err != io.EOF {
			t.Fatal(err)
		}
		break
	}
	if n != 6 || src.end != len(data) {
		t.Errorf("%d events, %d of %d bytes", n, src.end, len(data))
	}
}

type growing struct {
	data     []byte
	pos, end int
}

func (g *growing) Read(p []byte) (int, error) {
	n := copy(p, g.data[g.pos:g.end])
	g.pos += n
	if n == 0 {
		return 0, io.EOF
	}
	return n, nil
}

func TestZstdDamage(t *testing.T) {
	var b Builder
	var stream bytes.Buffer
	w, err := NewKVWriter(&stream, &KVOptions{Output: Output{Zstd: true}})
	check(t, err)
	r := rand.New(rand.NewPCG(7, 7))
	for range 3 {
		for range 50 {
			b.Reset()
			b.User()
			b.String("id", fmt.Sprintf("%016x", r.Uint64()))
			check(t, w.Write(&b))
		}
		check(t, w.Flush())
	}
	check(t, w.Close())
	count := func(data []byte) (n int, err error) {
		r, err := NewReader(bytes.NewReader(data), nil)
		if err != nil {
			return 0, err
		}
		defer r.Close()
		for {
			if _, err := r.Next(); err != nil {
				return n, err
			}
			n++
		}
	}
	data := stream.Bytes()
	if n, err := count(data); n != 150 || err != io.EOF {
		t.Fatalf("%d events, %v", n, err)
	}
	damaged := bytes.Clone(data)
	damaged[len(data)/2] ^= 0x10
	n, err := count(damaged)
	if ce := (*CorruptError)(nil); !errors.As(err, &ce) || n < 50 {
		t.Errorf("damaged in the second frame: %d events, %v", n, err)
	}
	n, err = count(data[:len(data)/2])
	if ie := (*IncompleteError)(nil); !errors.As(err, &ie) || n < 50 {
		t.Errorf("cut in the second frame: %d events, %v", n, err)
	}
	if _, err := count(data[:3]); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("three bytes: %v", err)
	}
}

func TestValueMessage(t *testing.T) {
	var b Builder
	b.User()
	b.String("s", "took 12.50 ms on node_7")
	b.String("plain", "word")
	r, err := NewReader(bytes.NewReader(kvStream(t, nil, &b)), nil)
	check(t, err)
	e, err := r.Next()
	check(t, err)
	q, err := encoding.ParseQuery("took * ms on node_?", false)
	check(t, err)
	var m encoding.Message
	v, ok := e.Lookup(User, "s")
	if !ok || !v.Message(&m) {
		t.Fatal("not encoded")
	}
	if hit, err := q.MatchMessage(&m); !hit || err != nil {
		t.Errorf("no hit: %v", err)
	}
	if v, _ := e.Lookup(User, "plain"); v.Message(&m) {
		t.Error("a plain string is said to be encoded")
	}
}

// failing fails after some bytes.
type failing struct{ left int }

func (f *failing) Write(p []byte) (int, error) {
	if len(p) > f.left {
		return f.left, errors.New("disk full")
	}
	f.left -= len(p)
	return len(p), nil
}

func TestWriteErrorStays(t *testing.T) {
	w, err := NewKVWriter(&failing{left: 500}, &KVOptions{Output: Output{FrameSize: 100}})
	check(t, err)
	var b Builder
	b.User()
	b.String("s", "some text")
	var first error
	for range 100 {
		if first = w.Write(&b); first != nil {
			break
		}
	}
	if first == nil || w.Write(&b) != first || w.Flush() != first || w.Close() != first {
		t.Errorf("the error did not stay: %v", first)
	}
}
