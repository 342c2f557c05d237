package reader

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/tracehandler/tracehandler/clp/ir"
	"github.com/tracehandler/tracehandler/clp/ir/slogkv"
	"github.com/tracehandler/tracehandler/clp/kql"
	"github.com/tracehandler/tracehandler/event"
)

// streamOf returns a CLP stream of the events of lines.
func streamOf(t testing.TB, lines ...string) []byte {
	return streamWith(t, func(w *slogkv.Writer) ([]byte, error) { return w.AppendPreamble(nil) }, lines...)
}

// streamWith returns a CLP stream of the events of lines that begins with a preamble.
func streamWith(t testing.TB, preamble func(*slogkv.Writer) ([]byte, error), lines ...string) []byte {
	t.Helper()
	w, enc := slogkv.NewWriter(ir.Limits{}), slogkv.NewEncoder(event.Options{})
	stream, err := preamble(w)
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range lines {
		var b event.Buffer
		enc.AppendEvent(&b, event.Lazy([]byte(l)))
		if stream, err = w.Append(stream, b.B); err != nil {
			t.Fatal(err)
		}
	}
	return append(stream, 0)
}

// every returns a trace of lines in each format.
func every(t testing.TB, lines ...string) map[string][]byte {
	text := []byte(strings.Join(lines, "\n") + "\n")
	return map[string][]byte{
		"plain": text, "zstd": zstdFrame(t, text), "stream": streamOf(t, lines...), "packed stream": zstdFrame(t, streamOf(t, lines...)),
		"archive": archiveOf(t, lines...), "packed archive": gzipMember(t, archiveOf(t, lines...)),
	}
}

