package reader

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/tracehandler/tracehandler/clp/archive"
	"github.com/tracehandler/tracehandler/clp/ir"
	"github.com/tracehandler/tracehandler/clp/kql"
	"github.com/tracehandler/tracehandler/event"
	"github.com/tracehandler/tracehandler/internal/origin"
)

// foreignName is the name of the streams of this file.
const foreignName = "other.clp"

// foreignMetadata is what they say of themselves.
const foreignMetadata = `{"host":"node-07","run":{"id":42,"ok":true,"tag":null},"ratio":0.5,"arr":[1,"x"]}`

// randomPairs adds members to b; no two of an object have the same key.
func randomPairs(random *rand.Rand, b *ir.Builder, depth int, keys ...string) {
	pick := func(list ...string) string { return list[random.IntN(len(list))] }
	for _, i := range random.Perm(len(keys))[:random.IntN(len(keys)+1)] {
		key := keys[i]
		switch random.IntN(8) {
		case 0:
			b.Int(key, random.Int64N(9)-4)
		case 1:
			b.Float(key, []float64{0.5, 1, -2.25, 1e300, 3}[random.IntN(5)])
		case 2:
			b.Bool(key, random.IntN(2) == 0)
		case 3:
			b.Null(key)
		case 4:
			b.Array(key, []byte(pick(`[]`, `[1,"two words"]`, `[{"a":5},["a"]]`)))
		case 5:
			if depth < 2 {
				b.Open(key)
				randomPairs(random, b, depth+1, "a", "b", "k.k")
				b.Close()
				continue
			}
			fallthrough
		default:
			b.String(key, pick("", "a", "5", "two words", "took 5 ms", "INFO", "WARN", "id=abc took 1.50 s", "é"))
		}
	}
}

// randomForeign makes an event as other libraries write them, some of them not quite so.
func randomForeign(random *rand.Rand, id int) *ir.Builder {
	b := &ir.Builder{}
	if random.IntN(4) > 0 {
		b.Open("timestamp")
		b.Int("unix_millisecs", 1700000000000+int64(id)*250)
		if random.IntN(2) == 0 {
			b.Int("utc_offset_secs", 3600)
		}
		b.Close()
	}
	switch random.IntN(5) {
	case 0:
	case 1:
		randomPairs(random, b, 0, "level")
	default:
		b.Open("level")
		b.String("name", []string{"INFO", "WARN", "", "custom level"}[random.IntN(4)])
		randomPairs(random, b, 1, "num", "a")
		b.Close()
	}
	if random.IntN(2) == 0 {
		b.Open("source_location")
		b.String("path", "main.py")
		b.Int("line", int64(random.IntN(5)))
		b.Close()
	}
	randomPairs(random, b, 0, "a", "host")
	b.User()
	b.Int("id", int64(id))
	randomPairs(random, b, 0, "a", "b", "msg", "level", "time")
	return b
}

