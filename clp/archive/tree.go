package archive

import (
	"fmt"
	"hash/maphash"

	"github.com/tracehandler/tracehandler/event"
)

// NodeType is the type of a node of the schema tree, and so of the values of its column.
type NodeType uint8

// The types of nodes.
const (
	Integer           NodeType = 0
	Float             NodeType = 1 // its spelling is lost
	ClpString         NodeType = 2 // string with a space, split into a log type and variables
	VarString         NodeType = 3 // any other string
	Boolean           NodeType = 4
	Object            NodeType = 5
	UnstructuredArray NodeType = 6 // array kept as its JSON text
	Null              NodeType = 7
	DateString        NodeType = 8 // time in archives before 0.5.0
	StructuredArray   NodeType = 9
	Metadata          NodeType = 10 // root of what is not part of the records
	DeltaInteger      NodeType = 11
	FormattedFloat    NodeType = 12 // float and how it was spelt
	DictionaryFloat   NodeType = 13 // float whose text is kept
	Timestamp         NodeType = 14 // time, and the pattern that prints it
)

var nodeNames = [...]string{"Integer", "Float", "ClpString", "VarString", "Boolean", "Object", "UnstructuredArray", "NullValue",
	"DateString", "StructuredArray", "Metadata", "DeltaInteger", "FormattedFloat", "DictionaryFloat", "Timestamp"}

func (t NodeType) String() string {
	if int(t) < len(nodeNames) {
		return nodeNames[t]
	}
	return fmt.Sprintf("NodeType(%d)", uint8(t))
}

// hasColumn reports whether records with such a node have a value in a column.
func (t NodeType) hasColumn() bool {
	switch t {
	case Object, Null, StructuredArray, Metadata:
		return false
	}
	return true
}

// Node is a key of the schema tree: the merged tree of the keys of all records.
type Node struct {
	Parent int32 // -1 for a root
	Type   NodeType
	Key    string // of the object that Parent is; of a root: the namespace
}

// autoKey is the key of the root of what the logging library made, as opposed to the user.
const autoKey = "@"

const (
	maxNodes     = 1 << 24 // schemas have 24 bits for a node
	nodeOverhead = 120     // bytes of memory
)

// tree is the schema tree:
//
//	u64 nodes, each: i32 parent, string key, u8 type
type tree struct {
	nodes []Node
	depth []uint16

	autos  []bool // of each node: it is in the tree of auto
	object int32  // root of the records, or -1
	auto   int32  // root of the keys that the logging library made, or -1
	order  int32  // node of the number of a record, or -1
}

func (t *tree) load(p *pool, in *input, s section) error {
	t.object, t.auto, t.order = -1, -1, -1
	in.open(s, -1)
	count := in.u64()
	if in.err == nil && count > maxNodes {
		return corrupt(s.name, 0, ErrLength, "%d nodes", count)
	}
	type place struct {
		parent int32
		typ    NodeType
		key    uint64
	}
	seed := maphash.MakeSeed()
	known := map[place]int32{}
	var key []byte
	metadata := int32(-1)
	for id := range int32(count) {
		at := in.offset()
		parent := in.i32()
		key = in.text(key[:0], min(maxEntry, p.limit/2))
		typ := NodeType(in.u8())
		if in.err != nil {
			return in.err
		}
		if err := p.take(nodeOverhead + int64(len(key))); err != nil {
			return err
		}
		n := Node{parent, typ, string(key)}
		switch {
		case parent < -1 || parent >= id:
			return corrupt(s.name, at, ErrNode, "node %d has parent %d", id, parent)
		case int(typ) >= len(nodeNames):
			return corrupt(s.name, at, ErrNode, "node %d has type %d", id, typ)
		case parent >= 0 && t.nodes[parent].Type != Object && t.nodes[parent].Type != StructuredArray && t.nodes[parent].Type != Metadata:
			return corrupt(s.name, at, ErrNode, "node %d is inside node %d, a %v", id, parent, t.nodes[parent].Type)
		}
		// Two keys of the same hash are not told apart by the map; the first one is compared, others are let pass.
		pl := place{parent, typ, maphash.Bytes(seed, key)}
		if other, ok := known[pl]; ok && t.nodes[other].Key == n.Key {
			return corrupt(s.name, at, ErrNode, "node %d is node %d again", id, other)
		}
		known[pl] = id
		depth := uint16(0)
		if parent >= 0 {
			if depth = t.depth[parent] + 1; depth > event.MaxDepth {
				return &LimitError{What: "levels of nesting", Limit: event.MaxDepth}
			}
		}
		switch {
		case parent == -1 && n.Key == "" && typ == Object:
			t.object = id
		case parent == -1 && n.Key == autoKey && typ == Object:
			t.auto = id
		case parent == -1 && n.Key == "" && typ == Metadata:
			metadata = id
		case parent == metadata && parent >= 0 && n.Key == "log_event_idx" && (typ == DeltaInteger || typ == Integer):
			t.order = id
		}
		t.nodes = append(t.nodes, n)
		t.autos = append(t.autos, id == t.auto || parent >= 0 && t.autos[parent])
		t.depth = append(t.depth, depth)
	}
	return in.finish()
}
