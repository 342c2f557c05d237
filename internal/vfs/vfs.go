package vfs

import (
	"errors"
	"io"
	"io/fs"
	"os"
)

// ErrLocked is the error of TryLock when another open file, in this process or another, holds the lock.
var ErrLocked = errors.New("vfs: file is locked by another writer")

// ErrSymlink is wrapped by OpenFile's error when the last element of the name is a symbolic link and the file would
// have been created or written.
var ErrSymlink = errors.New("vfs: refusing to write through a symbolic link")

// File is an open file. Its methods follow *os.File.
type File interface {
	io.Reader
	io.ReaderAt
	io.Writer
	io.Seeker
	io.Closer
	Truncate(size int64) error

	// Sync returns nil when everything written is on stable storage. For a file that is not regular (terminal, pipe,
	// device) and cannot be synced, it does nothing and returns nil.
	Sync() error
	Stat() (fs.FileInfo, error)

	// Name returns the name that was given to OpenFile.
	Name() string

	// TryLock takes an exclusive lock, or returns ErrLocked at once. The lock binds only those who call TryLock,
	// belongs to this open file (a second File on the same name is refused, also in the same process), leaves readers
	// alone, and ends with Close or the process. Where the operating system or the file system has no such locks,
	// TryLock returns nil.
	TryLock() error
}

// FS is a file system. Its methods are safe for concurrent use and follow package os, except where they say otherwise.
type FS interface {
	// OpenFile opens a file with the flags of package os. If flag asks to create or to write, the last element of name
	// must not be a symbolic link (the error then wraps ErrSymlink), and a named pipe without a reader is an error
	// instead of a wait.
	OpenFile(name string, flag int, perm fs.FileMode) (File, error)

	// Rename replaces newname if it is a file. It is atomic where the operating system makes it so, and durable only
	// after SyncDir.
	Rename(oldname, newname string) error
	Remove(name string) error
	MkdirAll(name string, perm fs.FileMode) error
	Lstat(name string) (fs.FileInfo, error)
	Stat(name string) (fs.FileInfo, error)
	ReadDir(name string) ([]fs.DirEntry, error)

	// SyncDir returns nil when the directory's entries (names created, renamed, removed) are on stable storage. It does
	// nothing where the operating system has no such call.
	SyncDir(name string) error
}

// SameFile is os.SameFile, also for file systems of tests, whose Sys identifies the file if it is not nil.
func SameFile(a, b fs.FileInfo) bool {
	return os.SameFile(a, b) || a.Sys() != nil && a.Sys() == b.Sys()
}
