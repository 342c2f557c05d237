package sink

import (
	"errors"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/tracehandler/tracehandler/finalize"
	"github.com/tracehandler/tracehandler/format"
	"github.com/tracehandler/tracehandler/internal/vfs"
	"github.com/tracehandler/tracehandler/internal/vfs/crashfs"
	"github.com/tracehandler/tracehandler/internal/vfs/errorfs"
)

// clpFaulty are the calls that can fail while an archive is made, beside reads.
const clpFaulty = errorfs.Open | errorfs.Write | errorfs.Sync | errorfs.Rename | errorfs.SyncDir | errorfs.Remove | errorfs.Stat |
	errorfs.Lock | errorfs.Close

// clpState returns the events in the archives of a directory, and how many are in the journal.
func clpState(t testing.TB, fsys vfs.FS, dir string) (archived []string, journal int) {
	t.Helper()
	entries, err := fsys.ReadDir(dir)
	must(t, err)
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		switch {
		case strings.HasSuffix(path, ".clp"):
			archived = append(archived, clpRead(t, fsys, path)...)
		case strings.HasSuffix(path, ".clp.partial"):
			rep, err := finalize.Verify(path, &finalize.Options{FS: fsys})
			must(t, err)
			if !rep.OK() {
				t.Fatalf("%+v", rep)
			}
			journal += int(rep.Events)
		case !strings.Contains(path, ".archive-"):
			t.Fatalf("there is %s", path)
		}
	}
	return archived, journal
}

// TestArchiveFaults lets every call of the file system that Close makes fail, once or from then on (of the many reads every
// 20th). Close then fails or not; the events are in the journal or in archives, and a recovery on a disk that works makes
// archives of them all.
func TestArchiveFaults(t *testing.T) {
	for _, c := range []struct {
		name    string
		o       Options
		lasting bool
	}{
		{"one", Options{}, false},
		{"set", Options{ArchiveMemory: 150_000}, false},
		{"set, lasting", Options{ArchiveMemory: 150_000}, true},
		{"background", Options{ArchiveInBackground: true}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			failures := 0
			step := 1
			if testing.Short() {
				step = 9
			}
			for n := 1; clpFault(t, c.o, clpFaulty, n, c.lasting, &failures); n += step {
			}
			for n := 1; clpFault(t, c.o, errorfs.Read, n, c.lasting, &failures); n += 20 * step {
			}
			if failures == 0 {
				t.Error("nothing failed")
			}
		})
	}
}

// clpFault has the nth call of ops in Close fail, and reports whether there was one.
func clpFault(t *testing.T, o Options, ops errorfs.Op, n int, lasting bool, failures *int) (met bool) {
	t.Helper()
	const events = 300
	fsys := errorfs.Wrap(crashfs.New())
	o.Format, o.BlockSize, o.FS = format.CLP, 4096, fsys
	s := File("/logs/trace.clp", o)
	clpAppend(t, s, 0, events)
	must(t, s.Sync())
	before := fsys.Calls(ops)
	only := errorfs.Nth(n)
	if lasting {
		only = errorfs.After(n - 1)
	}
	lift := fsys.Fail(syscall.EIO, errorfs.Ops(ops), only)
	err := s.Close()
	met = fsys.Calls(ops)-before >= n
	lift()
	if err != nil {
		*failures++
		if !errors.Is(err, syscall.EIO) {
			t.Fatalf("call %d: %v", n, err)
		}
	}
	archived, journal := clpState(t, fsys, "/logs")
	var unfinished *UnfinishedError
	if errors.As(err, &unfinished) && journal != events || err == nil && (journal != 0 || len(archived) != events) ||
		journal != events && len(archived) != events {
		t.Fatalf("call %d: Close: %v; %d events in the journal, %d in archives", n, err, journal, len(archived))
	}
	if _, err := finalize.Recover("/logs", &finalize.Options{FS: fsys, Archive: finalize.ArchiveOptions{Memory: o.ArchiveMemory}}); err != nil {
		t.Fatalf("call %d: recovery: %v", n, err)
	}
	archived, journal = clpState(t, fsys, "/logs")
	if journal != 0 {
		t.Fatalf("call %d: a journal is left", n)
	}
	clpWant(t, archived, events)
	entries, err := fsys.ReadDir("/logs")
	must(t, err)
	if o.ArchiveMemory > 0 && !met && len(entries) < 2 {
		t.Errorf("the set has %d archives", len(entries))
	}
	return met
}

// TestArchiveFullDisk: a disk without room for the archive leaves the journal, and nothing of what was begun.
func TestArchiveFullDisk(t *testing.T) {
	mem := crashfs.New()
	step := int64(997)
	if testing.Short() {
		step *= 5
	}
	for space := int64(0); ; space += step {
		fsys := errorfs.Wrap(mem)
		s := File("/logs/trace.clp", Options{Format: format.CLP, FS: fsys})
		clpAppend(t, s, 0, 1000)
		must(t, s.Sync())
		fsys.SetSpace(space)
		err := s.Close()
		fsys.SetSpace(-1)
		if err == nil {
			break
		}
		var unfinished *UnfinishedError
		if !errors.As(err, &unfinished) || !errors.Is(err, syscall.ENOSPC) {
			t.Fatalf("%d bytes: %v", space, err)
		}
		entries, err := mem.ReadDir("/logs")
		must(t, err)
		if len(entries) != 1 {
			t.Fatalf("%d bytes: left %v", space, entries)
		}
		must(t, mem.Remove("/logs/trace.clp.partial"))
	}
	clpWant(t, clpRead(t, mem, "/logs/trace.clp"), 1000)
}

// TestArchiveFaultsOfRotated: an archive of a rotated journal that cannot be made is made later, and says so meanwhile.
func TestArchiveFaultsOfRotated(t *testing.T) {
	fsys := errorfs.Wrap(crashfs.New())
	clock := newStepClock()
	s := File("/logs/trace.clp", Options{Format: format.CLP, FS: fsys, Clock: clock})
	clpAppend(t, s, 0, 100)
	lift := fsys.Fail(syscall.EIO, errorfs.Ops(errorfs.Write), errorfs.Base("*.archive-*"))
	must(t, s.Rotate())
	clpAppend(t, s, 100, 200)
	for s.Err() == nil { // the archiver's attempt
		must(t, s.Flush())
	}
	if !errors.Is(s.Err(), syscall.EIO) {
		t.Errorf("Err: %v", s.Err())
	}
	lift()
	for s.Err() != nil {
		clock.step(minPause)
		must(t, s.Flush())
	}
	if st := s.Stats(); st.Published != 1 || st.Failures == 0 {
		t.Errorf("%+v", st)
	}
	must(t, s.Close())
	archived, journal := clpState(t, fsys, "/logs")
	if journal != 0 {
		t.Error("a journal is left")
	}
	clpWant(t, archived, 200)
}
