// Package vfs is the small part of a file system that writers of traces need, as an interface that tests can make fail
// (errorfs) and crash (crashfs).
//
// OS is the real one. It differs from package os where a log writer needs it to: it never writes through a symbolic
// link, never waits for a reader of a named pipe, takes advisory locks, and can sync a directory.
//
//	f, err := vfs.OS.OpenFile("trace.partial", os.O_CREATE|os.O_RDWR, 0o600)
//	if err == nil {
//		err = f.TryLock() // vfs.ErrLocked: somebody else writes this file
//	}
package vfs
