package reader

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/tracehandler/tracehandler/clp/kql"
	"github.com/tracehandler/tracehandler/event"
)

// aroundSet asks the parts of a set one after the other. What is around a record may be in the parts before and behind its own.
type aroundSet struct {
	around
	r    *Reader
	s    *setSource
	done []partDone // those from which something may still be delivered, the last one last
	over bool       // nothing more is wanted
}

// partDone is a part that is done, from whose end events may be wanted that come before one of the next part.
type partDone struct {
	path string
	all  int64         // its records
	from int64         // the first one behind all that were delivered
	held []event.Event // the last ones of those, if the part was gone through
	gone bool          // it was
}

// newAroundSet begins with the first part.
func newAroundSet(r *Reader, s *setSource, o AroundOptions, yield func(Neighbor, error) bool) *aroundSet {
	a := &aroundSet{r: r, s: s}
	a.around = around{o: o, yield: func(n Neighbor, err error) bool {
		a.over = a.over || !yield(n, err)
		return !a.over
	}}
	return a
}

func (a *aroundSet) run(q *kql.Query) {
	if !a.r.begin(true, a.r.o.Parallel) {
		a.yield(Neighbor{}, a.r.final)
		return
	}
	for a.s.upcoming < len(a.s.parts) && (!a.enough() || a.after > 0) {
		path := a.s.parts[a.s.upcoming].path
		a.s.query = nil // the part is asked by itself
		if err := a.s.enter(); err != nil {
			if !IsReport(err) || a.r.o.OnBad == Stop {
				a.r.final = err
			}
			a.r.first = cmp.Or(a.r.first, err)
			if !a.yield(Neighbor{}, err) || a.r.final != nil {
				return
			}
			continue
		}
		a.s.query = q
		part := &Reader{path: a.r.path, o: a.r.o, src: a.s.current}
		if part.o.Progress != nil {
			part.o.Progress = func(int64) { a.r.o.Progress(a.s.stats().Stored) }
		}
		a.part(path, part, q)
		a.r.first = cmp.Or(a.r.first, part.first)
		if part.final != nil && part.final != io.EOF {
			a.r.final, a.over = part.final, true
		}
		if err := a.s.leave(); err != nil && !a.over {
			a.yield(Neighbor{}, fmt.Errorf("reader: %s: %w", path, err))
		}
		if a.over {
			return
		}
	}
	a.r.final = io.EOF
}

// part takes the part that was entered.
func (a *aroundSet) part(path string, r *Reader, q *kql.Query) {
	s := a.s.current
	d := partDone{path: path, all: s.records}
	if !s.seekable() {
		s.names = nil // q looks at all of an event
		a.goThrough(r, q, d)
		return
	}
	n := &archiveAround{around: a.around, r: r, s: s, scratch: &scratch{}, last: -1, said: map[int64]bool{}, earlier: a.tail}
	n.run(q)
	n.close()
	if d.from = n.last + 1; d.from > 0 {
		a.done = a.done[:0]
	}
	a.done = append(a.done, d)
	a.around = n.around
	a.before = nil
	a.over = a.over || n.over
}

// goThrough takes all events of a part.
func (a *aroundSet) goThrough(r *Reader, q *kql.Query, d partDone) {
	list, gap := a.tail(a.o.Before)
	a.before, a.gap = list, a.gap || gap
	for e, err := range r.Events() {
		if err != nil {
			if !a.yield(Neighbor{}, err) {
				return
			}
			continue
		}
		in := r.Input()
		if !a.event(e, func() bool { return q.MatchInput(&in) }) {
			return
		}
	}
	d.held, d.gone = slices.Clone(a.before), true
	a.done, a.before = append(a.done[:0], d), a.before[:0]
}

// tail returns the last events of the parts before, up to n of those that come behind all that was delivered, and whether there are
// others.
func (a *aroundSet) tail(n int) (list []event.Event, gap bool) {
	for i := len(a.done) - 1; i >= 0; i-- {
		d := &a.done[i]
		left := d.all - d.from
		if d.gone {
			left = int64(len(d.held))
		}
		if want := int64(n - len(list)); want <= 0 {
			gap = gap || left > 0
			continue
		} else if left > want {
			gap, left = true, want
		}
		if left > 0 {
			list = append(a.last(d, int(left)), list...)
		}
	}
	return list, gap
}

// last reads the last n events of a part.
func (a *aroundSet) last(d *partDone, n int) []event.Event {
	if d.gone {
		return d.held[len(d.held)-n:]
	}
	f, err := os.Open(d.path)
	if err != nil {
		a.yield(Neighbor{}, fmt.Errorf("reader: %w", err))
		return nil
	}
	defer f.Close()
	src, err := openArchive(newInput(d.path, f), &a.s.o)
	if err != nil {
		a.yield(Neighbor{}, err)
		return nil
	}
	s := src.(*archiveSource)
	s.names = a.s.names
	t := &archiveAround{around: around{o: AroundOptions{Before: n}, yield: a.yield}, s: s, scratch: &scratch{}, last: -1, said: map[int64]bool{}}
	defer func() {
		t.close()
		_ = s.close() // nothing was written
	}()
	if !t.open() {
		return nil
	}
	for distance := int64(n); ; distance *= 8 { // some may not be shown
		from := max(d.all-distance, d.from)
		if err := t.c.SeekRecord(from); err != nil {
			t.fail(err)
			return nil
		}
		t.before = t.before[:0]
		for {
			e, _, ok := t.neighbor(from, 1<<63-1)
			if !ok {
				break
			}
			t.hold(e)
		}
		if len(t.before) == n || from == d.from || t.over {
			return t.before
		}
	}
}
