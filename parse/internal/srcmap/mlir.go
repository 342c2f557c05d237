package srcmap

import (
	"bytes"
	"strconv"
)

// mlirReader holds the locations that one MLIR text defines. Ids are numbers; bareID is that of "#loc" without one.
type mlirReader struct {
	defs    []int32 // 1 + index into locs, by id + 1
	locs    []location
	aliases []int32 // indexes into locs, in the order of the text
	calls   []int32
	byID    map[int32]int32
}

const (
	bareID = -1
	maxID  = 1 << 20 // larger ids are not followed
)

type location struct {
	id    int32
	line  int32 // where an alias or a call site is defined
	place place

	call           bool
	callee, caller int32

	alias     bool
	name      string
	target    int32
	resolving bool
}

func appendID(dst []byte, id int32) []byte {
	if id == bareID {
		return dst
	}
	return strconv.AppendInt(dst, int64(id), 10)
}

func (m *mlirReader) def(id int32) *location {
	if id+1 < int32(len(m.defs)) {
		if i := m.defs[id+1]; i > 0 {
			return &m.locs[i-1]
		}
	}
	return nil
}

func (m *mlirReader) define(id, index int32) {
	for id+1 >= int32(len(m.defs)) {
		m.defs = append(m.defs, 0)
	}
	m.defs[id+1] = index + 1
}

func (m *mlirReader) add(l location) int32 {
	m.locs = append(m.locs, l)
	return int32(len(m.locs) - 1)
}

func (b *Builder) addMLIR(s *Stage, text []byte) {
	m := &b.mlir
	m.defs, m.locs, m.aliases, m.calls = m.defs[:0], m.locs[:0], m.aliases[:0], m.calls[:0]
	lines(text, func(n int32, line []byte) { b.mlirDefinitions(n, line) })
	if m.byID == nil {
		m.byID = map[int32]int32{}
	}
	clear(m.byID)
	for _, i := range m.aliases {
		m.byID[m.locs[i].id] = i
	}
	for _, i := range m.aliases {
		if m.byID[m.locs[i].id] == i {
			m.resolve(i)
		}
	}
	for _, i := range m.calls {
		c := &m.locs[i]
		if m.def(c.id) != nil {
			continue
		}
		callee := m.def(c.callee)
		if callee == nil {
			b.warn(s.Name + ": a call site of a location that is not defined")
			continue
		}
		c.place = callee.place
		m.define(c.id, i)
	}

	lines(text, func(n int32, line []byte) {
		if loc, p, ok := b.mlirReference(line); ok {
			e := Entry{At: n, place: p, root: place{file: -1}}
			if loc != nil {
				m.describe(&e, loc)
			}
			s.add(e)
		}
	})
	for _, list := range [...][]int32{m.aliases, m.calls} {
		for _, i := range list {
			if l := &m.locs[i]; m.def(l.id) == l && s.At(int(l.line)) == nil {
				e := Entry{At: l.line, place: l.place, root: place{file: -1}, definition: true}
				m.describe(&e, l)
				s.add(e)
			}
		}
	}
}

func (m *mlirReader) describe(e *Entry, l *location) {
	if l.alias {
		e.aliased, e.a, e.name = true, l.id, l.name
		return
	}
	if !l.call {
		return
	}
	e.call, e.a, e.b = true, l.callee, l.caller
	// The outermost caller is where the user's code stands.
	for range 64 {
		c := m.def(l.caller)
		if c == nil {
			break
		}
		e.root = c.place
		if !c.call {
			break
		}
		l = c
	}
}

// resolve gives an alias the place of its target. An id that has a place already keeps it. Chains are followed step by
// step, not by recursion: a text can hold a chain of any length.
func (m *mlirReader) resolve(first int32) {
	if m.def(m.locs[first].id) != nil {
		return
	}
	var target *location
	end := first
	for i := first; ; {
		l := &m.locs[i]
		l.resolving, end = true, i
		if target = m.def(l.target); target != nil {
			break
		}
		next, ok := m.byID[l.target]
		if !ok || m.locs[next].resolving {
			break
		}
		i = next
	}
	if target == nil {
		return
	}
	p := target.place
	for i := first; ; i = m.byID[m.locs[i].target] {
		l := &m.locs[i]
		l.place = p
		m.define(l.id, i)
		if i == end {
			return
		}
	}
}

// mlirDefinitions notes what a line defines: "#loc3 = loc(…)".
func (b *Builder) mlirDefinitions(n int32, line []byte) {
	if i := skipSpace(line, 0); i >= len(line) || line[i] != '#' {
		return
	}
	for {
		i := bytes.Index(line, []byte("#loc"))
		if i < 0 {
			return
		}
		line = line[i+4:]
		id, end := readID(line, 0)
		j := skipSpace(line, end)
		if j >= len(line) || line[j] != '=' {
			continue
		}
		spaced := j == end+1 && line[end] == ' '
		k := skipSpace(line, j+1)
		spaced = spaced && k == j+2 && line[j+1] == ' '
		if !bytes.HasPrefix(line[k:], []byte("loc(")) {
			continue
		}
		if id < maxID {
			b.mlirDefinition(n, id, line[k+4:], spaced)
		}
	}
}

