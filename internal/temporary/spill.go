package temporary

import (
	"io"
	"sync"

	"github.com/tracehandler/tracehandler/internal/vfs"
)

// Spill takes what a writer of archives cannot keep in memory. Its file is created when it is first written to. Its methods are safe
// for concurrent use.
type Spill struct {
	fs   vfs.FS
	path string

	mu sync.Mutex
	f  vfs.File
}

// NewSpill returns a Spill for an archive of the trace at path.
func NewSpill(fsys vfs.FS, path string) *Spill { return &Spill{fs: fsys, path: path} }

// WriteAt implements io.WriterAt.
func (s *Spill) WriteAt(p []byte, off int64) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.f == nil {
		f, err := Create(s.fs, s.path)
		if err != nil {
			return 0, err
		}
		s.f = f
	}
	if _, err := s.f.Seek(off, io.SeekStart); err != nil {
		return 0, err
	}
	n, err := s.f.Write(p)
	if err == nil && n < len(p) {
		err = io.ErrShortWrite
	}
	return n, err
}

// ReadAt implements io.ReaderAt.
func (s *Spill) ReadAt(p []byte, off int64) (int, error) {
	s.mu.Lock()
	f := s.f
	s.mu.Unlock()
	if f == nil {
		return 0, io.EOF
	}
	return f.ReadAt(p, off)
}

// Close removes the file, if there is one. What an error leaves of it, the next recovery removes. The Spill can be used again.
func (s *Spill) Close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.f == nil {
		return
	}
	_ = s.fs.Remove(s.f.Name())
	_ = s.f.Close()
	s.f = nil
}
