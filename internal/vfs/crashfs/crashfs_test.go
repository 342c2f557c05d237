package crashfs_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/tracehandler/tracehandler/internal/vfs"
	"github.com/tracehandler/tracehandler/internal/vfs/crashfs"
)

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func open(t testing.TB, fsys vfs.FS, name string, flag int) vfs.File {
	t.Helper()
	f, err := fsys.OpenFile(name, flag, 0o600)
	must(t, err)
	return f
}

func write(t testing.TB, f vfs.File, s string) {
	t.Helper()
	n, err := f.Write([]byte(s))
	must(t, err)
	if n != len(s) {
		t.Fatalf("wrote %d bytes of %d", n, len(s))
	}
}

// tree returns every file with its content.
func tree(t testing.TB, fsys *crashfs.FS, dir string) string {
	t.Helper()
	entries, err := fsys.ReadDir(dir)
	must(t, err)
	var out []string
	for _, e := range entries {
		name := strings.TrimLeft(dir+"/"+e.Name(), "/")
		if e.IsDir() {
			out = append(out, name+"/")
			if sub := tree(t, fsys, name); sub != "" {
				out = append(out, sub)
			}
			continue
		}
		b, err := io.ReadAll(open(t, fsys, name, os.O_RDONLY))
		must(t, err)
		out = append(out, fmt.Sprintf("%s=%s", name, b))
	}
	return strings.Join(out, " ")
}

// TestCrash: each step says what a crash that loses all and one that loses nothing leave after it.
func TestCrash(t *testing.T) {
	fsys := crashfs.New()
	var f, g vfs.File
	steps := []struct {
		name             string
		do               func()
		loseAll, loseNot string
	}{
		{"create", func() { f = open(t, fsys, "a", os.O_CREATE|os.O_RDWR) }, "", "a="},
		{"write", func() { write(t, f, "one") }, "", "a=one"},
		{"sync without name", func() { must(t, f.Sync()) }, "", "a=one"},
		{"sync name", func() { must(t, fsys.SyncDir(".")) }, "a=one", "a=one"},
		{"write more", func() { write(t, f, "two") }, "a=one", "a=onetwo"},
		{"truncate", func() { must(t, f.Truncate(1)) }, "a=one", "a=o"},
		{"sync again", func() { must(t, f.Sync()) }, "a=o", "a=o"},
		{"rename", func() { must(t, fsys.Rename("a", "b")) }, "a=o", "b=o"},
		{"sync rename", func() { must(t, fsys.SyncDir("/")) }, "b=o", "b=o"},
		{"replace", func() {
			g = open(t, fsys, "c", os.O_CREATE|os.O_RDWR)
			write(t, g, "new")
			must(t, fsys.Rename("c", "b"))
		}, "b=o", "b=new"},
		{"name before content", func() { must(t, fsys.SyncDir("/")) }, "b=", "b=new"},
		{"then content", func() { must(t, g.Sync()) }, "b=new", "b=new"},
		{"mkdir", func() { must(t, fsys.MkdirAll("x/y", 0o700)) }, "b=new", "b=new x/ x/y/"},
		{"file below", func() {
			h := open(t, fsys, "x/y/h", os.O_CREATE|os.O_RDWR)
			write(t, h, "deep")
			must(t, h.Sync())
			must(t, fsys.SyncDir("x/y"))
		}, "b=new", "b=new x/ x/y/ x/y/h=deep"},
		{"parents", func() {
			must(t, fsys.SyncDir("x"))
			must(t, fsys.SyncDir(""))
		}, "b=new x/ x/y/ x/y/h=deep", "b=new x/ x/y/ x/y/h=deep"},
		{"remove", func() { must(t, fsys.Remove("x/y/h")) }, "b=new x/ x/y/ x/y/h=deep", "b=new x/ x/y/"},
	}
	for _, s := range steps {
		s.do()
		if got := tree(t, fsys.CrashClone(crashfs.LoseAll, nil), "/"); got != s.loseAll {
			t.Errorf("%s: after LoseAll %q, want %q", s.name, got, s.loseAll)
		}
		if got := tree(t, fsys.CrashClone(crashfs.LoseNone, nil), "/"); got != s.loseNot {
			t.Errorf("%s: after LoseNone %q, want %q", s.name, got, s.loseNot)
		}
	}
}

