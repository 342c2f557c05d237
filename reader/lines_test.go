package reader

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
)

func TestNewlines(t *testing.T) {
	for _, c := range []struct {
		text          string
		universal, lf []string
	}{
		{"", nil, nil},
		{"a", []string{"a"}, []string{"a"}},
		{"a\n", []string{"a"}, []string{"a"}},
		{"a\nb", []string{"a", "b"}, []string{"a", "b"}},
		{"a\r\nb\r\n", []string{"a", "b"}, []string{"a\r", "b\r"}},
		{"a\rb\r", []string{"a", "b"}, []string{"a\rb\r"}},
		{"a\r\r\nb\n\r", []string{"a", "", "b", ""}, []string{"a\r\r", "b", "\r"}},
		{"\r\n\n\r\r\n", []string{"", "", "", ""}, []string{"\r", "", "\r\r"}},
		{"a\u2028b\u0085c\vd\fe\x1cf\n", []string{"a\u2028b\u0085c\vd\fe\x1cf"}, []string{"a\u2028b\u0085c\vd\fe\x1cf"}},
		{"\xef\xbb\xbfa\n\xef\xbb\xbfb\n", []string{"a", "\xef\xbb\xbfb"}, []string{"\xef\xbb\xbfa", "\xef\xbb\xbfb"}},
		{"\xff\n\x00\n", []string{"\xff", "\x00"}, []string{"\xff", "\x00"}},
	} {
		for _, w := range ways {
			for n, want := range [][]string{Universal: c.universal, LF: c.lf} {
				o := w.o
				o.Newlines = Newlines(n)
				g := readLines(t, w.src([]byte(c.text)), &o)
				if len(g.errs) > 0 || !slices.Equal(g.events, want) {
					t.Errorf("%s, kind %d: %q gives %q, %v; want %q", w.name, n, c.text, g.events, g.errs, want)
				}
			}
		}
	}
}

// TestNewlinesAcrossReads splits a text with every kind of line end at every place.
func TestNewlinesAcrossReads(t *testing.T) {
	text := "ab\r\ncd\r\r\n\n\r\nef\rgh\n"
	want := readLines(t, strings.NewReader(text), nil).events
	for at := range len(text) {
		src := io.MultiReader(strings.NewReader(text[:at]), strings.NewReader(text[at:]))
		if g := readLines(t, src, nil); !slices.Equal(g.events, want) {
			t.Errorf("split at %d: %q", at, g.events)
		}
		// The same across frames.
		data := append(zstdFrame(t, []byte(text[:at])), zstdFrame(t, []byte(text[at:]))...)
		if g := readLines(t, onlyReader{bytes.NewReader(data)}, nil); !slices.Equal(g.events, want) {
			t.Errorf("frames split at %d: %q", at, g.events)
		}
	}
	if g := readLines(t, iotest.OneByteReader(strings.NewReader(text)), nil); !slices.Equal(g.events, want) {
		t.Errorf("byte by byte: %q", g.events)
	}
}

func TestOffsets(t *testing.T) {
	text := "{\"n\":1}\r\n\n  {\"n\":2}  \nbad\n{\"n\":3}"
	for _, w := range ways {
		o := w.o
		r, err := New(w.src([]byte(text)), &o)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for l, err := range r.Lines() {
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, fmt.Sprintf("%d@%d:%s:%v", l.Number, l.Offset, l.Raw, l.Open))
		}
		want := `1@0:{"n":1}:false|2@9::false|3@10:  {"n":2}  :false|4@22:bad:false|5@26:{"n":3}:true`
		if s := strings.Join(got, "|"); s != want {
			t.Errorf("%s: got %s", w.name, s)
		}
		r.Close()
	}
}

func TestLongLines(t *testing.T) {
	long := `{"s":"` + strings.Repeat("x", 700_000) + `"}`
	text := []byte(`{"n":1}` + "\n" + long + "\r\n" + `{"n":2}` + "\n" + long)
	for _, data := range [][]byte{text, zstdFrame(t, text), gzipMember(t, text)} {
		for _, w := range ways[:3] {
			o := w.o
			if g := read(t, w.src(data), &o); len(g.errs) > 0 || !slices.Equal(g.events, []string{`{"n":1}`, long, `{"n":2}`, long}) {
				t.Fatalf("%s: %d events, %v", w.name, len(g.events), g.errs)
			}
			for _, limit := range []int{1000, 300_000, len(long) - 1} {
				o.MaxLine = limit
				g := read(t, w.src(data), &o)
				var a, b *LineError
				if len(g.errs) != 2 || !errors.As(g.errs[0], &a) || !errors.As(g.errs[1], &b) || a.Line != 2 || b.Line != 4 || a.Offset != 8 {
					t.Fatalf("%s, limit %d: %v", w.name, limit, g.errs)
				}
				if !slices.Equal(g.events, []string{`{"n":1}`, `{"n":2}`}) {
					t.Fatalf("%s, limit %d: %d events", w.name, limit, len(g.events))
				}
			}
			o.MaxLine = len(long)
			if g := read(t, w.src(data), &o); len(g.errs) > 0 || len(g.events) != 4 {
				t.Fatalf("%s: a line of exactly the limit: %v", w.name, g.errs)
			}
		}
	}
}

