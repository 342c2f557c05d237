package archive

import (
	"cmp"
	"container/heap"
	"slices"
)

// While records come, nodes have IDs in the order in which they were first seen. Readers put the members of an object in the
// order of the IDs of their nodes, so that the writer, when it closes, gives the nodes other IDs: such that the members of as
// many records as possible stand in the order in which they were written. Most logs have one order that suits all their
// records, even where each record has only some of the keys, and then the archive need not say more about it.

// maxFollows is how many pairs of members are looked at that follow each other.
const maxFollows = 1 << 18

// maxBlocked is among how many nodes one is looked for when none can be placed. More would cost the square of their number.
const maxBlocked = 256

// follows says that a member stands behind another one of the same object.
type follows struct {
	before, after int32
	records       int64 // about, in which it is so
}

// memberOrder puts the children of each node in an order.
type memberOrder struct {
	nodes []Node
	pairs []follows
	known map[[2]int32]int32 // index in pairs

	// By node:
	seen []int32 // the last shape that it was in
	last []int32 // the last child of it in that shape
	next []int32 // index in pairs of the last one in which it is before, -1 for none
}

// renumber gives the nodes their last IDs.
func (w *Writer) renumber() {
	o := &memberOrder{nodes: w.nodes, known: map[[2]int32]int32{}}
	o.seen, o.last, o.next = make([]int32, len(w.nodes)), make([]int32, len(w.nodes)), make([]int32, len(w.nodes))
	for i := range o.next {
		o.next[i] = -1
	}
	stamp := int32(0)
	for _, t := range w.order {
		for _, tokens := range t.side.shapes {
			stamp++
			o.shape(tokens, stamp, t.records/int64(len(t.side.shapes))+1)
		}
	}
	list := o.list()
	if slices.IsSorted(list) {
		return
	}
	ids := make([]int32, len(list)) // the new ones by the old ones
	nodes := make([]Node, len(list))
	for id, old := range list {
		ids[old] = int32(id)
	}
	for id, old := range list {
		n := w.nodes[old]
		if n.Parent >= 0 {
			n.Parent = ids[n.Parent]
		}
		nodes[id] = n
	}
	w.nodes = nodes
	places := make([]int32, len(nodes))
	for _, t := range w.order {
		t.renumber(nodes, ids, places)
	}
}

// shape takes the order of the members from a shape of some records.
func (o *memberOrder) shape(tokens []uint32, stamp int32, records int64) {
	for _, token := range tokens {
		id := int32(token >> 1)
		if o.seen[id] == stamp {
			continue // a key again, or an object that is entered again
		}
		o.seen[id], o.last[id] = stamp, -1
		parent := o.nodes[id].Parent
		if parent < nodeObject {
			continue // the empty record
		}
		before := int32(-1)
		if o.nodes[parent].Parent < 0 && o.seen[parent] != stamp {
			o.seen[parent] = stamp // a root, of which there is no token
		} else {
			before = o.last[parent]
		}
		o.last[parent] = id
		if before >= 0 {
			o.follow(before, id, records)
		}
	}
}

func (o *memberOrder) follow(before, after int32, records int64) {
	if i := o.next[before]; i >= 0 && o.pairs[i].after == after {
		o.pairs[i].records += records
		return
	}
	key := [2]int32{before, after}
	i, ok := o.known[key]
	if !ok {
		if len(o.pairs) == maxFollows {
			return
		}
		i = int32(len(o.pairs))
		o.known[key] = i
		o.pairs = append(o.pairs, follows{before: before, after: after})
	}
	o.pairs[i].records += records
	o.next[before] = i
}

