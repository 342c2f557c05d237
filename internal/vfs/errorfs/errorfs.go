// Package errorfs wraps a file system and makes chosen calls fail, as disks do.
//
//	fsys := errorfs.Wrap(vfs.OS)
//	fsys.Fail(syscall.EIO, errorfs.Ops(errorfs.Sync), errorfs.Nth(3)) // the third fsync
//	fsys.SetSpace(64 << 10)                                          // a full disk after 64 KiB
//	… the code under test …
//	fsys.SetSpace(-1)                                                // somebody made room
//
// An injected error is an *Error, so that a test can tell it from one it did not ask for.
package errorfs

import (
	"fmt"
	"io/fs"
	"sync"

	"github.com/tracehandler/tracehandler/internal/vfs"
)

// Op is a set of calls.
type Op uint32

// The calls of vfs.FS and vfs.File.
const (
	Open     Op = 1 << iota // OpenFile
	Rename                  // path: the old name
	Remove                  //
	Mkdir                   // MkdirAll
	Stat                    // Stat and Lstat, of a file system or file
	ReadDir                 //
	SyncDir                 //
	Read                    // Read and ReadAt
	Write                   //
	Seek                    //
	Truncate                //
	Sync                    //
	Lock                    // TryLock
	Close                   // the file is closed all the same
)

var opNames = [...]string{"open", "rename", "remove", "mkdir", "stat", "readdir", "syncdir", "read", "write", "seek",
	"truncate", "sync", "lock", "close"}

// String names the calls.
func (o Op) String() string {
	s := ""
	for i, name := range opNames {
		if o&(1<<i) != 0 {
			s += "|" + name
		}
	}
	if s == "" {
		return fmt.Sprintf("op(%d)", uint32(o))
	}
	return s[1:]
}

// Call is one call of a file system or file.
type Call struct {
	Op    Op
	Path  string
	Bytes int // to be written, for Write
}

// Error is an injected error.
type Error struct {
	Call Call
	Err  error // what the disk said: syscall.EIO, syscall.ENOSPC, …
}

// Error says that it was injected, and into what.
func (e *Error) Error() string {
	return fmt.Sprintf("errorfs: injected into %v %s: %v", e.Call.Op, e.Call.Path, e.Err)
}

// Unwrap returns what the disk said.
func (e *Error) Unwrap() error { return e.Err }

// FS is a file system that fails on request. It is safe for concurrent use.
type FS struct {
	inner vfs.FS

	mu    sync.Mutex // never held during a call of inner
	rules []*rule
	space int64 // bytes that files may grow by; negative: no limit
	calls map[Op]int
}

type rule struct {
	preds  []Predicate
	err    error
	short  func(n int) int
	before func(Call)
}

// Wrap returns a file system that works as inner does, until it is told otherwise.
func Wrap(inner vfs.FS) *FS {
	return &FS{inner: inner, space: -1, calls: map[Op]int{}}
}

var _ vfs.FS = (*FS)(nil)

// Fail makes each call fail with err that all predicates accept; a call that fails does nothing else. The predicates are
// asked in order, up to the first that refuses, so that Nth counts what those before it accept. lift ends it.
func (fsys *FS) Fail(err error, preds ...Predicate) (lift func()) {
	return fsys.add(&rule{preds: preds, err: err})
}

// ShortWrite makes each Write that all predicates accept write only keep(n) of its n bytes and fail with err.
func (fsys *FS) ShortWrite(err error, keep func(n int) int, preds ...Predicate) (lift func()) {
	return fsys.add(&rule{preds: append([]Predicate{Ops(Write)}, preds...), err: err, short: keep})
}

// Before runs do before each call that all predicates accept. A do that blocks is a disk that hangs.
func (fsys *FS) Before(do func(Call), preds ...Predicate) (lift func()) {
	return fsys.add(&rule{preds: preds, before: do})
}

func (fsys *FS) add(r *rule) func() {
	fsys.mu.Lock()
	defer fsys.mu.Unlock()
	fsys.rules = append(fsys.rules, r)
	return func() {
		fsys.mu.Lock()
		defer fsys.mu.Unlock()
		for i, other := range fsys.rules {
			if other == r {
				fsys.rules = append(fsys.rules[:i:i], fsys.rules[i+1:]...)
				return
			}
		}
	}
}

