package finalize_test

import (
	"fmt"
	"log"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/tracehandler/tracehandler/clp/ir"
	"github.com/tracehandler/tracehandler/clp/ir/slogkv"
	"github.com/tracehandler/tracehandler/event"
	"github.com/tracehandler/tracehandler/finalize"
	"github.com/tracehandler/tracehandler/format"
)

// The journal of an archive is set apart, so that another one could begin under its name, and becomes an archive that is made
// while it grows.
func ExamplePartial_SetApart() {
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	p, err := finalize.OpenPartial(filepath.Join(dir, "trace.clp"), finalize.OpenOptions{Format: format.CLP})
	if err != nil {
		log.Fatal(err)
	}
	defer p.Close()
	p.ArchiveInBackground(finalize.ArchiveOptions{})
	w := slogkv.NewWriter(ir.Limits{})
	stream, err := w.AppendJournalPreamble(nil, slogkv.Journal{ID: finalize.NewJournalID()})
	if err != nil {
		log.Fatal(err)
	}
	var b event.Buffer
	slogkv.NewEncoder(event.Options{}).AppendEvent(&b, event.New(slog.String("msg", "one")))
	if stream, err = w.Append(stream, b.B); err != nil {
		log.Fatal(err)
	}
	if err := p.Append(stream, 1, 1, int64(len(stream))); err != nil {
		log.Fatal(err)
	}
	fmt.Println(p.Report().Events, p.CompleteSize(0) >= p.Size(), p.Behind() <= p.Size())
	if err := p.SetApart(time.Date(2026, 11, 30, 10, 37, 40, 0, time.UTC)); err != nil {
		log.Fatal(err)
	}
	r, err := p.Complete(finalize.CompleteOptions{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(filepath.Base(r.Path), r.Events)
	// Output:
	// 1 true true
	// trace-20261130T103740.000000000Z.clp 1
}
