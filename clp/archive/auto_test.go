package archive

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"testing"
	"unicode/utf8"

	"github.com/tracehandler/tracehandler/event"
	"github.com/tracehandler/tracehandler/internal/jsontext"
)

// twoObjects is a record: what the user said, and what the logging library added.
type twoObjects struct{ line, auto string }

func writeTwo(t testing.TB, records []twoObjects, o *WriterOptions) []byte {
	t.Helper()
	var out bytes.Buffer
	w, err := NewWriter(&out, o)
	check(t, err)
	for _, r := range records {
		check(t, w.WriteAuto([]byte(r.line), []byte(r.auto)))
	}
	check(t, w.Close())
	if o == nil || !o.Structured {
		check(t, w.Verify(context.Background(), bytes.NewReader(out.Bytes()), int64(out.Len())))
	}
	return out.Bytes()
}

func checkTwo(t *testing.T, records []twoObjects, data []byte) {
	t.Helper()
	r := openBytes(t, data, nil)
	defer r.Close()
	i := 0
	for record, err := range r.All() {
		check(t, err)
		line, err := record.AppendJSON(nil)
		check(t, err)
		auto, err := record.AppendAuto(nil)
		check(t, err)
		want := records[i]
		if want.auto == "" {
			want.auto = "{}"
		}
		if !event.Equal(event.Lazy(line), event.Lazy([]byte(want.line))) || !event.Equal(event.Lazy(auto), event.Lazy([]byte(want.auto))) {
			t.Fatalf("record %d: %s %s, want %s %s", i, line, auto, want.line, want.auto)
		}
		i++
	}
	if i != len(records) {
		t.Fatalf("%d records, want %d", i, len(records))
	}
	r = openBytes(t, data, nil) // what is chosen of a record does not concern the other namespace
	defer r.Close()
	check(t, r.Project("b"))
	record, err := r.Next()
	check(t, err)
	if auto, err := record.AppendAuto(nil); err != nil || !event.Equal(event.Lazy(auto), event.Lazy([]byte(cmpEmpty(records[0].auto)))) {
		t.Fatalf("projected: %s, %v; want %s", auto, err, records[0].auto)
	}
}

func cmpEmpty(auto string) string {
	if auto == "" {
		return "{}"
	}
	return auto
}

// TestWriteAuto writes random records of two namespaces, among them such with keys that come twice and in any order.
func TestWriteAuto(t *testing.T) {
	random := rand.New(rand.NewPCG(8, 9))
	for i := range 60 {
		var records []twoObjects
		for range 100 {
			r := twoObjects{line: randomMembers(random, 0)}
			if random.IntN(4) > 0 {
				r.auto = randomMembers(random, 0)
			}
			records = append(records, r)
		}
		o := &WriterOptions{TimeKey: []string{"a"}, TimeAuto: i%2 == 0, Structured: i%3 == 0, Concurrency: 1 + i%2}
		checkTwo(t, records, writeTwo(t, records, o))
	}
}

// TestRowAuto writes random records of two namespaces as rows and as text: the archives are the same.
func TestRowAuto(t *testing.T) {
	random := rand.New(rand.NewPCG(10, 11))
	for i := range 20 {
		o := &WriterOptions{TimeKey: []string{"time"}, TimeAuto: i%2 == 0}
		var rows bytes.Buffer
		w, err := NewWriter(&rows, o)
		check(t, err)
		var records []twoObjects
		for range 200 {
			addUser, line := randomObject(random, 0)
			addAuto, auto := randomObject(random, 0)
			row := w.Row()
			addUser(row)
			if row.Auto(); random.IntN(4) > 0 {
				addAuto(row)
			} else {
				auto = "{}"
			}
			records = append(records, twoObjects{line, auto})
			if want := int64(len(line) + len(auto)); row.Len() != want {
				t.Fatalf("%s %s: length %d, want %d", line, auto, row.Len(), want)
			}
			if err := row.Write(); errors.Is(err, ErrUnfit) {
				check(t, w.WriteAuto([]byte(line), []byte(auto)))
			} else {
				check(t, err)
			}
		}
		check(t, w.Close())
		checkTwo(t, records, rows.Bytes())
		if want := writeTwo(t, records, o); !bytes.Equal(rows.Bytes(), want) {
			t.Error("the archives differ")
		}
	}
}

// TestAutoTime has the time of an archive among the keys of the other namespace.
func TestAutoTime(t *testing.T) {
	records := []twoObjects{{`{"ts":1700000000001}`, `{"ts":1700000000001,"x":{}}`}, {`{"ts":1700000000000}`, ``}, {`{}`, `{"ts":1700000000003}`}}
	r := openBytes(t, writeTwo(t, records, &WriterOptions{TimeKey: []string{"ts"}, TimeAuto: true}), nil)
	defer r.Close()
	times := r.Times()
	if len(times) != 1 || times[0].Key != "@ts" || times[0].Begin != 1700000000001 || times[0].End != 1700000000003 {
		t.Errorf("times %+v", times)
	}
	if n := r.Nodes()[times[0].Nodes[0]]; n.Type != Timestamp || r.Nodes()[n.Parent].Key != "@" {
		t.Errorf("node %+v", n)
	}
}