// foreignStream returns a stream of another library.
func foreignStream(t testing.TB, metadata string, events ...*ir.Builder) []byte {
	t.Helper()
	var out bytes.Buffer
	w, err := ir.NewKVWriter(&out, &ir.KVOptions{User: []byte(metadata)})
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range events {
		if err := w.Write(b); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// foreignArchive returns the archive that package convert makes of such a stream.
func foreignArchive(t testing.TB, stream []byte, timeKey string) []byte {
	t.Helper()
	r, err := New(bytes.NewReader(stream), &Options{Name: foreignName})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	from := origin.Origin{Filename: foreignName, Fields: r.StreamFields(), Stream: r.TwoObjects()}
	if !from.Stream {
		t.Fatal("not foreign")
	}
	namespace, path, err := kql.NamespacePath(timeKey)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	w, err := archive.NewWriter(&out, &archive.WriterOptions{TimeKey: path, TimeAuto: namespace == '@', Fields: from.Attrs()})
	if err != nil {
		t.Fatal(err)
	}
	for _, err := range r.Lines() {
		if err != nil {
			t.Fatal(err)
		}
		o, ok := r.Objects()
		if !ok || !o.Mapped {
			t.Fatal("no two objects")
		}
		if err := w.WriteAuto(o.User, o.Auto); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// answer is what a trace says to a query: the events, with what is known besides, and groups of them.
type answer struct{ lines, groups []string }

func answerOf(t *testing.T, data []byte, q *kql.Query, by ...string) (a answer) {
	t.Helper()
	r, err := New(bytes.NewReader(data), &Options{Name: foreignName})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	r.Select(q)
	sum, err := kql.NewAggregation(&kql.AggregateOptions{By: by})
	if err != nil {
		t.Fatal(err)
	}
	for e, err := range r.Events() {
		if err != nil {
			t.Fatal(err)
		}
		in := r.Input()
		a.lines = append(a.lines, string(e.AppendJSON(nil))+" "+string(in.Auto.AppendJSON(nil)))
		if err := sum.Add(&in); err != nil {
			t.Fatal(err)
		}
	}
	for _, g := range sum.Groups() {
		a.groups = append(a.groups, fmt.Sprintf("%q %d", g.Values, g.Count))
	}
	return a
}

// TestSelectForeign asks random queries of streams of other libraries, and of archives made of them: the events, what is known of
// them besides, and groups of them are the same.
func TestSelectForeign(t *testing.T) {
	random := rand.New(rand.NewPCG(17, 19))
	pick := func(list ...string) string { return list[random.IntN(len(list))] }
	key := func() string {
		return pick("a", "b", "msg", "level", "time", "source.file", "source.line", "*", "a.b", `\@.host`, `\@.level.num`, `\@.*`, "*.a", "id",
			"@level.name", "@level.num", "@level", "@timestamp.unix_millisecs", "@timestamp.*", "@*", "@a", "@a.b", "@host", "@source_location.line",
			"$host", "$run.id", "$run.ok", "$run.tag", "$ratio", "$_filename", "$run.*", "$nothing")
	}
	var query func(depth int) string
	query = func(depth int) string {
		switch n := random.IntN(8); {
		case n == 0 && depth < 3:
			return "NOT (" + query(depth+1) + ")"
		case n < 3 && depth < 3:
			return "(" + query(depth+1) + ") " + pick("AND", "OR") + " (" + query(depth+1) + ")"
		case n == 3:
			return key() + pick(" > ", " < ", " >= ", " <= ") + pick("0", "1", "0.5", "-3", "1700000005000", `timestamp("2023-11-14T22:13:25Z")`)
		}
		return key() + ": " + pick("5", "1", "0.5", "true", "null", "*", "a", `"two words"`, "INFO", "WARN", `""`, "*a*", `"*took*"`, "main.py", "42", "node*", "other.clp",
			`"custom level"`, `"2023-*"`)
	}
	for range 4 {
		var events []*ir.Builder
		for i := range 80 {
			events = append(events, randomForeign(random, i))
		}
		stream := foreignStream(t, foreignMetadata, events...)
		traces := map[string][]byte{"packed": zstdFrame(t, stream), "archive": foreignArchive(t, stream, "time")}
		for i := range 60 {
			text := query(0)
			q, err := kql.Parse(text, &kql.Options{TimeKey: "time"})
			if err != nil {
				t.Fatal(text, err)
			}
			by := []string{pick("@level.name", "level", "a", "@a", "$host", "source.file")}
			if i == 0 {
				q, by = mustParse(t, "*"), []string{"@level.name", "level"}
			}
			want := answerOf(t, stream, q, by...)
			for name, data := range traces {
				got := answerOf(t, data, q, by...)
				if !slices.EqualFunc(got.lines, want.lines, sameAnswer) || !slices.Equal(got.groups, want.groups) {
					t.Fatalf("%s | %s by %s:\n%s\n%s\nwant\n%s\n%s", name, text, by, strings.Join(got.lines, "\n"), got.groups, strings.Join(want.lines, "\n"), want.groups)
				}
				if n := counted(t, data, q); n != len(want.lines) && !q.Uses('$') { // which has no name there
					t.Fatalf("%s | %s: %d, want %d", name, text, n, len(want.lines))
				}
			}
		}
	}
}

func mustParse(t *testing.T, text string) *kql.Query {
	t.Helper()
	q, err := kql.Parse(text, nil)
	if err != nil {
		t.Fatal(err)
	}
	return q
}

// sameAnswer compares two events, each with another one behind it.
func sameAnswer(a, b string) bool {
	return event.Equal(event.Lazy([]byte(`{"":[`+strings.Replace(a, "} {", "},{", 1)+`]}`)), event.Lazy([]byte(`{"":[`+strings.Replace(b, "} {", "},{", 1)+`]}`)))
}

// TestForeignColumns asks for keys that are shown as others: columns answer for them.
func TestForeignColumns(t *testing.T) {
	random := rand.New(rand.NewPCG(41, 43))
	var events []*ir.Builder
	for i := range 500 {
		events = append(events, randomForeign(random, i))
	}
	stream := foreignStream(t, foreignMetadata, events...)
	data := foreignArchive(t, stream, "time")
	for text, columns := range map[string]bool{"level: WARN": true, `level: "custom*"`: true, "source.file: main.py AND id < 100": true, "@level.name: WARN": true, "NOT level: WARN": false, "level: *": false, "source.line: 3": false} {
		q := mustParse(t, text)
		r, err := New(bytes.NewReader(data), nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Select(q)
		n, err := r.Count(func(err error) { t.Error(err) })
		if err != nil {
			t.Fatal(err)
		}
		if want := len(answerOf(t, stream, q).lines); int(n) != want || want == 0 {
			t.Errorf("%s: %d, want %d", text, n, want)
		}
		if scan, ok := r.ScanStats(); !ok || (scan.Open < 50) != columns { // some have an array there
			t.Errorf("%s: %d records were looked at, columns: %v", text, scan.Open, columns)
		}
		r.Close()
	}
}

// TestForeignTime has the time of an archive among the keys of the library.
func TestForeignTime(t *testing.T) {
	random := rand.New(rand.NewPCG(23, 29))
	var events []*ir.Builder
	for i := range 50 {
		events = append(events, randomForeign(random, i))
	}
	stream := foreignStream(t, foreignMetadata, events...)
	data := foreignArchive(t, stream, "@timestamp.unix_millisecs")
	r, err := New(bytes.NewReader(data), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if key := r.TimeKey(); key != "@timestamp.unix_millisecs" {
		t.Errorf("the key of the time is %q", key)
	}
	for _, text := range []string{"*", `@timestamp.unix_millisecs > timestamp("2023-11-14T22:13:25Z")`, `NOT @timestamp.unix_millisecs <= timestamp("1700000005000")`} {
		q, err := kql.Parse(text, &kql.Options{TimeKey: "@timestamp.unix_millisecs"})
		if err != nil {
			t.Fatal(err)
		}
		got, want := answerOf(t, data, q, "level"), answerOf(t, stream, q, "level")
		if len(want.lines) == 0 || !slices.EqualFunc(got.lines, want.lines, sameAnswer) || !slices.Equal(got.groups, want.groups) {
			t.Errorf("%s: %d events, want %d", text, len(got.lines), len(want.lines))
		}
	}
}

// TestForeignAround has context of what is found in an archive of two objects.
func TestForeignAround(t *testing.T) {
	random := rand.New(rand.NewPCG(31, 37))
	var events []*ir.Builder
	for i := range 300 {
		events = append(events, randomForeign(random, i))
	}
	stream := foreignStream(t, foreignMetadata, events...)
	around := func(data []byte) (out []string) {
		r, err := New(bytes.NewReader(data), nil)
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		for n, err := range r.Around(mustParse(t, "id: 100 OR (@level.name: WARN AND id > 250)"), AroundOptions{Before: 3, After: 2}) {
			if err != nil {
				t.Fatal(err)
			}
			out = append(out, fmt.Sprint(n.Found, n.Gap, string(n.Event.AppendJSON(nil))))
		}
		return out
	}
	if got, want := around(foreignArchive(t, stream, "time")), around(stream); len(want) < 10 || !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// TestReferenceAuto shows archives that do not say that they are of a stream as the reference does: without its library's keys.
func TestReferenceAuto(t *testing.T) {
	var out bytes.Buffer
	w, err := archive.NewWriter(&out, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.WriteAuto([]byte(`{"a":1}`), []byte(`{"level":{"name":"INFO"}}`)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if got := answerOf(t, out.Bytes(), mustParse(t, "@level.name: INFO")); !slices.Equal(got.lines, []string{`{"a":1} {"level":{"name":"INFO"}}`}) {
		t.Errorf("got %q", got.lines)
	}
	if got := answerOf(t, out.Bytes(), mustParse(t, "level: INFO")); len(got.lines) > 0 {
		t.Errorf("got %q", got.lines)
	}
}
