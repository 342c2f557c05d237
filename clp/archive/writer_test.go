package archive

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/tracehandler/tracehandler/event"
)

// write makes an archive of lines.
func write(t testing.TB, lines [][]byte, o *WriterOptions) []byte {
	t.Helper()
	var b bytes.Buffer
	w, err := NewWriter(&b, o)
	check(t, err)
	for _, line := range lines {
		if err := w.Write(line); err != nil {
			t.Fatalf("%v: %.200s", err, line)
		}
	}
	check(t, w.Close())
	check(t, w.Close())
	if err := w.Write([]byte("{}")); err != ErrClosed {
		t.Errorf("write after close: %v", err)
	}
	return b.Bytes()
}

func splitLines(b []byte) [][]byte {
	lines := bytes.Split(bytes.TrimSuffix(b, []byte("\n")), []byte("\n"))
	if len(lines) == 1 && len(lines[0]) == 0 {
		return nil
	}
	return lines
}

// TestWriteVectors writes what the reference's archives hold again. Nodes and dictionaries come out as the reference has
// them, and the lines are the same.
func TestWriteVectors(t *testing.T) {
	written := 0
	for _, v := range loadVectors(t) {
		variant, structured := strings.CutSuffix(v.Variant, "+structured")
		if v.Variant == "structured" {
			variant, structured = "default", true
		}
		tskey, ok := strings.CutPrefix(variant, "tskey-")
		if variant != "default" && !(ok && !strings.Contains(tskey, "+")) || len(v.Archive) != 1 || v.Archive[0].File == "" || strings.HasPrefix(v.Name, "29-kvir") || v.Ordered.Exit != 0.0 {
			continue
		}
		t.Run(v.Name+"+"+v.Variant, func(t *testing.T) {
			ref := openVector(t, v.Archive[0].File, nil)
			defer ref.Close()
			want, err := readLines(ref)
			check(t, err)
			o := &WriterOptions{Fields: []slog.Attr{slog.String("_filename", v.Name)}, Structured: structured}
			if ok {
				o.TimeKey = strings.Split(ref.Times()[0].Key, ".")
			}
			data := write(t, splitLines(want), o)
			r := openBytes(t, data, nil)
			defer r.Close()
			got, err := readLines(r)
			check(t, err)
			if !bytes.Equal(got, want) {
				g, w := splitLines(got), splitLines(want)
				for i := range g {
					if !bytes.Equal(g[i], w[i]) {
						if sameMembers(g[i], w[i]) {
							continue // the order in which the members were first seen is another one
						}
						t.Errorf("line %d:\n got %.300s\nwant %.300s", i, g[i], w[i])
						break
					}
				}
			}
			if n := v.Archive[0].Counts.Tables; structured && r.Info().Tables != n {
				t.Errorf("%d tables, want %d", r.Info().Tables, n)
			}
			if i := r.Info(); i.Records != int64(v.Archive[0].Counts.Records) || i.Version != (Version{0, 5, 1}) {
				t.Errorf("%+v", i)
			}
			if g, w := nodePaths(r), nodePaths(ref); !ok && !slices.Equal(g, w) && !strings.HasPrefix(v.Name, "30-kvir") { // whose floats have another type
				t.Errorf("nodes\n%v, want\n%v", g, w)
			}
			if size := ref.Info().Size; int64(len(data)) > size+size/25+45 {
				t.Errorf("%d bytes, the reference: %d", len(data), size)
			}
			written++
		})
	}
	if written < 20 {
		t.Errorf("only %d", written)
	}
}

// nodePaths returns the nodes of the schema tree in an order of their own.
func nodePaths(r *Reader) []string {
	var list, paths []string
	for _, n := range r.Nodes() {
		parent := ""
		if n.Parent >= 0 {
			parent = paths[n.Parent]
		}
		paths = append(paths, fmt.Sprintf("%s/%q", parent, n.Key))
		list = append(list, fmt.Sprintf("%s %v", paths[len(paths)-1], n.Type))
	}
	slices.Sort(list)
	return list
}