// TestCrashInPart: what was synced is always there; what follows is a torn beginning, or pages with zeros between.
func TestCrashInPart(t *testing.T) {
	fsys := crashfs.New()
	f := open(t, fsys, "a", os.O_CREATE|os.O_RDWR)
	must(t, fsys.SyncDir("/"))
	synced := strings.Repeat("s", 5000)
	write(t, f, synced)
	must(t, f.Sync())
	all := synced
	for i := range 5 {
		s := strings.Repeat(string(rune('0'+i)), 3000)
		write(t, f, s)
		all += s
	}
	sizes, holes := map[int]bool{}, 0
	for seed := range uint64(200) {
		rng := rand.New(rand.NewPCG(seed, 0))
		got := strings.TrimPrefix(tree(t, fsys.CrashClone(crashfs.LoseTail, rng), "/"), "a=")
		if !strings.HasPrefix(all, got) || !strings.HasPrefix(got, synced) {
			t.Fatalf("seed %d: LoseTail leaves %d bytes that are no beginning, or not all that was synced", seed, len(got))
		}
		sizes[len(got)] = true
		got = strings.TrimPrefix(tree(t, fsys.CrashClone(crashfs.LosePages, rng), "/"), "a=")
		if len(got) > len(all) || !strings.HasPrefix(got, synced) {
			t.Fatalf("seed %d: LosePages leaves %d bytes", seed, len(got))
		}
		for i := range got {
			if got[i] != all[i] && got[i] != 0 {
				t.Fatalf("seed %d: byte %d is %q, want %q or 0", seed, i, got[i], all[i])
			}
		}
		if strings.ContainsRune(got, 0) {
			holes++
		}
	}
	if len(sizes) < 50 || holes < 20 {
		t.Errorf("%d sizes after LoseTail, %d of 200 with holes after LosePages", len(sizes), holes)
	}
	if got := tree(t, fsys, "/"); got != "a="+all {
		t.Errorf("the original is harmed")
	}
}

// TestCrashNames: of unsynced renames a crash keeps a first part, and never both names or none.
func TestCrashNames(t *testing.T) {
	fsys := crashfs.New()
	f := open(t, fsys, "n0", os.O_CREATE|os.O_RDWR)
	write(t, f, "x")
	must(t, f.Sync())
	must(t, fsys.SyncDir("/"))
	for i := range 4 {
		must(t, fsys.Rename(fmt.Sprintf("n%d", i), fmt.Sprintf("n%d", i+1)))
	}
	seen := map[string]bool{}
	for seed := range uint64(100) {
		seen[tree(t, fsys.CrashClone(crashfs.LoseTail, rand.New(rand.NewPCG(seed, 0))), "/")] = true
	}
	if want := []string{"n0=x", "n1=x", "n2=x", "n3=x", "n4=x"}; len(seen) != 5 || !slices.ContainsFunc(want, func(s string) bool { return seen[s] }) {
		t.Errorf("seen %v, want %v", seen, want)
	}
}

// TestFailedSync: what a failed sync gave up is never durable, though the program still sees it.
func TestFailedSync(t *testing.T) {
	fsys := crashfs.New()
	f := open(t, fsys, "a", os.O_CREATE|os.O_RDWR)
	must(t, fsys.SyncDir("/"))
	write(t, f, "one")
	must(t, f.Sync())
	write(t, f, "two")
	fsys.SetSyncError(syscall.EIO)
	if err := f.Sync(); !errors.Is(err, syscall.EIO) {
		t.Errorf("Sync: %v", err)
	}
	fsys.SetSyncError(nil)
	write(t, f, "six")
	must(t, f.Sync())
	if got := tree(t, fsys, "/"); got != "a=onetwosix" {
		t.Errorf("the program sees %q", got)
	}
	if got := tree(t, fsys.CrashClone(crashfs.LoseNone, nil), "/"); got != "a=one\x00\x00\x00six" {
		t.Errorf("the disk has %q", got)
	}
}

