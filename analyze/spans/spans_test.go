package spans

import (
	"bytes"
	"context"
	"encoding/json"
	"iter"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/tracehandler/tracehandler/analyze/chrometrace"
	"github.com/tracehandler/tracehandler/analyze/kineto"
	"github.com/tracehandler/tracehandler/event"
)

func lines(text string) iter.Seq2[event.Event, error] {
	return func(yield func(event.Event, error) bool) {
		for l := range strings.Lines(strings.TrimSpace(text)) {
			if !yield(event.Parse([]byte(strings.TrimSpace(l)))) {
				return
			}
		}
	}
}

type row struct {
	Ph, Name string
	Tid, Pid int
	TS, Dur  json.Number
	Args     map[string]any
}

func convert(t *testing.T, text string, o Options) ([]row, Report) {
	t.Helper()
	var b bytes.Buffer
	rep, err := WriteChrome(&b, lines(text), o)
	if err != nil {
		t.Fatal(err)
	}
	var doc struct{ TraceEvents []row }
	if err := json.Unmarshal(b.Bytes(), &doc); err != nil {
		t.Fatalf("%v in %s", err, b.Bytes())
	}
	var rows []row
	for _, r := range doc.TraceEvents {
		if r.Ph != "M" {
			rows = append(rows, r)
		}
	}
	return rows, rep
}

func TestWriteChrome(t *testing.T) {
	rows, rep := convert(t, `{"time":"2026-11-30T10:00:00.000003Z","level":"INFO","msg":"child","start":"2026-11-30T10:00:00.000001Z","duration":2000,"span":2,"parent":1}
{"time":"2026-11-30T10:00:00.000005Z","level":"INFO","msg":"sibling","start":"2026-11-30T10:00:00.000002Z","duration":2001,"span":3,"parent":1}
{"time":"2026-11-30T10:00:00.000009Z","level":"INFO","msg":"root","start":"2026-11-30T10:00:00Z","duration":9000,"span":1}
{"time":"2026-11-30T10:00:00.000004Z","level":"WARN","msg":"said","span":2}
{"time":"2026-11-30T10:00:00.000020Z","level":"INFO","msg":"ended \"then\"","took":"1.5µs","rank":3}
{"msg":"no time"}
not json`, Options{})
	if rep != (Report{Spans: 4, Instants: 1, Skipped: 1, Bad: 1}) {
		t.Errorf("%+v", rep)
	}
	want := []struct {
		name, ts, dur string
		tid, pid      int
	}{{"root", "0.000", "9.000", 0, 0}, {"child", "1.000", "2.000", 0, 0}, {"sibling", "2.000", "2.001", 1, 0}, {"said", "4.000", "", 0, 0}, {`ended "then"`, "18.500", "1.500", 0, 3}}
	if len(rows) != len(want) {
		t.Fatalf("%+v", rows)
	}
	for i, w := range want {
		r := rows[i]
		if r.Name != w.name || r.TS.String() != w.ts || r.Dur.String() != w.dur || r.Tid != w.tid || r.Pid != w.pid || r.Args["msg"] != w.name {
			t.Errorf("%d: %+v, want %+v", i, r, w)
		}
	}
}

// TestSpans logs spans and opens what comes of them with the reader of profiler traces.
func TestSpans(t *testing.T) {
	var log bytes.Buffer
	logger := slog.New(slog.NewJSONHandler(&log, nil))
	ctx, outer := Start(context.Background(), logger, "outer", "k", "v")
	_, inner := Start(ctx, logger, "inner")
	time.Sleep(time.Millisecond)
	inner.End("rows", 3)
	inner.End("again", true)
	outer.End()
	var out bytes.Buffer
	rep, err := WriteChrome(&out, lines(log.String()), Options{})
	if err != nil || rep.Spans != 2 {
		t.Fatal(rep, err)
	}
	tr := kineto.Load(chrometrace.NewScanner(&out), nil)
	if len(tr.Ops) != 2 || tr.Degraded || tr.String(tr.Ops[0].Name) != "outer" || tr.Ops[0].Thread != tr.Ops[1].Thread {
		t.Fatalf("%+v", tr.Ops)
	}
	if o, i := tr.Ops[0], tr.Ops[1]; i.TS < o.TS || i.TS+i.Dur > o.TS+o.Dur || i.Dur < 1e6 {
		t.Errorf("inner %+v is not within outer %+v", i, o)
	}
}

func TestEmpty(t *testing.T) {
	if rows, rep := convert(t, "", Options{}); len(rows) != 0 || rep.Spans != 0 {
		t.Error(rows, rep)
	}
}
