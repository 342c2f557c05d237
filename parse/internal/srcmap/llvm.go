package srcmap

import "bytes"

// diNode is a debug metadata node: of !DILocation, !DISubprogram, !DILexicalBlock and !DIFile the fields that lead from
// an instruction to its source line.
type diNode struct {
	kind      uint8 // 0: none of these
	line, col int32
	scope     int32 // numbers of other nodes, -1 for none
	inlinedAt int32
	file      int32
	name, dir []byte
	fileID    int32
	fileKnown bool
}

const (
	diOther uint8 = iota
	diLocation
	diScope
	diFile
)

// addLLVM maps the lines of LLVM IR that carry "!dbg !N". File and line are the innermost function's; the place of the
// outermost call that was inlined stands beside them.
func (b *Builder) addLLVM(s *Stage, text []byte) {
	nodes := map[int32]*diNode{}
	lines(text, func(_ int32, line []byte) {
		if len(line) > 1 && line[0] == '!' {
			if id, n := readDI(line); n != nil {
				nodes[id] = n
			}
		}
	})
	if len(nodes) == 0 {
		return
	}
	lines(text, func(at int32, line []byte) {
		i := bytes.LastIndex(line, []byte("!dbg !"))
		if i < 0 {
			return
		}
		id, _, ok := number(line, i+6)
		n := nodes[id]
		if !ok || n == nil || n.kind != diLocation {
			return
		}
		f, ok := b.scopeFile(nodes, n.scope)
		if !ok {
			return
		}
		e := Entry{At: at, place: place{f, n.line, n.col}, root: place{file: -1}}
		for range 64 {
			up := nodes[n.inlinedAt]
			if n.inlinedAt < 0 || up == nil || up.kind != diLocation {
				break
			}
			n = up
			if f, ok := b.scopeFile(nodes, n.scope); ok {
				e.root, e.inlined = place{f, n.line, n.col}, true
			}
		}
		s.add(e)
	})
}

func (b *Builder) scopeFile(nodes map[int32]*diNode, scope int32) (int32, bool) {
	for range 64 {
		n := nodes[scope]
		if n == nil || n.kind != diScope {
			return 0, false
		}
		if f := nodes[n.file]; n.file >= 0 && f != nil && f.kind == diFile {
			if !f.fileKnown {
				name := f.name
				if len(f.dir) > 0 && len(name) > 0 && name[0] != '/' {
					name = append(append(append([]byte(nil), f.dir...), '/'), name...)
				}
				f.fileID, f.fileKnown = b.fileID(name), true
			}
			return f.fileID, true
		}
		scope = n.scope
	}
	return 0, false
}

// readDI reads `!12 = distinct !DILocation(line: 5, column: 8, scope: !5, inlinedAt: !9)`.
func readDI(line []byte) (int32, *diNode) {
	id, i, ok := number(line, 1)
	if !ok || !bytes.HasPrefix(line[i:], []byte(" = ")) {
		return 0, nil
	}
	s := bytes.TrimPrefix(line[i+3:], []byte("distinct "))
	open := bytes.IndexByte(s, '(')
	if open < 0 {
		return 0, nil
	}
	n := &diNode{scope: -1, inlinedAt: -1, file: -1}
	switch string(s[:open]) {
	case "!DILocation":
		n.kind = diLocation
	case "!DISubprogram", "!DILexicalBlock", "!DILexicalBlockFile", "!DINamespace", "!DICompositeType":
		n.kind = diScope
	case "!DIFile":
		n.kind = diFile
	default:
		return 0, nil
	}
	fields(s[open+1:], func(key, value []byte) {
		ref := func() int32 {
			if len(value) > 1 && value[0] == '!' {
				if r, _, ok := number(value, 1); ok {
					return r
				}
			}
			return -1
		}
		switch string(key) {
		case "line":
			n.line, _, _ = number(value, 0)
		case "column":
			n.col, _, _ = number(value, 0)
		case "scope":
			n.scope = ref()
		case "inlinedAt":
			n.inlinedAt = ref()
		case "file":
			n.file = ref()
		case "filename":
			n.name = unquote(value)
		case "directory":
			n.dir = unquote(value)
		}
	})
	return id, n
}

// fields calls f for each "key: value" of a comma-separated list. Strings may hold anything.
func fields(s []byte, f func(key, value []byte)) {
	for len(s) > 0 {
		colon := bytes.IndexByte(s, ':')
		if colon < 0 {
			return
		}
		key := bytes.TrimSpace(s[:colon])
		s = bytes.TrimLeft(s[colon+1:], " ")
		end := 0
		if len(s) > 0 && s[0] == '"' {
			q := bytes.IndexByte(s[1:], '"')
			if q < 0 {
				return
			}
			end = q + 2
		} else {
			for end < len(s) && s[end] != ',' && s[end] != ')' {
				end++
			}
		}
		f(key, s[:end])
		comma := bytes.IndexByte(s[end:], ',')
		if comma < 0 {
			return
		}
		s = s[end+comma+1:]
	}
}

// unquote decodes an LLVM string: \XX is a byte in hex.
func unquote(v []byte) []byte {
	v = bytes.TrimSuffix(bytes.TrimPrefix(v, []byte{'"'}), []byte{'"'})
	if bytes.IndexByte(v, '\\') < 0 {
		return v
	}
	hex := func(c byte) (byte, bool) {
		switch {
		case c >= '0' && c <= '9':
			return c - '0', true
		case c >= 'a' && c <= 'f':
			return c - 'a' + 10, true
		case c >= 'A' && c <= 'F':
			return c - 'A' + 10, true
		}
		return 0, false
	}
	var out []byte
	for i := 0; i < len(v); i++ {
		if v[i] == '\\' && i+2 < len(v) {
			hi, ok1 := hex(v[i+1])
			lo, ok2 := hex(v[i+2])
			if ok1 && ok2 {
				out = append(out, hi<<4|lo)
				i += 2
				continue
			}
		}
		out = append(out, v[i])
	}
	return out
}
