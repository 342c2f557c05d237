package finalize_test

import (
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"path/filepath"

	"github.com/tracehandler/tracehandler/finalize"
	"github.com/tracehandler/tracehandler/format"
)

func ExampleRecover() {
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "trace.ndjson")
	// A process died while it was writing its third event.
	torn := `{"msg":"one"}` + "\n" + `{"msg":"two"}` + "\n" + `{"msg":"thr`
	if err := os.WriteFile(path+".partial", []byte(torn), 0o600); err != nil {
		log.Fatal(err)
	}

	reports, err := finalize.Recover(dir, nil)
	if err != nil {
		log.Fatal(err)
	}
	for _, r := range reports {
		fmt.Printf("%s: %d events, %d torn bytes cut\n", filepath.Base(r.Path), r.Events, r.TornBytes)
	}
	// Output:
	// trace.ndjson: 2 events, 11 torn bytes cut
}

func ExampleVerify() {
	f, err := os.CreateTemp("", "example")
	if err != nil {
		log.Fatal(err)
	}
	defer os.Remove(f.Name())
	fmt.Fprintln(f, `{"msg":"one"}`)
	fmt.Fprintln(f, `what is this?`)
	if err := f.Close(); err != nil {
		log.Fatal(err)
	}

	r, err := finalize.Verify(f.Name(), nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("ok=%v, %s, %d lines\n", r.OK(), r.Format, r.Events)
	for _, b := range r.BadLines {
		fmt.Printf("line %d at offset %d is no event\n", b.Line, b.Offset)
	}
	// Output:
	// ok=false, plain, 2 lines
	// line 2 at offset 14 is no event
}

// closeFunc stands for a handler.
type closeFunc func() error

func (f closeFunc) Close() error { return f() }

func ExampleThen() {
	var handler io.Closer = closeFunc(func() error {
		fmt.Println("the handler closes")
		return errors.New("the disk was full for a while")
	})
	err := finalize.Then(handler, func() error {
		fmt.Println("the traces are read")
		return nil
	})
	fmt.Println(err)
	// Output:
	// the handler closes
	// the traces are read
	// the disk was full for a while
}

// A Partial is for programs that write traces of their own, without a sink: whole lines or frames go in, Complete makes the
// trace.
func ExampleOpenPartial() {
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	p, err := finalize.OpenPartial(filepath.Join(dir, "trace.ndjson"), finalize.OpenOptions{Format: format.Plain})
	if err != nil {
		log.Fatal(err) // a *finalize.LockedError if somebody else writes it
	}
	defer p.Close() // leaves the partial, unless Complete was called
	line := []byte(`{"msg":"one"}` + "\n")
	if err := p.Append(line, 1, 1, int64(len(line))); err != nil {
		log.Fatal(err) // the file ends where it ended before
	}
	if err := p.Sync(); err != nil {
		log.Fatal(err)
	}
	r, err := p.Complete(finalize.CompleteOptions{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(filepath.Base(p.Name()), "is now", filepath.Base(r.Path), "and has", p.Size(), "bytes")
	// Output:
	// trace.ndjson.partial is now trace.ndjson and has 14 bytes
}
