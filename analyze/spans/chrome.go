package spans

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"iter"
	"log/slog"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tracehandler/tracehandler/event"
)

// Options of WriteChrome. A list of keys is tried in order; nil is the default.
type Options struct {
	Start    []string // "start", "start_time": RFC 3339, or integer nanoseconds since 1970
	Duration []string // "duration", "dur", "elapsed", "took": integer nanoseconds, or text such as "1.5ms"
	Span     []string // "span", "span_id"
	Parent   []string // "parent", "parent_id", "parent_span_id"
	Process  []string // "rank", "pid": the row's process
	Name     string   // of the process, "" is "go"
}

// Report says what was written.
type Report struct {
	Spans, Instants int
	Skipped         int // events without any time
	Bad             int // pairs of the input that were an error
}

func or(keys, otherwise []string) []string {
	if keys == nil {
		return otherwise
	}
	return keys
}

// item is an event on its way out.
type item struct {
	start, dur   int64 // ns since 1970; dur -1 is an instant
	span, parent string
	process      int64
	name         string
	line         []byte // the event's JSON
	lane         int
}

// WriteChrome writes the events as one JSON object in Chrome's trace-event format. Times are exact to the nanosecond. Spans
// that overlap without one being the other's ancestor come to stand on different rows. The events are held in memory
// until all are read, since rows follow from the whole.
func WriteChrome(w io.Writer, events iter.Seq2[event.Event, error], o Options) (Report, error) {
	var rep Report
	var items []item
	for e, err := range events {
		if err != nil {
			rep.Bad++
			continue
		}
		it, ok := o.item(e)
		if !ok {
			rep.Skipped++
			continue
		}
		if it.dur < 0 {
			rep.Instants++
		} else {
			rep.Spans++
		}
		items = append(items, it)
	}
	slices.SortStableFunc(items, func(a, b item) int {
		return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(b.dur, a.dur))
	})
	lanes := place(items)
	base := int64(0)
	if len(items) > 0 {
		base = items[0].start
	}
	out := bufio.NewWriterSize(w, 64<<10)
	fmt.Fprintf(out, "{\"schemaVersion\": 1, \"displayTimeUnit\": \"ms\", \"baseTimeNanoseconds\": %d, \"traceEvents\": [", base)
	name := o.Name
	if name == "" {
		name = "go"
	}
	var b []byte
	sep := "\n"
	for _, p := range lanes.processes() {
		b = append(b[:0], sep...)
		b = fmt.Appendf(b, `{"ph": "M", "name": "process_name", "ts": 0, "pid": %d, "tid": 0, "args": {"name": `, p)
		b = append(event.AppendString(b, name), "}}"...)
		out.Write(b)
		sep = ",\n"
	}
	for i := range items {
		b = items[i].append(append(b[:0], sep...), base)
		out.Write(b)
		sep = ",\n"
	}
	out.WriteString("\n]}\n")
	if err := out.Flush(); err != nil {
		return rep, fmt.Errorf("spans: %w", err)
	}
	return rep, nil
}

func (it *item) append(b []byte, base int64) []byte {
	ts := it.start - base
	b = append(b, `{"ph": `...)
	if it.dur >= 0 {
		b = append(b, `"X", "cat": "cpu_op", "name": `...)
	} else {
		b = append(b, `"i", "s": "t", "cat": "log", "name": `...)
	}
	b = event.AppendString(b, it.name)
	b = fmt.Appendf(b, `, "pid": %d, "tid": %d, "ts": %d.%03d`, it.process, it.lane, ts/1000, ts%1000)
	if it.dur >= 0 {
		b = fmt.Appendf(b, `, "dur": %d.%03d`, it.dur/1000, it.dur%1000)
	}
	b = append(b, `, "args": `...)
	return append(append(b, it.line...), '}')
}

// item reads an event's times and names.
func (o *Options) item(e event.Event) (item, bool) {
	it := item{dur: -1}
	if v, ok := first(e, or(o.Duration, []string{KeyDuration, "dur", "elapsed", "took"})); ok {
		if d, ok := duration(v); ok && d >= 0 {
			it.dur = d
		}
	}
	when, timed := e.Time()
	start, started := int64(0), false
	if v, ok := first(e, or(o.Start, []string{KeyStart, "start_time"})); ok {
		start, started = instant(v)
	}
	switch {
	case it.dur >= 0 && started:
		it.start = start
	case timed && it.dur >= 0: // logged when it ended
		it.start = when.UnixNano() - it.dur
	case timed:
		it.start = when.UnixNano()
	default:
		return it, false
	}
	it.span = id(first(e, or(o.Span, []string{KeySpan, "span_id"})))
	it.parent = id(first(e, or(o.Parent, []string{KeyParent, "parent_id", "parent_span_id"})))
	if v, ok := first(e, or(o.Process, []string{"rank", "pid"})); ok && v.Kind() == slog.KindInt64 {
		it.process = v.Int64()
	}
	name, _ := e.Message()
	it.name = strings.Clone(name) // the reader's buffer is used again
	it.line = e.AppendJSON(nil)
	return it, true
}

func first(e event.Event, keys []string) (slog.Value, bool) {
	for _, k := range keys {
		if v, ok := e.Get(k); ok {
			return v, true
		}
	}
	return slog.Value{}, false
}

func id(v slog.Value, ok bool) string {
	if !ok {
		return ""
	}
	return strings.Clone(v.String())
}

// duration reads nanoseconds, or text that time.ParseDuration reads.
func duration(v slog.Value) (int64, bool) {
	switch v.Kind() {
	case slog.KindDuration:
		return int64(v.Duration()), true
	case slog.KindInt64:
		return v.Int64(), true
	case slog.KindUint64:
		return int64(min(v.Uint64(), math.MaxInt64)), true
	case slog.KindString:
		d, err := time.ParseDuration(v.String())
		return int64(d), err == nil
	}
	return 0, false
}

func instant(v slog.Value) (int64, bool) {
	switch v.Kind() {
	case slog.KindTime:
		return v.Time().UnixNano(), true
	case slog.KindInt64:
		return v.Int64(), true
	case slog.KindString:
		t, err := time.Parse(time.RFC3339Nano, v.String())
		if err != nil {
			n, err := strconv.ParseInt(v.String(), 10, 64)
			return n, err == nil
		}
		return t.UnixNano(), true
	}
	return 0, false
}
