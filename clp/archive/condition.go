package archive

import (
	"math"
	"sort"
)

// Condition is what a search asks of the records of one table: a tree of conditions on the values of columns. For each
// record it is certain to hold, certain not to hold, or open: then the record itself must be looked at.
type Condition struct {
	Kind  ConditionKind
	Parts []*Condition // of CondAll, CondSome and CondNot, which has one

	Column   int   // index in Table.Columns, of CondRange, CondSet and CondText
	Min, Max int64 // of CondRange
	Set      *IDSet
	Text     *TextTest
}

// ConditionKind says what a Condition is.
type ConditionKind uint8

const (
	CondNever  ConditionKind = iota // holds of no record
	CondMaybe                       // open
	CondAlways                      // holds of each record
	CondAll                         // all parts hold
	CondSome                        // one part holds
	CondNot                         // the part does not hold

	// CondRange: the value is Min, Max or between. Values are integers, nanoseconds of times, FloatKeys of floats, and
	// 0 or 1 of booleans.
	CondRange
	// CondSet: the entry of the dictionary of variables is in Set.
	CondSet
	// CondText: the text of a ClpString passes Text.
	CondText
)

// FloatKey returns a number that is in the order of floats: that of -0 is before that of 0, and those of NaNs are
// outside of those of the infinite.
func FloatKey(f float64) int64 { return floatKey(f) }

// IDSet is a set of entries of a dictionary. It must not change once a Reader has it.
type IDSet struct {
	bits     []uint64
	min, max uint64
	n        int
	mask     uint64   // see maskBit
	windows  []window // that records with one of the entries lie in; nil if it is not known
}

// Add puts an entry into the set.
func (s *IDSet) Add(id uint64) {
	if s.Has(id) {
		return
	}
	for uint64(len(s.bits)) <= id>>6 {
		s.bits = append(s.bits, 0)
	}
	s.bits[id>>6] |= 1 << (id & 63)
	if s.n == 0 {
		s.min, s.max = id, id
	}
	s.min, s.max = min(s.min, id), max(s.max, id)
	s.mask |= maskBit(id)
	s.n++
}

// Has reports whether an entry is in the set.
func (s *IDSet) Has(id uint64) bool {
	return id>>6 < uint64(len(s.bits)) && s.bits[id>>6]>>(id&63)&1 != 0
}

// Len returns the number of entries in the set.
func (s *IDSet) Len() int { return s.n }

// window is a range of numbers of records, both inclusive.
type window struct{ from, to int64 }

// maxWindows is how many entries a set may have for their windows to be looked at.
const maxWindows = 64

// windows returns the ranges of records that have one of the entries; nil if nothing is known.
func (x *archiveIndex) windows(ids []uint64) []window {
	if x == nil || len(x.epochs) == 0 || len(ids) > maxWindows {
		return nil
	}
	list := []window{}
	for _, id := range ids {
		e := int64(sort.Search(len(x.epochs), func(i int) bool { return uint64(x.epochs[i]) > id }) - 1)
		w := window{max(e, 0) * blockRows, math.MaxInt64}
		if x.reused[id/8]>>(id%8)&1 == 0 {
			w.to = w.from + blockRows - 1
		}
		list = append(list, w)
	}
	return list
}

// certainty is what is known of a condition.
type certainty uint8

const (
	no certainty = iota
	maybe
	yes
)

// simple returns the certainty of a condition that needs no data.
func (c *Condition) simple() (certainty, bool) {
	switch c.Kind {
	case CondNever:
		return no, true
	case CondMaybe:
		return maybe, true
	case CondAlways:
		return yes, true
	}
	return maybe, false
}

// cost orders the parts of a condition: what is looked at first.
func (c *Condition) cost() int {
	switch c.Kind {
	case CondRange, CondSet:
		return 2
	case CondText:
		return 16
	}
	n := 0
	for _, p := range c.Parts {
		n += p.cost()
	}
	return n
}

// arrange sorts the parts by their cost.
func (c *Condition) arrange() {
	for _, p := range c.Parts {
		p.arrange()
	}
	sort.SliceStable(c.Parts, func(i, j int) bool { return c.Parts[i].cost() < c.Parts[j].cost() })
}

// columns calls f for each column that the condition is about, and whether its variables are needed.
func (c *Condition) columns(f func(column int, variables bool)) {
	for _, p := range c.Parts {
		p.columns(f)
	}
	switch c.Kind {
	case CondRange, CondSet:
		f(c.Column, false)
	case CondText:
		f(c.Column, c.Text.open)
	}
}

// leaves calls f for each condition on a column.
func (c *Condition) leaves(f func(*Condition)) {
	for _, p := range c.Parts {
		p.leaves(f)
	}
	if c.Kind >= CondRange {
		f(c)
	}
}

// judge says what the statistics of a block tell. stats has those of the table's columns, order is the one of the number
// of a record, or -1.
func (c *Condition) judge(stats []columnStats, order, block int) certainty {
	if v, ok := c.simple(); ok {
		return v
	}
	switch c.Kind {
	case CondAll:
		all := yes
		for _, p := range c.Parts {
			if all = min(all, p.judge(stats, order, block)); all == no {
				break
			}
		}
		return all
	case CondSome:
		some := no
		for _, p := range c.Parts {
			if some = max(some, p.judge(stats, order, block)); some == yes {
				break
			}
		}
		return some
	case CondNot:
		return yes - c.Parts[0].judge(stats, order, block)
	}
	if stats == nil {
		return maybe
	}
	var windows []window
	switch c.Kind {
	case CondSet:
		windows = c.Set.windows
	case CondText:
		windows = c.Text.windows
	}
	if windows != nil && order >= 0 && stats[order].blocks != nil {
		st := &stats[order].blocks[block]
		inside := false
		for _, w := range windows {
			inside = inside || w.from <= st.max && st.min <= w.to
		}
		if !inside {
			return no
		}
	}
	if stats[c.Column].blocks == nil {
		return maybe
	}
	st := &stats[c.Column].blocks[block]
	switch c.Kind {
	case CondRange:
		if st.max < c.Min || c.Max < st.min {
			return no
		}
		if c.Min <= st.min && st.max <= c.Max {
			return yes
		}
	case CondSet:
		if c.Set.n == 0 || uint64(st.max) < c.Set.min || c.Set.max < uint64(st.min) || st.mask&c.Set.mask == 0 {
			return no
		}
		return listed(st.set, func(id uint64) certainty {
			if c.Set.Has(id) {
				return yes
			}
			return no
		})
	case CondText:
		return listed(st.set, c.Text.logType)
	}
	return maybe
}

// listed says what is known of a block whose values are listed.
func listed(set []idCount, f func(id uint64) certainty) certainty {
	if set == nil {
		return maybe
	}
	some, all := no, yes
	for _, e := range set {
		v := f(e.id)
		some, all = max(some, v), min(all, v)
	}
	if some == no || all == yes {
		return some
	}
	return maybe
}