// mlirDefinition reads what stands behind "loc(" of a definition.
func (b *Builder) mlirDefinition(n, id int32, s []byte, spaced bool) {
	m := &b.mlir
	if len(s) > 0 && s[0] == '"' {
		q := bytes.IndexByte(s[1:], '"')
		if q <= 0 {
			return
		}
		name, rest := s[1:q+1], s[q+2:]
		if spaced {
			if p, ok := b.position(name, rest); ok {
				if id != bareID || m.def(bareID) == nil {
					m.define(id, m.add(location{id: id, place: p}))
				}
				return
			}
		}
		i := skipSpace(rest, 0)
		if id == bareID || i >= len(rest) || rest[i] != '(' {
			return
		}
		target, i, ok := locRef(rest, skipSpace(rest, i+1))
		if !ok {
			return
		}
		if i = skipSpace(rest, i); i >= len(rest) || rest[i] != ')' {
			return
		}
		if i = skipSpace(rest, i+1); i >= len(rest) || rest[i] != ')' {
			return
		}
		m.aliases = append(m.aliases, m.add(location{id: id, line: n, alias: true, name: string(name), target: target}))
		return
	}
	if id == bareID {
		return
	}
	i := skipSpace(s, 0)
	if target, j, ok := locRef(s, i); ok {
		if j = skipSpace(s, j); j < len(s) && s[j] == ')' {
			m.aliases = append(m.aliases, m.add(location{id: id, line: n, alias: true, target: target}))
		}
		return
	}
	if !bytes.HasPrefix(s[i:], []byte("callsite(")) {
		return
	}
	callee, j, ok := locRef(s, skipSpace(s, i+len("callsite(")))
	if !ok {
		return
	}
	k := skipSpace(s, j)
	if k == j || !bytes.HasPrefix(s[k:], []byte("at")) {
		return
	}
	j = skipSpace(s, k+2)
	if j == k+2 {
		return
	}
	caller, j, ok := locRef(s, j)
	if !ok {
		return
	}
	if j = skipSpace(s, j); j >= len(s) || s[j] != ')' {
		return
	}
	if j = skipSpace(s, j+1); j >= len(s) || s[j] != ')' {
		return
	}
	m.calls = append(m.calls, m.add(location{id: id, line: n, call: true, callee: callee, caller: caller}))
}

// readID reads the digits behind "#loc".
func readID(s []byte, i int) (id int32, end int) {
	id, end, ok := number(s, i)
	if !ok {
		return bareID, end
	}
	return min(id, maxID), end
}

// locRef reads "#loc12" at i.
func locRef(s []byte, i int) (id int32, end int, ok bool) {
	if !bytes.HasPrefix(s[min(i, len(s)):], []byte("#loc")) {
		return 0, i, false
	}
	id, end = readID(s, i+4)
	return id, end, true
}

// position reads `:LINE:COLUMN)` behind a quoted file name.
func (b *Builder) position(name, s []byte) (place, bool) {
	if len(s) == 0 || s[0] != ':' {
		return place{}, false
	}
	l, i, ok := number(s, 1)
	if !ok || i >= len(s) || s[i] != ':' {
		return place{}, false
	}
	c, i, ok := number(s, i+1)
	if !ok || i >= len(s) || s[i] != ')' {
		return place{}, false
	}
	return place{b.fileID(name), l, c}, true
}

// mlirReference returns the location at the end of a line, or else the last one written out on it.
func (b *Builder) mlirReference(line []byte) (*location, place, bool) {
	const ref = "loc(#loc"
	t := trimRight(line)
	if len(t) > 0 && t[len(t)-1] == ')' {
		d := len(t) - 1
		for d > 0 && t[d-1] >= '0' && t[d-1] <= '9' {
			d--
		}
		if d >= len(ref) && string(t[d-len(ref):d]) == ref {
			// The bare #loc is looked up as number 0 by the reference, which nothing defines: such lines (function
			// ends, mostly) stay unmapped.
			id, _ := readID(t, d)
			l := b.mlir.def(max(id, 0))
			if l == nil {
				return nil, place{}, false
			}
			return l, l.place, true
		}
	}
	if !bytes.Contains(line, []byte(`loc("`)) { // the search from the end is slow
		return nil, place{}, false
	}
	for rest := line; ; {
		i := bytes.LastIndex(rest, []byte(`loc("`))
		if i < 0 {
			return nil, place{}, false
		}
		s := line[i+5:]
		if q := bytes.IndexByte(s, '"'); q > 0 {
			if p, ok := b.position(s[:q], s[q+1:]); ok {
				return nil, p, true
			}
		}
		rest = rest[:i]
	}
}
