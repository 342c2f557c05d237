package sink

import "sync/atomic"

// block is a run of whole events that becomes one frame, or one frame each. All that an event changes in it, besides the
// text, is one cache line.
type block struct {
	text   []byte
	events int64
	ends   []int         // of the events in text, if each becomes a frame
	fill   atomic.Uint64 // the ledger's
}

func newBlock(size int) *block { return &block{text: make([]byte, 0, size)} }

func (b *block) add(p []byte, perRecord bool) {
	b.text = append(b.text, p...)
	b.events++
	if perRecord {
		b.ends = append(b.ends, len(b.text))
	}
}

// reset empties b. A block that had to grow for a large event shrinks to size again.
func (b *block) reset(size int) {
	if cap(b.text) > 2*size {
		b.text = make([]byte, 0, size)
	}
	b.text, b.events, b.ends = b.text[:0], 0, b.ends[:0]
}
