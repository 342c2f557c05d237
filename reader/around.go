package reader

import (
	"iter"

	"github.com/tracehandler/tracehandler/clp/kql"
	"github.com/tracehandler/tracehandler/event"
)

// AroundOptions say what Around delivers besides what a query finds.
type AroundOptions struct {
	Before, After int                    // events before and after each that was found
	Keep          func(event.Event) bool // events found of which it is false do not count; nil keeps all
	Limit         int64                  // how many are found at most, 0 for all
}

// Neighbor is an event that Around delivers.
type Neighbor struct {
	Event event.Event
	Found bool // or it is near one that was found
	Gap   bool // events were left out between this one and the one before it
}

// Around iterates over the events that q finds, with those before and after them, each once and in their order. It comes in the
// place of Select and other iterations. Errors are those of Events. An event is valid until the next step.
//
// Of an archive with an index, and of the parts of a set that have one, q is answered as after Select, and then the neighbors are
// looked for; of everything else all events are read.
func (r *Reader) Around(q *kql.Query, o AroundOptions) iter.Seq2[Neighbor, error] {
	if s, ok := r.src.(*archiveSource); ok && o.Before >= 0 && o.After >= 0 && s.seekable() {
		return func(yield func(Neighbor, error) bool) {
			a := &archiveAround{around: around{o: o, yield: yield}, r: r, s: s, scratch: &scratch{}, last: -1, said: map[int64]bool{}}
			defer a.close()
			a.run(q)
		}
	}
	if s, ok := r.src.(*setSource); ok && o.Before >= 0 && o.After >= 0 && s.upcoming == 0 && s.query == nil {
		return func(yield func(Neighbor, error) bool) { newAroundSet(r, s, o, yield).run(q) }
	}
	if s, ok := r.src.(projecting); ok {
		s.project(nil) // q looks at all of an event
	}
	return func(yield func(Neighbor, error) bool) {
		a := &around{o: o, yield: yield}
		for e, err := range r.Events() {
			if err != nil {
				if !yield(Neighbor{}, err) {
					return
				}
				continue
			}
			in := r.Input()
			if !a.event(e, func() bool { return q.MatchInput(&in) }) {
				return
			}
		}
	}
}

// around goes through all events.
type around struct {
	o     AroundOptions
	yield func(Neighbor, error) bool

	before []event.Event // that may come before one that is found, the last ones
	gap    bool          // events were left out since the last one delivered
	after  int           // events still to deliver
	found  int64
}

// event takes the next event. It reports whether others are wanted.
func (a *around) event(e event.Event, matches func() bool) bool {
	switch {
	case !a.enough() && matches() && a.keeps(e):
		return a.hit(e)
	case a.after > 0:
		a.after--
		return a.deliver(e, false)
	case a.enough():
		return false
	case a.o.Before > 0:
		a.hold(e)
	default:
		a.gap = true
	}
	return true
}

func (a *around) enough() bool { return a.o.Limit > 0 && a.found >= a.o.Limit }

func (a *around) keeps(e event.Event) bool { return a.o.Keep == nil || a.o.Keep(e) }

// hit delivers an event that was found, behind those before it.
func (a *around) hit(e event.Event) bool {
	a.found++
	for _, b := range a.before {
		if !a.deliver(b, false) {
			return false
		}
	}
	a.before, a.after = a.before[:0], a.o.After
	return a.deliver(e, true)
}

func (a *around) deliver(e event.Event, found bool) bool {
	gap := a.gap
	a.gap = false
	return a.yield(Neighbor{Event: e, Found: found, Gap: gap}, nil)
}

// hold keeps an event that may come before one that is found.
func (a *around) hold(e event.Event) {
	if len(a.before) == a.o.Before {
		a.gap = true
		copy(a.before, a.before[1:])
		a.before = a.before[:len(a.before)-1]
	}
	a.before = append(a.before, e.Clone())
}
