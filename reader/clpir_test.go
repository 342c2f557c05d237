package reader

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/tracehandler/tracehandler/clp/ir"
	"github.com/tracehandler/tracehandler/clp/ir/slogkv"
	"github.com/tracehandler/tracehandler/event"
)

// kvStream returns a stream of n records in pieces of some events, and their JSON lines.
func kvStream(t *testing.T, n, piece int) (pieces [][]byte, lines []string) {
	t.Helper()
	w := slogkv.NewWriter(ir.Limits{})
	stream, err := w.AppendPreamble(nil)
	if err != nil {
		t.Fatal(err)
	}
	kv, js := slogkv.NewEncoder(event.Options{}), event.NewJSON(event.Options{})
	for i := range n {
		r := slog.NewRecord(time.Unix(1700000000+int64(i), 5), slog.LevelWarn, fmt.Sprintf("took %d.5 ms", i), 0)
		r.Add("i", i, fmt.Sprint("key", i%7), "two words", slog.Group("g", "x", 1.5))
		var a, b event.Buffer
		kv.AppendRecord(&a, r, nil)
		js.AppendRecord(&b, r, nil)
		if stream, err = w.Append(stream, a.B); err != nil {
			t.Fatal(err)
		}
		lines = append(lines, string(bytes.TrimSpace(b.B)))
		if i%piece == piece-1 {
			pieces, stream = append(pieces, stream), nil
		}
	}
	return append(pieces, append(stream, 0)), lines
}

// irLines reads all lines and errors of r.
func irLines(r *Reader) (lines []string, errs []error) {
	for e, err := range r.Events() {
		if err != nil {
			errs = append(errs, err)
			continue
		}
		lines = append(lines, string(e.Line()))
	}
	return lines, errs
}

func TestCLPStream(t *testing.T) {
	pieces, want := kvStream(t, 500, 100)
	raw := bytes.Join(pieces, nil)
	var frames []byte
	for _, p := range pieces {
		frames = append(frames, zstdFrame(t, p)...)
	}
	for name, data := range map[string][]byte{"raw": raw, "zstd": frames, "gzip": gzipMember(t, raw)} {
		r, err := New(bytes.NewReader(data), nil)
		if err != nil {
			t.Fatal(err)
		}
		got, errs := irLines(r)
		if len(errs) > 0 || strings.Join(got, "\n") != strings.Join(want, "\n") {
			t.Errorf("%s: %d events, %v", name, len(got), errs)
		}
		st := r.Stats()
		if r.Kind() != CLPKeyValue || st.Events != 500 || st.Stored != int64(len(data)) || st.Text != int64(len(raw)) {
			t.Errorf("%s: %v, %+v of %d bytes", name, r.Kind(), st, len(data))
		}
		if err := r.Close(); err != nil {
			t.Error(err)
		}

		r, err = New(bytes.NewReader(data), nil)
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for l, err := range r.Lines() {
			if err != nil || string(l.Text) != want[n] || l.Number != int64(n+1) {
				t.Fatalf("%s: line %d: %+v, %v", name, n, l, err)
			}
			n++
		}
		r.Close()
	}
}

func TestCLPStreamDamage(t *testing.T) {
	pieces, want := kvStream(t, 500, 100)
	var frames []byte
	var ends []int
	for _, p := range pieces {
		frames = append(frames, zstdFrame(t, p)...)
		ends = append(ends, len(frames))
	}
	broken := bytes.Clone(frames)
	broken[ends[1]+20] ^= 0xFF
	raw := bytes.Join(pieces, nil)
	badUnit := bytes.Clone(raw)
	at := len(pieces[0]) + len(pieces[1])
	badUnit[at] = 0x7F
	tests := []struct {
		name   string
		data   []byte
		events int
		check  func(error) bool
	}{
		{"torn frame", frames[:ends[2]-10], 200, func(err error) bool { var e *TornError; return errors.As(err, &e) && e.Offset == int64(ends[1]) }},
		{"no end mark", frames[:ends[3]], 400, func(err error) bool { var e *TornError; return errors.As(err, &e) && e.Skipped == 0 }},
		{"broken frame", broken, 200, func(err error) bool {
			var e *DamageError
			return errors.As(err, &e) && e.Offset == int64(ends[1]) && e.Skipped == int64(len(broken)-ends[1])
		}},
		{"raw, torn", raw[:at-3], 199, func(err error) bool { var e *TornError; return errors.As(err, &e) && e.Skipped > 0 }},
		{"raw, bad unit", badUnit, 200, func(err error) bool {
			var e *DamageError
			return errors.As(err, &e) && e.Offset == int64(at) && e.Skipped == int64(len(raw)-at) && errors.Is(err, ir.ErrNodeType)
		}},
		{"magic only", []byte("\xfd\x2f\xb5\x29"), 0, func(err error) bool { var e *TornError; return errors.As(err, &e) }},
		{"magic and garbage", []byte("\xfd\x2f\xb5\x29rest"), 0, func(err error) bool { var e *DamageError; return errors.As(err, &e) }},
	}
	for _, tt := range tests {
		r, err := New(bytes.NewReader(tt.data), nil)
		if err != nil {
			t.Fatalf("%s: %v", tt.name, err)
		}
		got, errs := irLines(r)
		if len(errs) != 1 || !tt.check(errs[0]) || !IsReport(errs[0]) || len(got) != tt.events || strings.Join(got, "\n") != strings.Join(want[:len(got)], "\n") {
			t.Errorf("%s: %d events, want %d: %v", tt.name, len(got), tt.events, errs)
		}
		r.Close()
	}
}

func TestCLPText(t *testing.T) {
	var stream bytes.Buffer
	w, err := ir.NewTextWriter(&stream, &ir.TextOptions{Output: ir.Output{Zstd: true}})
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(w.Write(1700000000250, []byte(" ERROR disk 7 failed\n")), w.Close()); err != nil {
		t.Fatal(err)
	}
	r, err := New(&stream, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	got, errs := irLines(r)
	if len(errs) > 0 || len(got) != 1 || got[0] != `{"time":"2023-11-14T22:13:20.25Z","level":"ERROR","msg":" ERROR disk 7 failed"}` || r.Kind() != CLPText {
		t.Errorf("%v: %q, %v", r.Kind(), got, errs)
	}
}