// sameMembers compares objects without the order of their members; numbers by their text.
func sameMembers(a, b []byte) bool {
	canonical := func(line []byte) string {
		d := json.NewDecoder(bytes.NewReader(line))
		d.UseNumber()
		var v any
		if d.Decode(&v) != nil {
			return "?"
		}
		out, _ := json.Marshal(v)
		return string(out)
	}
	return canonical(a) == canonical(b)
}

func TestWriteKeeps(t *testing.T) {
	lines := []string{
		`{}`, `{"a":{}}`, `{"a":[]}`, `{"a":null}`, `{"":1}`, `{"a":{"":{"":true}}}`, `{"a":[ 1 , {"b" : [null]}, "\u0041\n" ]}`,
		`{"n":18446744073709551615}`, `{"n":9223372036854775808}`, `{"n":-0}`, `{"n":1e400}`, `{"n":1.10}`, `{"n":100000000000000000000000.5}`, `{"n":-9223372036854775808}`,
		`{"s":"\u0011\u0012\u0013\\ user=7 0.50 -3 be"}`, `{"s":"é \"q\" \t\u0001/"}`, `{"k\"\\\u0001":"x y"}`,
		"{\"s\":\"\xff \xfe\"}",
		`{"time":"2026-01-02T03:04:05.123456789Z"}`, `{"time":"2026-01-02T03:04:05.12+02:00"}`, `{"time":"2026-01-02 03:04:05"}`, `{"time":"2026-01-02T03:04:05.10Z"}`,
		`{"time":"9999-01-02T03:04:05Z"}`, `{"time":"yesterday"}`, `{"time":1767323045}`, `{"time":1767323045.5}`, `{"time":-1.500}`, `{"time":10000000000}`, `{"time":1e9}`,
		`{"time":{"time":"2026-01-02T03:04:05Z"}}`, `{"time":"2026-02-30T03:04:05Z"}`, `{"time":"2026-01-02T03:04:05Z","x":"2026-01-02T03:04:05Z"}`, `{"time":null}`,
		`{"time":"2026-01-02T03:04:05+0530"}`, `{"time":""}`, `{"time":0}`, `{"time":-1}`, `{"time":-9223372036854775808}`,
	}
	var in [][]byte
	for _, l := range lines {
		in = append(in, []byte(l))
	}
	for _, key := range [][]string{nil, {"time"}} {
		r := openBytes(t, write(t, in, &WriterOptions{TimeKey: key}), nil)
		i := 0
		for record, err := range r.All() {
			check(t, err)
			got, err := record.AppendJSON(nil)
			check(t, err)
			if string(got) != lines[i] {
				t.Errorf("got %s, want %s", got, lines[i])
			}
			i++
		}
		if i != len(lines) || key != nil && (len(r.Times()) != 1 || r.Times()[0].Key != "time") {
			t.Errorf("%d records, times %+v", i, r.Times())
		}
		check(t, r.Close())
	}
}

// TestWriteLoses has what the format itself cannot hold, and what becomes of it without the side channel.
func TestWriteLoses(t *testing.T) {
	for in, want := range map[string]string{
		`{"a":1,"a":2}`:              `{"a":1}`,
		`{"a":1,"a":"x","a":2.5}`:    `{"a":1,"a":"x","a":2.5}`,
		` { "a" : "\u00e9\/" } `:     `{"a":"é/"}`,
		`{"a":"\ud800"}`:             "{\"a\":\"\uFFFD\"}",
		`{"a":"\ud83d\ude00"}`:       `{"a":"😀"}`,
		`{"a":{},"b":1,"a":{"c":2}}`: `{"a":{"c":2},"b":1}`,
	} {
		lines, err := readLines(openBytes(t, write(t, [][]byte{[]byte(in)}, nil), &Options{Plain: true}))
		if err != nil || string(lines) != want+"\n" {
			t.Errorf("%s: got %s, %v, want %s", in, lines, err, want)
		}
	}
	lines, err := readLines(openBytes(t, write(t, [][]byte{[]byte(`{"a":1,"b":2}`), []byte(`{"b":3,"a":4}`)}, nil), &Options{Plain: true}))
	if want := "{\"a\":1,\"b\":2}\n{\"a\":4,\"b\":3}\n"; err != nil || string(lines) != want {
		t.Errorf("got %s, %v", lines, err)
	}
}