// TestSys: Sys tells whether two names, or a name and an open file, are the same file.
func TestSys(t *testing.T) {
	fsys := crashfs.New()
	f := open(t, fsys, "a", os.O_CREATE|os.O_RDWR)
	before, err := f.Stat()
	must(t, err)
	must(t, fsys.Rename("a", "b"))
	open(t, fsys, "a", os.O_CREATE|os.O_RDWR)
	a, err := fsys.Stat("a")
	must(t, err)
	b, err := fsys.Stat("b")
	must(t, err)
	if b.Sys() != before.Sys() || a.Sys() == before.Sys() {
		t.Errorf("a is %v, b is %v, the file is %v", a.Sys(), b.Sys(), before.Sys())
	}
}

func TestCloneIsIndependent(t *testing.T) {
	fsys := crashfs.New()
	f := open(t, fsys, "a", os.O_CREATE|os.O_RDWR)
	write(t, f, "one")
	must(t, f.TryLock())
	clone := fsys.CrashClone(crashfs.LoseNone, nil)
	g := open(t, clone, "a", os.O_RDWR)
	must(t, g.TryLock())
	write(t, g, "TWO")
	write(t, f, "more")
	if a, b := tree(t, fsys, "/"), tree(t, clone, "/"); a != "a=onemore" || b != "a=TWO" {
		t.Errorf("original %q, clone %q", a, b)
	}
}

// TestRandomOps compares the file with a plain slice, and a crash that loses nothing with both.
func TestRandomOps(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 7))
	fsys := crashfs.New()
	f := open(t, fsys, "a", os.O_CREATE|os.O_RDWR)
	var want []byte
	for range 2000 {
		switch rng.IntN(4) {
		case 0:
			n := rng.IntN(200)
			must(t, f.Truncate(int64(n)))
			for len(want) < n {
				want = append(want, 0)
			}
			want = want[:n]
		case 1:
			must(t, f.Sync())
		default:
			off, p := rng.IntN(200), bytes.Repeat([]byte{byte(rng.Uint32())}, 1+rng.IntN(50))
			_, err := f.Seek(int64(off), io.SeekStart)
			must(t, err)
			write(t, f, string(p))
			for len(want) < off+len(p) {
				want = append(want, 0)
			}
			copy(want[off:], p)
		}
		for _, v := range []*crashfs.FS{fsys, fsys.CrashClone(crashfs.LoseNone, nil)} {
			if got := tree(t, v, "/"); got != "a="+string(want) {
				t.Fatalf("got %q, want %q", got, want)
			}
		}
	}
}

func Example() {
	fsys := crashfs.New()
	f, _ := fsys.OpenFile("trace", os.O_CREATE|os.O_WRONLY, 0o600)
	fmt.Fprintln(f, "synced")
	f.Sync()
	fmt.Fprintln(f, "not synced")

	show := func(fsys *crashfs.FS) {
		f, err := fsys.OpenFile("trace", os.O_RDONLY, 0)
		if errors.Is(err, fs.ErrNotExist) {
			fmt.Println("no such file")
			return
		}
		b, _ := io.ReadAll(f)
		fmt.Printf("%q\n", b)
	}
	show(fsys.CrashClone(crashfs.LoseAll, nil)) // the name was never synced
	fsys.SyncDir(".")
	show(fsys.CrashClone(crashfs.LoseAll, nil))
	// Output:
	// no such file
	// "synced\n"
}