// SetSpace lets files grow by n more bytes in all, then fail with ENOSPC; the write that crosses the limit writes what
// fits. Truncate and Remove give space back. A negative n is no limit.
func (fsys *FS) SetSpace(n int64) {
	fsys.mu.Lock()
	defer fsys.mu.Unlock()
	fsys.space = n
}

// Calls returns how many calls of ops there were, failed ones included.
func (fsys *FS) Calls(ops Op) int {
	fsys.mu.Lock()
	defer fsys.mu.Unlock()
	n := 0
	for op, c := range fsys.calls {
		if op&ops != 0 {
			n += c
		}
	}
	return n
}

// check counts a call and returns the error to fail with, and for a short write the bytes to write first.
func (fsys *FS) check(c Call) (keep int, err error) {
	fsys.mu.Lock()
	fsys.calls[c.Op]++
	var before []func(Call)
	for _, r := range fsys.rules {
		if err != nil || !r.accepts(c) {
			continue
		}
		if r.before != nil {
			before = append(before, r.before)
			continue
		}
		err = &Error{Call: c, Err: r.err}
		if r.short != nil {
			keep = min(max(r.short(c.Bytes), 0), c.Bytes)
		}
	}
	fsys.mu.Unlock()
	for _, do := range before {
		do(c)
	}
	return keep, err
}

func (r *rule) accepts(c Call) bool {
	for _, p := range r.preds {
		if !p(c) {
			return false
		}
	}
	return true
}

// take takes up to n bytes of space and returns how many there were.
func (fsys *FS) take(n int64) int64 {
	fsys.mu.Lock()
	defer fsys.mu.Unlock()
	if fsys.space < 0 {
		return n
	}
	n = min(n, fsys.space)
	fsys.space -= n
	return n
}

func (fsys *FS) give(n int64) {
	fsys.mu.Lock()
	defer fsys.mu.Unlock()
	if fsys.space >= 0 && n > 0 {
		fsys.space += n
	}
}

// OpenFile implements vfs.FS.
func (fsys *FS) OpenFile(name string, flag int, perm fs.FileMode) (vfs.File, error) {
	if _, err := fsys.check(Call{Op: Open, Path: name}); err != nil {
		return nil, err
	}
	f, err := fsys.inner.OpenFile(name, flag, perm)
	if err != nil {
		return nil, err
	}
	return &file{File: f, fsys: fsys, flag: flag}, nil
}

// Rename implements vfs.FS.
func (fsys *FS) Rename(oldname, newname string) error {
	if _, err := fsys.check(Call{Op: Rename, Path: oldname}); err != nil {
		return err
	}
	return fsys.inner.Rename(oldname, newname)
}

// Remove implements vfs.FS.
func (fsys *FS) Remove(name string) error {
	if _, err := fsys.check(Call{Op: Remove, Path: name}); err != nil {
		return err
	}
	var size int64
	if info, err := fsys.inner.Lstat(name); err == nil && info.Mode().IsRegular() {
		size = info.Size()
	}
	err := fsys.inner.Remove(name)
	if err == nil {
		fsys.give(size)
	}
	return err
}

// MkdirAll implements vfs.FS.
func (fsys *FS) MkdirAll(name string, perm fs.FileMode) error {
	if _, err := fsys.check(Call{Op: Mkdir, Path: name}); err != nil {
		return err
	}
	return fsys.inner.MkdirAll(name, perm)
}

// Lstat implements vfs.FS.
func (fsys *FS) Lstat(name string) (fs.FileInfo, error) {
	if _, err := fsys.check(Call{Op: Stat, Path: name}); err != nil {
		return nil, err
	}
	return fsys.inner.Lstat(name)
}

// Stat implements vfs.FS.
func (fsys *FS) Stat(name string) (fs.FileInfo, error) {
	if _, err := fsys.check(Call{Op: Stat, Path: name}); err != nil {
		return nil, err
	}
	return fsys.inner.Stat(name)
}

// ReadDir implements vfs.FS.
func (fsys *FS) ReadDir(name string) ([]fs.DirEntry, error) {
	if _, err := fsys.check(Call{Op: ReadDir, Path: name}); err != nil {
		return nil, err
	}
	return fsys.inner.ReadDir(name)
}

// SyncDir implements vfs.FS.
func (fsys *FS) SyncDir(name string) error {
	if _, err := fsys.check(Call{Op: SyncDir, Path: name}); err != nil {
		return err
	}
	return fsys.inner.SyncDir(name)
}
