package finalize

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/tracehandler/tracehandler/format"
	"github.com/tracehandler/tracehandler/internal/vfs"
)

// readOnly is a file system that nobody may write to.
type readOnly struct{ vfs.FS }

func (r readOnly) OpenFile(name string, flag int, perm os.FileMode) (vfs.File, error) {
	if flag&(os.O_WRONLY|os.O_RDWR|os.O_CREATE|os.O_TRUNC|os.O_APPEND) != 0 {
		return nil, &os.PathError{Op: "open", Path: name, Err: syscall.EROFS}
	}
	return r.FS.OpenFile(name, flag, perm)
}

func TestDryRunOnlyReads(t *testing.T) {
	name := filepath.Join(t.TempDir(), "a.partial")
	if err := os.WriteFile(name, []byte(`{"msg":"a"}`+"\n"+`{"msg":`), 0o600); err != nil {
		t.Fatal(err)
	}
	reports, err := Recover(name, &Options{DryRun: true, FS: readOnly{vfs.OS}})
	if err != nil || len(reports) != 1 || reports[0].Events != 1 || reports[0].TornBytes != 7 {
		t.Errorf("%+v, %v", reports, err)
	}
}

// TestRecoverContext: a recovery that is broken off leaves each partial as it was, and the next one makes the traces.
func TestRecoverContext(t *testing.T) {
	text := []byte(strings.Repeat(`{"msg":"a"}`+"\n", 50_000))
	for _, f := range []format.Format{format.Plain, format.Gzip, format.Zstd} {
		t.Run(f.String(), func(t *testing.T) {
			dir := t.TempDir()
			data := append(encode(t, f, string(text)), encode(t, f, string(text))[:100]...) // and a torn end
			for _, name := range []string{"a", "b"} {
				if err := os.WriteFile(filepath.Join(dir, name+".partial"), data, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			ctx, cancel := context.WithCancel(context.Background())
			defer cancel()
			calls := 0
			reports, err := Recover(dir, &Options{Context: ctx, OnProgress: func(done, total int64) {
				if calls++; done <= 0 || done > total || total != int64(len(data)) {
					t.Errorf("%d of %d", done, total)
				}
				cancel()
			}})
			if !errors.Is(err, context.Canceled) || calls == 0 {
				t.Errorf("%v after %d calls", err, calls)
			}
			for _, r := range reports {
				if r.Published {
					t.Error("published")
				}
			}
			for _, name := range []string{"a", "b"} {
				if got, err := os.ReadFile(filepath.Join(dir, name+".partial")); err != nil || !bytes.Equal(got, data) {
					t.Errorf("%s: %v, %d bytes of %d", name, err, len(got), len(data))
				}
			}
			if reports, err := Recover(dir, &Options{Context: context.Background()}); err != nil || len(reports) != 2 || !reports[1].Published {
				t.Errorf("%v, %v", reports, err)
			}
		})
	}
}
