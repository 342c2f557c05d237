package reader

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/tracehandler/tracehandler/naming"
)

// following runs Follow on a path whose files the test changes step by step.
type following struct {
	t      *testing.T
	path   string
	got    chan string // events, and "! " with errors
	caught chan struct{}
	cancel context.CancelFunc
	done   chan struct{}
}

func follow(t *testing.T, o FollowOptions) *following {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	f := &following{
		t: t, path: filepath.Join(t.TempDir(), "trace.ndjson"), got: make(chan string, 1000),
		caught: make(chan struct{}, 1000), cancel: cancel, done: make(chan struct{}),
	}
	o.Interval = time.Millisecond
	o.CaughtUp = func() { f.caught <- struct{}{} }
	go func() {
		defer close(f.done)
		for e, err := range Follow(ctx, f.path, &o) {
			if err != nil {
				f.got <- "! " + err.Error()
				continue
			}
			f.got <- string(e.Line())
		}
	}()
	t.Cleanup(func() {
		cancel()
		select {
		case <-f.done:
		case <-time.After(10 * time.Second):
			t.Error("Follow does not end with its context")
		}
		select {
		case s := <-f.got:
			t.Errorf("delivered besides: %s", s)
		default:
		}
	})
	return f
}

func (f *following) write(suffix string, data []byte) {
	f.t.Helper()
	w, err := os.OpenFile(f.path+suffix, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err == nil {
		_, err = w.Write(data)
	}
	if err == nil {
		err = w.Close()
	}
	f.ok(err)
}

func (f *following) ok(err error) {
	f.t.Helper()
	if err != nil {
		f.t.Fatal(err)
	}
}

func (f *following) want(events ...string) {
	f.t.Helper()
	for _, e := range events {
		select {
		case s := <-f.got:
			if s != e {
				f.t.Fatalf("got %q, want %q", s, e)
			}
		case <-time.After(10 * time.Second):
			f.t.Fatalf("%q does not come", e)
		}
	}
}

// settle waits until Follow has nothing to read for a while.
func (f *following) settle() {
	time.Sleep(20 * time.Millisecond)
}

func TestFollowGrowth(t *testing.T) {
	events, _ := testEvents(20)
	for _, p := range packers[:2] {
		t.Run(p.name, func(t *testing.T) {
			file := pack(t, events, 4, p.frame)
			f := follow(t, FollowOptions{})
			f.settle() // nothing is there yet
			f.write(naming.PartialSuffix, file.data[:file.start[1]+7])
			f.want(events[:4]...)
			f.settle() // the torn frame is no damage as long as it may be completed
			f.write(naming.PartialSuffix, file.data[file.start[1]+7:file.start[3]])
			f.want(events[4:12]...)
			f.ok(os.Rename(f.path+naming.PartialSuffix, f.path))
			f.settle()
			f.write("", file.data[file.start[3]:])
			f.want(events[12:]...)
		})
	}
}

func TestFollowPlain(t *testing.T) {
	f := follow(t, FollowOptions{})
	f.write(naming.PartialSuffix, []byte(`{"n":1}`+"\n"+`{"n`))
	f.want(`{"n":1}`)
	f.settle()
	f.write(naming.PartialSuffix, []byte(`":2}`+"\nbad\n"+`{"n":3}`+"\r\n"))
	f.want(`{"n":2}`)
	if s := <-f.got; s != fmt.Sprintf("! reader: %s: line 3 (offset 16): expected one JSON object: event: offset 0: expected an object, found 'b'", f.path) {
		t.Fatal(s)
	}
	f.want(`{"n":3}`)
}

func TestFollowRotation(t *testing.T) {
	f := follow(t, FollowOptions{})
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	f.write(naming.PartialSuffix, []byte(`{"n":1}`+"\n"))
	f.want(`{"n":1}`)
	// Three rotations at once, the last bytes of the first file written just before.
	f.write(naming.PartialSuffix, []byte(`{"n":2}`+"\n"))
	f.ok(os.Rename(f.path+naming.PartialSuffix, naming.RotatedName(f.path, at, 0)))
	for i, text := range []string{`{"n":3}` + "\n", `{"n":4}`} { // a rotated file is whole when it gets its name
		f.ok(os.WriteFile(f.path+".whole", []byte(text), 0o600))
		f.ok(os.Rename(f.path+".whole", naming.RotatedName(f.path, at.Add(time.Duration(1+i)*time.Second), 0)))
	}
	f.write(naming.PartialSuffix, []byte(`{"n":5}`+"\n"))
	f.want(`{"n":2}`, `{"n":3}`, `{"n":4}`, `{"n":5}`)
}

func TestFollowTorn(t *testing.T) {
	f := follow(t, FollowOptions{})
	f.write(naming.PartialSuffix, []byte(`{"n":1}`+"\n"+`{"n`))
	f.want(`{"n":1}`)
	f.settle()
	f.ok(os.Rename(f.path+naming.PartialSuffix, f.path+".old"))
	f.write(naming.PartialSuffix, []byte(`{"n":2}`+"\n"))
	if s := <-f.got; s != fmt.Sprintf("! reader: %s: offset 8: torn: the file ends inside a line; 3 bytes left over after line 1: event: offset 3: the string does not end", f.path) {
		t.Fatal(s)
	}
	f.want(`{"n":2}`)
}

func TestFollowCut(t *testing.T) {
	events, _ := testEvents(12)
	file := pack(t, events, 4, zstdFrame)
	f := follow(t, FollowOptions{})
	f.write(naming.PartialSuffix, file.data[:file.start[1]+9])
	f.want(events[:4]...)
	f.settle()
	f.ok(os.Truncate(f.path+naming.PartialSuffix, int64(file.start[1]))) // as recovery does
	f.settle()
	f.write(naming.PartialSuffix, file.data[file.start[1]:])
	f.want(events[4:]...)
	f.settle()
	f.ok(os.Truncate(f.path+naming.PartialSuffix, 0)) // begun anew
	f.settle()
	f.write(naming.PartialSuffix, file.data[:file.start[1]])
	f.want(events[:4]...)
}

func TestFollowCutPlain(t *testing.T) {
	f := follow(t, FollowOptions{})
	f.write(naming.PartialSuffix, []byte(`{"n":1}`+"\n"+`{"n`))
	f.want(`{"n":1}`)
	f.settle()
	f.ok(os.Truncate(f.path+naming.PartialSuffix, 8))
	f.settle()
	f.write(naming.PartialSuffix, []byte("bad\n"))
	if s := <-f.got; s != fmt.Sprintf("! reader: %s: line 2 (offset 8): expected one JSON object: event: offset 0: expected an object, found 'b'", f.path) {
		t.Fatal(s)
	}
}

func TestFollowFromEnd(t *testing.T) {
	events, _ := testEvents(8)
	file := pack(t, events, 4, gzipMember)
	dir := t.TempDir()
	path := filepath.Join(dir, "t.gz")
	if err := os.WriteFile(path, file.data[:file.start[1]], 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var got []string
	o := FollowOptions{Interval: time.Millisecond, FromEnd: true}
	o.CaughtUp = func() {
		if len(got) > 0 {
			cancel()
			return
		}
		w, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
		if err != nil {
			t.Error(err)
			cancel()
			return
		}
		defer w.Close()
		if _, err := w.Write(file.data[file.start[1]:]); err != nil {
			t.Error(err)
		}
	}
	for e, err := range Follow(ctx, path, &o) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, string(e.Line()))
	}
	if !slices.Equal(got, events[4:]) {
		t.Fatalf("got %q", got)
	}
}
