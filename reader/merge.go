package reader

import (
	"container/heap"
	"io"
	"iter"
	"time"

	"github.com/tracehandler/tracehandler/event"
)

// Merge iterates over the events of several traces in the order of their times. It holds one event of each trace, so
// each trace should be in order itself: an event that is earlier than one before it in its file comes right after that
// one. Events without a time keep their place: they count as happening when the last event of their file that has a
// time did. Of events of the same time, the earlier reader's come first.
//
// Reports come as from [Reader.Events], each naming its file, as soon as they are met. A reader that fails, or whose
// policy is Stop, ends alone; the others go on. The caller closes the readers.
//
// An event is valid until the next step of the iteration. A merge that is broken off is over: it has taken one event more
// from each reader than it delivered.
func Merge(readers ...*Reader) iter.Seq2[event.Event, error] {
	return func(yield func(event.Event, error) bool) {
		m := merger{yield: yield}
		for i, r := range readers {
			if !r.begin(true, max(1, r.o.Parallel/len(readers))) {
				if !yield(event.Event{}, r.final) {
					return
				}
				continue
			}
			defer r.end()
			c := &cursor{r: r, order: i}
			ok, more := m.advance(c)
			if !more {
				return
			}
			if ok {
				m.heap = append(m.heap, c)
			}
		}
		heap.Init(&m.heap)
		for len(m.heap) > 0 {
			c := m.heap[0]
			if !yield(c.r.rec.ev, nil) {
				return
			}
			ok, more := m.advance(c)
			switch {
			case !more:
				return
			case ok:
				heap.Fix(&m.heap, 0)
			default:
				heap.Pop(&m.heap)
			}
		}
	}
}

// cursor is a reader in a merge. Its event is the next one that it contributes.
type cursor struct {
	r     *Reader
	order int
	at    time.Time // the latest time of its events so far
}

type merger struct {
	heap  cursorHeap
	yield func(event.Event, error) bool
}

// advance moves c to its next event. ok is false at c's end, more is false when the caller of the iteration has enough.
func (m *merger) advance(c *cursor) (ok, more bool) {
	for {
		err := c.r.next()
		switch {
		case err == io.EOF:
			return false, true
		case err == nil:
			if t, ok := c.r.rec.ev.Time(); ok && t.After(c.at) {
				c.at = t
			}
			return true, true
		case !m.yield(event.Event{}, err):
			return false, false
		case c.r.final != nil:
			return false, true
		}
	}
}

type cursorHeap []*cursor

func (h cursorHeap) Len() int { return len(h) }

func (h cursorHeap) Less(i, j int) bool {
	if c := h[i].at.Compare(h[j].at); c != 0 {
		return c < 0
	}
	return h[i].order < h[j].order
}

func (h cursorHeap) Swap(i, j int) { h[i], h[j] = h[j], h[i] }
func (h *cursorHeap) Push(x any)   { *h = append(*h, x.(*cursor)) }

func (h *cursorHeap) Pop() any {
	old := *h
	c := old[len(old)-1]
	*h = old[:len(old)-1]
	return c
}
