package reader

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/tracehandler/tracehandler/event"
	"github.com/tracehandler/tracehandler/naming"
)

// DefaultInterval is how often Follow looks at a file that has no more to read.
const DefaultInterval = 200 * time.Millisecond

// FollowOptions change how a trace is followed. The zero value and nil are what most callers want.
type FollowOptions struct {
	Options                // Parallel is ignored: events are delivered as they come
	Interval time.Duration // between two looks at the file; zero means DefaultInterval
	FromEnd  bool          // read, but do not deliver, what is there at the start
	CaughtUp func()        // called, if not nil, by the iterating goroutine when all there is was delivered, before it waits
}

// Follow iterates over the events of the trace at path while it grows, until ctx ends. What stands at path may change:
//
//   - There is no file yet: Follow waits for path, or for its partial (path + naming.PartialSuffix), which goes first.
//   - The partial is finished and renamed to path: Follow goes on in it.
//   - The file is rotated, or a new partial is begun: Follow reads the old file to its end, then the files rotated since
//     (by their names, see naming.ParseRotated), then the new one, each from its beginning.
//   - The file becomes shorter, but keeps what was delivered, as when recovery cuts a torn tail: Follow goes on there.
//   - The file becomes shorter than that: it has been begun anew, and is read from its beginning.
//   - The partial is the journal of a CLP archive, which takes its place in the end: what is in the archive was delivered.
//
// A CLP archive that is there already is delivered, and then waits for what is begun after it.
//
// An incomplete line, member or frame at the end is waited for. It is torn only if the file is rotated without it. A
// file that is replaced by one of the same length within one interval, in place, cannot be told from one that is not.
//
// The pairs are those of Reader.Events, and like there a gzip member or zstd frame is delivered when it is complete; only
// the text of a zstd frame without content size, which may never be, is delivered as it is decoded. When ctx ends, the
// iteration ends, without an error.
func Follow(ctx context.Context, path string, o *FollowOptions) iter.Seq2[event.Event, error] {
	return func(yield func(event.Event, error) bool) {
		var v FollowOptions
		if o != nil {
			v = *o
		}
		if v.Interval < 0 {
			yield(event.Event{}, fmt.Errorf("reader: Interval %v is negative", v.Interval))
			return
		}
		if v.Interval == 0 {
			v.Interval = DefaultInterval
		}
		if v.CaughtUp == nil {
			v.CaughtUp = func() {}
		}
		v.Parallel = 1
		if v.Name == "" {
			v.Name = path
		}
		f := follower{ctx: ctx, path: path, o: v, yield: yield, quiet: v.FromEnd}
		defer f.close()
		for f.open() && f.file() {
		}
	}
}

// follower reads one file after the other.
type follower struct {
	ctx   context.Context
	path  string
	o     FollowOptions
	yield func(event.Event, error) bool
	quiet bool // still reading what was there at the start

	t     *tail
	last  *os.File // the file before; held open, so that no other gets its identity
	made  string   // the ID of the last journal that was read
	seen  []string // and of those before: archives made of them were delivered
	lines int64    // delivered from this file before it was cut
	text  int64    // their bytes of text
}

func (f *follower) close() {
	f.leave()
	if f.last != nil {
		f.last.Close()
	}
}

// leave makes the open file the last one.
func (f *follower) leave() {
	if f.t == nil {
		return
	}
	if f.t.known {
		f.t.f.Close()
		f.t = nil
		return
	}
	if f.last != nil {
		f.last.Close()
	}
	f.last, f.t = f.t.f, nil
}

