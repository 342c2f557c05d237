package sink

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"sync"
	"time"

	"github.com/tracehandler/tracehandler/finalize"
	"github.com/tracehandler/tracehandler/naming"
)

// Journals of the format clp become archives when the sink is closed. One that is rotated is set apart, under the name that
// the partial of its trace has, and the next one begins at once; a goroutine makes archives of those that were set apart,
// one after the other. What it cannot make it tries again later, and once more when the sink is closed.

// archiver makes archives of journals that were set apart. Its goroutine runs as long as there are any.
type archiver struct {
	mu      sync.Mutex
	jobs    []*job // the first is being worked at
	failed  []*job
	running bool
	closing bool
	ctx     context.Context
	cancel  context.CancelFunc
	pause   time.Duration
	tell    func(done int64) // of Close: how much is done of all
	done    int64            // bytes of journals, since Close began
	err     error            // of the last attempts, when closing

	wake chan struct{} // to the goroutine: there is a job, or the end
	idle chan struct{} // closed when the goroutine has ended
}

// job is a journal that was set apart.
type job struct {
	path string
	size int64
	part *finalize.Partial // nil if it was closed meanwhile
}

// maxOpen is the number of journals that wait opened. Further ones are closed, and opened again when it is their turn.
const maxOpen = 4

// setApart is rotate for the format clp.
func (f *file) setApart(now time.Time) error {
	part := f.part
	err := part.SetApart(now)
	if part.Path() != f.path {
		f.part = nil
		f.ledger.count(func(s *Stats) { s.Rotations++ })
		err = errors.Join(err, f.archives.add(f, part))
	}
	if err != nil {
		f.ledger.count(func(s *Stats) { s.Failures++ })
		return fmt.Errorf("sink: rotate %s: %w", f.path, err)
	}
	return nil
}

// add gives the archiver a journal. The goroutine begins if there is none.
func (a *archiver) add(f *file, part *finalize.Partial) (err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	j := &job{path: part.Path(), size: part.Size(), part: part}
	if len(a.jobs) >= maxOpen {
		err, j.part = part.Close(), nil
	}
	a.jobs = append(a.jobs, j)
	if !a.running {
		a.running = true
		a.wake, a.idle = make(chan struct{}, 1), make(chan struct{})
		if a.ctx == nil {
			a.ctx, a.cancel = context.WithCancel(context.Background())
		}
		go a.run(f)
	}
	signal(a.wake)
	return err
}

// run is the goroutine.
func (a *archiver) run(f *file) {
	defer close(a.idle)
	for {
		j, pause := a.next()
		if j == nil && pause == 0 {
			return
		}
		if j == nil {
			c, stop := f.o.Clock.After(pause)
			select {
			case <-c:
				a.retry()
			case <-a.wake:
			}
			stop()
			continue
		}
		a.finish(f, j, a.work(f, j))
	}
}

// next returns the job to be done next, or how long to wait before trying those again that failed, or neither.
func (a *archiver) next() (*job, time.Duration) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.jobs) > 0 {
		return a.jobs[0], 0
	}
	if len(a.failed) > 0 && !a.closing {
		return nil, a.pause
	}
	a.running = false
	return nil, 0
}

// retry makes jobs of those that failed.
func (a *archiver) retry() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.jobs = append(a.jobs, a.failed...)
	a.failed = nil
}

// work makes the archive of a journal.
func (a *archiver) work(f *file, j *job) error {
	o := finalize.ArchiveOptions{Context: a.ctx, Memory: f.o.ArchiveMemory, OnProgress: func(done, _ int64) { a.progress(done) }}
	if j.part == nil {
		reports, err := finalize.Recover(j.path+naming.PartialSuffix, &finalize.Options{BeforePublish: f.o.BeforePublish, Archive: o, FS: f.o.FS})
		if errors.Is(err, fs.ErrNotExist) {
			err = nil // somebody was faster
		}
		for _, r := range reports {
			f.published(r)
		}
		return err
	}
	rep, err := j.part.Complete(finalize.CompleteOptions{BeforePublish: f.o.BeforePublish, Archive: o})
	f.published(rep)
	return errors.Join(err, j.part.Close())
}

// published counts the archives that were made of a journal.
func (f *file) published(r finalize.Report) {
	if r.Published {
		f.ledger.count(func(s *Stats) { s.Published += int64(max(1, len(r.Archives))) })
	}
}

// finish notes what became of a job.
func (a *archiver) finish(f *file, j *job, err error) {
	if err == nil {
		err = f.retain(f.o.Clock.Now())
	} else {
		f.ledger.count(func(s *Stats) { s.Failures++ })
		a.mu.Lock()
		a.failed = append(a.failed, &job{path: j.path, size: j.size})
		a.pause = min(max(minPause, 2*a.pause), maxPause)
		a.mu.Unlock()
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.jobs = a.jobs[1:]
	if a.closing {
		a.err = errors.Join(a.err, err)
		a.done += j.size
		return
	}
	if err == nil && len(a.failed) == 0 {
		a.pause = 0
	}
	if err != nil || len(a.failed) == 0 {
		f.ledger.archiving.set(err)
	}
}

// progress tells Close, if it waits, how far the present job is.
func (a *archiver) progress(done int64) {
	a.mu.Lock()
	tell, before := a.tell, a.done
	a.mu.Unlock()
	if tell != nil {
		tell(before + done)
	}
}

// close has all jobs done, those that failed once more, and returns the errors of these last attempts.
func (a *archiver) close(ctx context.Context, f *file, tell func(done int64)) error {
	a.mu.Lock()
	a.closing, a.tell = true, tell
	failed := a.failed
	a.failed = nil
	a.jobs = append(a.jobs, failed...)
	if len(a.jobs) > 0 && !a.running {
		a.running = true
		a.wake, a.idle = make(chan struct{}, 1), make(chan struct{})
		go a.run(f)
	}
	idle, cancel := a.idle, a.cancel
	a.mu.Unlock()
	if idle == nil {
		return nil
	}
	signal(a.wake)
	defer cancel()
	defer context.AfterFunc(ctx, cancel)()
	<-idle
	return a.err
}

// stop ends the goroutine and leaves the journals as they are.
func (a *archiver) stop() error {
	a.mu.Lock()
	a.closing = true
	idle, cancel := a.idle, a.cancel
	a.mu.Unlock()
	if idle == nil {
		return nil
	}
	cancel()
	signal(a.wake)
	<-idle
	return nil
}

// size returns the bytes of the journals that wait.
func (a *archiver) size() (n int64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, list := range [][]*job{a.jobs, a.failed} {
		for _, j := range list {
			n += j.size
		}
	}
	return n
}

// closeArchives is close for the format clp. step and Options.OnProgress hear of every step.
func (f *file) closeArchives(ctx context.Context, step func()) error {
	before := f.archives.size()
	total := before
	if f.part != nil {
		total += f.part.Size()
	}
	tell := func(done int64) {
		step()
		if f.o.OnProgress != nil {
			f.o.OnProgress(min(done, total), total)
		}
	}
	err := f.archives.close(ctx, f, tell)
	if f.part == nil {
		return err
	}
	rep, cerr := f.part.Complete(finalize.CompleteOptions{BeforePublish: f.o.BeforePublish, Archive: finalize.ArchiveOptions{
		Context: ctx, Memory: f.o.ArchiveMemory, OnProgress: func(done, _ int64) { tell(before + done) }}})
	f.published(rep)
	return errors.Join(err, cerr, f.part.Close())
}
