package parse

// textStore keeps many small texts without an allocation for each. One goroutine uses it.
type textStore struct{ chunks [][]byte }

// textRef names a text in a store.
type textRef struct{ chunk, off, n int32 }

const textChunk = 256 << 10

func (s *textStore) add(b []byte) textRef {
	last := len(s.chunks) - 1
	if last < 0 || len(s.chunks[last])+len(b) > cap(s.chunks[last]) {
		s.chunks = append(s.chunks, make([]byte, 0, max(textChunk, len(b))))
		last++
	}
	c := s.chunks[last]
	ref := textRef{int32(last), int32(len(c)), int32(len(b))}
	s.chunks[last] = append(c, b...)
	return ref
}

func (s *textStore) get(r textRef) []byte { return s.chunks[r.chunk][r.off : r.off+r.n] }
