package ir

import "encoding/binary"

// VisitPacked walks one tree of an event that Builder.AppendTo packed, in the order in which it was built; a name that
// was added twice comes twice. The error is ErrBuilder if packed is no such event, or the visitor's.
func VisitPacked(packed []byte, n Namespace, v Visitor) error {
	if len(packed) < 4 {
		return ErrBuilder
	}
	size := uint64(binary.LittleEndian.Uint32(packed))
	if size > uint64(len(packed)-4) {
		return ErrBuilder
	}
	steps := packed[4 : 4+size]
	c := cursor{b: packed, pos: int(4 + size)}
	at := Auto
	depth := 0
	for i := 0; i < len(steps); {
		op := steps[i]
		i++
		if op == opUser {
			at = User
			continue
		}
		var err error
		if op == opClose {
			if depth--; depth < 0 {
				return ErrBuilder
			}
			if at == n {
				err = v.Close()
			}
			if err != nil {
				return err
			}
			continue
		}
		length, head := binary.Uvarint(steps[i:])
		if head <= 0 || length > uint64(len(steps)-i-head) {
			return ErrBuilder
		}
		name := steps[i+head : i+head+int(length)]
		i += head + int(length)
		if op == opOpen {
			depth++
			if at == n {
				err = v.Open(name)
			}
		} else {
			var value Value
			if !c.packedValue(&value) {
				return ErrBuilder
			}
			if at == n {
				err = v.Value(name, &value)
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// packedValue reads a value that a builder made.
func (c *cursor) packedValue(v *Value) bool {
	tag, err := c.tag()
	if err != nil {
		return false
	}
	if tag-tagArray8 <= 2 {
		*v = Value{kind: Array}
		v.text.logtype, err = c.sized(tagArray8, false)
		return err == nil
	}
	var p pair
	if c.value(&p) != nil {
		return false
	}
	p.load(c.b, v)
	return true
}
