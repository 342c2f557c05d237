// Package crashfs is a file system in memory that remembers what was synced, so that a test can cut the power.
//
//	fsys := crashfs.New()
//	… write, Sync, SyncDir …
//	after := fsys.CrashClone(crashfs.LoseAll, nil) // what a machine finds when it starts again
//
// The model is as hard as POSIX allows. File.Sync makes the content of a file durable, but not its name; SyncDir makes the
// names in one directory durable, but not the directory's own name in its parent. What was not synced may be lost, kept,
// or kept in part, as the Loss says. A rename within a directory happens as a whole or not at all; one between
// directories can leave both names or none.
//
// Symbolic links do not exist here. Names may be relative or absolute; there is one root.
package crashfs

import (
	"errors"
	"io/fs"
	"path"
	"path/filepath"
	"sort"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/tracehandler/tracehandler/internal/vfs"
)

// FS is a file system in memory. It is safe for concurrent use.
type FS struct {
	mu      sync.Mutex // guards every node and file below too
	root    *dir
	syncErr error
}

// New returns an empty file system.
func New() *FS { return &FS{root: newDir(0o700)} }

var _ vfs.FS = (*FS)(nil)

// SetSyncError makes every File.Sync return err, until it is called with nil. As Linux does (since 4.13), a failed sync
// gives up the data: later reads still see it, but no later Sync makes it durable.
func (fsys *FS) SetSyncError(err error) {
	fsys.mu.Lock()
	defer fsys.mu.Unlock()
	fsys.syncErr = err
}

// node is a file's content or a directory.
type node interface {
	info(name string) fs.FileInfo
}

// dir is a directory: what programs see, and what a crash leaves.
type dir struct {
	mode    fs.FileMode
	mtime   time.Time
	entries map[string]node
	durable map[string]node
	pending []entryChange // what was done since the last SyncDir, in order
}

// entryChange is a change of names that happens as a whole: a name bound to a node, or, with nil, unbound.
type entryChange []struct {
	name string
	node node
}

func newDir(mode fs.FileMode) *dir {
	return &dir{mode: mode.Perm() | fs.ModeDir, mtime: time.Now(), entries: map[string]node{}, durable: map[string]node{}}
}

func (d *dir) change(c entryChange) {
	c.apply(d.entries)
	d.pending = append(d.pending, c)
	d.mtime = time.Now()
}

func (c entryChange) apply(entries map[string]node) {
	for _, e := range c {
		if e.node == nil {
			delete(entries, e.name)
		} else {
			entries[e.name] = e.node
		}
	}
}

func bind(name string, n node) entryChange {
	return entryChange{{name, n}}
}

// split turns a name into the elements of a path from the root.
func split(name string) []string {
	name = filepath.ToSlash(name[len(filepath.VolumeName(name)):])
	name = path.Clean("/" + name)
	if name == "/" {
		return nil
	}
	return strings.Split(name[1:], "/")
}

// walk returns the node at elems.
func (fsys *FS) walk(elems []string) (node, error) {
	var n node = fsys.root
	for _, e := range elems {
		d, ok := n.(*dir)
		if !ok {
			return nil, syscall.ENOTDIR
		}
		if n, ok = d.entries[e]; !ok {
			return nil, fs.ErrNotExist
		}
	}
	return n, nil
}

// parent returns the directory that holds the last element of name.
func (fsys *FS) parent(name string) (*dir, string, error) {
	elems := split(name)
	if len(elems) == 0 {
		return nil, "", syscall.EISDIR
	}
	n, err := fsys.walk(elems[:len(elems)-1])
	if err != nil {
		return nil, "", err
	}
	d, ok := n.(*dir)
	if !ok {
		return nil, "", syscall.ENOTDIR
	}
	return d, elems[len(elems)-1], nil
}

// Rename implements vfs.FS.
func (fsys *FS) Rename(oldname, newname string) error {
	fsys.mu.Lock()
	defer fsys.mu.Unlock()
	if err := fsys.rename(oldname, newname); err != nil {
		return pathError("rename", oldname, err)
	}
	return nil
}

