package archive

import (
	"fmt"
	"slices"
)

// A structured array is spelt out in the unordered region of a schema. An entry is either a node, or a delimiter: its top
// byte is the type, StructuredArray or Object, and the rest the number of entries that belong to it:
//
//	{"k":[1,{"a":"x","b":{}},[],2]}   [6]  int  {2}  a  b  array  int
//
// Elements have an empty key. An object inside an array has one delimiter; objects inside that have none: their members
// follow, and are told apart by the nodes around them.

func isDelimiter(entry int32) bool { return uint32(entry)>>24 != 0 }

// delimited returns the type and the entries of the delimiter at i of entries that end at to.
func (c *composer) delimited(i, to int) (typ NodeType, end int, err error) {
	e := uint32(c.entries[i])
	typ, end = NodeType(e>>24), i+1+int(e&0xFFFFFF)
	if typ != StructuredArray && typ != Object || end > to || end == i+1 {
		return 0, 0, fmt.Errorf("%w: delimiter %#08x with %d entries behind it", ErrSchema, e, to-i-1)
	}
	return typ, end, nil
}

// top returns the node closest to below that has the given type, among those around the first node of entries
// [from, to) and that node itself; -1 is above the roots.
func (c *composer) top(below int32, from, to int, typ NodeType) (int32, error) {
	for ; from < to; from++ {
		if c.steps--; c.steps < 0 {
			return 0, &LimitError{What: "steps to lay out a schema", Limit: 1 << 24}
		}
		if isDelimiter(c.entries[from]) {
			continue
		}
		found := int32(-1)
		id := c.entries[from]
		for ; id != below && id >= 0; id = c.tree.nodes[id].Parent {
			if c.steps--; c.steps < 0 {
				return 0, &LimitError{What: "steps to lay out a schema", Limit: 1 << 24}
			}
			if c.tree.nodes[id].Type == typ {
				found = id
			}
		}
		if id != below || found < 0 {
			return 0, fmt.Errorf("%w: node %d is not inside the array or object that its delimiter says", ErrSchema, c.entries[from])
		}
		return found, nil
	}
	return 0, fmt.Errorf("%w: delimiter without a node", ErrSchema)
}

// findArrays finds the structured arrays of the unordered region and returns their nodes by ascending ID.
func (c *composer) findArrays() ([]int32, error) {
	var roots []int32
	column := c.next
	add := func(id int32, s span) {
		if _, twice := c.arrays[id]; !twice { // of a key that a record has twice, the first value counts
			c.arrays[id] = s
			roots = append(roots, id)
		}
	}
	for i := 0; i < len(c.entries); {
		if !isDelimiter(c.entries[i]) {
			id := c.entries[i]
			if c.tree.nodes[id].Type != StructuredArray {
				return nil, fmt.Errorf("%w: node %d, a %v, is outside of arrays", ErrSchema, id, c.tree.nodes[id].Type)
			}
			add(id, span{i, i, column})
			i++
			continue
		}
		typ, end, err := c.delimited(i, len(c.entries))
		if err != nil {
			return nil, err
		}
		id, err := c.top(-1, i+1, end, typ)
		if err != nil {
			return nil, err
		}
		if typ != StructuredArray {
			return nil, fmt.Errorf("%w: delimiter of an object outside of arrays", ErrSchema)
		}
		add(id, span{i + 1, end, column})
		for _, e := range c.entries[i+1 : end] {
			if !isDelimiter(e) && c.tree.nodes[e].Type.hasColumn() {
				column++
			}
		}
		i = end
	}
	slices.Sort(roots)
	return roots, nil
}

// array writes the array root, whose entries are [from, to).
func (c *composer) array(root int32, from, to int) error {
	if err := c.literal("["); err != nil {
		return err
	}
	for i := from; i < to; {
		if i > from {
			if err := c.literal(","); err != nil {
				return err
			}
		}
		next, err := c.element(root, i, to)
		if err != nil {
			return err
		}
		i = next
	}
	return c.literal("]")
}

// element writes the value at entry i, inside root, and returns the entry behind it.
func (c *composer) element(root int32, i, to int) (int, error) {
	e := c.entries[i]
	if isDelimiter(e) {
		typ, end, err := c.delimited(i, to)
		if err != nil {
			return 0, err
		}
		id, err := c.top(root, i+1, end, typ)
		if err != nil {
			return 0, err
		}
		if typ == StructuredArray {
			return end, c.array(id, i+1, end)
		}
		return end, c.arrayObject(id, i+1, end)
	}
	switch c.tree.nodes[e].Type {
	case Object:
		return i + 1, c.literal("{}")
	case StructuredArray:
		return i + 1, c.literal("[]")
	case Null:
		return i + 1, c.literal("null")
	case Metadata:
		return 0, fmt.Errorf("%w: node %d in an array", ErrSchema, e)
	}
	c.value(c.next)
	c.next++
	return i + 1, nil
}

// arrayObject writes the object root inside an array, whose entries are [from, to).
func (c *composer) arrayObject(root int32, from, to int) error {
	if err := c.literal("{"); err != nil {
		return err
	}
	open := []int32{} // objects inside root, the outermost first
	first := true
	var path []int32
	for i := from; i < to; {
		// The item: a node, or the array or object that a delimiter stands for. Its path are the objects around it.
		item := c.entries[i]
		inside := root
		if isDelimiter(item) {
			typ, end, err := c.delimited(i, to)
			if err != nil {
				return err
			}
			if item, err = c.top(root, i+1, end, typ); err != nil {
				return err
			}
		}
		path = path[:0]
		id := c.tree.nodes[item].Parent
		for ; id != root && id >= 0; id = c.tree.nodes[id].Parent {
			if c.steps--; c.steps < 0 {
				return &LimitError{What: "steps to lay out a schema", Limit: 1 << 24}
			}
			path = append(path, id)
		}
		if id != root {
			return fmt.Errorf("%w: node %d is not inside object %d", ErrSchema, item, root)
		}
		slices.Reverse(path)
		same := 0
		for same < len(open) && same < len(path) && open[same] == path[same] {
			same++
		}
		for ; len(open) > same; open = open[:len(open)-1] {
			if err := c.literal("}"); err != nil {
				return err
			}
			first = false
		}
		for {
			if !first {
				if err := c.literal(","); err != nil {
					return err
				}
			}
			if len(open) == len(path) {
				break
			}
			open = append(open, path[len(open)])
			if err := c.key(open[len(open)-1]); err != nil {
				return err
			}
			if err := c.literal("{"); err != nil {
				return err
			}
			first = true
		}
		if err := c.key(item); err != nil {
			return err
		}
		if n := len(open); n > 0 {
			inside = open[n-1]
		}
		next, err := c.element(inside, i, to)
		if err != nil {
			return err
		}
		first = false
		i = next
	}
	for range open {
		if err := c.literal("}"); err != nil {
			return err
		}
	}
	return c.literal("}")
}
