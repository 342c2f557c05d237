package convert

import "hash/maphash"

// sum tells sequences of lines apart: by count, length, and a hash that changes with the process. It guards against
// faults, not against somebody who wants two files to look the same.
type sum struct {
	lines, text int64
	h           maphash.Hash
}

func newSum() *sum {
	s := &sum{}
	s.h.SetSeed(maphash.MakeSeed())
	return s
}

// newSumLike returns an empty sum that can be compared with like.
func newSumLike(like *sum) *sum {
	s := &sum{}
	s.h.SetSeed(like.h.Seed())
	return s
}

// add adds a line without its line end, which it cannot contain.
func (s *sum) add(line []byte) {
	s.lines++
	s.text += int64(len(line)) + 1
	s.h.Write(line)
	s.h.WriteByte('\n')
}

func (s *sum) equal(t *sum) bool {
	return s.lines == t.lines && s.text == t.text && s.h.Sum64() == t.h.Sum64()
}
