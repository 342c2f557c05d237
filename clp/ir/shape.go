package ir

// Shape is what events from one place in a program have in common: the same keys in the same order. Events that have the
// same *Shape nest in the same way, so that a program can look at the keys once and then only at values.
type Shape struct {
	// Note is for the program that reads: what it knows of such events. The reader forgets it with the shape.
	Note any

	hash  uint64
	nodes []int32 // of the pairs as they come in the stream, auto-generated ones first
	types []nodeType
	autos int
	steps [2][]step  // by Namespace: how the keys nest
	order [2][]int32 // by Namespace: the pairs as they are visited
	next  *Shape     // of the event that came behind the last one of this shape; only a guess
}

// step is a part of a walk over the keys of an event.
type step struct {
	node int32
	pair int32 // of a value, else one of the following
}

const (
	stepOpen  = -1
	stepClose = -2
)

// Bounds of what a reader remembers of shapes. When they are met all is forgotten, and learned again.
const (
	maxShapePairs = 4 << 10  // pairs of a shape
	maxShapesSize = 64 << 10 // pairs of all shapes
)

// addHash mixes the ID of a pair into the hash of a shape.
func addHash(h uint64, id int64) uint64 { return (h ^ uint64(uint32(id))) * 0x9E3779B97F4A7C15 }

// matches reports whether the pairs, which have the hash h, are those of s, and have values that suit. It makes arrays of
// the values that are arrays.
func (s *Shape) matches(h uint64, pairs []pair, autos int) bool {
	if s == nil || s.hash != h || len(s.nodes) != len(pairs) || s.autos != autos {
		return false
	}
	types := s.types[:len(pairs)]
	for i, node := range s.nodes[:len(pairs)] {
		p := &pairs[i]
		if p.node != node || !p.suits(types[i]) {
			return false
		}
		if types[i] == nodeArray {
			p.kind = Array
		}
	}
	return true
}

// learn makes the shape of the event at hand, which was checked by touching all its nodes. It is kept unless it is large.
func (r *Reader) learn() *Shape {
	e := &r.event
	s := &r.large
	keep := len(e.pairs) <= maxShapePairs
	if keep {
		s = new(Shape)
		if r.shapesSize += len(e.pairs) + 8; r.shapesSize > maxShapesSize {
			clear(r.shapes)
			r.lastShape = nil // it may lead to others
			r.shapesSize = len(e.pairs) + 8
		}
	}
	s.autos, s.hash = e.autos, 0
	s.nodes, s.types = s.nodes[:0], s.types[:0]
	for i := range e.pairs {
		t, id := r.user, int64(e.pairs[i].node)
		if i < e.autos {
			t, id = r.auto, ^id
		}
		s.hash = addHash(s.hash, id)
		s.nodes = append(s.nodes, e.pairs[i].node)
		s.types = append(s.types, t.node(e.pairs[i].node).typ)
	}
	for n := range s.steps {
		s.walk(Namespace(n), r.space(Namespace(n)))
	}
	if keep {
		r.shapes[s.hash] = s
	}
	return s
}

// walk follows the marks of a tree.
func (s *Shape) walk(n Namespace, t *tree) {
	steps, order := s.steps[n][:0], s.order[n][:0]
	at, root := t.node(0).first, int32(0)
	for at != root {
		node := t.node(at)
		if node.pair == noPair {
			steps = append(steps, step{at, stepOpen})
			at = node.first
			continue
		}
		steps = append(steps, step{at, node.pair})
		order = append(order, node.pair)
		for node.next == 0 && node.parent != root {
			steps = append(steps, step{node.parent, stepClose})
			node = t.node(node.parent)
		}
		at = node.next
	}
	s.steps[n], s.order[n] = steps, order
}
