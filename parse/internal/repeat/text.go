package repeat

import "bytes"

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
	t.mark(p, at)
}

// Again appends the piece if it was written before and can be referred to, and reports whether it did.
func (t *Text) Again(p *Piece) bool {
	at := int32(len(t.B))
	from := p.end - 1
	if t.Off || p.end == 0 || at-from > window || p.n < shortest {
		return false
	}
	t.B = append(t.B, t.B[from:from+p.n]...)
	t.refs = append(t.refs, ref{at, p.n, at - from})
	p.end = at + 1
	return true
}

// Note makes what was appended since at the piece, for Again.
func (t *Text) Note(p *Piece, at int) { p.end, p.n = int32(at)+1, int32(len(t.B)-at) }

func (t *Text) mark(p *Piece, at int) {
	n := int32(len(t.B) - at)
	if from := p.end - 1; !t.Off && p.end > 0 && int32(at)-from <= window && n == p.n && n >= shortest {
		t.refs = append(t.refs, ref{int32(at), n, int32(at) - from})
	}
	p.end, p.n = int32(at)+1, n
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