// TestAutoErrors has text that is no record: it leaves nothing behind.
func TestAutoErrors(t *testing.T) {
	var out bytes.Buffer
	w, err := NewWriter(&out, nil)
	check(t, err)
	for _, r := range []twoObjects{{`{"a":1}`, `{"b":1`}, {`{"a":1`, `{"b":1}`}, {`{}`, `[]`}, {``, `{"b":1}`}, {`{"a":1}{}`, `{"b":1}`}} {
		var syntax *event.SyntaxError
		if err := w.WriteAuto([]byte(r.line), []byte(r.auto)); !errors.As(err, &syntax) {
			t.Errorf("%s %s: error %v", r.line, r.auto, err)
		}
	}
	row := w.Row()
	row.Open("a")
	row.Auto()
	if err := row.Write(); !errors.Is(err, ErrUnfit) {
		t.Errorf("inside an object: %v", err)
	}
	row = w.Row()
	row.Auto()
	row.Auto()
	if err := row.Write(); !errors.Is(err, ErrUnfit) {
		t.Errorf("twice: %v", err)
	}
	check(t, w.Write([]byte(`{"c":1}`)))
	check(t, w.Close())
	if got := len(openBytes(t, out.Bytes(), nil).Nodes()); got != 4 {
		t.Errorf("%d nodes, want 4", got)
	}
}

// TestVerifyAuto compares archives whose records differ in the other namespace only.
func TestVerifyAuto(t *testing.T) {
	base := []twoObjects{{`{"a":1}`, `{"x":"v","y":[1],"z":null}`}, {`{"a":1}`, `{"x":"v","x":"w"}`}, {`{}`, `{"x":"v"}`}}
	var out bytes.Buffer
	w, err := NewWriter(&out, nil)
	check(t, err)
	for _, r := range base {
		check(t, w.WriteAuto([]byte(r.line), []byte(r.auto)))
	}
	check(t, w.Close())
	check(t, w.Verify(context.Background(), bytes.NewReader(out.Bytes()), int64(out.Len())))
	for i, other := range []twoObjects{{`{"a":1}`, `{"x":"w","y":[1],"z":null}`}, {`{"a":1}`, `{"x":"v","x":"v"}`}, {`{"x":"v"}`, ``}} {
		changed := append([]twoObjects(nil), base...)
		changed[i] = other
		data := writeTwo(t, changed, nil)
		if err := w.Verify(context.Background(), bytes.NewReader(data), int64(len(data))); !errors.Is(err, ErrDiffers) {
			t.Errorf("%+v: error %v", other, err)
		}
	}
}

// TestSources says where records come from.
func TestSources(t *testing.T) {
	var out bytes.Buffer
	any := []any{int64(1), "x", nil, event.New(slog.Bool("k", true))}
	w, err := NewWriter(&out, &WriterOptions{Fields: []slog.Attr{slog.String("_filename", "a"), slog.Any("list", any), slog.Any("null", nil)}})
	check(t, err)
	for i := range 5 {
		if i == 2 || i == 4 {
			check(t, w.NextSource([]slog.Attr{slog.String("_filename", fmt.Sprint("from ", i)), slog.Group("g", slog.Float64("f", 0.5))}))
		}
		check(t, w.Write(fmt.Appendf(nil, `{"i":%d}`, i)))
	}
	if err := w.NextSource([]slog.Attr{slog.Any("x", struct{}{})}); err == nil {
		t.Error("no error")
	}
	check(t, w.Close())
	r := openBytes(t, out.Bytes(), nil)
	defer r.Close()
	got := ""
	for _, part := range r.Ranges() {
		got += fmt.Sprintf("%d %d %s\n", part.Start, part.End, part.Fields.AppendJSON(nil))
	}
	want := `0 2 {"_filename":"a","list":[1,"x",null,{"k":true}],"null":null}
2 4 {"_filename":"from 2","g":{"f":0.5}}
4 5 {"_filename":"from 4","g":{"f":0.5}}
`
	if got != want {
		t.Errorf("got\n%s, want\n%s", got, want)
	}
}

// FuzzAuto writes any two objects, among others, and reads them back.
func FuzzAuto(f *testing.F) {
	for _, r := range []twoObjects{{`{"a":1}`, `{"a":1,"b":{"c":[1,"x y"]}}`}, {`{}`, `{"":null}`}, {`{"a":1,"a":2}`, `{"b":{}}`}, {`{"a":{"b":1},"c":2,"a":{"d":3}}`, `{"x":1,"x":1}`}} {
		f.Add([]byte(r.line), []byte(r.auto))
	}
	f.Fuzz(func(t *testing.T, line, auto []byte) {
		_, errLine := event.Parse(line)
		_, errAuto := event.Parse(auto)
		if errLine != nil || errAuto != nil || !utf8.Valid(line) || !utf8.Valid(auto) || jsontext.HalfPair(line) >= 0 || jsontext.HalfPair(auto) >= 0 {
			return // what is not Unicode becomes U+FFFD
		}
		records := []twoObjects{{`{"b":"known"}`, `{"a":"known"}`}, {string(line), string(auto)}, {string(auto), string(line)}, {string(line), ""}}
		data := writeTwo(t, records, &WriterOptions{TimeKey: []string{"a"}, TimeAuto: len(line)%2 == 0})
		r := openBytes(t, data, nil)
		defer r.Close()
		for _, want := range records {
			record, err := r.Next()
			check(t, err)
			line, err := record.AppendJSON(nil)
			check(t, err)
			auto, err := record.AppendAuto(nil)
			check(t, err)
			if !event.Equal(event.Lazy(line), event.Lazy([]byte(want.line))) || !event.Equal(event.Lazy(auto), event.Lazy([]byte(cmpEmpty(want.auto)))) {
				t.Fatalf("%s %s became %s %s", want.line, want.auto, line, auto)
			}
		}
	})
}