// counted returns how many lines a query finds.
func counted(t testing.TB, data []byte, q *kql.Query) int {
	t.Helper()
	r, err := New(bytes.NewReader(data), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	r.Select(q)
	n, err := r.Count(func(err error) { t.Error(err) })
	if err != nil {
		t.Error(err)
	}
	for range r.Events() {
		t.Error("something is behind the end")
	}
	return int(n)
}

// ask returns the numbers of the lines that a query finds.
func ask(t testing.TB, data []byte, q *kql.Query, byLines bool) (found []int64) {
	t.Helper()
	r, err := New(bytes.NewReader(data), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	r.Select(q)
	if byLines {
		for l, err := range r.Lines() {
			if err != nil {
				t.Fatal(err)
			}
			found = append(found, l.Number)
		}
		return found
	}
	for e, err := range r.Events() {
		if err != nil {
			t.Fatal(err)
		}
		n, _ := e.Get("id")
		found = append(found, n.Int64())
	}
	return found
}

func TestSelect(t *testing.T) {
	lines := []string{
		`{"id":1,"time":"2026-01-01T00:00:00Z","level":"INFO","msg":"took 5 ms","n":5,"g":{"x":[1,"two words",{"y":null}]}}`,
		`{"id":2,"time":"2026-01-01T00:00:01Z","level":"WARN","msg":"took 50.5 ms","n":50.5}`,
		`{"id":3,"time":"2026-01-01T00:00:02.000000001Z","level":"ERROR","msg":"failed","n":"5","g":{}}`,
		`{"id":4,"level":"ERROR","msg":"","b":true}`,
	}
	for query, want := range map[string][]int64{
		`level: ERROR`:     {3, 4},
		`n: 5`:             {1, 3},
		`n > 5`:            {2},
		`msg: *5*`:         {1, 2},
		`g.x.y: null`:      {1},
		`g.x: "two words"`: {1},
		`NOT n: *`:         {4},
		`time > timestamp("2026-01-01T00:00:00.5Z")`: {2, 3},
		`NOT level: ERROR AND msg: "took * ms"`:      {1, 2},
		`b: true OR id: 1`:                           {1, 4},
		`nothing: here`:                              nil,
	} {
		q, err := kql.Parse(query, &kql.Options{TimeKey: "time"})
		if err != nil {
			t.Fatal(err)
		}
		for name, data := range every(t, lines...) {
			for _, byLines := range []bool{false, true} {
				if got := ask(t, data, q, byLines); !slices.Equal(got, want) {
					t.Errorf("%s | %s (lines: %v): %v, want %v", name, query, byLines, got, want)
				}
			}
		}
	}
}

// TestSelectRandom asks random queries of random events in every format: the answers are the same.
func TestSelectRandom(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 11))
	pick := func(list ...string) string { return list[random.IntN(len(list))] }
	var value func(depth int) string
	value = func(depth int) string {
		switch random.IntN(9) {
		case 0:
			return fmt.Sprint(random.IntN(7) - 3)
		case 1:
			return pick("0.5", "1.0", "1e2", "-2.25", "9223372036854775807", "18446744073709551615", "1e-7")
		case 2:
			return pick("true", "false", "null")
		case 3:
			return pick(`""`, `"a"`, `"A"`, `"5"`, `"null"`, `"é"`, `"a*b"`, `"line\nbreak"`, `"back\\slash"`)
		case 4, 5:
			return pick(`"two words"`, `"took 5 ms"`, `"id=abc took 1.50 s"`, `"user Bob, be add dead"`, `"10.0.0.1:80 refused"`)
		case 6:
			if depth > 1 {
				return "[]"
			}
			return fmt.Sprintf("[%s,%s]", value(depth+1), value(depth+1))
		default:
			if depth > 1 {
				return "{}"
			}
			return fmt.Sprintf(`{"%s":%s,"x y":%s}`, pick("a", "b", "k.k"), value(depth+1), value(depth+1))
		}
	}
	literal := func() string {
		return pick("5", "1", "0.5", "-2.25", "INFO", "WARN", "1700000000250", "true", "null", "*", "a", "*a*", `"two words"`, `"*took*"`, `"took ? ms"`, `"*1.50*"`, `abc`, `*abc*`, `"*Bob*"`,
			`1e2`, `""`, `"10.0.0.1:80 refused"`, `*0.0.1*`, `"a\\*b"`, `18446744073709551615`)
	}
	key := func() string {
		return pick("a", "b", "c", "msg", "*", "a.b", "b.a", "a.*", "c.k\\.k", `"x y"`, "*.a", "id", "@level.name", "@level.num", "@timestamp.unix_millisecs", "@*", "@level.*",
			"@source_location.line", "@nothing", "@exact.point")
	}
	var query func(depth int) string
	query = func(depth int) string {
		switch n := random.IntN(8); {
		case n == 0 && depth < 3:
			return "NOT (" + query(depth+1) + ")"
		case n < 3 && depth < 3:
			return "(" + query(depth+1) + ") " + pick("AND", "OR") + " (" + query(depth+1) + ")"
		case n == 3:
			return key() + pick(" > ", " < ", " >= ", " <= ") + pick("0", "1", "0.5", "-3", "100")
		}
		return key() + ": " + literal()
	}
	for range 3 {
		var lines []string
		for i := range 60 {
			var members []string
			for _, k := range random.Perm(4)[:random.IntN(5)] {
				members = append(members, fmt.Sprintf(`"%s":%s`, []string{"a", "b", "c", "msg"}[k], value(0)))
			}
			head := []string{fmt.Sprintf(`"id":%d`, i+1)}
			switch random.IntN(4) {
			case 0: // as a record of slog begins
				head = append([]string{`"time":"2023-11-14T22:13:20.25Z"`, `"level":"` + pick("INFO", "WARN", "ERROR+1", "DEBUG-8") + `"`,
					`"source":{"file":"main.go","line":` + pick("1", "5") + `}`, `"msg":"took 5 ms"`}, head...)
				members = slices.DeleteFunc(members, func(m string) bool { return strings.HasPrefix(m, `"msg"`) })
			case 1: // not quite so
				head = append(head, `"level":"`+pick("INFO", "WARN", "loud")+`"`, `"time":"2023-11-14T22:13:20.25Z"`)
			}
			lines = append(lines, "{"+strings.Join(append(head, members...), ",")+"}")
		}
		traces := every(t, lines...)
		for range 25 {
			text := query(0)
			q, err := kql.Parse(text, &kql.Options{Fold: random.IntN(4) == 0, Contains: random.IntN(4) == 0})
			if err != nil {
				t.Fatal(text, err)
			}
			var want []int64
			for i, l := range lines {
				e := event.Lazy([]byte(l))
				if q.MatchInput(&kql.Input{Event: e, Auto: event.Lazy(slogkv.AppendAuto(nil, e))}) {
					want = append(want, int64(i+1))
				}
			}
			for name, data := range traces {
				if got := ask(t, data, q, false); !slices.Equal(got, want) {
					t.Fatalf("%s | %s: %v, want %v", name, text, got, want)
				}
				if got := counted(t, data, q); got != len(want) {
					t.Fatalf("%s | %s: %d, want %d", name, text, got, len(want))
				}
			}
		}
	}
}

