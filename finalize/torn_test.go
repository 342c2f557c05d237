package finalize

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/tracehandler/tracehandler/format"
	"github.com/tracehandler/tracehandler/internal/vfs/crashfs"
	"github.com/tracehandler/tracehandler/internal/vfs/errorfs"
)

const trace = "/logs/trace"

// wholeLines returns what must be left of a file that was cut after n bytes: the lines of the whole frames, and of the torn
// one those that can be decoded. The first ones are certain, the others depend on the codec.
func wholeLines(f format.Format, texts []string, ends []int, n int) (certain, possible string) {
	if f == format.Plain {
		all := strings.Join(texts, "")[:n]
		whole := all[:strings.LastIndexByte(all, '\n')+1]
		if strings.HasSuffix(all, "}") { // the newline only is missing
			whole = all + "\n"
		}
		return whole, whole
	}
	for i, s := range texts {
		if ends[i] > n {
			return certain, certain + s
		}
		certain += s
	}
	return certain, certain
}

// TestEveryPrefix cuts a file after every byte, recovers it, and appends to it.
func TestEveryPrefix(t *testing.T) {
	texts := []string{lines(0, 3), lines(3, 40), lines(40, 47)}
	for _, f := range formats {
		t.Run(f.String(), func(t *testing.T) {
			file := encode(t, f, texts...)
			var ends []int
			for i := range texts {
				ends = append(ends, len(encode(t, f, texts[:i+1]...)))
			}
			extra := encode(t, f, line(1000))
			for n := 0; n <= len(file); n += stride() {
				certain, possible := wholeLines(f, texts, ends, n)
				check := func(how, got string) {
					t.Helper()
					if !strings.HasPrefix(got, certain) || !strings.HasPrefix(possible, got) || got != "" && got[len(got)-1] != '\n' {
						t.Fatalf("%s after %d of %d bytes: %q, want from %q to %q", how, n, len(file), got, certain, possible)
					}
				}

				fsys := disk(t, trace+".partial", file[:n])
				planned, err := Recover(trace+".partial", &Options{FS: fsys, DryRun: true})
				must(t, err)
				reports, err := Recover(trace+".partial", &Options{FS: fsys})
				must(t, err)
				rep := reports[0]
				got := decode(t, get(t, fsys, trace))
				check("recovered", got)
				want := []string{"trace"}
				if got == "" {
					want = nil
				}
				if left := names(t, fsys, "/logs"); !slices.Equal(left, want) {
					t.Fatalf("after %d bytes: files %q, want %q", n, left, want)
				}
				if rep.Events != int64(strings.Count(got, "\n")) || rep.Text != int64(len(got)) || rep.Published != (got != "") ||
					rep.Removed != (got == "") || rep.Size != int64(len(get(t, fsys, trace))) || len(rep.Damage) > 0 {
					t.Fatalf("after %d bytes: %d lines recovered, report %+v", n, strings.Count(got, "\n"), rep)
				}
				if plan := planned[0]; plan.TornBytes != rep.TornBytes || plan.SalvagedEvents != rep.SalvagedEvents {
					t.Fatalf("after %d bytes: planned %+v, done %+v", n, plan, rep)
				}

				fsys = disk(t, trace, file[:n]) // a finished trace, torn by somebody else
				p, err := OpenPartial(trace, OpenOptions{Format: f, FS: fsys})
				must(t, err)
				must(t, p.Append(extra, 1, 1, int64(len(line(1000)))))
				_, err = p.Complete(CompleteOptions{})
				must(t, err)
				got, ok := strings.CutSuffix(decode(t, get(t, fsys, trace)), line(1000))
				if !ok {
					t.Fatalf("after %d bytes: the appended event is not at the end", n)
				}
				check("appended", got)
			}
		})
	}
}

// TestSalvage cuts a frame in its middle and expects the lines of its first blocks.
func TestSalvage(t *testing.T) {
	for _, f := range []format.Format{format.Gzip, format.Zstd} {
		t.Run(f.String(), func(t *testing.T) {
			first, second := lines(0, 10), lines(10, 3500) // more than one zstd block of 128 KiB
			file := encode(t, f, first, second)
			file = file[:len(file)-100]
			fsys := disk(t, trace+".partial", file)
			reports, err := Recover("/logs", &Options{FS: fsys})
			must(t, err)
			got := decode(t, get(t, fsys, trace))
			if !strings.HasPrefix(first+second, got) || len(got) < len(first)+len(second)/2 || got[len(got)-1] != '\n' {
				t.Fatalf("recovered %d bytes of %d", len(got), len(first)+len(second))
			}
			rep := reports[0]
			if n := int64(strings.Count(got, "\n")); rep.Events != n || rep.SalvagedEvents != n-10 || rep.TornBytes == 0 {
				t.Errorf("%d lines, report %+v", n, rep)
			}
		})
	}
}

