package ir

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
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

func TestLimits(t *testing.T) {
	var b Builder
	b.User()
	for i := range 20 {
		b.Int(fmt.Sprint("k", i), 1)
	}
	b.String("s", strings.Repeat("x", 1000))
	var deep Builder
	for range 20 {
		deep.Open("d")
	}
	deep.Int("x", 1)
	for range 20 {
		deep.Close()
	}
	stream := kvStream(t, nil, &b, &deep)
	tests := []struct {
		what   string
		limits Limits
		write  *Builder
	}{
		{"keys", Limits{Keys: 10}, &b},
		{"levels of nesting", Limits{Depth: 10}, &deep},
		{"bytes of an event", Limits{Event: 500}, &b},
	}
	for _, tt := range tests {
		r, err := NewReader(bytes.NewReader(stream), &ReaderOptions{Limits: tt.limits})
		check(t, err)
		for err == nil {
			_, err = r.Next()
		}
		if le := (*LimitError)(nil); !errors.As(err, &le) || le.What != tt.what {
			t.Errorf("%s: reader: %v", tt.what, err)
		}
		enc := NewEncoder(FourByte, tt.limits)
		_, err = enc.Append(nil, tt.write)
		if le := (*LimitError)(nil); !errors.As(err, &le) || le.What != tt.what || enc.Keys() != 0 {
			t.Errorf("%s: encoder: %v, %d keys", tt.what, err, enc.Keys())
		}
	}
}

// TestHugeClaims feeds lengths that the input does not back.
func TestHugeClaims(t *testing.T) {
	text, err := AppendPreamble(nil, FourByte, &Metadata{Version: VersionText})
	check(t, err)
	kv, err := AppendPreamble(nil, FourByte, &Metadata{Version: VersionKV})
	check(t, err)
	var b Builder
	b.User()
	b.String("s", "")
	kv, err = NewEncoder(FourByte, Limits{}).Append(kv, &b)
	check(t, err)
	tests := map[string][]byte{
		"logtype":    append(bytes.Clone(text), tagLogtype32, 0x7F, 0xFF, 0xFF, 0xFF),
		"dictionary": append(bytes.Clone(text), tagDict32, 0x7F, 0xFF, 0xFF, 0xFF),
		"string":     append(bytes.Clone(kv), tagID8, 1, tagString32, 0xFF, 0xFF, 0xFF, 0xFF),
		"key":        append(bytes.Clone(kv), byte(nodeInt), tagParent8, 0, tagString32, 0xFF, 0xFF, 0xFF, 0xFF),
		"16 MiB":     append(bytes.Clone(text), tagLogtype32, 0x01, 0, 0, 0),
	}
	for name, data := range tests {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		r, err := NewReader(bytes.NewReader(data), nil)
		check(t, err)
		for err == nil {
			_, err = r.Next()
		}
		runtime.ReadMemStats(&after)
		var le *LimitError
		if !errors.Is(err, io.ErrUnexpectedEOF) && !errors.As(err, &le) {
			t.Errorf("%s: %v", name, err)
		}
		if n := after.TotalAlloc - before.TotalAlloc; n > 1<<20 {
			t.Errorf("%s: allocated %d bytes", name, n)
		}
	}
}

// TestHostileMemory reads the streams that cost a reader most: nothing but keys, and one event that uses them all.
func TestHostileMemory(t *testing.T) {
	enc := NewEncoder(FourByte, Limits{})
	stream, err := AppendPreamble(nil, FourByte, &Metadata{Version: VersionKV})
	check(t, err)
	var ids []byte
	n := Limits{}.withDefaults().Keys
	for i := range n {
		key := fmt.Appendf(nil, "%x", i)
		if _, err := enc.key(enc.user, 0, 0, key, nodeInt); err != nil {
			t.Fatal(err)
		}
		ids = appendID(ids, tagID8, int32(i+1))
	}
	stream = append(append(stream, enc.inserts...), ids...)
	for range n {
		stream = append(stream, tagInt8, 1)
	}
	stream = append(stream, tagEnd)
	enc, ids = nil, nil
	src := &sampler{src: bytes.NewReader(stream)}
	src.sample()
	base := src.peak
	r, err := NewReader(src, nil)
	check(t, err)
	_, err = r.Next()
	check(t, err)
	src.sample()
	got, bar := src.peak-base, 2*uint64(len(stream))+16<<20
	t.Logf("%d keys in %d bytes: %d bytes of memory", r.Keys(), len(stream), got)
	if got > bar {
		t.Errorf("%d bytes of memory, at most %d", got, bar)
	}
	runtime.KeepAlive(r)
}

// sampler looks at the memory in use before each read.
type sampler struct {
	src  io.Reader
	peak uint64
}

func (s *sampler) sample() {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	s.peak = max(s.peak, m.HeapAlloc)
}

func (s *sampler) Read(p []byte) (int, error) {
	s.sample()
	return s.src.Read(p)
}

