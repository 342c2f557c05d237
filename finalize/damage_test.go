package finalize

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tracehandler/tracehandler/format"
	"github.com/tracehandler/tracehandler/internal/vfs"
	"github.com/tracehandler/tracehandler/internal/vfs/crashfs"
	"github.com/tracehandler/tracehandler/internal/vfs/errorfs"
)

// TestEveryByteFlipped damages each byte of a partial. Recovery keeps all that is not torn, byte for byte, and counts the
// events of the frames that are whole.
func TestEveryByteFlipped(t *testing.T) {
	texts := []string{lines(0, 3), lines(3, 5), lines(5, 15), lines(15, 16)}
	for _, f := range []format.Format{format.Gzip, format.Zstd} {
		t.Run(f.String(), func(t *testing.T) {
			file := encode(t, f, texts...)
			last := len(encode(t, f, texts[:3]...)) // where the last frame begins
			for i := 0; i < len(file); i += stride() {
				bad := bytes.Clone(file)
				bad[i] ^= 0x10
				fsys := disk(t, trace+".partial", bad)
				verified, err := Verify(trace+".partial", &Options{FS: fsys})
				must(t, err)
				// A few header bits mean nothing to the text: the time of a gzip member, for example.
				if verified.OK() && verified.Text != int64(len(strings.Join(texts, ""))) {
					t.Fatalf("byte %d: nothing found, %+v", i, verified)
				}
				reports, err := Recover(trace+".partial", &Options{FS: fsys})
				must(t, err)
				rep := reports[0]
				got := get(t, fsys, trace)
				if rep.TornBytes > 0 && i < last || !bytes.HasPrefix(got, bad[:last]) {
					t.Fatalf("byte %d: something was cut: %+v", i, rep)
				}
				if n := int64(16 - 10); rep.Events < n { // the third frame is the largest
					t.Fatalf("byte %d: only %d events, %+v", i, rep.Events, rep)
				}
				for _, d := range rep.Damage {
					if d.Size <= 0 || d.Offset < 0 || d.Offset+d.Size > int64(len(bad)) || d.Err == nil {
						t.Fatalf("byte %d: %v", i, d)
					}
				}
			}
		})
	}
}

func TestVerifyFindsPlaces(t *testing.T) {
	texts := []string{lines(0, 5), lines(5, 9), lines(9, 30)}
	file := encode(t, format.Zstd, texts...)
	first, second := len(encode(t, format.Zstd, texts[0])), len(encode(t, format.Zstd, texts[:2]...))
	file[second-1] ^= 1 // the checksum of the second frame
	rep, err := Verify(trace, &Options{FS: disk(t, trace, file)})
	must(t, err)
	if rep.OK() || len(rep.Damage) != 1 || rep.Damage[0].Offset != int64(first) || rep.Damage[0].Size != int64(second-first) {
		t.Errorf("damage %v, want [%d, %d)", rep.Damage, first, second)
	}
	if rep.Events != 26 || rep.Frames != 2 || rep.DamageBytes != int64(second-first) {
		t.Errorf("%+v", rep)
	}

	text := line(0) + "no event\n" + "\n" + line(1) + `{"half":` + "\n" + line(2)
	for _, f := range formats {
		rep, err := Verify(trace, &Options{FS: disk(t, trace, encode(t, f, text))})
		must(t, err)
		want := []int64{int64(len(line(0))), int64(len(line(0) + "no event\n\n" + line(1)))}
		if rep.OK() || rep.BadLinesCount != 2 || rep.BadLines[0].Line != 2 || rep.BadLines[0].Offset != want[0] ||
			rep.BadLines[1].Line != 5 || rep.BadLines[1].Offset != want[1] {
			t.Errorf("%v: %v, want lines 2 and 5 at %d", f, rep.BadLines, want)
		}
	}
}

// TestZeroTail: some file systems extend a file before its data comes.
func TestZeroTail(t *testing.T) {
	for _, f := range formats {
		file := encode(t, f, lines(0, 10))
		fsys := disk(t, trace+".partial", append(bytes.Clone(file), make([]byte, 70000)...))
		reports, err := Recover("/logs", &Options{FS: fsys})
		must(t, err)
		if rep := reports[0]; rep.TornBytes != 70000 || rep.Events != 10 || len(rep.Damage) > 0 {
			t.Errorf("%v: %+v", f, rep)
		}
		if got := decode(t, get(t, fsys, trace)); got != lines(0, 10) {
			t.Errorf("%v: %d bytes of text", f, len(got))
		}
	}
}

