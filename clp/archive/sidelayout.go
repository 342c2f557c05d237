package archive

import "fmt"

// composeShape builds the layout of the records of s whose members stand in the order of tokens; see [side]. Without tokens, it is the
// order that the format gives. It is an error if
// they are not the members of the schema, or some of them if there is a projection: each value once, each null and each empty object as often as one likes.
func composeShape(r *Reader, s *schema, tokens []uint32) (*layout, int64, error) {
	if len(tokens) == 0 {
		return compose(r, s)
	}
	c := newComposer(r, s)
	user, auto, err := r.tree.namespaces(tokens)
	if err != nil {
		return nil, 0, err
	}
	ordered := r.schemas.ordered(s)
	for _, id := range ordered {
		if c.tree.nodes[id].Type.hasColumn() {
			c.columns[id] = c.next
			c.next++
		}
	}
	roots, err := c.findArrays()
	if err != nil {
		return nil, c.taken, err
	}
	left := [2]map[int32]bool{{}, {}} // nodes that are to come, of the user and of the logging library
	for _, id := range append(ordered, roots...) {
		if id != c.tree.order {
			k := 0
			if c.tree.autos[id] {
				k = 1
			}
			left[k][id] = true
		}
	}
	err = c.shape(left[0], r.tree.object, c.project.tokens(c.tree, user))
	if err == nil && len(left[1])+len(auto) > 0 {
		err = c.another(func(c *composer) error { return c.shape(left[1], r.tree.auto, c.project.tokens(c.tree, auto)) })
	}
	return c.l, c.taken, err
}

// namespaces splits the tokens of a shape: those of the records, and behind them those of what the logging library made.
func (t *tree) namespaces(tokens []uint32) (user, auto []uint32, err error) {
	for i, token := range tokens {
		id := int32(token >> 1)
		if id < 0 || int(id) >= len(t.nodes) {
			return nil, nil, fmt.Errorf("%w: node %d in a shape", ErrSide, id)
		}
		if t.autos[id] {
			return tokens[:i], tokens[i:], nil
		}
	}
	return tokens, nil, nil
}

// shape writes the object root with the members left, as tokens have them.
func (c *composer) shape(left map[int32]bool, root int32, tokens []uint32) error {
	known := len(left)
	seen := make(map[int32]bool, known)
	if len(tokens) == 1 && int32(tokens[0]>>1) == root && left[root] && known == 1 {
		return c.literal("{}")
	}
	wrong := func(id int32) error { return fmt.Errorf("%w: node %d in a shape", ErrSide, id) }
	open := []int32{root}
	first := true
	if err := c.literal("{"); err != nil {
		return err
	}
	for _, token := range tokens {
		id := int32(token >> 1)
		if id < 0 || int(id) >= len(c.tree.nodes) || id == root {
			return wrong(id)
		}
		for open[len(open)-1] != c.tree.nodes[id].Parent {
			if open = open[:len(open)-1]; len(open) == 0 {
				return wrong(id)
			}
			if err := c.literal("}"); err != nil {
				return err
			}
			first = false
		}
		if !first {
			if err := c.literal(","); err != nil {
				return err
			}
		}
		if err := c.key(id); err != nil {
			return err
		}
		typ := c.tree.nodes[id].Type
		if token&tokenBegin != 0 {
			if typ != Object {
				return wrong(id)
			}
			open, first = append(open, id), true
			if err := c.literal("{"); err != nil {
				return err
			}
			continue
		}
		first = false
		if !left[id] || seen[id] && (typ.hasColumn() || typ == StructuredArray) {
			return wrong(id)
		}
		seen[id] = true
		var err error
		if typ == Object {
			err = c.literal("{}")
		} else {
			err = c.member(id)
		}
		if err != nil {
			return err
		}
	}
	if len(seen) != known && c.project == nil {
		return fmt.Errorf("%w: %d members of %d in a shape", ErrSide, len(seen), known)
	}
	for range open {
		if err := c.literal("}"); err != nil {
			return err
		}
	}
	return nil
}
