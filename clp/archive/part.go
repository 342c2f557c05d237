package archive

import "encoding/binary"

// What the writer holds in plain form of each column, and compresses as one zstd frame: 65,536 words. Larger frames compress
// better, smaller ones are what a query decodes.
const columnFrame = 512 << 10

// part is a run of bytes of a table that is being made: values of a column, or what belongs to them. One goroutine at a time
// appends to it. There may be a million of them.
type part struct {
	plain []byte      // of the frame that is not full yet; its capacity is counted as held
	full  *fullFrames // before it, nil if there are none
}

type fullFrames struct {
	list []*packed
	size int64 // uncompressed
}

// frames returns the frames.
func (p *part) frames() []*packed {
	if p.full == nil {
		return nil
	}
	return p.full.list
}

// size returns the number of bytes, uncompressed.
func (p *part) size() int64 {
	if p.full == nil {
		return int64(len(p.plain))
	}
	return p.full.size + int64(len(p.plain))
}

// packed is a frame of compressed data on its way into the archive.
type packed struct {
	pack  []byte // nil if it is in the spill
	at    int64  // in the spill
	size  int    // compressed
	plain int
	dict  dictFrame // of a dictionary
}

// word appends 8 bytes.
func (p *part) word(w *Writer, c *columnWriter, v uint64) {
	n := len(p.plain)
	if n+8 > cap(p.plain) {
		p.room(w, c)
		n = len(p.plain)
	}
	p.plain = p.plain[:n+8]
	binary.LittleEndian.PutUint64(p.plain[n:], v)
}

func (p *part) short(w *Writer, v uint16) {
	if len(p.plain)+2 > cap(p.plain) {
		p.room(w, nil)
	}
	p.plain = append(p.plain, byte(v), byte(v>>8))
}

func (p *part) byte(w *Writer, c *columnWriter, v byte) {
	if len(p.plain) == cap(p.plain) {
		p.room(w, c)
	}
	p.plain = append(p.plain, v)
}

// room makes room for 8 bytes more: a larger buffer, or a new one if the frame is full. c is the column whose values these
// are, nil if they are something else.
func (p *part) room(w *Writer, c *columnWriter) {
	if len(p.plain) >= columnFrame {
		p.flush(w, c)
	}
	if list := p.frames(); len(p.plain) == 0 && len(list) > 0 && list[len(list)-1].plain >= columnFrame {
		p.plain = w.packer.buffer()
		return
	}
	n := min(max(2*cap(p.plain), 8), columnFrame)
	w.held.Add(int64(n - cap(p.plain)))
	p.plain = append(make([]byte, 0, n), p.plain...)
}

// flush makes a frame of what is not in one.
func (p *part) flush(w *Writer, c *columnWriter) {
	if len(p.plain) == 0 {
		return
	}
	if c != nil {
		c.observe(w)
	}
	f := &packed{plain: len(p.plain)}
	if p.full == nil {
		p.full = &fullFrames{}
		w.held.Add(64)
	}
	p.full.list = append(p.full.list, f)
	p.full.size += int64(len(p.plain))
	kind := kindSecond
	if c != nil {
		kind = int(c.typ)
	}
	w.packer.pack(job{f: f, plain: p.plain, kind: kind})
	p.plain = nil
}