// TestLongLineMemory reads a line of 256 MiB that is not to be delivered.
func TestLongLineMemory(t *testing.T) {
	src := io.MultiReader(io.LimitReader(same('x'), 256<<20), strings.NewReader("\n{\"n\":1}\n"))
	o := Options{MaxLine: 1 << 20}
	before := allocated()
	g := read(t, src, &o)
	if grown := allocated() - before; grown > 32<<20 {
		t.Errorf("allocated %d bytes", grown)
	}
	if len(g.errs) != 1 || len(g.events) != 1 {
		t.Fatalf("%d events, %v", len(g.events), g.errs)
	}
	if !strings.Contains(g.errs[0].Error(), "not of 268435456") {
		t.Error(g.errs[0])
	}
}

// same is an endless source of one byte.
type same byte

func (s same) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = byte(s)
	}
	return len(p), nil
}

func TestPrefixes(t *testing.T) {
	text := "starting up\n" +
		`I1130 10:00:00.000000 123 file.go:7] {"n":1}` + "\n" +
		`	I1130 [{] file.go:8] {"n":{"m":2}} ` + "\n" +
		`{"n":3}` + "\n" +
		`W1130 nothing here` + "\n" +
		`E1130 {broken}` + "\n"
	g := read(t, strings.NewReader(text), nil)
	if g.r.Kind() != PrefixedLines || !slices.Equal(g.events, []string{`{"n":1}`, `{"n":{"m":2}}`, `{"n":3}`}) || len(g.errs) != 3 {
		t.Fatalf("%v: %q, %v", g.r.Kind(), g.events, g.errs)
	}
	r, err := New(strings.NewReader(text), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	var got []string
	for l := range r.Lines() {
		got = append(got, string(l.Prefix)+"|"+string(l.Text))
	}
	want := []string{
		"|starting up", `I1130 10:00:00.000000 123 file.go:7] |{"n":1}`, `	I1130 [{] file.go:8] |{"n":{"m":2}} `, `|{"n":3}`,
		"|W1130 nothing here", "|E1130 {broken}",
	}
	if !slices.Equal(got, want) {
		t.Fatalf("got %q", got)
	}
	// In a trace that begins with an object, text before an object is garbage, as for any other reader of NDJSON.
	g = read(t, strings.NewReader("{\"n\":1}\nx {\"n\":2}\n"), nil)
	if g.r.Kind() != JSONLines || len(g.events) != 1 || len(g.errs) != 1 {
		t.Fatalf("%v: %q, %v", g.r.Kind(), g.events, g.errs)
	}
}

func TestInvalidUTF8(t *testing.T) {
	g := read(t, strings.NewReader("{\"s\":\"a\xffb\"}\n{\"s\":\"ok\"}\nbad\xff\n"), nil)
	if len(g.events) != 2 || g.events[0] != "{\"s\":\"a\xffb\"}" || len(g.errs) != 2 {
		t.Fatalf("%q, %v", g.events, g.errs)
	}
	var e *LineError
	if !errors.As(g.errs[0], &e) || e.Line != 1 || e.Column != 7 || e.Expected != "valid UTF-8" {
		t.Fatalf("%+v", g.errs[0])
	}
	if s := g.r.Stats(); s.Events != 2 || s.Bad != 2 || s.Lines != 3 {
		t.Fatalf("%+v", s)
	}
}

func TestStop(t *testing.T) {
	g := read(t, strings.NewReader("{\"n\":1}\nbad\n{\"n\":2}\n"), &Options{OnBad: Stop})
	if len(g.events) != 1 || len(g.errs) != 1 {
		t.Fatalf("%q, %v", g.events, g.errs)
	}
}

func TestReadError(t *testing.T) {
	broken := errors.New("broken disk")
	events, _ := testEvents(9)
	for _, p := range packers {
		file := pack(t, events, 3, p.frame)
		for _, at := range []int{0, 5, file.start[1], file.start[1] + 30} {
			src := io.MultiReader(bytes.NewReader(file.data[:at]), iotest.ErrReader(broken))
			g := read(t, src, nil)
			if n := len(g.errs); n != 1 || !errors.Is(g.errs[0], broken) || !strings.Contains(g.errs[0].Error(), fmt.Sprintf("test: offset %d", at)) {
				t.Errorf("%s, %d: %v", p.name, at, g.errs)
			}
			if at >= file.start[1] && len(g.events) < 3 {
				t.Errorf("%s, %d: only %d events", p.name, at, len(g.events))
			}
		}
	}
}

func TestOptionErrors(t *testing.T) {
	for _, o := range []Options{{MaxLine: -1}, {MaxWindow: -1}, {Parallel: -1}, {OnBad: 7}, {Newlines: 7}} {
		if _, err := New(strings.NewReader(""), &o); err == nil {
			t.Errorf("%+v is taken", o)
		}
	}
}
