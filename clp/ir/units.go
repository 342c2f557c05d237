package ir

func (r *Reader) textEvent(c *cursor) error {
	e := &r.event
	e.reset(r, c.pos)
	var err error
	if e.message, err = c.text(r.width.encoding()); err != nil {
		return err
	}
	tag, err := c.tag()
	if err != nil {
		return err
	}
	switch {
	case r.width == EightByte && tag == tagTime:
		e.time, err = c.integer(8)
	case r.width == FourByte && tag-tagDelta8 <= tagDelta64-tagDelta8:
		var delta int64
		delta, err = c.integer(1 << (tag - tagDelta8))
		e.time = r.last + delta
	default:
		return c.bad(ErrTag, "0x%02X where a timestamp is due", tag)
	}
	if err == nil {
		r.last = e.time
	}
	return err
}

// node reads the insertion of a key.
func (r *Reader) node(c *cursor) error {
	from := c.pos
	typ := nodeType(c.b[c.pos])
	if typ < nodeInt || typ > nodeObject {
		if typ&0x70 == 0x70 {
			return c.bad(ErrNodeType, "0x%02X", byte(typ))
		}
		return c.bad(ErrTag, "0x%02X where a unit is due", byte(typ))
	}
	c.pos++
	tag, err := c.tag()
	if err != nil {
		return err
	}
	if tag-tagParent8 > tagParent32-tagParent8 {
		return c.bad(ErrTag, "0x%02X where the ID of a parent is due", tag)
	}
	id, err := c.integer(1 << (tag - tagParent8))
	if err != nil {
		return err
	}
	t, parent := r.tree(id)
	at := c.pos
	if tag, err := c.tag(); err == nil && tag-tagString8 > tagString32-tagString8 {
		return c.bad(ErrTag, "0x%02X where a name is due", tag)
	}
	key, err := c.sized(tagString8, false)
	if err != nil {
		return err
	}
	end := c.pos
	c.pos = from
	switch {
	case parent >= t.count || t.node(parent).typ != nodeObject:
		return c.bad(ErrParent, "ID %d", id)
	case t.lookup(parent, key, typ) != 0:
		return c.bad(ErrNodeExists, "%q", key)
	case r.Keys() >= r.limits.Keys:
		return &LimitError{What: "keys", Limit: int64(r.limits.Keys), Offset: r.Offset()}
	case int(t.node(parent).depth) >= r.limits.Depth:
		return &LimitError{What: "levels of nesting", Limit: int64(r.limits.Depth), Offset: r.base + int64(at)}
	}
	t.insert(parent, key, typ)
	c.pos = end
	return nil
}

// tree returns where an ID, as a stream has it, belongs.
func (r *Reader) tree(id int64) (*tree, int32) {
	if id < 0 {
		return r.auto, int32(^id)
	}
	return r.user, int32(id)
}

func (r *Reader) kvEvent(c *cursor) error {
	start := c.pos
	if r.quick(c) {
		return nil
	}
	c.pos = start
	if err := r.slowEvent(c); err != nil {
		return err
	}
	r.event.shape = r.learn()
	return nil
}

// slowEvent reads an event and checks all that an event must not be.
func (r *Reader) slowEvent(c *cursor) error {
	e := &r.event
	e.reset(r, c.pos)
	r.auto.begin()
	r.user.begin()
	users := false
	for {
		tag, err := c.tag()
		if err != nil {
			return err
		}
		if tag-tagID8 > tagID32-tagID8 {
			break
		}
		at := c.pos
		id, err := c.integer(1 << (tag - tagID8))
		if err != nil {
			return err
		}
		t, node := r.tree(id)
		fail := func(err error) error {
			c.pos = at
			return c.bad(err, "ID %d", id)
		}
		if node == 0 || node >= t.count {
			return fail(ErrID)
		}
		n := int32(len(e.pairs))
		e.add(node)
		if id >= 0 {
			users = true
			if err := t.touch(node, n); err != nil {
				return fail(err)
			}
			continue
		}
		if users {
			return fail(ErrKeyOrder)
		}
		if err := r.pairValue(c, t, &e.pairs[n]); err != nil {
			return err
		}
		// An auto-generated key may come twice; the first value counts.
		if err := t.touch(node, n); err == ErrIDTwice {
			e.pairs = e.pairs[:n]
		} else if err != nil {
			return fail(err)
		}
		e.autos = len(e.pairs)
	}
	if !users {
		if tag := c.b[c.pos]; tag != tagEmpty {
			return c.bad(ErrTag, "0x%02X where an ID or 0x5E is due", tag)
		}
		c.pos++
		return nil
	}
	for n := e.autos; n < len(e.pairs); n++ {
		if err := r.pairValue(c, r.user, &e.pairs[n]); err != nil {
			return err
		}
	}
	return nil
}

// pairValue reads the value of p.
func (r *Reader) pairValue(c *cursor, t *tree, p *pair) error {
	at := c.pos
	if err := c.value(p); err != nil {
		return err
	}
	typ := t.node(p.node).typ
	if !p.suits(typ) {
		c.pos = at
		return c.bad(ErrValueType, "%v for key %q", p.kind, t.key(t.node(p.node)))
	}
	if typ == nodeArray {
		p.kind = Array
	}
	return nil
}
