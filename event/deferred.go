package event

import "sync"

// Deferred is where a decoder keeps an event whose JSON text is made only when somebody asks for it: a reader that looks
// at few events, or only counts them, then does not pay for all. One Deferred serves a whole iteration, event after event:
//
//	d := event.NewDeferred(func(dst []byte) []byte { return appendLine(dst) })
//	for … { yield(d.Next()) }
//
// Next is for one goroutine at a time, and ends the life of the event before. The methods of the event itself may be called
// concurrently, as those of any event.
type Deferred struct {
	render func(dst []byte) []byte

	mu   sync.Mutex
	made bool
	line []byte
}

// NewDeferred returns a Deferred with a function that appends the JSON of the event at hand, a valid object. It is called
// at most once for each event.
func NewDeferred(render func(dst []byte) []byte) *Deferred { return &Deferred{render: render} }

// Next returns the event that render will be called for.
func (d *Deferred) Next() Event {
	d.made = false
	return Event{deferred: d}
}

func (d *Deferred) text() []byte {
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.made {
		d.line, d.made = d.render(d.line[:0]), true
	}
	return d.line
}

// told returns e with its text.
func (e Event) told() Event {
	if e.deferred == nil {
		return e
	}
	return Event{line: e.deferred.text(), checked: true}
}
