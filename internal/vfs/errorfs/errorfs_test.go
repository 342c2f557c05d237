package errorfs_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/tracehandler/tracehandler/internal/vfs"
	"github.com/tracehandler/tracehandler/internal/vfs/crashfs"
	"github.com/tracehandler/tracehandler/internal/vfs/errorfs"
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

// TestEveryOp: each call can be made to fail, is not done then, and the error says where it comes from.
func TestEveryOp(t *testing.T) {
	calls := map[errorfs.Op]func(fsys vfs.FS, f vfs.File) error{
		errorfs.Open: func(fsys vfs.FS, f vfs.File) error {
			_, err := fsys.OpenFile("new", os.O_CREATE|os.O_WRONLY, 0o600)
			return err
		},
		errorfs.Rename:  func(fsys vfs.FS, f vfs.File) error { return fsys.Rename("a", "new") },
		errorfs.Remove:  func(fsys vfs.FS, f vfs.File) error { return fsys.Remove("a") },
		errorfs.Mkdir:   func(fsys vfs.FS, f vfs.File) error { return fsys.MkdirAll("new", 0o700) },
		errorfs.ReadDir: func(fsys vfs.FS, f vfs.File) error { _, err := fsys.ReadDir("."); return err },
		errorfs.SyncDir: func(fsys vfs.FS, f vfs.File) error { return fsys.SyncDir(".") },
		errorfs.Stat: func(fsys vfs.FS, f vfs.File) error {
			_, err := f.Stat()
			_, err2 := fsys.Stat("a")
			_, err3 := fsys.Lstat("a")
			if (err == nil) != (err2 == nil) || (err == nil) != (err3 == nil) {
				return fmt.Errorf("%w, %w, %w", err, err2, err3)
			}
			return err
		},
		errorfs.Read: func(fsys vfs.FS, f vfs.File) error {
			_, err := f.ReadAt(make([]byte, 1), 0)
			_, err2 := f.Read(make([]byte, 1))
			if (err == nil) != (err2 == nil) {
				return fmt.Errorf("%w, %w", err, err2)
			}
			return err
		},
		errorfs.Write:    func(fsys vfs.FS, f vfs.File) error { _, err := f.Write([]byte("x")); return err },
		errorfs.Seek:     func(fsys vfs.FS, f vfs.File) error { _, err := f.Seek(0, io.SeekEnd); return err },
		errorfs.Truncate: func(fsys vfs.FS, f vfs.File) error { return f.Truncate(0) },
		errorfs.Sync:     func(fsys vfs.FS, f vfs.File) error { return f.Sync() },
		errorfs.Lock:     func(fsys vfs.FS, f vfs.File) error { return f.TryLock() },
		errorfs.Close:    func(fsys vfs.FS, f vfs.File) error { return f.Close() },
	}
	for op := errorfs.Open; op <= errorfs.Close; op <<= 1 {
		call := calls[op]
		if call == nil {
			t.Errorf("%v is not tested", op)
			continue
		}
		mem := crashfs.New()
		fsys := errorfs.Wrap(mem)
		f := open(t, fsys, "a", os.O_CREATE|os.O_RDWR)
		_, err := f.Write([]byte("content"))
		must(t, err)
		_, err = f.Seek(0, io.SeekStart)
		must(t, err)

		lift := fsys.Fail(syscall.EIO, errorfs.Ops(op))
		err = call(fsys, f)
		var injected *errorfs.Error
		if !errors.Is(err, syscall.EIO) || !errors.As(err, &injected) || injected.Call.Op != op || injected.Call.Path == "" {
			t.Errorf("%v: %v", op, err)
		}
		if !strings.HasPrefix(fmt.Sprint(err), "errorfs: injected into "+op.String()+" ") {
			t.Errorf("%v: the error reads %v", op, err)
		}
		if info, err := mem.Stat("a"); err != nil || info.Size() != 7 {
			t.Errorf("%v was done in spite of the error: %v", op, err)
		}
		if _, err := mem.Stat("new"); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%v was done in spite of the error: %v", op, err)
		}
		if op == errorfs.Close {
			if _, err := f.Stat(); !errors.Is(err, fs.ErrClosed) {
				t.Errorf("a failed Close leaves the file open: %v", err)
			}
			continue
		}
		lift()
		if err := call(fsys, f); err != nil {
			t.Errorf("%v, lifted: %v", op, err)
		}
		if n := fsys.Calls(op); n == 0 {
			t.Errorf("%v was not counted", op)
		}
	}
}

