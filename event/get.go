package event

import "log/slog"

// Get returns the value at path: the keys of the groups around it, the outermost first, and its own key. If a key is
// there more than once, its first occurrence counts. Of a line only the text before the value and the value itself are
// looked at, and the result does not refer to the line. The value is what Attrs would return.
func (e Event) Get(path ...string) (slog.Value, bool) {
	if len(path) == 0 {
		return slog.Value{}, false
	}
	e = e.told()
	if e.line == nil {
		return getAttr(e.attrs, path)
	}
	c, ok := e.members()
	for ok {
		var key []byte
		if key, ok = c.next(); !ok {
			break
		}
		if string(decodedKey(key)) != path[0] {
			ok = c.skip()
			continue
		}
		if path = path[1:]; len(path) > 0 {
			ok = c.enter(c.i)
			continue
		}
		text, ok := c.value()
		if !ok {
			break
		}
		return decodeValue(text), true
	}
	return slog.Value{}, false
}

func getAttr(attrs []slog.Attr, path []string) (slog.Value, bool) {
	for _, a := range attrs {
		if a.Key != path[0] {
			continue
		}
		v := Resolve(a.Value)
		if len(path) == 1 {
			return v, true
		}
		if v.Kind() == slog.KindGroup {
			return getAttr(v.Group(), path[1:])
		}
		if v.Kind() != slog.KindAny {
			return slog.Value{}, false
		}
		if e, ok := v.Any().(Event); ok {
			return e.Get(path[1:]...)
		}
		// A map, a struct: what its JSON says.
		b := GetBuffer()
		defer b.Free()
		w := writer{b: b, literal: true, limit: MaxDepth, depth: 1}
		b.B = w.appendAny(b.B, v.Any(), true)
		return Lazy(b.B).Get(path[1:]...)
	}
	return slog.Value{}, false
}
