package crashfs

import (
	"bytes"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"syscall"
	"time"

	"github.com/tracehandler/tracehandler/internal/vfs"
)

// content is what a file holds: what programs see, and what a crash leaves.
type content struct {
	mode    fs.FileMode
	mtime   time.Time
	data    []byte
	durable []byte
	pending []change // what was done since the last Sync, in order
	lock    *file
}

// change is one write, or one Truncate if data is nil.
type change struct {
	off  int64 // of the write, or the new size
	data []byte
	lost bool // given up by a failed sync
}

func (c *content) change(ch change) {
	c.data = ch.apply(c.data)
	c.pending = append(c.pending, ch)
	c.mtime = time.Now()
}

// apply returns b after the change; it may use b's memory.
func (ch change) apply(b []byte) []byte {
	if ch.data == nil {
		if ch.off <= int64(len(b)) {
			return b[:ch.off]
		}
		return append(b, make([]byte, ch.off-int64(len(b)))...)
	}
	if gap := ch.off - int64(len(b)); gap > 0 {
		b = append(b, make([]byte, gap)...)
	}
	n := copy(b[ch.off:], ch.data)
	return append(b, ch.data[n:]...)
}

func (c *content) info(name string) fs.FileInfo {
	return stat{name: name, size: int64(len(c.data)), mode: c.mode, mtime: c.mtime, node: c}
}

// OpenFile implements vfs.FS.
func (fsys *FS) OpenFile(name string, flag int, perm fs.FileMode) (vfs.File, error) {
	fsys.mu.Lock()
	defer fsys.mu.Unlock()
	f, err := fsys.open(name, flag, perm)
	if err != nil {
		return nil, pathError("open", name, err)
	}
	return f, nil
}

func (fsys *FS) open(name string, flag int, perm fs.FileMode) (*file, error) {
	f := &file{fsys: fsys, name: name, flag: flag}
	d, base, err := fsys.parent(name)
	if err != nil {
		return nil, err
	}
	n, ok := d.entries[base]
	switch {
	case !ok && flag&os.O_CREATE == 0:
		return nil, fs.ErrNotExist
	case !ok:
		f.content = &content{mode: perm.Perm(), mtime: time.Now()}
		d.change(bind(base, f.content))
		return f, nil
	case flag&os.O_CREATE != 0 && flag&os.O_EXCL != 0:
		return nil, fs.ErrExist
	}
	if f.content, ok = n.(*content); !ok {
		return nil, syscall.EISDIR
	}
	if flag&os.O_TRUNC != 0 && f.writable() {
		f.content.change(change{})
	}
	return f, nil
}

// file is an open file.
type file struct {
	fsys    *FS
	name    string
	flag    int
	content *content
	off     int64
	closed  bool
}

func (f *file) writable() bool { return f.flag&(os.O_WRONLY|os.O_RDWR) != 0 }

// enter locks the file system and reports what keeps op from being done.
func (f *file) enter(op string, write bool) error {
	f.fsys.mu.Lock()
	switch {
	case f.closed:
		return pathError(op, f.name, fs.ErrClosed)
	case write && !f.writable(), op == "read" && f.flag&os.O_WRONLY != 0:
		return pathError(op, f.name, fs.ErrPermission)
	}
	return nil
}

func (f *file) leave() { f.fsys.mu.Unlock() }

func (f *file) Name() string { return f.name }

func (f *file) Read(p []byte) (int, error) {
	defer f.leave()
	if err := f.enter("read", false); err != nil {
		return 0, err
	}
	n, err := f.readAt(p, f.off)
	f.off += int64(n)
	if n > 0 {
		err = nil
	}
	return n, err
}

func (f *file) ReadAt(p []byte, off int64) (int, error) {
	defer f.leave()
	if err := f.enter("read", false); err != nil {
		return 0, err
	}
	if off < 0 {
		return 0, pathError("readat", f.name, syscall.EINVAL)
	}
	return f.readAt(p, off)
}

func (f *file) readAt(p []byte, off int64) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	if off >= int64(len(f.content.data)) {
		return 0, io.EOF
	}
	n := copy(p, f.content.data[off:])
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

func (f *file) Write(p []byte) (int, error) {
	defer f.leave()
	if err := f.enter("write", true); err != nil {
		return 0, err
	}
	if f.flag&os.O_APPEND != 0 {
		f.off = int64(len(f.content.data))
	}
	if len(p) > 0 {
		f.content.change(change{off: f.off, data: bytes.Clone(p)})
		f.off += int64(len(p))
	}
	return len(p), nil
}

func (f *file) Seek(off int64, whence int) (int64, error) {
	defer f.leave()
	if err := f.enter("seek", false); err != nil {
		return 0, err
	}
	switch whence {
	case io.SeekStart:
	case io.SeekCurrent:
		off += f.off
	case io.SeekEnd:
		off += int64(len(f.content.data))
	default:
		off = -1
	}
	if off < 0 {
		return 0, pathError("seek", f.name, syscall.EINVAL)
	}
	f.off = off
	return off, nil
}

func (f *file) Truncate(size int64) error {
	defer f.leave()
	if err := f.enter("truncate", true); err != nil {
		return err
	}
	if size < 0 {
		return pathError("truncate", f.name, syscall.EINVAL)
	}
	f.content.change(change{off: size})
	return nil
}

func (f *file) Sync() error {
	defer f.leave()
	if err := f.enter("sync", false); err != nil {
		return err
	}
	c := f.content
	if f.fsys.syncErr != nil {
		for i := range c.pending {
			c.pending[i].lost = true
		}
		return pathError("sync", f.name, f.fsys.syncErr)
	}
	for _, ch := range c.pending {
		if !ch.lost {
			c.durable = ch.apply(c.durable)
		}
	}
	c.pending = nil
	return nil
}

func (f *file) Stat() (fs.FileInfo, error) {
	defer f.leave()
	if err := f.enter("stat", false); err != nil {
		return nil, err
	}
	return f.content.info(path.Base("/" + filepath.ToSlash(f.name))), nil
}

func (f *file) TryLock() error {
	defer f.leave()
	if err := f.enter("lock", false); err != nil {
		return err
	}
	if f.content.lock != nil && f.content.lock != f {
		return vfs.ErrLocked
	}
	f.content.lock = f
	return nil
}

func (f *file) Close() error {
	defer f.leave()
	if err := f.enter("close", false); err != nil {
		return err
	}
	f.closed = true
	if f.content.lock == f {
		f.content.lock = nil
	}
	return nil
}