func TestPredicates(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	tests := []struct {
		name  string
		preds []errorfs.Predicate
		want  string // of six writes to a, b, a, b, a, b: which fail
	}{
		{"all", nil, "xxxxxx"},
		{"other op", []errorfs.Predicate{errorfs.Ops(errorfs.Sync | errorfs.Read)}, "......"},
		{"base", []errorfs.Predicate{errorfs.Base("[b]")}, ".x.x.x"},
		{"nth", []errorfs.Predicate{errorfs.Nth(2)}, ".x...."},
		{"nth of b", []errorfs.Predicate{errorfs.Ops(errorfs.Write), errorfs.Base("b"), errorfs.Nth(2)}, "...x.."},
		{"after", []errorfs.Predicate{errorfs.After(4)}, "....xx"},
		{"first", []errorfs.Predicate{errorfs.First(2)}, "xx...."},
		{"not", []errorfs.Predicate{errorfs.Not(errorfs.Base("b"))}, "x.x.x."},
		{"never", []errorfs.Predicate{errorfs.Sometimes(0, rng)}, "......"},
		{"always", []errorfs.Predicate{errorfs.Sometimes(1, rng)}, "xxxxxx"},
	}
	for _, tt := range tests {
		fsys := errorfs.Wrap(crashfs.New())
		a, b := open(t, fsys, "d-a", os.O_CREATE|os.O_WRONLY), open(t, fsys, "b", os.O_CREATE|os.O_WRONLY)
		fsys.Fail(syscall.EIO, tt.preds...)
		got := ""
		for i := range 6 {
			_, err := []vfs.File{a, b}[i%2].Write([]byte("x"))
			got += map[bool]string{true: ".", false: "x"}[err == nil]
		}
		if got != tt.want {
			t.Errorf("%s: %s, want %s", tt.name, got, tt.want)
		}
	}
	defer func() {
		if recover() == nil {
			t.Error("a malformed pattern is accepted")
		}
	}()
	errorfs.Base("[")
}

func TestShortWrite(t *testing.T) {
	fsys := errorfs.Wrap(crashfs.New())
	f := open(t, fsys, "a", os.O_CREATE|os.O_RDWR)
	lift := fsys.ShortWrite(syscall.EINTR, func(n int) int { return n / 2 }, errorfs.Nth(2))
	for i, want := range []int{6, 3, 6} {
		n, err := f.Write([]byte("abcdef"))
		if n != want || (err != nil) != (i == 1) || err != nil && !errors.Is(err, syscall.EINTR) {
			t.Errorf("write %d: %d, %v", i, n, err)
		}
	}
	lift()
	b := make([]byte, 20)
	if n, _ := f.ReadAt(b, 0); string(b[:n]) != "abcdefabcabcdef" {
		t.Errorf("content %q", b[:n])
	}
}

func TestSpace(t *testing.T) {
	for _, dir := range []string{"", t.TempDir()} {
		var inner vfs.FS = vfs.OS
		if dir == "" {
			inner = crashfs.New()
		}
		fsys := errorfs.Wrap(inner)
		name := filepath.Join(dir, "a")
		f := open(t, fsys, name, os.O_CREATE|os.O_RDWR)
		write := func(size, want int) {
			t.Helper()
			n, err := f.Write(bytes.Repeat([]byte("x"), size))
			if n != want || (err == nil) != (size == want) || err != nil && !errors.Is(err, syscall.ENOSPC) {
				t.Errorf("wrote %d of %d, want %d: %v", n, size, want, err)
			}
		}
		fsys.SetSpace(10)
		write(8, 8)
		write(8, 2)
		write(1, 0)
		_, err := f.Seek(5, io.SeekStart)
		must(t, err)
		write(5, 5) // in place: needs no space
		write(1, 0)
		must(t, f.Truncate(4))
		_, err = f.Seek(0, io.SeekEnd)
		must(t, err)
		write(7, 6)
		f = open(t, fsys, filepath.Join(dir, "b"), os.O_CREATE|os.O_WRONLY|os.O_APPEND)
		write(1, 0)
		must(t, fsys.Remove(name))
		write(11, 10)
		fsys.SetSpace(-1)
		write(1000, 1000)
	}
}

func TestBefore(t *testing.T) {
	fsys := errorfs.Wrap(crashfs.New())
	release := make(chan struct{})
	lift := fsys.Before(func(c errorfs.Call) { <-release }, errorfs.Ops(errorfs.Sync))
	f := open(t, fsys, "a", os.O_CREATE|os.O_WRONLY)
	done := make(chan error)
	go func() { done <- f.Sync() }()
	_, err := f.Write([]byte("x")) // goes on while Sync hangs
	must(t, err)
	select {
	case err := <-done:
		t.Errorf("Sync did not wait: %v", err)
	default:
	}
	close(release)
	must(t, <-done)
	lift()
}

func Example() {
	fsys := errorfs.Wrap(crashfs.New())
	fsys.Fail(syscall.EIO, errorfs.Ops(errorfs.Sync), errorfs.Nth(2))
	f, _ := fsys.OpenFile("trace", os.O_CREATE|os.O_WRONLY, 0o600)
	fmt.Println(f.Sync())
	fmt.Println(f.Sync())
	fmt.Println(f.Sync())
	// Output:
	// <nil>
	// errorfs: injected into sync trace: input/output error
	// <nil>
}