// TestInput asks for what is known beside the event.
func TestInput(t *testing.T) {
	line := `{"time":"2026-01-01T00:00:00Z","level":"INFO","msg":"m"}`
	for name, c := range map[string]struct {
		query string
		found bool
	}{
		"plain":          {`$_filename: "*.bin"`, true},
		"stream":         {`@level.name: INFO`, true},
		"archive":        {`$_filename: *`, false}, // this one does not say
		"packed stream":  {`$_filename: trace.bin`, true},
		"zstd":           {`@level.name: INFO`, true},
		"packed archive": {`@level.name: INFO AND NOT @level.num > 0`, true},
	} {
		q, err := kql.Parse(c.query, nil)
		if err != nil {
			t.Fatal(err)
		}
		r, err := New(bytes.NewReader(every(t, line)[name]), &Options{Name: "dir/trace.bin"})
		if err != nil {
			t.Fatal(err)
		}
		in := kql.Input{}
		for range r.Events() {
			in = r.Input()
			if q.MatchInput(&in) != c.found {
				t.Errorf("%s: %s: %v", name, c.query, !c.found)
			}
		}
		if in.Event.Line() == nil {
			t.Errorf("%s: no event", name)
		}
		r.Close()
		if r, err = New(bytes.NewReader(every(t, line)[name]), &Options{Name: "dir/trace.bin"}); err != nil {
			t.Fatal(err)
		}
		r.Select(q)
		if lines, errs := irLines(r); (len(lines) == 1) != c.found || len(errs) > 0 {
			t.Errorf("%s: %s finds %q %v", name, c.query, lines, errs)
		}
		if key := r.TimeKey(); (key == "time") != strings.HasSuffix(name, "archive") {
			t.Errorf("%s: the key of the time is %q", name, key)
		}
		r.Close()
	}
}

func TestProgress(t *testing.T) {
	const lines, stretch = 50_000, 4 * progressEvery
	text := []byte(strings.Repeat(`{"msg":"a"}`+"\n", lines))
	for name, data := range map[string][]byte{"plain": text, "zstd": zstdFrame(t, text)} {
		t.Run(name, func(t *testing.T) {
			q, err := kql.Parse("msg: b", nil)
			if err != nil {
				t.Fatal(err)
			}
			var calls []int64
			r, err := New(bytes.NewReader(data), &Options{Progress: func(stored int64) { calls = append(calls, stored) }})
			if err != nil {
				t.Fatal(err)
			}
			defer r.Close()
			r.Select(q)
			if n, err := r.Count(nil); n != 0 || err != nil {
				t.Fatal(n, err)
			}
			if len(calls) < lines/stretch || !slices.IsSorted(calls) || calls[0] <= 0 || calls[len(calls)-1] > int64(len(data)) {
				t.Errorf("of %d bytes: %v", len(data), calls)
			}
		})
	}
}