func TestWriteErrors(t *testing.T) {
	var b bytes.Buffer
	w, err := NewWriter(&b, nil)
	check(t, err)
	var syntax *event.SyntaxError
	for _, line := range []string{``, `[1]`, `{"a":}`, `{"a":1} x`} {
		if err := w.Write([]byte(line)); !errors.As(err, &syntax) {
			t.Errorf("%s: %v", line, err)
		}
	}
	check(t, w.Write([]byte(`{"a":1}`)))
	check(t, w.WriteEvent(event.New(slog.Int("a", 2))))
	if w.Records() != 2 || b.Len() > 0 {
		t.Errorf("%d records, %d bytes before Close", w.Records(), b.Len())
	}
	check(t, w.Close())
	lines, err := readLines(openBytes(t, b.Bytes(), nil))
	if err != nil || string(lines) != "{\"a\":1}\n{\"a\":2}\n" {
		t.Errorf("got %s, %v", lines, err)
	}
	for _, o := range []WriterOptions{{Level: 20}, {Level: -1}, {Fields: []slog.Attr{slog.Any("x", []int{1})}}} {
		if _, err := NewWriter(&b, &o); err == nil {
			t.Errorf("%+v: no error", o)
		}
	}
	failed := errors.New("failed")
	w, err = NewWriter(failingWriter{failed}, nil)
	check(t, err)
	check(t, w.Write([]byte(`{}`)))
	for range 2 {
		if err := w.Close(); !errors.Is(err, failed) {
			t.Errorf("got %v", err)
		}
	}
	r := openBytes(t, write(t, nil, nil), nil)
	if _, err := r.Next(); err != io.EOF {
		t.Errorf("empty archive: %v", err)
	}
}

type failingWriter struct{ err error }

func (f failingWriter) Write([]byte) (int, error) { return 0, f.err }

// TestFull cuts a log into archives by the memory that each may take, with columns in several frames.
func TestFull(t *testing.T) {
	const n = 150_000
	line := func(i int) string {
		return fmt.Sprintf(`{"i":%d,"msg":"request %d took %d.50 ms","id":"%016x","f":%d.25,"ok":%v}`, i, i, i%1000, uint64(i)*0x9E3779B97F4A7C15, i, i%3 == 0)
	}
	for _, concurrency := range []int{1, 2} {
		var archives []*bytes.Buffer
		var w *Writer
		begin := func() {
			archives = append(archives, &bytes.Buffer{})
			var err error
			w, err = NewWriter(archives[len(archives)-1], &WriterOptions{Memory: 3 << 20, Concurrency: concurrency})
			check(t, err)
		}
		begin()
		for i := range n {
			err := w.Write([]byte(line(i)))
			if err == ErrFull {
				check(t, w.Close())
				begin()
				err = w.Write([]byte(line(i)))
			}
			check(t, err)
		}
		check(t, w.Close())
		i := 0
		for _, b := range archives {
			r := openBytes(t, b.Bytes(), nil)
			var got []byte
			for record, err := range r.All() {
				check(t, err)
				got, err = record.AppendJSON(got[:0])
				check(t, err)
				if string(got) != line(i) {
					t.Fatalf("record %d: %s, want %s", i, got, line(i))
				}
				i++
			}
			check(t, r.Close())
		}
		if i != n || len(archives) < 2 {
			t.Errorf("concurrency %d: %d records in %d archives", concurrency, i, len(archives))
		}
	}
}