// open opens the next file, waiting for it if need be, unless the last one is to be read on. It reports false when ctx
// ends or opening fails for good.
func (f *follower) open() bool {
	if f.t != nil {
		return true
	}
	told := false
	for {
		file, err := f.next()
		if err != nil {
			f.yield(event.Event{}, fmt.Errorf("reader: %w", err))
			return false
		}
		if file != nil {
			if info, err := file.Stat(); err == nil && info.IsDir() {
				file.Close()
				f.yield(event.Event{}, fmt.Errorf("reader: %s: is a directory", file.Name()))
				return false
			}
			old := file.Name() != f.path && file.Name() != f.path+naming.PartialSuffix
			f.t = &tail{ctx: f.ctx, f: file, path: f.path, o: &f.o, done: old, made: f.made}
			f.lines, f.text = 0, 0
			return true
		}
		f.quiet = false // what appears now is new
		if !told {
			f.o.CaughtUp()
			told = true
		}
		if !pause(f.ctx, f.o.Interval) {
			return false
		}
	}
}

// next opens the file that comes after the last one, nil if there is none yet. It looks for rotated files after it has
// opened the one at path: whatever was rotated before that is then seen, and comes first.
func (f *follower) next() (*os.File, error) {
	live, err := openFirst(f.path+naming.PartialSuffix, f.path)
	if f.last == nil || err != nil {
		return live, err
	}
	rotated := rotatedSince(f.path, f.last, f.made)
	if len(rotated) == 0 {
		if live != nil && sameFile(live, f.last) { // it is still there, and was read
			live.Close()
			return nil, nil
		}
		return live, nil
	}
	if live != nil {
		live.Close()
	}
	return openFirst(rotated[0]) // if it is gone it was given another name, or removed: the next look tells
}

// openFirst opens the first of the files that exists, nil if there is none.
func openFirst(names ...string) (*os.File, error) {
	for _, name := range names {
		if file, err := os.Open(name); !errors.Is(err, fs.ErrNotExist) {
			return file, err
		}
	}
	return nil, nil
}

func sameFile(a, b *os.File) bool {
	ai, err := a.Stat()
	if err != nil {
		return false
	}
	bi, err := b.Stat()
	return err == nil && os.SameFile(ai, bi)
}

// file delivers the open file up to where it was rotated or became shorter. It reports false when all is over.
func (f *follower) file() bool {
	t := f.t
	t.why = nil
	r, err := open(t, f.o.Name, &f.o.Options)
	if err != nil {
		return f.over(r, nil, err)
	}
	defer r.Close()
	s, _ := r.src.(*lineSource)
	switch src := r.src.(type) {
	case *lineSource:
		src.goOn(f.lines, f.text)
	case *irSource:
		src.skip = f.lines
		if id := src.journal(); id != "" {
			f.made, t.made = id, id
			if !slices.Contains(f.seen, id) {
				f.seen = append(f.seen[max(0, len(f.seen)-100):], id)
			}
		}
	case *archiveSource:
		src.skip = f.lines
		if src.r != nil && slices.Contains(f.seen, membershipOf(f.path, src.r).journal) {
			src.ended, t.known = true, true
		}
	}
	if !r.begin(true, 1) {
		return f.over(r, s, r.final)
	}
	defer r.end()
	for {
		err := r.next()
		if f.quiet = f.quiet && !t.ended; f.quiet && (err == nil || IsReport(err)) {
			continue
		}
		switch {
		case err == nil:
			if !f.yield(r.rec.ev, nil) {
				return false
			}
		case IsReport(err):
			if !f.yield(event.Event{}, err) || r.final != nil {
				return false
			}
		default:
			return f.over(r, s, err)
		}
	}
}

// over decides what follows when the reader of a file has ended with err.
func (f *follower) over(r *Reader, s *lineSource, err error) bool {
	t := f.t
	switch why := t.why; {
	case f.ctx.Err() != nil:
		return false
	case why == errCut:
		at := f.resume(r, s)
		if _, err := t.f.Seek(at, io.SeekStart); err != nil {
			f.yield(event.Event{}, fmt.Errorf("reader: %s: offset %d: %w", f.o.Name, at, err))
			return false
		}
		t.off = at
		return true
	case why == errRotated || err == io.EOF:
		f.leave()
		return true
	}
	f.yield(event.Event{}, err)
	return false
}

