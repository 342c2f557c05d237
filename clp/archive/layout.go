package archive

import (
	"fmt"
	"slices"
)

// layout is the JSON of the records of one schema: literal text with the values of columns between. All records of a
// schema have the same one, because a schema fixes their members and even the structure of their structured arrays.
type layout struct {
	text []byte
	cuts []cut
	auto *layout // of the keys that the logging library made; nil if there are none
}

// cut is a place in a layout's text where a value stands.
type cut struct {
	at     int32 // text before it
	column int32
}

// composer builds a layout. Members stand in the order of the reference: each ordered entry by ascending ID, with the
// objects around it where they are first needed, then the structured arrays.
type composer struct {
	tree     *tree
	pool     *pool
	project  *projection // what is to be shown, nil for all
	l        *layout
	columns  map[int32]int32   // node → column, of the ordered region
	members  map[int32][]int32 // object → nodes in it
	inserted map[int32]bool    // nodes that are in members
	arrays   map[int32]span    // structured array → its entries
	next     int32             // column of the next value in the unordered region
	entries  []int32           // the unordered region
	steps    int               // left before a schema takes too long
	taken    int64
}

// span is a run of entries of the unordered region.
type span struct {
	from, to int
	column   int32 // of the first value in it
}

// compose builds the layout of the records of s, and says what memory was taken.
func compose(r *Reader, s *schema) (*layout, int64, error) {
	c := newComposer(r, s)
	err := c.compose(r.schemas.ordered(s), r.tree.object)
	if auto := r.tree.auto; err == nil && auto >= 0 && len(c.members[auto]) > 0 {
		err = c.another(func(c *composer) error { return c.object(auto) })
	}
	return c.l, c.taken, err
}

// another has lay make the layout of the keys that the logging library made.
func (c *composer) another(lay func(c *composer) error) error {
	l := c.l
	c.l = &layout{}
	err := lay(c)
	l.auto, c.l = c.l, l
	return err
}

func newComposer(r *Reader, s *schema) *composer {
	return &composer{
		tree: &r.tree, pool: r.pool, project: r.project, l: &layout{}, columns: map[int32]int32{}, members: map[int32][]int32{}, inserted: map[int32]bool{}, arrays: map[int32]span{},
		entries: r.schemas.unordered(s), steps: 1<<24 + 64*int(s.n),
	}
}

func (c *composer) compose(ordered []int32, root int32) error {
	for _, id := range ordered {
		if c.tree.nodes[id].Type.hasColumn() {
			c.columns[id] = c.next
			c.next++
		}
	}
	slices.Sort(ordered)
	for _, id := range ordered {
		if !c.project.keeps(id) {
			continue
		}
		if err := c.insert(id); err != nil {
			return err
		}
	}
	roots, err := c.findArrays()
	if err != nil {
		return err
	}
	for _, id := range roots {
		if !c.project.keeps(id) {
			continue
		}
		if err := c.insert(id); err != nil {
			return err
		}
	}
	if root < 0 {
		return c.literal("{}")
	}
	return c.object(root)
}

// insert hooks a node into the object around it, and that where it is not yet known.
func (c *composer) insert(id int32) error {
	for {
		if c.steps--; c.steps < 0 {
			return &LimitError{What: "steps to lay out a schema", Limit: 1 << 24}
		}
		parent := c.tree.nodes[id].Parent
		if parent < 0 || c.inserted[id] {
			return nil
		}
		c.inserted[id] = true
		c.members[parent] = append(c.members[parent], id)
		id = parent
	}
}

func (c *composer) literal(s string) error {
	if len(c.l.text)+len(s) > 1<<30 {
		return &LimitError{What: "bytes of keys in a record", Limit: 1 << 30}
	}
	c.taken += int64(len(s))
	if err := c.pool.take(int64(len(s))); err != nil {
		return err
	}
	c.l.text = append(c.l.text, s...)
	return nil
}

func (c *composer) value(column int32) {
	const size = 8
	c.taken += size
	c.pool.held.Add(size) // the next literal looks at the limit
	c.l.cuts = append(c.l.cuts, cut{int32(len(c.l.text)), column})
}

func (c *composer) key(id int32) error {
	key := appendEscaped([]byte{'"'}, []byte(c.tree.nodes[id].Key))
	return c.literal(string(append(key, '"', ':')))
}

// object writes an object outside of structured arrays.
func (c *composer) object(id int32) error {
	if err := c.literal("{"); err != nil {
		return err
	}
	for i, m := range c.members[id] {
		if i > 0 {
			if err := c.literal(","); err != nil {
				return err
			}
		}
		if err := c.key(m); err != nil {
			return err
		}
		if err := c.member(m); err != nil {
			return err
		}
	}
	return c.literal("}")
}

func (c *composer) member(id int32) error {
	switch typ := c.tree.nodes[id].Type; typ {
	case Object:
		return c.object(id)
	case Null:
		return c.literal("null")
	case StructuredArray:
		s, ok := c.arrays[id]
		if !ok {
			return fmt.Errorf("%w: node %d is an array without entries", ErrSchema, id)
		}
		c.next = s.column
		return c.array(id, s.from, s.to)
	case Metadata:
		return fmt.Errorf("%w: node %d in a record", ErrSchema, id)
	default:
		c.value(c.columns[id])
		return nil
	}
}