func (fsys *FS) rename(oldname, newname string) error {
	from, oldbase, err := fsys.parent(oldname)
	if err != nil {
		return err
	}
	n, ok := from.entries[oldbase]
	if !ok {
		return fs.ErrNotExist
	}
	to, newbase, err := fsys.parent(newname)
	if err != nil {
		return err
	}
	if old, ok := to.entries[newbase]; ok {
		if old == n {
			return nil
		}
		if _, isDir := old.(*dir); isDir {
			return syscall.EISDIR
		}
	}
	if from == to {
		from.change(entryChange{{oldbase, nil}, {newbase, n}})
		return nil
	}
	to.change(bind(newbase, n))
	from.change(bind(oldbase, nil))
	return nil
}

// Remove implements vfs.FS.
func (fsys *FS) Remove(name string) error {
	fsys.mu.Lock()
	defer fsys.mu.Unlock()
	d, base, err := fsys.parent(name)
	if err != nil {
		return pathError("remove", name, err)
	}
	n, ok := d.entries[base]
	if !ok {
		return pathError("remove", name, fs.ErrNotExist)
	}
	if sub, ok := n.(*dir); ok && len(sub.entries) > 0 {
		return pathError("remove", name, errNotEmpty)
	}
	d.change(bind(base, nil))
	return nil
}

// MkdirAll implements vfs.FS.
func (fsys *FS) MkdirAll(name string, perm fs.FileMode) error {
	fsys.mu.Lock()
	defer fsys.mu.Unlock()
	d := fsys.root
	for _, e := range split(name) {
		n, ok := d.entries[e]
		if !ok {
			n = newDir(perm)
			d.change(bind(e, n))
		}
		if d, ok = n.(*dir); !ok {
			return pathError("mkdir", name, syscall.ENOTDIR)
		}
	}
	return nil
}

// Lstat implements vfs.FS. It is Stat.
func (fsys *FS) Lstat(name string) (fs.FileInfo, error) { return fsys.Stat(name) }

// Stat implements vfs.FS.
func (fsys *FS) Stat(name string) (fs.FileInfo, error) {
	fsys.mu.Lock()
	defer fsys.mu.Unlock()
	n, err := fsys.walk(split(name))
	if err != nil {
		return nil, pathError("stat", name, err)
	}
	return n.info(path.Base("/" + filepath.ToSlash(name))), nil
}

// ReadDir implements vfs.FS.
func (fsys *FS) ReadDir(name string) ([]fs.DirEntry, error) {
	fsys.mu.Lock()
	defer fsys.mu.Unlock()
	n, err := fsys.walk(split(name))
	if err != nil {
		return nil, pathError("open", name, err)
	}
	d, ok := n.(*dir)
	if !ok {
		return nil, pathError("readdir", name, syscall.ENOTDIR)
	}
	entries := make([]fs.DirEntry, 0, len(d.entries))
	for name, n := range d.entries {
		entries = append(entries, fs.FileInfoToDirEntry(n.info(name)))
	}
	sort.Slice(entries, func(i, j int) bool { return entries[i].Name() < entries[j].Name() })
	return entries, nil
}

// SyncDir implements vfs.FS.
func (fsys *FS) SyncDir(name string) error {
	fsys.mu.Lock()
	defer fsys.mu.Unlock()
	n, err := fsys.walk(split(name))
	if err != nil {
		return pathError("sync", name, err)
	}
	d, ok := n.(*dir)
	if !ok {
		return pathError("sync", name, syscall.ENOTDIR)
	}
	for _, c := range d.pending {
		c.apply(d.durable)
	}
	d.pending = nil
	return nil
}

var errNotEmpty = errors.New("directory not empty")

func pathError(op, name string, err error) error {
	return &fs.PathError{Op: op, Path: name, Err: err}
}

// stat is the fs.FileInfo of this package. Its Sys is comparable and stands for the file itself, whatever its name.
type stat struct {
	name  string
	size  int64
	mode  fs.FileMode
	mtime time.Time
	node  node
}

func (s stat) Name() string       { return s.name }
func (s stat) Size() int64        { return s.size }
func (s stat) Mode() fs.FileMode  { return s.mode }
func (s stat) ModTime() time.Time { return s.mtime }
func (s stat) IsDir() bool        { return s.mode.IsDir() }
func (s stat) Sys() any           { return s.node }

func (d *dir) info(name string) fs.FileInfo {
	return stat{name: name, mode: d.mode, mtime: d.mtime, node: d}
}
