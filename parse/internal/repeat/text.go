package repeat

import (
	"bytes"
	"encoding/binary"
	"math/bits"
)

// window is how far back a reference may lead (RFC 1951 §2).
const window = 32 << 10

// shortest is the length of the shortest repeat that is worth a reference.
const shortest = 4

// Text is text being written. What is appended to B directly is no repeat.
type Text struct {
	B []byte
	// Off switches the memory for repeats off, for text that is not compressed here.
	Off  bool
	refs []ref
}

// ref says that n bytes at a position stand also dist bytes before.
type ref struct{ at, n, dist int32 }

// Piece is something that may be written again. The zero Piece has not been written. A Piece belongs to one Text until
// that is reset.
type Piece struct {
	end int32 // 1 + where it was written last
	n   int32
}

// Reset empties the text; Pieces must be forgotten with it.
func (t *Text) Reset() { t.B, t.refs = t.B[:0], t.refs[:0] }

// Write appends the piece, whose bytes are b each time.
func (t *Text) Write(p *Piece, b []byte) {
	at := len(t.B)
	t.B = append(t.B, b...)
	if n := int32(len(b)); n == p.n {
		t.repeat(at, p.end-1, n)
	}
	t.Note(p, at)
}

// Again appends the piece if it was written before and can be referred to, and reports whether it did.
func (t *Text) Again(p *Piece) bool {
	at := len(t.B)
	from := p.end - 1
	if t.Off || p.end == 0 || int32(at)-from > window || p.n < shortest {
		return false
	}
	t.B = append(t.B, t.B[from:from+p.n]...)
	t.repeat(at, from, p.n)
	p.end = int32(at) + 1
	return true
}

// Like appends b, which may be like what the piece was last: how it begins and how it ends is referred to as far as it
// is the same. The piece is b from now on.
func (t *Text) Like(p *Piece, b []byte) {
	at := len(t.B)
	t.B = append(t.B, b...)
	if from := p.end - 1; !t.Off && p.end > 0 && int32(at)-from <= window {
		old := t.B[from : from+p.n]
		n := int32(commonPrefix(old, b))
		t.repeat(at, from, n)
		if int(n) < len(b) {
			m := int32(commonSuffix(old[n:], b[n:]))
			t.repeat(at+len(b)-int(m), from+p.n-m, m)
		}
	}
	t.Note(p, at)
}

// Note makes what was appended since at the piece, for Again and Like.
func (t *Text) Note(p *Piece, at int) { p.end, p.n = int32(at)+1, int32(len(t.B)-at) }

// repeat notes that the n bytes at a position are those at from, if that is worth it. References in a row become one.
func (t *Text) repeat(at int, from, n int32) {
	dist := int32(at) - from
	if t.Off || from < 0 || n < shortest || dist <= 0 || dist > window {
		return
	}
	if last := len(t.refs) - 1; last >= 0 {
		if r := &t.refs[last]; r.dist == dist && r.at+r.n == int32(at) {
			r.n += n
			return
		}
	}
	t.refs = append(t.refs, ref{int32(at), n, dist})
}

// extend makes the references that begin at a position or behind it as long as they can be: what stands around a piece
// is often what stood around it before, such as the first digits of a number that counts.
func (t *Text) extend(from int) {
	at := int32(from) // the end of the reference before
	for i := range t.refs {
		r := &t.refs[i]
		if r.at < int32(from) {
			continue
		}
		for r.at > at && r.at-1-r.dist >= 0 && t.B[r.at-1] == t.B[r.at-1-r.dist] {
			r.at--
			r.n++
		}
		end := int32(len(t.B))
		if i+1 < len(t.refs) {
			end = t.refs[i+1].at
		}
		for at = r.at + r.n; at < end && t.B[at] == t.B[at-r.dist]; at++ {
			r.n++
		}
	}
}

// Repeats reports whether anything was referred to.
func (t *Text) Repeats() bool { return len(t.refs) > 0 }

func commonPrefix(a, b []byte) int {
	n := min(len(a), len(b))
	i := 0
	for ; i+8 <= n; i += 8 {
		if x := binary.LittleEndian.Uint64(a[i:]) ^ binary.LittleEndian.Uint64(b[i:]); x != 0 {
			return i + bits.TrailingZeros64(x)/8
		}
	}
	for i < n && a[i] == b[i] {
		i++
	}
	return i
}

func commonSuffix(a, b []byte) int {
	n, i := min(len(a), len(b)), 0
	for i < n && a[len(a)-1-i] == b[len(b)-1-i] {
		i++
	}
	return i
}

// consistent reports whether every reference is true; for tests.
func (t *Text) consistent() bool {
	last := int32(0)
	for _, r := range t.refs {
		if r.at < last || r.dist <= 0 || r.dist > window || !bytes.Equal(t.B[r.at:r.at+r.n], t.B[r.at-r.dist:r.at-r.dist+r.n]) {
			return false
		}
		last = r.at + r.n
	}
	return true
}
