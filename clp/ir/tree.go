package ir

import (
	"bytes"
	"hash/maphash"
)

// tree is one of the two trees of keys. IDs count from the root, which is 0. It serves writers and readers alike; the
// marks of an event are explained at touch.
//
// A hostile stream can insert a key with five bytes, so the memory of a key matters: nodes and key bytes lie in chunks,
// which are not copied when the tree grows, and the hash table holds four bytes an entry.
type tree struct {
	nodes [][]node
	count int32
	keys  [][]byte // chunks of key bytes
	table []int32  // open addressing; ID of an owner (never the root), or 0
	seed  maphash.Seed
	owned int // entries of table
	event uint32
}

// node is a key. Nodes with the same parent and key, but other types, hang on the first one, their owner.
type node struct {
	parent  int32
	owner   int32
	sibling int32 // next with the same owner, or 0
	chunk   uint32
	from    uint32
	size    uint32
	depth   uint16
	typ     nodeType
	plain   bool // the key needs no escape in JSON

	// Marks of an event.
	stamp uint32 // the event that used this node last
	pair  int32  // index of its value, or noPair for an object with members
	first int32  // members in the order they came in, a list by next; 0 ends it
	last  int32
	next  int32
	used  int32 // of owners: the node of this owner that was used last
}

const (
	nodesPerChunk = 1 << 12
	keyChunk      = 32 << 10
	noPair        = -1
)

func newTree() *tree {
	t := &tree{seed: maphash.MakeSeed()}
	t.nodes = append(t.nodes, make([]node, 1, 16))
	t.nodes[0][0] = node{typ: nodeObject, pair: noPair}
	t.count = 1
	t.table = make([]int32, 32)
	return t
}

func (t *tree) node(id int32) *node { return &t.nodes[id/nodesPerChunk][id%nodesPerChunk] }

func (t *tree) key(n *node) []byte { return t.keys[n.chunk][n.from : n.from+n.size : n.from+n.size] }

func (t *tree) hash(parent int32, key []byte) uint64 {
	h := maphash.Bytes(t.seed, key) ^ uint64(uint32(parent))*0x9E3779B97F4A7C15
	return h ^ h>>32
}

// find returns the owner of (parent, key), or 0 and the place in the table where it would stand.
func (t *tree) find(parent int32, key []byte) (owner int32, slot int) {
	mask := len(t.table) - 1
	for slot = int(t.hash(parent, key)) & mask; t.table[slot] != 0; slot = (slot + 1) & mask {
		n := t.node(t.table[slot])
		if n.parent == parent && bytes.Equal(t.key(n), key) {
			return t.table[slot], slot
		}
	}
	return 0, slot
}

// typed returns the node of this type among those of an owner, or 0.
func (t *tree) typed(owner int32, typ nodeType) int32 {
	for id := owner; id != 0; {
		n := t.node(id)
		if n.typ == typ {
			return id
		}
		id = n.sibling
	}
	return 0
}

// lookup returns the node (parent, key, typ), or 0.
func (t *tree) lookup(parent int32, key []byte, typ nodeType) int32 {
	owner, _ := t.find(parent, key)
	return t.typed(owner, typ)
}

// insert adds a node. The caller knows that it does not exist yet and that the parent is an object.
func (t *tree) insert(parent int32, key []byte, typ nodeType) int32 {
	owner, slot := t.find(parent, key)
	id := t.count
	n := node{parent: parent, owner: owner, typ: typ, depth: t.node(parent).depth + 1, pair: noPair, size: uint32(len(key))}
	if owner == 0 {
		n.owner = id
		n.chunk, n.from = t.keep(key)
		n.plain = isPlain(key)
		t.table[slot] = id
		t.owned++
	} else {
		o := t.node(owner)
		n.chunk, n.from, n.plain = o.chunk, o.from, o.plain
		n.sibling, o.sibling = o.sibling, id
	}
	last := len(t.nodes) - 1
	if len(t.nodes[last]) == nodesPerChunk {
		t.nodes = append(t.nodes, make([]node, 0, nodesPerChunk))
		last++
	}
	t.nodes[last] = append(t.nodes[last], n)
	t.count++
	if t.owned > len(t.table)/4*3 {
		t.rehash()
	}
	return id
}

// keep copies a key into a chunk.
func (t *tree) keep(key []byte) (chunk, from uint32) {
	last := len(t.keys) - 1
	if last < 0 || cap(t.keys[last])-len(t.keys[last]) < len(key) {
		size := keyChunk
		if last < 0 {
			size = 512
		}
		t.keys = append(t.keys, make([]byte, 0, max(size, len(key))))
		last++
	}
	c := &t.keys[last]
	from = uint32(len(*c))
	*c = append(*c, key...)
	return uint32(last), from
}

func (t *tree) rehash() {
	t.table = make([]int32, 2*len(t.table))
	for id := int32(1); id < t.count; id++ {
		if n := t.node(id); n.owner == id {
			_, slot := t.find(n.parent, t.key(n))
			t.table[slot] = id
		}
	}
}

// truncate removes all nodes from count on, the newest first, as if they had never been inserted. (The table has no
// marks for removed entries; it needs none, because nothing was inserted behind an entry that is removed.)
func (t *tree) truncate(count int32) {
	for t.count > count {
		id := t.count - 1
		n := t.node(id)
		if n.owner == id {
			_, slot := t.find(n.parent, t.key(n))
			t.table[slot] = 0
			t.owned--
			t.keys[n.chunk] = t.keys[n.chunk][:n.from]
			for int(n.chunk) < len(t.keys)-1 {
				t.keys = t.keys[:len(t.keys)-1]
			}
		} else {
			o := t.node(n.owner)
			o.sibling = n.sibling
			if o.used == id {
				o.used = 0
			}
		}
		last := len(t.nodes) - 1
		t.nodes[last] = t.nodes[last][:len(t.nodes[last])-1]
		if len(t.nodes[last]) == 0 {
			t.nodes = t.nodes[:last]
		}
		t.count--
	}
}

// begin starts a new event: no node is marked.
func (t *tree) begin() {
	if t.event++; t.event == 0 { // wrapped around: forget the old marks
		for id := range t.count {
			t.node(id).stamp = 0
		}
		t.event = 1
	}
	root := t.node(0)
	root.stamp, root.first, root.last = t.event, 0, 0
}

// touch gives a node the pair'th value of the event and hooks it into the objects above it, so that walking from the
// root by first and next visits the event as a tree. It finds what an event must not hold: a node twice
// (ErrIDTwice), an object with a value and members (ErrObjectValue), and two nodes of one name in an object
// (ErrSameKey). The marks of an event that failed stay until begin.
func (t *tree) touch(id, pair int32) error {
	n := t.node(id)
	if n.stamp == t.event {
		if n.pair != noPair {
			return ErrIDTwice
		}
		return ErrObjectValue
	}
	n.stamp, n.pair, n.first, n.last = t.event, pair, 0, 0
	for {
		owner := t.node(n.owner)
		if used := owner.used; used != 0 && used != id && t.node(used).stamp == t.event {
			return ErrSameKey
		}
		owner.used, n.next = id, 0
		parent := t.node(n.parent)
		if parent.stamp == t.event {
			if parent.pair != noPair {
				return ErrObjectValue
			}
			if parent.first == 0 {
				parent.first = id
			} else {
				t.node(parent.last).next = id
			}
			parent.last = id
			return nil
		}
		parent.stamp, parent.pair, parent.first, parent.last = t.event, noPair, id, id
		id, n = n.parent, parent
	}
}
