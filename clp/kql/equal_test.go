package kql_test

import (
	"bytes"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/tracehandler/tracehandler/clp/archive"
	"github.com/tracehandler/tracehandler/clp/ir"
	"github.com/tracehandler/tracehandler/clp/ir/slogkv"
	"github.com/tracehandler/tracehandler/clp/kql"
	"github.com/tracehandler/tracehandler/event"
	"github.com/tracehandler/tracehandler/reader"
)

// longTest is the number of pairs of archives and queries that TestEqual tries; its default is small. longSeed is where it
// begins.
const (
	longTest = "KQL_PAIRS"
	longSeed = "KQL_SEED"
)

// generator makes events and queries that have a lot in common.
type generator struct{ *rand.Rand }

func (g generator) pick(list ...string) string { return list[g.IntN(len(list))] }

func (g generator) key() string {
	return g.pick("a", "a", "b", "c", "d", "level", "", "a.b", "k*", `q"\`, "é", "A")
}

func (g generator) word() string {
	return g.pick("a", "abc", "INFO", "info", "x1", "X1", "42", "007", "-5", "3.50", ".5", "be", "dead", "true", "null", "192.168.7.77", "a=b", "=c", "user=bob",
		"*", "?", `\`, "é", "☃", "\u0011", "a-b_c", "1e5", "12345678901234567890", "req-1f", "memtable", "v2.0.1", "\t", `"`, "nightly-7")
}

// text is a string value, not escaped.
func (g generator) text() string {
	n := g.IntN(5)
	if g.IntN(3) > 0 {
		n = 1
	}
	var words []string
	for range n {
		words = append(words, g.word())
	}
	return strings.Join(words, g.pick(" ", " ", ",", "", "/"))
}

func (g generator) number() string {
	return g.pick("0", "-0", "1", "5", "42", "-5", "5.0", "1.50", "0.001", "1e5", "1E5", "-1.25E+03", "100000", "100.0", "1e-7", "0.1e1", "123e4", "-0.0", "0.0",
		"9223372036854775807", "-9223372036854775808", "9223372036854775808", "18446744073709551615", "123456789012345678901234567890", "9007199254740993",
		"9007199254740993.0", "1.7976931348623157e308", "5e-324", strconv.Itoa(g.IntN(100)-20), strconv.FormatFloat(g.Float64()*100-20, 'f', g.IntN(4), 64))
}

func (g generator) moment() time.Time {
	return time.Unix(1_767_323_045+int64(g.IntN(100)), int64(g.pickInt(0, 500_000_000, 123_000_000, 123_456_789, 120_000_000))).UTC()
}

func (g generator) pickInt(list ...int) int { return list[g.IntN(len(list))] }

// time is a value of the time's key.
func (g generator) time() string {
	t := g.moment()
	switch g.IntN(12) {
	case 0:
		return strconv.FormatInt(t.Unix(), 10)
	case 1:
		return strconv.FormatInt(t.UnixMilli(), 10)
	case 2:
		return strconv.FormatInt(t.UnixNano(), 10)
	case 3:
		return fmt.Sprintf("%d.%03d", t.Unix(), t.Nanosecond()/1e6)
	case 4:
		return g.value(2)
	case 5:
		return `"` + t.Format(g.pick("2006-01-02 15:04:05", "2006-01-02", time.RFC1123Z, "Jan 02 15:04:05", "2006/01/02T15:04:05,000", "06-01-02 15:04:05")) + `"`
	}
	return `"` + t.Format(g.pick(time.RFC3339Nano, time.RFC3339, "2006-01-02T15:04:05.000Z", "2006-01-02T15:04:05.000000-07:00")) + `"`
}

func quote(s string) string { return string(appendQuoted(nil, s)) }

// appendQuoted appends s as a JSON string.
func appendQuoted(dst []byte, s string) []byte {
	dst = append(dst, '"')
	for _, c := range []byte(s) {
		switch {
		case c == '"' || c == '\\':
			dst = append(dst, '\\', c)
		case c < 0x20:
			dst = fmt.Appendf(dst, `\u%04x`, c)
		default:
			dst = append(dst, c)
		}
	}
	return append(dst, '"')
}

func (g generator) value(depth int) string {
	switch k := g.IntN(20); {
	case k < 7:
		return quote(g.text())
	case k < 12:
		return g.number()
	case k < 14:
		return g.pick("true", "false", "null")
	case k < 16 && depth > 0:
		return g.array(depth - 1)
	case k < 19 && depth > 0:
		return g.object(depth - 1)
	}
	return g.pick(`""`, "{}", "[]", `"INFO"`, `"WARN"`, `"job 42 took 3.50 s, id=abc"`)
}

func (g generator) array(depth int) string {
	var list []string
	for range g.IntN(4) {
		list = append(list, g.value(depth))
	}
	return "[" + strings.Join(list, g.pick(",", " , ")) + "]"
}

func (g generator) object(depth int) string {
	var list []string
	for range g.IntN(4) {
		list = append(list, quote(g.key())+":"+g.value(depth))
	}
	return "{" + strings.Join(list, ",") + "}"
}

// event is a line. Some have a key twice.
func (g generator) event() string {
	var list []string
	if g.IntN(5) > 0 {
		list = append(list, `"t":`+g.time())
	}
	for range g.IntN(6) {
		list = append(list, quote(g.key())+":"+g.value(3))
	}
	return "{" + strings.Join(list, ",") + "}"
}

// column is a path of a query.
func (g generator) column() string {
	n := 1 + g.IntN(3)
	if g.IntN(3) > 0 {
		n = 1
	}
	var words []string
	for range n {
		word := g.pick("a", "a", "b", "c", "d", "level", "*", `a\.b`, `k\*`, `é`, "A", "t", `q\"\\`, "nosuch")
		words = append(words, word)
	}
	path := strings.Join(words, ".")
	switch g.IntN(40) {
	case 0:
		return "@" + path
	case 1:
		return "$" + g.pick("_filename", "host", "*")
	}
	return path
}

// literal is a value of a query.
func (g generator) literal() string {
	switch g.IntN(10) {
	case 0, 1:
		return g.number()
	case 2:
		return g.pick("true", "false", "null", "*")
	}
	var b strings.Builder
	for _, c := range g.text() {
		switch {
		case g.IntN(12) == 0:
			b.WriteString(g.pick("*", "?", "**", ""))
		case strings.ContainsRune(`\*?"`, c) || c < 0x20:
			fmt.Fprintf(&b, `\u%04x`, c)
		default:
			b.WriteRune(c)
		}
	}
	s := b.String()
	if g.IntN(4) == 0 {
		s = "*" + s
	}
	if g.IntN(4) == 0 {
		s += "*"
	}
	return `"` + s + `"`
}

func (g generator) condition() string {
	switch g.IntN(12) {
	case 0, 1:
		return g.column() + g.pick(" < ", " <= ", " > ", " >= ") + g.number()
	case 2, 3:
		return "t" + g.pick(": ", " < ", " <= ", " > ", " >= ") + `timestamp("` + g.moment().Format(time.RFC3339Nano) + `")`
	case 4:
		return g.column() + ": (" + g.pick("", "AND ", "OR ", "NOT ") + g.literal() + " " + g.literal() + ")"
	case 5:
		return g.column() + ": {" + g.column2() + ": " + g.literal() + g.pick(" AND ", " OR ", " OR NOT ") + g.column2() + ": " + g.literal() + "}"
	case 6:
		return g.literal()
	}
	return g.column() + ": " + g.literal()
}

// column2 is a path without a namespace.
func (g generator) column2() string { return strings.TrimLeft(g.column(), "@$_") }

func (g generator) query(depth int) string {
	switch k := g.IntN(8); {
	case depth == 0 || k < 3:
		return g.condition()
	case k < 4:
		return "NOT (" + g.query(depth-1) + ")"
	case k < 6:
		return "(" + g.query(depth-1) + ") AND (" + g.query(depth-1) + ")"
	}
	return "(" + g.query(depth-1) + ") OR (" + g.query(depth-1) + ")"
}

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// write makes an archive of lines.
func write(t testing.TB, lines []string, o archive.WriterOptions) []byte {
	t.Helper()
	var b bytes.Buffer
	o.TimeKey = []string{"t"}
	w, err := archive.NewWriter(&b, &o)
	check(t, err)
	for _, line := range lines {
		if err := w.Write([]byte(line)); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
	}
	check(t, w.Close())
	return b.Bytes()
}

// find asks an archive, and returns the numbers of the records found.
func find(t testing.TB, q *kql.Query, data []byte, o *archive.Options) []int64 {
	t.Helper()
	r, err := archive.Open(bytes.NewReader(data), int64(len(data)), o)
	check(t, err)
	defer r.Close()
	var list []int64
	for record, err := range q.Search(r) {
		check(t, err)
		list = append(list, record.Number())
	}
	if o.Stored {
		slices.Sort(list)
	}
	return list
}

// only returns the members of an event with a name.
func only(e event.Event, name string) string {
	var attrs []slog.Attr
	for a := range e.All() {
		if a.Key == name {
			attrs = append(attrs, a)
		}
	}
	return event.New(attrs...).String()
}

// findNames asks an archive for what is under one name, which must be what events have, and returns the numbers of the records
// found.
func findNames(t testing.TB, q *kql.Query, data []byte, name string, events []event.Event) []int64 {
	t.Helper()
	r, err := archive.Open(bytes.NewReader(data), int64(len(data)), nil)
	check(t, err)
	defer r.Close()
	var list []int64
	for record, err := range q.SearchNames(r, name) {
		check(t, err)
		e, err := record.Event()
		check(t, err)
		n := record.Number()
		if got, want := only(e, name), only(events[n], name); got != want {
			t.Errorf("%q of record %d is %s, not %s", name, n, got, want)
		}
		list = append(list, n)
	}
	return list
}

// count asks an archive how many records there are.
func count(t testing.TB, q *kql.Query, data []byte, o *archive.Options) int64 {
	t.Helper()
	r, err := archive.Open(bytes.NewReader(data), int64(len(data)), o)
	check(t, err)
	defer r.Close()
	n, err := q.Count(r)
	check(t, err)
	return n
}

// stream makes a key-value stream of events.
func stream(t testing.TB, events []event.Event) []byte {
	t.Helper()
	w, enc := slogkv.NewWriter(ir.Limits{}), slogkv.NewEncoder(event.Options{})
	out, err := w.AppendPreamble(nil)
	check(t, err)
	var b event.Buffer
	for _, e := range events {
		b.B = b.B[:0]
		enc.AppendEvent(&b, e)
		out, err = w.Append(out, b.B)
		check(t, err)
	}
	return append(out, 0)
}

// read asks a trace of any format, and returns the numbers of the events found.
func read(t testing.TB, q *kql.Query, data []byte) []int64 {
	t.Helper()
	r, err := reader.New(bytes.NewReader(data), &reader.Options{Parallel: 1})
	check(t, err)
	defer r.Close()
	r.Select(q)
	var list []int64
	for line, err := range r.Lines() {
		check(t, err)
		list = append(list, line.Number-1)
	}
	return list
}

// readCount asks a trace of any format how many events there are.
func readCount(t testing.TB, q *kql.Query, data []byte) int64 {
	t.Helper()
	r, err := reader.New(bytes.NewReader(data), &reader.Options{Parallel: 1})
	check(t, err)
	defer r.Close()
	r.Select(q)
	n, err := r.Count(func(err error) { check(t, err) })
	check(t, err)
	return n
}

// TestEqual holds archives, with an index and without, and key-value streams against plain events: a query finds the same in
// all. Keys of the logging library and what is known of the file are not the same: they are not asked of streams.
func TestEqual(t *testing.T) {
	pairs := 400
	if s := os.Getenv(longTest); s != "" {
		n, err := strconv.Atoi(s)
		check(t, err)
		pairs = n
	}
	seed := uint64(7)
	if s := os.Getenv(longSeed); s != "" {
		n, err := strconv.ParseUint(s, 10, 64)
		check(t, err)
		seed = n
	}
	found, asked := 0, 0
	for ; asked < pairs; seed++ {
		g := generator{rand.New(rand.NewPCG(seed, 11))}
		var lines []string
		var events []event.Event
		for range 1 + g.IntN(60) {
			line := g.event()
			if g.IntN(3) == 0 && len(lines) > 0 {
				line = lines[g.IntN(len(lines))]
			}
			lines = append(lines, line)
			e, err := event.Parse([]byte(line))
			check(t, err)
			events = append(events, e)
		}
		archives := [][]byte{write(t, lines, archive.WriterOptions{}), write(t, lines, archive.WriterOptions{NoIndex: true})}
		traces := [][]byte{stream(t, events), []byte(strings.Join(lines, "\n") + "\n")}
		for range 40 {
			asked++
			o := kql.Options{TimeKey: "t", Fold: g.IntN(4) == 0, Contains: g.IntN(4) == 0}
			text := g.query(3)
			q, err := kql.Parse(text, &o)
			if err != nil {
				t.Fatalf("%s: %v", text, err)
			}
			if g.IntN(5) == 0 {
				from, to := g.moment().UnixNano(), g.moment().UnixNano()
				q = q.Between(min(from, to), max(from, to))
			}
			var want []int64
			for i, e := range events {
				if q.Match(e) {
					want = append(want, int64(i))
				}
			}
			for i, data := range archives {
				stored := &archive.Options{Stored: g.IntN(2) == 0}
				if asked%2 != i { // of each query, find with one archive and count with the other
					if n := count(t, q, data, stored); n != int64(len(want)) {
						t.Errorf("seed %d, archive %d, %+v, %s: %d counted, not %d", seed, i, o, text, n, len(want))
					}
					continue
				}
				got := find(t, q, data, stored)
				if projected := findNames(t, q, data, g.key(), events); slices.Equal(got, want) && !slices.Equal(projected, want) {
					t.Errorf("seed %d, archive %d, %+v, %s: found %v with fewer keys, not %v", seed, i, o, text, projected, want)
				}
				if slices.Equal(got, want) {
					continue
				}
				for k, line := range lines {
					if slices.Contains(got, int64(k)) != slices.Contains(want, int64(k)) {
						t.Errorf("seed %d, archive %d, %+v, %s: event %d, found %v: %s", seed, i, o, text, k, slices.Contains(got, int64(k)), line)
						break
					}
				}
			}
			for i, data := range traces {
				if q.Uses('@') || q.Uses('$') {
					continue
				}
				got := read(t, q, data)
				if n := readCount(t, q, data); !slices.Equal(got, want) || n != int64(len(want)) {
					t.Errorf("seed %d, %s, %+v, %s: found %v and counted %d, not %v", seed, []string{"stream", "lines"}[i], o, text, got, n, want)
				}
			}
			if found += len(want); t.Failed() {
				t.FailNow()
			}
		}
	}
	if found < asked {
		t.Errorf("%d queries found only %d events", asked, found)
	}
}
