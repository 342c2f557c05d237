package parse

import "github.com/tracehandler/tracehandler/parse/internal/js"

// A record written through log/slog has the built-in keys time, level and msg before its own, and perhaps source. They
// belong to the act of logging: left in, they would make every launch a different one.

// fromSlog reports whether a record begins with the built-in keys.
func fromSlog(root js.Value) bool {
	n := 0
	for m := range root.Each() {
		key, _ := m.KeyPlain()
		switch string(key) {
		case "time", "level", "source", "msg":
			n++
		default:
			return n >= 2
		}
	}
	return false
}

// appendWithoutBuiltins appends the record without the built-in keys. Its time becomes the timestamp, if it has none.
func appendWithoutBuiltins(dst []byte, root js.Value) []byte {
	dst = append(dst, '{')
	i := 0
	member := func(key, value []byte) {
		if i++; i > 1 {
			dst = append(dst, ',')
		}
		dst = append(append(append(dst, key...), ':'), value...)
	}
	leading := true
	for m := range root.Each() {
		if leading {
			switch key, _ := m.KeyPlain(); string(key) {
			case "time", "level", "source", "msg":
				continue
			}
			leading = false
		}
		member(m.RawKey(), m.Raw())
	}
	if t := root.Get("time"); t.Exists() && !root.Get("timestamp").Exists() {
		member([]byte(`"timestamp"`), t.Raw())
	}
	return append(dst, '}')
}
