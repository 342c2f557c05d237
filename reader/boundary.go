package reader

import (
	"fmt"
	"io"

	"github.com/tracehandler/tracehandler/event"
	"github.com/tracehandler/tracehandler/format"
)

// Frame is one gzip member or zstd frame of a file.
type Frame struct {
	Offset    int64 // of its first byte
	Size      int64 // bytes stored
	Content   int64 // bytes of text
	Skippable bool  // a zstd skippable frame, such as a seek table: no text
}

// Bounds says where the whole part of a file ends.
type Bounds struct {
	Magic    format.Magic   // what the file is
	End      int64          // a file cut here holds whole frames and, but for OpenLine, whole lines
	Frames   []Frame        // whole members or frames between from and End, in order; nil for text
	Lines    int64          // lines between from and End, an open one included
	Text     int64          // bytes of text between from and End
	OpenLine bool           // the text before End does not end with a line end: write one before the next line
	Torn     *TornError     // what stands behind End; nil if nothing does
	Damage   []*DamageError // what is corrupt before End
}

// Boundary finds the end of the last whole line of the last whole frame in the first size bytes of r. It looks from the
// offset from on, which must be 0 or where a frame or line begins, and decodes everything from there: each frame counted
// has proved to be whole. Bytes at the end that are in no whole frame or line are Torn, whatever they are: behind the
// last whole frame, damage is what a crash left. Lines are not looked into, except one at the end of text without a line
// end: that is whole if it is an event. Of nested compression, Boundary sees the outermost layer.
//
// A kind of file that is not made of lines is an *UnsupportedError; any other error is a failure to read. r is used by
// one goroutine.
func Boundary(r io.ReaderAt, size, from int64) (Bounds, error) {
	if from < 0 || from > size {
		return Bounds{}, fmt.Errorf("reader: boundary from offset %d of %d bytes", from, size)
	}
	o, err := (&Options{Name: "trace"}).withDefaults()
	if err != nil {
		return Bounds{}, err
	}
	if n, ok := r.(interface{ Name() string }); ok {
		o.Name = n.Name()
	}
	in := newInput(o.Name, io.NewSectionReader(r, 0, size))
	m, err := magic(in)
	if err != nil {
		return Bounds{}, err
	}
	if sources[m] != nil {
		return Bounds{Magic: m}, &UnsupportedError{Path: o.Name, Kind: m}
	}
	if _, err := in.rewind(from); err != nil {
		return Bounds{}, err
	}
	f := newFetcher(in, m, &o)
	p := pipeline{f: f, newlines: LF, kindKnown: true}
	defer p.close()
	p.start(o.Parallel, false)
	b := bounder{Bounds: Bounds{Magic: m, End: from}, path: o.Name, size: size, at: from}
	for {
		block, err := p.next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return b.Bounds, err
		}
		b.add(block)
		p.recycle(block)
	}
	b.finish()
	return b.Bounds, nil
}

// bounder adds up the blocks of a file.
type bounder struct {
	Bounds
	path  string
	size  int64
	at    int64  // offset of the next block of text
	tail  []byte // of text that is not compressed: what follows the last line end, if it is short
	long  bool   // it is not
	lines int64  // lines since the last whole frame
	last  byte   // of the text
}

// maxTail is the longest line without an end that is looked at.
const maxTail = DefaultMaxLine

func (b *bounder) add(block *block) {
	if b.Magic == format.Text {
		b.addText(block)
		return
	}
	at := 0
	for _, f := range block.frames {
		b.Frames = append(b.Frames, f.Frame)
		b.End = f.Offset + f.Size
		b.Text += f.Content
		if f.end > at {
			b.last = block.text[f.end-1]
		}
		at = f.end
		b.OpenLine = b.Text > 0 && b.last != '\n'
	}
	// A frame may span blocks: its lines count when it has proved to be whole.
	b.lines += int64(len(block.lines))
	if len(block.frames) > 0 {
		rest := int64(0)
		for _, l := range block.lines {
			if l.end >= at {
				rest++
			}
		}
		b.Lines, b.lines = b.Lines+b.lines-rest, rest
	}
	switch e := block.gap.(type) {
	case *TornError:
		b.Torn, b.lines = e, 0
	case *DamageError:
		b.Damage, b.lines = append(b.Damage, e), 0
	}
}

func (b *bounder) addText(block *block) {
	b.Text += int64(len(block.text))
	b.Lines += int64(len(block.lines))
	if len(block.lines) > 0 {
		b.tail, b.long = b.tail[:0], false
	}
	part := block.text[block.tail:]
	if len(b.tail)+len(part) > maxTail {
		b.tail, b.long = nil, true
	}
	if !b.long {
		b.tail = append(b.tail, part...)
	}
	if len(block.lines) > 0 {
		b.End = b.at + int64(block.tail)
	}
	b.at += int64(len(block.text))
}

// finish looks at what stands behind the last frame or line.
func (b *bounder) finish() {
	if b.Magic != format.Text {
		if n := len(b.Damage); b.Torn == nil && n > 0 && b.Damage[n-1].Offset+b.Damage[n-1].Skipped >= b.size {
			d := b.Damage[n-1]
			b.Damage = b.Damage[:n-1]
			b.Torn = &TornError{Path: d.Path, Offset: d.Offset, Skipped: d.Skipped, Expected: d.Expected, Err: d.Err}
		}
		if b.OpenLine {
			b.Lines++
		}
		return
	}
	if b.End == b.size {
		return
	}
	_, err := event.Parse(trim(b.tail))
	if err == nil && !b.long {
		b.Lines++
		b.OpenLine, b.End = true, b.size
		return
	}
	b.Text -= b.size - b.End
	b.Torn = &TornError{
		Path: b.path, Offset: b.End, Skipped: b.size - b.End, Line: b.Lines, Expected: "a line", Err: err,
	}
}
