package sink

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"testing"

	"github.com/tracehandler/tracehandler/event"
	"github.com/tracehandler/tracehandler/format"
	"github.com/tracehandler/tracehandler/internal/corpus"
	"github.com/tracehandler/tracehandler/reader"
)

func BenchmarkStreamAppend(b *testing.B) {
	for _, f := range []format.Format{format.Plain, format.CLPIR} {
		b.Run(f.String(), func(b *testing.B) {
			s := Writer(io.Discard, Options{Format: f})
			enc := s.Encoder(event.Options{})
			r := kvRecord(7)
			var buf event.Buffer
			b.ReportAllocs()
			for b.Loop() {
				buf.Reset()
				enc.AppendRecord(&buf, r, nil)
				if err := s.Append(buf.B); err != nil {
					b.Fatal(err)
				}
			}
			b.StopTimer()
			if err := s.Close(); err != nil {
				b.Fatal(err)
			}
		})
	}
}

// BenchmarkRead reads the same events from lines in zstd and from a stream: as events, as events that are asked for their
// JSON, and as the text of lines.
func BenchmarkRead(b *testing.B) {
	for _, kind := range corpus.Kinds() {
		for _, f := range []format.Format{format.Zstd, format.CLPIR} {
			for _, how := range []string{"events", "told", "lines"} {
				b.Run(fmt.Sprintf("%v/%v/%s", kind, f, how), func(b *testing.B) { benchRead(b, kind, f, how) })
			}
		}
	}
}

func benchRead(b *testing.B, kind corpus.Kind, f format.Format, how string) {
	const events = 20_000
	var trace bytes.Buffer
	s := Writer(&trace, Options{Format: f})
	enc, js := s.Encoder(event.Options{}), event.NewJSON(event.Options{})
	var buf event.Buffer
	var size int64
	for r := range corpus.New(kind, 1, 0).Records(events) {
		buf.Reset()
		enc.AppendRecord(&buf, r, nil)
		if err := s.Append(buf.B); err != nil {
			b.Fatal(err)
		}
		buf.Reset()
		js.AppendRecord(&buf, r, nil)
		size += int64(len(buf.B))
	}
	if err := s.Close(); err != nil {
		b.Fatal(err)
	}
	b.SetBytes(size)
	for b.Loop() {
		r, err := reader.New(bytes.NewReader(trace.Bytes()), nil)
		if err != nil {
			b.Fatal(err)
		}
		n := 0
		if how == "lines" {
			for _, err = range r.Lines() {
				n++
			}
		} else {
			var e event.Event
			for e, err = range r.Events() {
				if how == "told" && len(e.Line()) == 0 {
					b.Fatal("no line")
				}
				n++
			}
		}
		if err := errors.Join(err, r.Close()); err != nil || n != events {
			b.Fatal(n, err)
		}
	}
}