// list returns all nodes, parents before their children, children in an order that is as good as can be had.
func (o *memberOrder) list() []int32 {
	slices.SortFunc(o.pairs, func(a, b follows) int {
		return cmp.Or(cmp.Compare(a.before, b.before), cmp.Compare(a.after, b.after))
	})
	behind := make([]int32, len(o.nodes)+1) // where the pairs of a node begin
	waits := make([]int64, len(o.nodes))    // records in which something is before it that is not placed
	for _, p := range o.pairs {
		behind[p.before+1]++
		waits[p.after] += p.records
	}
	for i := range o.nodes {
		behind[i+1] += behind[i]
	}
	children := make([][]int32, len(o.nodes))
	for id, n := range o.nodes {
		if n.Parent >= 0 {
			children[n.Parent] = append(children[n.Parent], int32(id))
		}
	}
	list := make([]int32, 0, len(o.nodes))
	var place func(id int32)
	place = func(id int32) {
		list = append(list, id)
		for _, c := range o.sort(children[id], behind, waits) {
			place(c)
		}
	}
	for id, n := range o.nodes {
		if n.Parent < 0 {
			place(int32(id))
		}
	}
	return list
}

// sort puts children in order: one of which all that stand before it are placed, the one first seen if there are several; if
// there is none, because records differ, the one of the next few that fewest records have behind what is not placed.
func (o *memberOrder) sort(children []int32, behind []int32, waits []int64) []int32 {
	free := &nodeHeap{}
	blocked := 0
	for _, id := range children {
		if waits[id] == 0 {
			*free = append(*free, id) // they are ascending, which is a heap
		} else {
			blocked++
		}
	}
	if blocked == 0 {
		return children
	}
	out := make([]int32, 0, len(children))
	placed := func(id int32) {
		out = append(out, id)
		waits[id] = -1
		for _, p := range o.pairs[behind[id]:behind[id+1]] {
			if waits[p.after] < 0 {
				continue
			}
			if waits[p.after] -= p.records; waits[p.after] == 0 {
				heap.Push(free, p.after)
				blocked--
			}
		}
	}
	left := children // the first of them is not placed
	for len(out) < len(children) {
		if len(*free) > 0 {
			placed(heap.Pop(free).(int32))
			continue
		}
		for waits[left[0]] < 0 {
			left = left[1:]
		}
		best := left[0]
		for _, id := range left[:min(len(left), maxBlocked)] {
			if waits[id] > 0 && waits[id] < waits[best] {
				best = id
			}
		}
		blocked--
		placed(best)
	}
	return out
}

// nodeHeap is nodes by ascending ID.
type nodeHeap []int32

func (h nodeHeap) Len() int           { return len(h) }
func (h nodeHeap) Less(i, j int) bool { return h[i] < h[j] }
func (h nodeHeap) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *nodeHeap) Push(v any)        { *h = append(*h, v.(int32)) }
func (h *nodeHeap) Pop() any {
	n := len(*h) - 1
	v := (*h)[n]
	*h = (*h)[:n]
	return v
}

// renumber gives the nodes of a table other IDs. Its columns stand in the order of the IDs. places is room for a number for
// each node.
func (t *tableWriter) renumber(nodes []Node, ids, places []int32) {
	for i, e := range t.entries {
		if !isDelimiter(e) {
			t.entries[i] = ids[e]
		}
	}
	slices.Sort(t.entries[:t.ordered])
	for i := range t.roots {
		t.roots[i] = ids[t.roots[i]]
	}
	slices.Sort(t.roots)
	for i := range t.columns {
		c := &t.columns[i]
		c.node = ids[c.node]
	}
	columns := make([]columnWriter, 0, len(t.columns))
	for i := range t.columns {
		places[t.columns[i].node] = int32(i)
	}
	for _, id := range t.entries[:t.ordered] {
		if nodes[id].Type.hasColumn() {
			columns = append(columns, t.columns[places[id]])
		}
	}
	t.columns = append(columns, t.columns[len(columns):]...) // those in structured arrays stay where they are
	for _, tokens := range t.side.shapes {
		for i, token := range tokens {
			tokens[i] = uint32(ids[token>>1])<<1 | token&tokenBegin
		}
	}
}
