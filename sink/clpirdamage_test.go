package sink

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/tracehandler/tracehandler/finalize"
	"github.com/tracehandler/tracehandler/format"
	"github.com/tracehandler/tracehandler/naming"
)

// kvFlushes flushes so many times, each after so many events, and returns how long the partial of path is after each.
func kvFlushes(t *testing.T, s Sink, path string, times, events int) (ends []int64) {
	t.Helper()
	for n := range times {
		kvAppend(t, s, n*events, (n+1)*events)
		must(t, s.Flush())
		info, err := os.Stat(path + naming.PartialSuffix)
		must(t, err)
		ends = append(ends, info.Size())
	}
	return ends
}

// TestStreamTorn cuts a partial at many bytes, as a crash would, recovers or continues it, and reads all.
func TestStreamTorn(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "trace.clp.zst")
	partial := path + naming.PartialSuffix
	s := File(path, Options{Format: format.CLPIR, BlockSize: 4096})
	ends := kvFlushes(t, s, path, 6, 50)
	must(t, s.Close())
	whole, err := os.ReadFile(path)
	must(t, err)
	must(t, os.Remove(path))
	cuts := 97
	if testing.Short() {
		cuts = 23
	}
	for cut := 1; cut <= len(whole); cut += 1 + len(whole)/cuts {
		flushed := 0
		for _, end := range ends {
			if int64(cut) >= end {
				flushed += 50
			}
		}
		for _, how := range []string{"recover", "continue"} {
			if err := os.WriteFile(partial, whole[:cut], 0o600); err != nil {
				t.Fatal(err)
			}
			last := 0
			if how == "recover" {
				reps, err := finalize.Recover(path, nil)
				if err != nil || len(reps) != 1 {
					t.Fatalf("cut at %d: %v, %v", cut, reps, err)
				}
				if reps[0].Removed {
					if flushed > 0 {
						t.Fatalf("cut at %d: removed with %d flushed events", cut, flushed)
					}
					continue
				}
				last = len(kvLines(t, path, true))
			} else {
				s := File(path, Options{Format: format.CLPIR})
				kvAppend(t, s, 1000, 1010)
				if err := s.Close(); err != nil {
					t.Fatalf("cut at %d: continuing: %v", cut, err)
				}
				lines := kvLines(t, path, true)
				if last = len(lines) - 10; last < 0 || lines[last] != kvLine(1000) {
					t.Fatalf("cut at %d: what was added is not there", cut)
				}
			}
			if last < flushed {
				t.Fatalf("cut at %d, %s: %d events of %d flushed ones", cut, how, last, flushed)
			}
			kvWant(t, kvLines(t, path, true)[:last], 0, last)
			rep, err := finalize.Verify(path, nil)
			if err != nil || !rep.OK() {
				t.Fatalf("cut at %d, %s: %+v, %v", cut, how, rep, err)
			}
			if err := os.Remove(path); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// TestStreamDamaged continues and recovers a partial with a hole in it: what is before the hole is read, and what comes
// after is written to a new file.
func TestStreamDamaged(t *testing.T) {
	for _, how := range []string{"recover", "continue"} {
		dir := t.TempDir()
		path := filepath.Join(dir, "trace.clp.zst")
		partial := path + naming.PartialSuffix
		s := File(path, Options{Format: format.CLPIR})
		ends := kvFlushes(t, s, path, 3, 20)
		data, err := os.ReadFile(partial)
		must(t, err)
		must(t, s.Close())
		must(t, os.Remove(path))
		clear(data[ends[0]+4 : ends[1]-4])
		must(t, os.WriteFile(partial, data, 0o600))
		if how == "recover" {
			reps, err := finalize.Recover(path, nil)
			if err != nil || len(reps) != 1 || reps[0].OK() || !reps[0].Published {
				t.Fatalf("%+v, %v", reps, err)
			}
			kvWant(t, kvLines(t, path, false), 0, 20)
			continue
		}
		s = File(path, Options{Format: format.CLPIR})
		kvAppend(t, s, 100, 110)
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		kvWant(t, kvLines(t, path, true), 100, 110)
		aside, err := filepath.Glob(filepath.Join(dir, "trace-*.clp.zst"))
		if err != nil || len(aside) != 1 {
			t.Fatalf("%q, %v", aside, err)
		}
		kvWant(t, kvLines(t, aside[0], false), 0, 20)
	}
}
