package ir

import (
	"encoding/binary"
	"slices"
)

// quick reads an event of a shape that is known. It reports false if it cannot; then it has changed nothing that counts,
// and the event is to be read with all checks.
func (r *Reader) quick(c *cursor) bool {
	e := &r.event
	e.reset(r, c.pos)
	b, pos := c.b, c.pos
	pairs := e.pairs[:cap(e.pairs)]
	n, autos, users := 0, 0, false
	var h uint64
	for {
		if len(b)-pos < 5 { // an ID, or the shortest end: one value at least follows, or another unit
			return false
		}
		var id int32
		switch b[pos] {
		case tagID8:
			id = int32(int8(b[pos+1]))
			pos += 2
		case tagID16:
			id = int32(int16(binary.BigEndian.Uint16(b[pos+1:])))
			pos += 3
		case tagID32:
			id = int32(binary.BigEndian.Uint32(b[pos+1:]))
			pos += 5
		default:
			if !users {
				if b[pos] != tagEmpty {
					return false
				}
				pos++
				autos = n
			}
			for i := autos; i < n; i++ {
				p := &pairs[i]
				if len(b)-pos >= 2 && b[pos] == tagString8 {
					from := pos + 2
					if pos = from + int(b[pos+1]); pos > len(b) {
						return false
					}
					p.kind, p.form, p.num = String, formPlain, uint64(from)<<32|uint64(pos)
					continue
				}
				if pos = p.read(b, pos); pos < 0 {
					return false
				}
			}
			e.pairs, e.autos = pairs[:n], autos
			c.pos = pos
			return r.shapeOf(h)
		}
		if n == len(pairs) {
			e.pairs = slices.Grow(pairs, n+16)
			pairs = e.pairs[:cap(e.pairs)]
		}
		h = addHash(h, int64(id))
		p := &pairs[n]
		if id >= 0 {
			if !users {
				users, autos = true, n
			}
			p.node = id
			n++
			continue
		}
		p.node = ^id
		if users {
			return false
		}
		if pos = p.read(b, pos); pos < 0 {
			return false
		}
		n++
	}
}

// shapeOf finds the shape of the event at hand by its hash.
func (r *Reader) shapeOf(h uint64) bool {
	e := &r.event
	last := r.lastShape
	if last != nil {
		if e.shape = last.next; e.shape.matches(h, e.pairs, e.autos) {
			r.lastShape = e.shape
			return true
		}
	}
	if e.shape = r.shapes[h]; !e.shape.matches(h, e.pairs, e.autos) {
		return false
	}
	if last != nil {
		last.next = e.shape
	}
	r.lastShape = e.shape
	return true
}

// read is cursor.value without errors: it reads the value at b[pos], and returns where it ends, or -1 if that is not for
// it to say.
func (p *pair) read(b []byte, pos int) int {
	if len(b)-pos < 9 { // so that a number needs no other check
		return p.readSlowly(b, pos)
	}
	p.form = formPlain
	switch b[pos] {
	case tagInt8:
		p.kind, p.num = Int, uint64(int8(b[pos+1]))
		return pos + 2
	case tagInt16:
		p.kind, p.num = Int, uint64(int16(binary.BigEndian.Uint16(b[pos+1:])))
		return pos + 3
	case tagInt32:
		p.kind, p.num = Int, uint64(int32(binary.BigEndian.Uint32(b[pos+1:])))
		return pos + 5
	case tagInt64:
		p.kind, p.num = Int, binary.BigEndian.Uint64(b[pos+1:])
		return pos + 9
	case tagFloat:
		p.kind, p.num = Float, binary.BigEndian.Uint64(b[pos+1:])
		return pos + 9
	case tagTrue:
		p.kind, p.num = Bool, 1
		return pos + 1
	case tagFalse:
		p.kind, p.num = Bool, 0
		return pos + 1
	case tagString8:
		from := pos + 2
		end := from + int(b[pos+1])
		if end > len(b) {
			return -1
		}
		p.kind, p.num = String, uint64(from)<<32|uint64(end)
		return end
	case tagText4:
		from := pos + 1
		for pos = from; len(b)-pos >= 6; {
			switch b[pos] {
			case tagVar4:
				pos += 5
				continue
			case tagDict8:
				pos += 2 + int(b[pos+1])
				continue
			case tagLogtype8:
				end := pos + 2 + int(b[pos+1])
				if end > len(b) {
					return -1
				}
				p.kind, p.form, p.mid = String, formFour, uint32(pos)
				p.num = uint64(from)<<32 | uint64(end)
				return end
			}
			break
		}
		pos = from - 1
	case tagEmpty:
		p.kind = Empty
		return pos + 1
	case tagNull:
		p.kind = Null
		return pos + 1
	}
	return p.readSlowly(b, pos)
}

// readSlowly reads what is rare.
func (p *pair) readSlowly(b []byte, pos int) int {
	c := cursor{b: b, pos: pos}
	if c.value(p) != nil {
		return -1
	}
	return c.pos
}