// TestCrashWhileRecovering cuts the power before each call to the file system during a recovery, in every way, and
// recovers again: the result is the same.
func TestCrashWhileRecovering(t *testing.T) {
	for _, f := range formats {
		for _, cut := range []int{0, 1, 100} {
			t.Run(fmt.Sprintf("%v/cut=%d", f, cut), func(t *testing.T) {
				file := encode(t, f, lines(0, 10), lines(10, 3500))
				file = file[:len(file)-cut]
				start := func() *crashfs.FS { return disk(t, trace+".partial", file) }

				want := start()
				_, err := Recover("/logs", &Options{FS: want})
				must(t, err)
				wantText := get(t, want, trace)

				crashed := start()
				rng := rand.New(rand.NewPCG(1, uint64(cut)))
				var clones []*crashfs.FS
				var calls []errorfs.Call
				fsys := errorfs.Wrap(crashed)
				fsys.Before(func(c errorfs.Call) {
					for _, loss := range []crashfs.Loss{crashfs.LoseAll, crashfs.LoseNone, crashfs.LoseTail, crashfs.LosePages} {
						clones = append(clones, crashed.CrashClone(loss, rng))
						calls = append(calls, c)
					}
				}, errorfs.Ops(errorfs.Open|errorfs.Rename|errorfs.Remove|errorfs.SyncDir|errorfs.Write|errorfs.Truncate|errorfs.Sync|errorfs.Close))
				_, err = Recover("/logs", &Options{FS: fsys})
				must(t, err)
				clones = append(clones, crashed.CrashClone(crashfs.LoseAll, nil))
				calls = append(calls, errorfs.Call{})
				for i, clone := range clones {
					_, err := Recover("/logs", &Options{FS: clone})
					must(t, err)
					if left := names(t, clone, "/logs"); !slices.Equal(left, []string{"trace"}) {
						t.Fatalf("crash %d before %v: files %q", i, calls[i], left)
					}
					if got := get(t, clone, trace); string(got) != string(wantText) {
						t.Fatalf("crash %d before %v: %d bytes, want %d", i, calls[i], len(got), len(wantText))
					}
				}
				if len(clones) < 10 {
					t.Fatalf("%d crashes", len(clones))
				}
			})
		}
	}
}

// TestFailWhileRecovering makes each call fail once: the error is reported, nothing is lost, the next recovery succeeds.
func TestFailWhileRecovering(t *testing.T) {
	for _, f := range formats {
		t.Run(f.String(), func(t *testing.T) {
			file := encode(t, f, lines(0, 10), lines(10, 3500))
			file = file[:len(file)-100]
			want := disk(t, trace+".partial", file)
			_, err := Recover("/logs", &Options{FS: want})
			must(t, err)
			for n := 1; ; n++ {
				inner := disk(t, trace+".partial", file)
				fsys := errorfs.Wrap(inner)
				failed := errorfs.Call{}
				fsys.Fail(fs.ErrPermission, errorfs.Nth(n), func(c errorfs.Call) bool { failed = c; return true })
				_, err := Recover("/logs", &Options{FS: fsys})
				if failed.Op == 0 {
					must(t, err)
					if n < 10 {
						t.Fatalf("only %d calls", n)
					}
					return
				}
				// A failed removal of what is not needed any more, or a seek table that cannot be written, are no failures.
				if err != nil && !errors.Is(err, fs.ErrPermission) {
					t.Fatalf("call %d, %v: %v", n, failed, err)
				}
				_, err = Recover("/logs", &Options{FS: inner})
				must(t, err)
				if got := decode(t, get(t, inner, trace)); got != decode(t, get(t, want, trace)) {
					t.Fatalf("call %d, %v failed: %d bytes of text", n, failed, len(got))
				}
			}
		})
	}
}

// TestLastLineWithoutEnd: a whole object that lacks only its newline gets one, whatever white space follows it, if readers
// take it for white space.
func TestLastLineWithoutEnd(t *testing.T) {
	object := strings.TrimSuffix(line(1), "\n")
	for tail, events := range map[string]int64{"": 2, " ": 2, "\t": 2, "\r": 2, "\v": 2, "\f": 2, "\v \f\r": 2, "\x00": 1, ",": 1} {
		fsys := disk(t, trace+".partial", []byte(line(0)+object+tail))
		reports, err := Recover(trace, &Options{FS: fsys})
		must(t, err)
		want := line(0)
		if events == 2 {
			want += object + tail + "\n"
		}
		if got := string(get(t, fsys, trace)); got != want || reports[0].Events != events {
			t.Errorf("tail %q: %q, want %q; %+v", tail, got, want, reports[0])
		}
	}
}
