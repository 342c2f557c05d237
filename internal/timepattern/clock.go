package timepattern

// Clock prints times by a pattern, and keeps the text of the last second: times of a log are close to each other. It is not
// safe for concurrent use.
type Clock struct {
	p      *Pattern
	head   int // operations whose text is the same for all times of a second; 0 if that is not worth it
	known  bool
	second int64
	text   []byte // of head
}

// NewClock returns a Clock that prints by p.
func NewClock(p *Pattern) *Clock {
	c := &Clock{p: p}
	for c.head < len(p.ops) && !p.ops[c.head].fraction() {
		c.head++
	}
	for i, op := range p.ops {
		epoch := op.spec == 'E' || op.spec == 'L' || op.spec == 'C' || op.spec == 'N'
		if epoch || i > c.head && op.spec != 0 && !op.fraction() {
			c.head = 0
			break
		}
	}
	return c
}

// fraction reports whether the operation prints a part of a second.
func (op *timeOp) fraction() bool {
	return op.spec == '3' || op.spec == '6' || op.spec == '9' || op.spec == 'T'
}

// Append prints a time in nanoseconds since 1970.
func (c *Clock) Append(dst []byte, ns int64) ([]byte, error) {
	if c.head == 0 {
		return c.p.Append(dst, ns)
	}
	second, fraction := ns/1e9, ns%1e9
	if fraction < 0 {
		second, fraction = second-1, fraction+1e9
	}
	var err error
	if !c.known || second != c.second {
		var d date
		d.set(ns, c.p.zone)
		if c.text, err = c.p.appendOps(c.text[:0], c.p.ops[:c.head], &d, ns, fraction); err != nil {
			return dst, err
		}
		c.known, c.second = true, second
	}
	return c.p.appendOps(append(dst, c.text...), c.p.ops[c.head:], nil, ns, fraction)
}