// resume decides where reading of a file that became shorter goes on.
func (f *follower) resume(r *Reader, s *lineSource) int64 {
	info, err := f.t.f.Stat()
	f.lines, f.text = 0, 0
	switch {
	case err != nil || r == nil || info.Size() == 0:
		return 0
	case s == nil: // a stream has to be read from its start; what was delivered is passed over
		f.lines = r.Stats().Lines
		return 0
	case s.resume() > info.Size():
		return 0
	}
	f.lines, f.text = s.number, s.text-int64(len(s.carry))
	return s.resume()
}

// rotatedSince returns the rotated files of the trace at path that were begun after file, oldest first. If file is the
// journal of an archive, made is its ID: then journals that were set apart count, and an archive made of file stands for it.
func rotatedSince(path string, file *os.File, made string) []string {
	info, err := file.Stat()
	if err != nil {
		return nil
	}
	dir, base := filepath.Split(path)
	entries, err := os.ReadDir(filepath.Clean(dir + "."))
	if err != nil {
		return nil
	}
	var names []string
	for _, e := range entries {
		name := e.Name()
		if made != "" {
			name = strings.TrimSuffix(name, naming.PartialSuffix)
		}
		if live, _, ok := naming.ParseRotated(name); ok && live == base {
			names = append(names, filepath.Join(dir, e.Name()))
		}
	}
	slices.Sort(names)
	for i, name := range slices.Backward(names) {
		n, err := os.Stat(name)
		same := err == nil && os.SameFile(n, info)
		if err == nil && !same && made != "" {
			m, err := membershipOfFile(name)
			same = err == nil && m.journal == made
		}
		if same {
			return names[i+1:]
		}
	}
	return nil
}

var (
	errCut     = errors.New("the file became shorter")
	errRotated = errors.New("the file was rotated")
)

// tail is the growing file as an io.Reader: at its end it waits until there is more, or until the file is not the one
// that is written any more.
type tail struct {
	ctx   context.Context
	f     *os.File
	path  string
	o     *FollowOptions
	off   int64
	made  string // see follower
	known bool   // an archive of events that were delivered: it is no step from one file to the next
	done  bool   // nobody writes to this file any more: its end is its end
	ended bool   // the end was met
	told  bool   // and nothing has come since
	why   error  // what kept Read from waiting on
}

// Read implements io.Reader.
func (t *tail) Read(p []byte) (int, error) {
	for {
		n, err := t.read(p)
		if n > 0 || err != io.EOF {
			return n, err
		}
		if t.done {
			return 0, io.EOF
		}
		t.ended = true
		if why := t.changed(); why != nil {
			// The writer may have added something between the last read and the change.
			if n, err := t.read(p); why == errRotated && (n > 0 || err != io.EOF) {
				return n, err
			}
			if t.why = why; why == errRotated {
				return 0, io.EOF
			}
			return 0, why
		}
		if !t.told {
			t.o.CaughtUp()
			t.told = true
		}
		if !pause(t.ctx, t.o.Interval) {
			return 0, t.ctx.Err()
		}
	}
}

func (t *tail) read(p []byte) (int, error) {
	n, err := t.f.Read(p)
	t.off += int64(n)
	if n > 0 {
		t.told = false
		return n, nil
	}
	return 0, err
}

// changed says whether the file was cut or another one has taken its place.
func (t *tail) changed() error {
	info, err := t.f.Stat()
	if err != nil {
		return fmt.Errorf("reader: %w", err)
	}
	if info.Size() < t.off {
		return errCut
	}
	partial, err := os.Stat(t.path + naming.PartialSuffix)
	if err == nil {
		if os.SameFile(info, partial) {
			return nil
		}
		return errRotated
	}
	live, err := os.Stat(t.path)
	switch {
	case err == nil && os.SameFile(info, live):
		return nil
	case err == nil || len(rotatedSince(t.path, t.f, t.made)) > 0:
		return errRotated
	}
	return nil // rotated, with nothing in its place yet
}

// pause waits for d. It reports false if ctx ends before.
func pause(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}
