package parse

import (
	"bytes"
	"strings"

	"github.com/tracehandler/tracehandler/parse/internal/js"
)

// diffTree watches a sequence of records and remembers for every field which values it had when. It is fed one record
// at a time and keeps no record: for a field that never changes, one value; for one that changes, what it changed to.
//
// An object whose text has not changed since the record before is not looked into, and one that never changed is not
// even taken apart. So the cost of a record is the cost of its changes.
type diffTree struct {
	root      diffNode
	n         uint32      // records seen
	keepTexts bool        // also keep every value of fields of which only the number of values is reported
	ids       *identifier // shared by all trees of a rank
}

// diffNode is one field at one depth.
type diffNode struct {
	key      string
	raw      []byte  // the last value's text
	sub      *js.Doc // its Doc in the memo, if it has one
	kind     js.Kind // the last value's type; Missing if the last record did not have the field
	own      bool    // raw may be overwritten
	opened   bool    // children stand for the members
	volatile bool    // only the number of values is reported
	ignored  bool
	since    uint32 // the record from which on raw is the value, if runs is empty
	mark     uint32 // 1 + the last record that set it
	runs     []valueRun
	texts    map[uint64]textRef // the values in runs, by id
	children []*diffNode
	byKey    map[string]*diffNode // children, once they are many
}

// many is the number of members from which on they are looked up in a map, not one by one.
const many = 32

// valueRun says that a field had a value from a record on; id 0 is no value.
type valueRun struct {
	id    uint64
	start uint32
}

var volatileKeys = []string{"pid", "timestamp", "stream", "function", "data_ptr"}
var ignoredKeys = []string{"occurrence_id", "launch_group_hash", "autotune_launch_type"}

func containsAnyOf(s string, subs []string) bool {
	for _, sub := range subs {
		if strings.Contains(s, sub) {
			return true
		}
	}
	return false
}

// add takes the next record.
func (t *diffTree) add(root js.Value) {
	t.root.kind, t.root.opened = js.Object, true
	t.members(&t.root, root, t.n)
	t.n++
}

// members sets the children of n to the members of v at record i.
func (t *diffTree) members(n *diffNode, v js.Value, i uint32) {
	pos := 0
	for m := range v.Each() {
		c := n.child(m, pos, t)
		pos++
		c.mark = i + 1
		if !c.ignored {
			t.set(c, m, i)
		}
	}
	for _, c := range n.children {
		if c.mark != i+1 {
			t.drop(c, i)
		}
	}
}

// child finds or makes the child for a member; pos is where it stands if nothing has changed.
func (n *diffNode) child(m js.Value, pos int, t *diffTree) *diffNode {
	key, plain := m.KeyPlain()
	if !plain {
		key = []byte(m.Key())
	}
	if pos < len(n.children) && n.children[pos].key == string(key) {
		return n.children[pos]
	}
	if n.byKey != nil {
		if c := n.byKey[string(key)]; c != nil {
			return c
		}
	} else {
		for _, c := range n.children {
			if c.key == string(key) {
				return c
			}
		}
	}
	c := &diffNode{key: string(key)}
	c.volatile = n.volatile || containsAnyOf(c.key, volatileKeys)
	c.ignored = n.ignored || containsAnyOf(c.key, ignoredKeys)
	n.children = append(n.children, c)
	if n.byKey != nil {
		n.byKey[c.key] = c
	} else if len(n.children) > many {
		n.byKey = make(map[string]*diffNode, 2*many)
		for _, c := range n.children {
			n.byKey[c.key] = c
		}
	}
	return c
}

func (t *diffTree) set(n *diffNode, v js.Value, i uint32) {
	raw, sub := v.Raw(), v.Sub()
	if n.kind != js.Missing && (sub != nil && sub == n.sub || bytes.Equal(raw, n.raw)) {
		return
	}
	if v.Kind() == js.Object {
		switch {
		case n.kind == js.Object:
			t.open(n)
		case n.kind != js.Missing:
			t.closeLeaf(n, i)
			n.opened = true
		case len(n.runs) > 0:
			n.opened = true
		}
		n.hold(v, i)
		if n.opened {
			t.members(n, v, i)
		}
		return
	}
	if n.kind == js.Object {
		t.dropMembers(n, i)
	}
	if n.kind == js.Missing && len(n.runs) == 0 || n.kind != js.Missing && n.kind != js.Object && len(n.runs) == 0 && n.since == i {
		n.hold(v, i)
		return
	}
	if n.kind != js.Missing && n.kind != js.Object {
		t.startRuns(n)
	}
	n.hold(v, i)
	t.run(n, v, i)
}

// hold makes v the current value.
func (n *diffNode) hold(v js.Value, i uint32) {
	n.kind = v.Kind()
	if n.sub = v.Sub(); n.sub != nil {
		n.raw, n.own = n.sub.Text, false
	} else if n.own {
		n.raw = append(n.raw[:0], v.Raw()...)
	} else {
		n.raw, n.own = bytes.Clone(v.Raw()), true
	}
	n.since = i
}

// startRuns turns the constant value that n had so far into its first run.
func (t *diffTree) startRuns(n *diffNode) {
	if len(n.runs) > 0 {
		return
	}
	if d := n.doc(); d != nil {
		t.run(n, d.Root(), n.since)
	}
}

// doc returns the node's value, nil if it is no JSON.
func (n *diffNode) doc() *js.Doc {
	if n.sub != nil {
		return n.sub
	}
	d := &js.Doc{}
	if d.Parse(n.raw) != nil {
		return nil
	}
	return d
}

func (t *diffTree) run(n *diffNode, v js.Value, i uint32) {
	id := t.ids.id(v)
	if last := len(n.runs) - 1; last >= 0 {
		if n.runs[last].id == id {
			return
		}
		if n.runs[last].start == i { // a repeated key: the last one counts
			n.runs = n.runs[:last]
		}
	}
	n.runs = append(n.runs, valueRun{id, i})
	if n.volatile && !t.keepTexts {
		return
	}
	if _, ok := n.texts[id]; !ok {
		if n.texts == nil {
			n.texts = map[uint64]textRef{}
		}
		n.texts[id] = t.ids.texts.add(v.Raw())
	}
}

// open takes apart an object that was kept as text so far.
func (t *diffTree) open(n *diffNode) {
	if n.opened {
		return
	}
	n.opened = true
	d := n.doc()
	if d == nil {
		return
	}
	// The children's texts are parts of this one, so it must not be overwritten.
	n.own = false
	pos := 0
	for m := range d.Root().Each() {
		c := n.child(m, pos, t)
		pos++
		if !c.ignored {
			c.kind, c.raw, c.sub, c.own, c.since, c.mark = m.Kind(), m.Raw(), nil, false, n.since, n.since+1
		}
	}
}

// closeLeaf ends the run of a value that is no object.
func (t *diffTree) closeLeaf(n *diffNode, i uint32) {
	t.startRuns(n)
	if last := len(n.runs) - 1; last >= 0 && n.runs[last].start == i {
		n.runs = n.runs[:last]
	}
	n.runs = append(n.runs, valueRun{0, i})
}

// drop notes that record i does not have the field.
func (t *diffTree) drop(n *diffNode, i uint32) {
	switch n.kind {
	case js.Missing:
		return
	case js.Object:
		t.dropMembers(n, i)
	default:
		t.closeLeaf(n, i)
	}
	n.kind = js.Missing
}

func (t *diffTree) dropMembers(n *diffNode, i uint32) {
	t.open(n)
	for _, c := range n.children {
		t.drop(c, i)
	}
}
