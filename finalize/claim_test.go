package finalize

import (
	"errors"
	"io/fs"
	"os"
	"testing"

	"github.com/tracehandler/tracehandler/internal/vfs"
	"github.com/tracehandler/tracehandler/internal/vfs/crashfs"
	"github.com/tracehandler/tracehandler/internal/vfs/errorfs"
)

// TestFileMovedBeforeLock: between opening a file and locking it another process may give it another name. The lock is then
// on the right file under the wrong name, and writing to it would spoil a finished trace.
func TestFileMovedBeforeLock(t *testing.T) {
	const partial = trace + ".partial"
	finish := func(t *testing.T, inner vfs.FS) { must(t, inner.Rename(partial, trace)) }
	for _, c := range []struct {
		name string
		move func(t *testing.T, inner vfs.FS) // what the other process does
		want string                           // content of the partial after one more event
	}{
		{"finished", finish, line(0) + line(1)},
		{"finished and begun anew", func(t *testing.T, inner vfs.FS) {
			finish(t, inner)
			put(t, inner, partial, []byte(line(7)))
		}, line(7) + line(1)},
		{"removed", func(t *testing.T, inner vfs.FS) { must(t, inner.Remove(partial)) }, line(1)},
	} {
		t.Run(c.name, func(t *testing.T) {
			inner := disk(t, partial, []byte(line(0)))
			fsys := errorfs.Wrap(inner)
			fsys.Before(func(errorfs.Call) { c.move(t, inner) }, errorfs.Ops(errorfs.Lock), errorfs.First(1))
			p, err := OpenPartial(trace, OpenOptions{FS: fsys})
			must(t, err)
			must(t, p.Append([]byte(line(1)), 1, 1, 1))
			must(t, p.Close())
			if got := string(get(t, inner, partial)); got != c.want {
				t.Errorf("the partial holds %q, want %q", got, c.want)
			}
			if got := string(get(t, inner, trace)); got != "" && got != line(0) {
				t.Errorf("the trace holds %q", got)
			}
		})
		t.Run("recover "+c.name, func(t *testing.T) {
			inner := disk(t, partial, []byte(line(0)+"torn"))
			fsys := errorfs.Wrap(inner)
			fsys.Before(func(errorfs.Call) { c.move(t, inner) }, errorfs.Ops(errorfs.Lock), errorfs.First(1))
			if r, err := Recover(partial, &Options{FS: fsys}); !errors.Is(err, fs.ErrNotExist) || len(r) > 0 {
				t.Errorf("%+v, %v", r, err)
			}
			if got := string(get(t, inner, trace)); got != "" && got != line(0)+"torn" {
				t.Errorf("the trace holds %q", got)
			}
		})
	}
}

// TestFinishedBeforeCreate: between looking for a trace and creating its partial another writer may begin and finish one.
// Then that is continued.
func TestFinishedBeforeCreate(t *testing.T) {
	inner := crashfs.New()
	fsys := errorfs.Wrap(inner)
	fsys.Before(func(errorfs.Call) { put(t, inner, trace, []byte(line(0))) }, errorfs.Ops(errorfs.Open), errorfs.Base("trace.partial"), errorfs.Nth(2))
	p, err := OpenPartial(trace, OpenOptions{FS: fsys})
	must(t, err)
	must(t, p.Append([]byte(line(1)), 1, 1, 1))
	_, err = p.Complete(CompleteOptions{})
	must(t, err)
	if got := string(get(t, inner, trace)); got != line(0)+line(1) {
		t.Errorf("the trace holds %q; files %q", got, names(t, inner, "/logs"))
	}
}

// TestFailedReopen: a finished trace that cannot be continued keeps its name and its bytes.
func TestFailedReopen(t *testing.T) {
	const ops = errorfs.Read | errorfs.Seek | errorfs.Stat | errorfs.Rename | errorfs.SyncDir | errorfs.Truncate
	for _, f := range formats {
		whole := encode(t, f, lines(0, 3))
		open := func(nth int) (calls int, err error) {
			mem := disk(t, trace, whole)
			fsys := errorfs.Wrap(mem)
			fsys.Fail(os.ErrInvalid, errorfs.Ops(ops), errorfs.Nth(nth))
			p, err := OpenPartial(trace, OpenOptions{Format: f, FS: fsys})
			if err == nil {
				must(t, p.Close())
			} else if got := get(t, mem, trace); string(got) != string(whole) {
				t.Errorf("%v, call %d failed (%v): the trace holds %q; files %v", f, nth, err, got, names(t, mem, "/logs"))
			}
			return fsys.Calls(ops), err
		}
		calls, err := open(0)
		must(t, err)
		failed := 0
		for i := range calls {
			if _, err := open(i + 1); err != nil {
				failed++
			}
		}
		if failed < 3 {
			t.Errorf("%v: of %d calls only %d failed", f, calls, failed)
		}
	}
}

// TestFileTakenAway: a file that somebody removed or replaced is not synced, and its replacement is not published.
func TestFileTakenAway(t *testing.T) {
	const partial = trace + ".partial"
	for name, take := range map[string]func(fsys vfs.FS){
		"removed":  func(fsys vfs.FS) { must(t, fsys.Remove(partial)) },
		"replaced": func(fsys vfs.FS) { must(t, fsys.Remove(partial)); put(t, fsys, partial, []byte(line(7))) },
	} {
		fsys := crashfs.New()
		p, err := OpenPartial(trace, OpenOptions{FS: fsys})
		must(t, err)
		must(t, p.Append([]byte(line(0)), 1, 1, 1))
		must(t, p.Sync())
		take(fsys)
		if err := p.Sync(); err == nil {
			t.Errorf("%s: synced", name)
		}
		if rep, err := p.Complete(CompleteOptions{}); err == nil || rep.Published {
			t.Errorf("%s: published: %+v, %v", name, rep, err)
		}
		must(t, p.Close())
		if got := get(t, fsys, trace); got != nil {
			t.Errorf("%s: the trace holds %q", name, got)
		}

		// Without events the file would be removed: not that of somebody else.
		fsys = crashfs.New()
		p, err = OpenPartial(trace, OpenOptions{FS: fsys})
		must(t, err)
		take(fsys)
		if rep, err := p.Complete(CompleteOptions{}); err == nil || rep.Removed {
			t.Errorf("%s: removed: %+v, %v", name, rep, err)
		}
		must(t, p.Close())
		if got := string(get(t, fsys, partial)); name == "replaced" && got != line(7) {
			t.Errorf("%s: the other partial holds %q", name, got)
		}
	}
}

// TestNothingToRecover: the error names what the caller named.
func TestNothingToRecover(t *testing.T) {
	fsys := disk(t, trace, []byte(line(0)))
	for _, name := range []string{"/logs/missing", "/logs/missing.partial"} {
		var e *fs.PathError
		if r, err := Recover(name, &Options{FS: fsys}); !errors.Is(err, fs.ErrNotExist) || !errors.As(err, &e) || e.Path != name || len(r) > 0 {
			t.Errorf("%s: %v, %v", name, r, err)
		}
	}
}