// TestGarbageTail: what is wrong but not torn is not ours to delete.
func TestGarbageTail(t *testing.T) {
	garbage := []byte("this is not the start of a frame, whatever it is")
	for _, f := range []format.Format{format.Gzip, format.Zstd} {
		file := append(encode(t, f, lines(0, 10)), garbage...)
		fsys := disk(t, trace+".partial", file)
		reports, err := Recover("/logs", &Options{FS: fsys})
		must(t, err)
		if rep := reports[0]; rep.TornBytes != 0 || rep.Events != 10 || rep.DamageBytes != int64(len(garbage)) {
			t.Errorf("%v: %+v", f, rep)
		}
		if got := get(t, fsys, trace); !bytes.Equal(got, file) {
			t.Errorf("%v: the file changed", f)
		}
	}
}

func TestRecoverDir(t *testing.T) {
	fsys := crashfs.New()
	put(t, fsys, "/logs/a.partial", []byte(lines(0, 3)))
	put(t, fsys, "/logs/b.partial", []byte(lines(0, 4)+`{"torn`))
	put(t, fsys, "/logs/live.partial", []byte(lines(0, 5)))
	put(t, fsys, "/logs/empty.partial", nil)
	put(t, fsys, "/logs/done", []byte(lines(0, 6)))
	put(t, fsys, "/logs/stale"+journalSuffix, []byte("left over"))
	put(t, fsys, "/logs/archive.partial", []byte{0xfd, 0x2f, 0xc5, 0x30, 1, 2, 3})
	live, err := OpenPartial("/logs/live", OpenOptions{FS: fsys})
	must(t, err)

	before := names(t, fsys, "/logs")
	planned, err := Recover("/logs", &Options{FS: fsys, DryRun: true})
	check := func(reports []Report, err error) {
		t.Helper()
		var locked *LockedError
		var unsupported *UnsupportedError
		if !errors.As(err, &locked) || locked.Path != "/logs/live.partial" || !errors.As(err, &unsupported) || unsupported.Have != format.ArchiveMagic {
			t.Errorf("error %v", err)
		}
		var got []string
		for _, r := range reports {
			got = append(got, filepath.Base(r.Partial))
		}
		if !slices.Equal(got, []string{"a.partial", "archive.partial", "b.partial", "empty.partial"}) {
			t.Errorf("reports for %q", got)
		}
		if b := reports[2]; b.TornBytes != 6 || b.Events != 4 {
			t.Errorf("%+v", b)
		}
	}
	check(planned, err)
	if after := names(t, fsys, "/logs"); !slices.Equal(before, after) {
		t.Errorf("a dry run left %q", after)
	}
	reports, err := Recover("/logs", &Options{FS: fsys})
	check(reports, err)
	if after, want := names(t, fsys, "/logs"), []string{"a", "archive.partial", "b", "done", "live.partial"}; !slices.Equal(after, want) {
		t.Errorf("files %q, want %q", after, want)
	}
	_, err = live.Complete(CompleteOptions{})
	must(t, err)

	if reports, err := Recover("/logs/done", &Options{FS: fsys}); err != nil || reports != nil {
		t.Errorf("a finished trace: %v, %v", reports, err)
	}
	if _, err := Recover("/logs/nothing", &Options{FS: fsys}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no such file: %v", err)
	}
}

// TestNothingIsReplaced: a recovered trace does not take the name of one that exists.
func TestNothingIsReplaced(t *testing.T) {
	fsys := crashfs.New()
	put(t, fsys, trace+".ndjson", []byte(lines(0, 3)))
	put(t, fsys, trace+".ndjson.partial", []byte(lines(3, 6)))
	reports, err := Recover("/logs", &Options{FS: fsys})
	must(t, err)
	if got := get(t, fsys, trace+".ndjson"); string(got) != lines(0, 3) {
		t.Errorf("the trace holds %q", got)
	}
	if got := get(t, fsys, reports[0].Path); string(got) != lines(3, 6) || !reports[0].Published {
		t.Errorf("%s holds %q", reports[0].Path, got)
	}
}