func TestReopen(t *testing.T) {
	for _, zstd := range []bool{false, true} {
		for _, kind := range []string{"kv", "text"} {
			t.Run(fmt.Sprintf("%s zstd %v", kind, zstd), func(t *testing.T) { testReopen(t, kind == "text", zstd) })
		}
	}
}

// testReopen cuts a stream at many places, opens it again, goes on, and reads all.
func testReopen(t *testing.T, text, zstd bool) {
	out := Output{Zstd: zstd, FrameSize: 400}
	write := func(kv *KVWriter, tw *TextWriter, i int) error {
		if text {
			return tw.Write(int64(1000+i*i), fmt.Appendf(nil, " INFO event %d took %d.5 ms\n", i, i))
		}
		var b Builder
		b.Int("n", int64(i))
		b.User()
		b.String(fmt.Sprint("key", i%7), fmt.Sprintf("event %d took %d.5 ms", i, i))
		return kv.Write(&b)
	}
	var stream bytes.Buffer
	var kv *KVWriter
	var tw *TextWriter
	var err error
	if text {
		tw, err = NewTextWriter(&stream, &TextOptions{Output: out, Reference: 1000})
	} else {
		kv, err = NewKVWriter(&stream, &KVOptions{Output: out})
	}
	check(t, err)
	for i := range 60 {
		check(t, write(kv, tw, i))
	}
	if text {
		check(t, tw.Close())
	} else {
		check(t, kv.Close())
	}
	whole, end := dump(t, bytes.NewReader(stream.Bytes()))
	check(t, end)
	name := filepath.Join(t.TempDir(), "stream")
	opened := 0
	for cut := 1; cut <= stream.Len(); cut++ {
		if cut%19 != 0 && cut < stream.Len()-20 {
			continue
		}
		before, endBefore := dump(t, bytes.NewReader(stream.Bytes()[:cut]))
		check(t, os.WriteFile(name, stream.Bytes()[:cut], 0o600))
		f, err := os.OpenFile(name, os.O_RDWR, 0)
		check(t, err)
		var info Reopened
		if text {
			tw, info, err = ReopenText(f, &TextOptions{Output: out})
		} else {
			kv, info, err = ReopenKV(f, &KVOptions{Output: out})
		}
		if before == nil { // cut in the preamble
			if !errors.Is(err, io.ErrUnexpectedEOF) {
				t.Fatalf("cut at %d: %v", cut, err)
			}
			check(t, f.Close())
			continue
		}
		if err != nil || info.Ended != (endBefore == nil) || int(info.Events) != len(before)-1 {
			t.Fatalf("cut at %d: %+v, %v; %d events, %v", cut, info, err, len(before)-1, endBefore)
		}
		opened++
		for i := info.Events; i < 60; i++ {
			check(t, write(kv, tw, int(i)))
		}
		if text {
			check(t, tw.Close())
		} else {
			check(t, kv.Close())
		}
		check(t, f.Close())
		got, end := dump(t, bytes.NewReader(readFile(t, name)))
		check(t, end)
		if len(got) != len(whole) {
			t.Fatalf("cut at %d: %d events, want %d", cut, len(got)-1, len(whole)-1)
		}
		for i := range got {
			if !bytes.Equal(got[i], whole[i]) {
				t.Fatalf("cut at %d: line %d: %s, want %s", cut, i, got[i], whole[i])
			}
		}
	}
	if opened < 20 {
		t.Errorf("only %d cuts were opened again", opened)
	}
	f, err := os.Open(name)
	check(t, err)
	defer f.Close()
	if text {
		_, _, err = ReopenKV(f, nil)
	} else {
		_, _, err = ReopenText(f, nil)
	}
	if err != ErrKind {
		t.Errorf("the other kind: %v", err)
	}
}

func TestReopenGolden(t *testing.T) {
	// Streams whose frames were cut by others: inside the magic, inside events, with skippable and empty frames.
	for _, name := range []string{"22-kv4-frames.clp.zst", "23-kv4-truncated.clp.zst"} {
		data := readFile(t, filepath.Join(vectorDir, name))
		before, _ := dump(t, bytes.NewReader(data))
		path := filepath.Join(t.TempDir(), name)
		check(t, os.WriteFile(path, data, 0o600))
		f, err := os.OpenFile(path, os.O_RDWR, 0)
		check(t, err)
		w, _, err := ReopenKV(f, nil)
		check(t, err)
		var b Builder
		b.User()
		b.String("added", "one more")
		check(t, w.Write(&b))
		check(t, w.Close())
		check(t, f.Close())
		after, end := dump(t, bytes.NewReader(readFile(t, path)))
		check(t, end)
		if len(after) != len(before)+1 {
			t.Fatalf("%s: %d events after %d", name, len(after)-1, len(before)-1)
		}
		for i := range before[1:] {
			if !bytes.Equal(before[1+i], after[1+i]) {
				t.Errorf("%s: event %d changed", name, i)
			}
		}
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
