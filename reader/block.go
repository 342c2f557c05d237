package reader

import (
	"bytes"
	"unicode/utf8"

	"github.com/tracehandler/tracehandler/event"
)

const (
	maxHeld     = 8 << 20   // bytes of text of one frame that are held back until the frame has proved to be whole
	blockTarget = 256 << 10 // bytes of text in one block, about: a block stays in a core's cache
	maxFrames   = 4096      // frames in one block: a hostile file may have millions without any text
)

// block is a stretch of a file on its way from the fetcher, which reads, over a worker, which decodes and checks, to the
// consumer, which delivers.
type block struct {
	frames []frameRef // frames that end in this block, in order
	stored []byte     // zstd frames to decode; empty if text is there already
	text   []byte     // whole lines and, at both ends, parts of lines
	gap    error      // the *DamageError or *TornError that stands behind text, nil if the text goes on
	size   int        // bytes of memory that the block needs, about
	fail   *failure   // the frame that turned out not to decode; text ends before it

	lines  []lineRef // the lines that end in this block
	tail   int       // where the part of a line begins that goes on in the next block
	events []event.Event
	bad    []badLine
	parsed bool // events and bad are filled

	begun bool          // a worker has it
	done  chan struct{} // holds one value once the worker is through
}

func newBlock() *block { return &block{done: make(chan struct{}, 1)} }

// span is one gzip member or zstd frame in the file as it is stored.
type span struct {
	offset, size int64 // bytes
	skippable    bool  // a zstd skippable frame, such as a seek table: no text
}

// frameRef is a frame in a block.
type frameRef struct {
	span
	from, to int // where it is in block.stored; from == to if it needs no decoding
	most     int // bytes of text that it may decode to
	end      int // where its text ends in block.text
}

// failure is a place where decoding had to stop.
type failure struct {
	off      int64  // where the bad frame begins
	next     int64  // where its headers say that it ends, 0 if they say nothing
	most     int    // bytes of text that it may decode to, if it is torn
	torn     bool   // it ends where the file ends
	stream   bool   // it is too large to be held, whatever else it is, and has to be decoded piece by piece
	expected string // what should have been at off
	err      error
}

// lineRef is a line in a block: text[start:end] without its line end.
type lineRef struct {
	start, end int
	what       lineKind
	at         int // index into events or bad
}

type lineKind uint8

const (
	blankLine lineKind = iota
	eventLine
	badLineKind
)

// badLine is a line that is not an event as it stands.
type badLine struct {
	err      error
	column   int
	expected string
	fixed    bool // ev is an event all the same
	ev       event.Event
}

func (b *block) reset() {
	clear(b.events)
	clear(b.bad)
	*b = block{
		frames: b.frames[:0], stored: b.stored[:0], text: b.text[:0],
		lines: b.lines[:0], events: b.events[:0], bad: b.bad[:0], done: b.done,
	}
}

// split finds the lines of the text.
func (b *block) split(n Newlines) {
	text, at := b.text, 0
	if n == Universal && bytes.IndexByte(text, '\r') < 0 {
		n = LF // the same, and faster to find out once than for each line
	}
	for {
		i := bytes.IndexByte(text[at:], '\n')
		if i < 0 {
			break
		}
		end := at + i
		if n == Universal {
			if c := bytes.IndexByte(text[at:end], '\r'); c >= 0 {
				at = b.splitReturns(at, end, c)
				if at > end {
					continue
				}
			}
		}
		b.lines = append(b.lines, lineRef{start: at, end: end})
		at = end + 1
	}
	if n == Universal {
		// A "\r" that is the last byte so far may be half of "\r\n": it stays in the tail.
		for at < len(text) {
			c := bytes.IndexByte(text[at:len(text)-1], '\r')
			if c < 0 {
				break
			}
			b.lines = append(b.lines, lineRef{start: at, end: at + c})
			at += c + 1
		}
	}
	b.tail = at
}

// splitReturns adds the lines of text[at:end], which stands before a "\n" at end and has a "\r" at at+c. It returns
// where the next line begins: behind the "\n" if that belonged to a "\r\n".
func (b *block) splitReturns(at, end, c int) int {
	for c >= 0 {
		b.lines = append(b.lines, lineRef{start: at, end: at + c})
		at += c + 1
		if at == end {
			return end + 1
		}
		c = bytes.IndexByte(b.text[at:end], '\r')
	}
	return at
}

// parse looks at each line as an event.
func (b *block) parse(k Kind) {
	valid := utf8.Valid(b.text[:b.tail]) // else, also if the first line's beginning is elsewhere, line by line
	for i := range b.lines {
		l := &b.lines[i]
		ev, bad, what := parseLine(b.text[l.start:l.end], k, valid)
		l.what = what
		switch what {
		case eventLine:
			l.at = len(b.events)
			b.events = append(b.events, ev)
		case badLineKind:
			l.at = len(b.bad)
			b.bad = append(b.bad, bad)
		}
	}
	b.parsed = true
}