func TestOpenModes(t *testing.T) {
	for _, there := range []string{trace, trace + ".partial"} {
		open := func(m Mode, f format.Format) (*Partial, vfs.FS, error) {
			fsys := disk(t, there, encode(t, format.Gzip, lines(0, 3)))
			p, err := OpenPartial(trace, OpenOptions{Format: f, Mode: m, FS: fsys})
			return p, fsys, err
		}
		var exists *ExistsError
		if _, _, err := open(Fail, format.Gzip); !errors.As(err, &exists) || exists.Path != there {
			t.Errorf("%s: Fail: %v", there, err)
		}
		var wrong *FormatError
		_, fsys, err := open(Append, format.Zstd)
		if !errors.As(err, &wrong) || wrong.Want != format.Zstd || wrong.Have != format.GzipMagic {
			t.Errorf("%s: another format: %v", there, err)
		}
		// A trace that was not ours to continue has its name back.
		if got := names(t, fsys, "/logs"); !slices.Equal(got, []string{filepath.Base(there)}) {
			t.Errorf("%s: after refusing another format there is %q", there, got)
		}
		p, fsys, err := open(Truncate, format.Zstd)
		must(t, err)
		if got := get(t, fsys, trace); there == trace && decode(t, got) != lines(0, 3) {
			t.Errorf("%s: the old trace is gone before the new one is complete", there)
		}
		must(t, p.Append(encode(t, format.Zstd, line(9)), 1, 1, int64(len(line(9)))))
		_, err = p.Complete(CompleteOptions{})
		must(t, err)
		if got := decode(t, get(t, fsys, trace)); got != line(9) {
			t.Errorf("%s: truncated: %q", there, got)
		}
	}
}

// TestOpenLine: text of a foreign writer that does not end in a newline is not glued to the next event.
func TestOpenLine(t *testing.T) {
	for _, f := range formats {
		text := strings.TrimSuffix(lines(0, 2), "\n")
		fsys := disk(t, trace, encode(t, f, text))
		p, err := OpenPartial(trace, OpenOptions{Format: f, FS: fsys})
		must(t, err)
		must(t, p.Append(encode(t, f, line(2)), 1, 1, int64(len(line(2)))))
		_, err = p.Complete(CompleteOptions{})
		must(t, err)
		if got := decode(t, get(t, fsys, trace)); got != lines(0, 3) {
			t.Errorf("%v: %q", f, got)
		}
	}
}

func TestLocks(t *testing.T) {
	path := filepath.Join(t.TempDir(), "trace")
	p, err := OpenPartial(path, OpenOptions{})
	must(t, err)
	must(t, p.Append([]byte(line(0)), 1, 1, 1))
	var locked *LockedError
	for _, m := range []Mode{Append, Truncate, Fail} {
		if _, err := OpenPartial(path, OpenOptions{Mode: m}); !errors.As(err, &locked) || locked.Path != path+".partial" {
			t.Errorf("mode %d: %v", m, err)
		}
	}
	if _, err := Recover(path, nil); !errors.As(err, &locked) {
		t.Errorf("Recover: %v", err)
	}
	must(t, p.Close())
	reports, err := Recover(path, nil)
	must(t, err)
	if !reports[0].Published || reports[0].Path != path {
		t.Errorf("%+v", reports[0])
	}
}

func TestPlantedLinks(t *testing.T) {
	dir := t.TempDir()
	victim := filepath.Join(dir, "victim")
	must(t, os.WriteFile(victim, []byte("precious"), 0o600))
	for _, name := range []string{"trace", "trace.partial"} {
		link := filepath.Join(dir, name)
		if err := os.Symlink(victim, link); err != nil {
			t.Logf("no symbolic links here: %v", err)
			return
		}
		if _, err := OpenPartial(filepath.Join(dir, "trace"), OpenOptions{}); !errors.Is(err, vfs.ErrSymlink) {
			t.Errorf("%s is a link: %v", name, err)
		}
		must(t, os.Remove(link))
	}
	must(t, os.WriteFile(filepath.Join(dir, "trace.partial"), []byte(line(0)), 0o600))
	must(t, os.Symlink(victim, filepath.Join(dir, "trace"+journalSuffix)))
	if _, err := Recover(filepath.Join(dir, "trace"), nil); !errors.Is(err, vfs.ErrSymlink) {
		t.Errorf("the journal is a link: %v", err)
	}
	if b, _ := os.ReadFile(victim); string(b) != "precious" {
		t.Errorf("the victim holds %q", b)
	}
}