// TestLittleMemory has less memory than a record takes: each archive holds one at least.
func TestLittleMemory(t *testing.T) {
	long := []byte(`{"msg":"` + strings.Repeat("long ", 100_000) + `"}`)
	for _, memory := range []int64{1, 64 << 10, 1 << 20} {
		var out bytes.Buffer
		w, err := NewWriter(&out, &WriterOptions{Memory: memory, Concurrency: 2})
		check(t, err)
		check(t, w.Write(long))
		if err := w.Write(long); err != ErrFull {
			t.Errorf("memory of %d: error %v", memory, err)
		}
		check(t, w.Close())
		check(t, w.Verify(t.Context(), bytes.NewReader(out.Bytes()), int64(out.Len())))
	}
}

// randomJSON makes a value.
func randomJSON(r *rand.Rand, depth int) string {
	words := []string{"", "a", "x y", "user=5 7.50", "\\\\ \\u0011", "2026-01-02T03:04:05Z", "é", "-0.5", "be 007", "\\n"}
	switch n := r.IntN(12); {
	case n < 2 && depth < 4:
		var members []string
		keys := []string{"a", "b", "c.d", "", "time", "k\\n"}
		for _, k := range r.Perm(len(keys))[:r.IntN(4)] {
			members = append(members, fmt.Sprintf(`"%s":%s`, keys[k], randomJSON(r, depth+1)))
		}
		return "{" + strings.Join(members, ",") + "}"
	case n < 3 && depth < 4:
		var list []string
		for range r.IntN(4) {
			list = append(list, randomJSON(r, depth+1))
		}
		return "[" + strings.Join(list, ", ") + "]"
	case n < 7:
		return `"` + words[r.IntN(len(words))] + `"`
	case n < 8:
		return fmt.Sprint(r.Int64() >> r.IntN(64) * int64(1-2*r.IntN(2)))
	case n < 10:
		return []string{"1.5", "-0.0", "1e5", "2.50E+03", "1e-400", "-0", "18446744073709551615", "0.1", "1767323045.250"}[r.IntN(9)]
	}
	return []string{"true", "false", "null"}[r.IntN(3)]
}

func TestWriteRandom(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	for range 60 {
		var lines [][]byte
		for len(lines) < 100 {
			if s := randomJSON(random, 0); s[0] == '{' {
				lines = append(lines, []byte(s))
			}
		}
		r := openBytes(t, write(t, lines, &WriterOptions{TimeKey: []string{"time"}, Level: 1 + random.IntN(4), Structured: random.IntN(2) == 0}), nil)
		i := 0
		for record, err := range r.All() {
			check(t, err)
			got, err := record.AppendJSON(nil)
			check(t, err)
			if !sameMembers(got, lines[i]) {
				t.Fatalf("got %s, want %s", got, lines[i])
			}
			i++
		}
		check(t, r.Close())
	}
}