// TestFailedSyncIsFinal: after a failed sync nothing is published, since the data may be gone.
func TestFailedSyncIsFinal(t *testing.T) {
	fsys := errorfs.Wrap(crashfs.New())
	p, err := OpenPartial(trace, OpenOptions{FS: fsys})
	must(t, err)
	must(t, p.Append([]byte(line(0)), 1, 1, 1))
	fsys.Fail(fs.ErrInvalid, errorfs.Ops(errorfs.Sync), errorfs.First(1))
	for range 3 {
		if err := p.Sync(); !errors.Is(err, fs.ErrInvalid) {
			t.Errorf("Sync: %v", err)
		}
	}
	if rep, err := p.Complete(CompleteOptions{}); !errors.Is(err, fs.ErrInvalid) || rep.Published {
		t.Errorf("Complete: %+v, %v", rep, err)
	}
	must(t, p.Close())
}

func TestBeforePublish(t *testing.T) {
	fsys := crashfs.New()
	p, err := OpenPartial(trace, OpenOptions{Format: format.Zstd, FS: fsys})
	must(t, err)
	must(t, p.Append(encode(t, format.Zstd, line(0)), 1, 1, int64(len(line(0)))))
	size := p.Size()
	no := errors.New("no")
	_, err = p.Complete(CompleteOptions{BeforePublish: func(name string) error {
		if name != trace+".partial" || decode(t, get(t, fsys, name)) != line(0) {
			t.Errorf("%s is not complete", name)
		}
		return no
	}})
	if !errors.Is(err, no) || p.Size() != size || int64(len(get(t, fsys, trace+".partial"))) != size {
		t.Errorf("%v; size %d, want %d", err, p.Size(), size)
	}
	must(t, p.Append(encode(t, format.Zstd, line(1)), 1, 1, int64(len(line(1)))))
	_, err = p.Complete(CompleteOptions{})
	must(t, err)
	if got := decode(t, get(t, fsys, trace)); got != lines(0, 2) {
		t.Errorf("%q", got)
	}
}

func TestThen(t *testing.T) {
	order := ""
	a, b := errors.New("a"), errors.New("b")
	err := Then(closer(func() error { order += "close "; return a }), func() error { order += "consume"; return b })
	if order != "close consume" || !errors.Is(err, a) || !errors.Is(err, b) {
		t.Errorf("%s, %v", order, err)
	}
	if err := Then(closer(func() error { return nil }), nil); err != nil {
		t.Error(err)
	}
}

type closer func() error

func (c closer) Close() error { return c() }

// TestAppendToLargeGzip: only the end of a large file is decoded before it is continued.
func TestAppendToLargeGzip(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	var texts []string
	for range 9 {
		var b strings.Builder
		for b.Len() < 1<<20 {
			fmt.Fprintf(&b, `{"id":"%016x%016x%016x%016x"}`+"\n", rng.Uint64(), rng.Uint64(), rng.Uint64(), rng.Uint64())
		}
		texts = append(texts, b.String())
	}
	file := encode(t, format.Gzip, texts...)
	if len(file)-10 <= tailSize {
		t.Fatalf("%d bytes are not large", len(file))
	}
	fsys := errorfs.Wrap(disk(t, trace, file[:len(file)-10]))
	read := 0
	fsys.Before(func(errorfs.Call) { read++ }, errorfs.Ops(errorfs.Read))
	p, err := OpenPartial(trace, OpenOptions{Format: format.Gzip, FS: fsys})
	must(t, err)
	if most := 3 * tailSize / windowSize; read > most {
		t.Errorf("%d reads, want at most %d", read, most)
	}
	must(t, p.Append(encode(t, format.Gzip, line(1)), 1, 1, int64(len(line(1)))))
	_, err = p.Complete(CompleteOptions{})
	must(t, err)
	// The torn member's lines could be decoded.
	if got := decode(t, get(t, fsys, trace)); !strings.HasPrefix(got, strings.Join(texts[:8], "")) || !strings.HasSuffix(got, "\n"+line(1)) {
		t.Errorf("%d bytes of text", len(got))
	}
}