// TestWriteRefuses changes lines: the writer takes what package event takes, and says what it says.
func TestWriteRefuses(t *testing.T) {
	random := rand.New(rand.NewPCG(9, 10))
	alphabet := "{}[]:,\"\\ue01.-+tfn \t\x01"
	var writers []*Writer
	for _, structured := range []bool{false, true} {
		w, err := NewWriter(io.Discard, &WriterOptions{Structured: structured, TimeKey: []string{"time"}})
		check(t, err)
		defer w.Abort()
		writers = append(writers, w)
	}
	refused := 0
	for range 20_000 {
		line := []byte(randomMembers(random, 0))
		for range 1 + random.IntN(2) {
			at := random.IntN(len(line))
			switch random.IntN(3) {
			case 0:
				line[at] = alphabet[random.IntN(len(alphabet))]
			case 1:
				line = slices.Delete(line, at, at+1)
			default:
				line = slices.Insert(line, at, alphabet[random.IntN(len(alphabet))])
			}
			if len(line) == 0 {
				line = []byte("x")
			}
		}
		_, want := event.Parse(line)
		if want != nil {
			refused++
		}
		for _, w := range writers {
			nodes := len(w.nodes)
			err := w.Write(line)
			if (err == nil) != (want == nil) || err != nil && err.Error() != want.Error() {
				t.Fatalf("%q: %v, want %v", line, err, want)
			}
			if err != nil && len(w.nodes) != nodes {
				t.Fatalf("%q: a line that was refused left nodes", line)
			}
		}
	}
	if refused < 5000 || refused > 19_000 {
		t.Errorf("%d refused", refused)
	}
	deep := func(n int) []byte {
		return []byte(strings.Repeat(`{"a":`, n-1) + "{}" + strings.Repeat("}", n-1))
	}
	for _, line := range [][]byte{deep(event.MaxDepth + 1), []byte(`{"a":` + strings.Repeat("[", event.MaxDepth) + strings.Repeat("]", event.MaxDepth) + "}")} {
		for _, w := range writers {
			if err := w.Write(line); !errors.Is(err, event.ErrDepth) {
				t.Errorf("%d levels: %v", len(line), err)
			}
		}
	}
	check(t, writers[0].Write(deep(event.MaxDepth)))
}

// FuzzWriter writes any line, and a known one, and reads them again.
func FuzzWriter(f *testing.F) {
	for _, l := range []string{`{"a":[1,{"b":"c d"}]}`, `{"time":"2026-01-02T03:04:05.5Z","f":1.50e-3}`, `{"a":1,"a":2,"":{"x":"\u0011 \ud800"}}`} {
		f.Add([]byte(l))
	}
	f.Add([]byte("{\"\":[{\"\xd3\":\"\"}]}"))
	f.Fuzz(func(t *testing.T, line []byte) {
		if _, want := event.Parse(line); want != nil {
			w, err := NewWriter(io.Discard, nil)
			check(t, err)
			if err := w.Write(line); err == nil || err.Error() != want.Error() {
				t.Fatalf("%q: %v, want %v", line, err, want)
			}
			w.Abort()
			return
		}
		known := []byte(`{"a":"b c","time":1767323045}`)
		for _, structured := range []bool{false, true} {
			w, err := NewWriter(io.Discard, &WriterOptions{Structured: structured})
			check(t, err)
			check(t, w.Write(line))
			w.Abort()
		}
		lines, err := readLines(openBytes(t, write(t, [][]byte{line, known}, &WriterOptions{TimeKey: []string{"time"}}), nil))
		check(t, err)
		again, err := readLines(openBytes(t, write(t, [][]byte{bytes.TrimSuffix(lines[:bytes.LastIndex(lines[:len(lines)-1], []byte("\n"))+1], []byte("\n")), known}, nil), nil))
		check(t, err)
		if bytes.ContainsAny(line, "\n") { // inside an array
			return
		}
		got := splitLines(again)
		if len(got) != 2 || !sameMembers(got[1], known) || !sameMembers(got[0], splitLines(lines)[0]) {
			t.Fatalf("%q became %q, then %q", line, lines, again)
		}
	})
}

func TestFloatFormat(t *testing.T) {
	for text, want := range map[string]uint16{
		"1.50": 0x0040, "0.001": 0, "1e5": 0x4000, "-1.25E+03": 0xD440, "100.0": 0x0060, "1e-7": 0x6000, "1.0e10": 0x4420, "0.30000000000000004": 0x0200,
		"4.9E-324": 0xe820, "0.00000": 0x00a0,
	} {
		if got, ok := floatFormat([]byte(text)); !ok || got != want {
			t.Errorf("%s: %#04x, %v, want %#04x", text, got, ok, want)
		}
	}
	for _, text := range []string{"10.00e2", "1e00005", "123456789012345678.0"} {
		if got, ok := floatFormat([]byte(text)); ok {
			t.Errorf("%s: %#04x", text, got)
		}
	}
}
