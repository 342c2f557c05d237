package srcmap

import (
	"bytes"
	"fmt"
)

// mlirReader holds the locations that one MLIR text defines.
type mlirReader struct {
	defs    map[string]*location
	aliases []*location
	calls   []*location
}

type location struct {
	id     string
	line   int32 // where an alias or a call site is defined
	known  bool
	place  place
	isCall bool

	callee, caller string
	name, target   string
	alias          bool
	resolving      bool
}

func (b *Builder) addMLIR(s *Stage, text []byte) {
	m := &b.mlir
	if m.defs == nil {
		m.defs = map[string]*location{}
	}
	clear(m.defs)
	m.aliases, m.calls = m.aliases[:0], m.calls[:0]
	lines(text, func(n int32, line []byte) { b.mlirDefinitions(n, line) })
	byID := map[string]*location{}
	for _, a := range m.aliases {
		byID[a.id] = a
	}
	for _, a := range m.aliases {
		if byID[a.id] == a {
			m.resolve(a, byID)
		}
	}
	for _, c := range m.calls {
		if _, taken := m.defs[c.id]; taken {
			continue
		}
		callee := m.defs[c.callee]
		if callee == nil {
			b.Warnings = append(b.Warnings, fmt.Sprintf("%s: call site #loc%s of #loc%s, which is not defined", s.Name, c.id, c.callee))
			continue
		}
		c.place, c.known = callee.place, true
		m.defs[c.id] = c
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
	for _, list := range [...][]*location{m.aliases, m.calls} {
		for _, l := range list {
			if d := m.defs[l.id]; d == l && l.known && s.At(int(l.line)) == nil {
				e := Entry{At: l.line, place: l.place, root: place{file: -1}, definition: true}
				m.describe(&e, l)
				s.add(e)
			}
		}
	}
}

func (m *mlirReader) describe(e *Entry, l *location) {
	if l.isCall {
		e.callsite, e.callee, e.caller = true, l.callee, l.caller
		// The outermost caller is where the user's code stands.
		for range 64 {
			c := m.defs[l.caller]
			if c == nil {
				break
			}
			e.root = c.place
			if !c.isCall {
				break
			}
			l = c
		}
		return
	}
	if l.alias {
		e.alias, e.id = l.name, l.id
	}
}

// resolve gives an alias the place of its target. An id that has a place already keeps it.
func (m *mlirReader) resolve(a *location, byID map[string]*location) *location {
	if d := m.defs[a.id]; d != nil {
		return d
	}
	if a.resolving {
		return nil
	}
	// Chains are followed step by step, not by recursion: a text can hold a chain of any length.
	var chain []*location
	var target *location
	for l := a; ; {
		l.resolving = true
		chain = append(chain, l)
		if target = m.defs[l.target]; target != nil {
			break
		}
		next := byID[l.target]
		if next == nil || next.resolving {
			break
		}
		l = next
	}
	for _, l := range chain {
		if target != nil {
			l.place, l.known = target.place, true
			m.defs[l.id] = l
		}
	}
	return target
}

// mlirDefinitions notes what a line defines: "#loc3 = loc(…)".
func (b *Builder) mlirDefinitions(n int32, line []byte) {
	for {
		i := bytes.Index(line, []byte("#loc"))
		if i < 0 {
			return
		}
		line = line[i+4:]
		end := 0
		for end < len(line) && line[end] >= '0' && line[end] <= '9' {
			end++
		}
		j := skipSpace(line, end)
		if j >= len(line) || line[j] != '=' {
			continue
		}
		spaced := j == end+1 && line[end] == ' '
		id := line[:end]
		k := skipSpace(line, j+1)
		spaced = spaced && k == j+2 && line[j+1] == ' '
		if !bytes.HasPrefix(line[k:], []byte("loc(")) {
			continue
		}
		b.mlirDefinition(n, id, line[k+4:], spaced)
	}
}

// mlirDefinition reads what stands behind "loc(" of a definition.
func (b *Builder) mlirDefinition(n int32, id, s []byte, spaced bool) {
	m := &b.mlir
	if len(s) > 0 && s[0] == '"' {
		q := bytes.IndexByte(s[1:], '"')
		if q <= 0 {
			return
		}
		name, rest := s[1:q+1], s[q+2:]
		if spaced {
			if p, ok := b.position(name, rest); ok {
				if len(id) > 0 || m.defs[""] == nil {
					m.defs[string(id)] = &location{id: string(id), known: true, place: p}
				}
				return
			}
		}
		i := skipSpace(rest, 0)
		if len(id) == 0 || i >= len(rest) || rest[i] != '(' {
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
		m.aliases = append(m.aliases, &location{id: string(id), line: n, alias: true, name: string(name), target: string(target)})
		return
	}
	if len(id) == 0 {
		return
	}
	i := skipSpace(s, 0)
	if target, j, ok := locRef(s, i); ok {
		if j = skipSpace(s, j); j < len(s) && s[j] == ')' {
			m.aliases = append(m.aliases, &location{id: string(id), line: n, alias: true, target: string(target)})
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
	m.calls = append(m.calls, &location{id: string(id), line: n, isCall: true, callee: string(callee), caller: string(caller)})
}

// locRef reads "#loc12" at i.
func locRef(s []byte, i int) (id []byte, end int, ok bool) {
	if !bytes.HasPrefix(s[min(i, len(s)):], []byte("#loc")) {
		return nil, i, false
	}
	from := i + 4
	_, end, _ = number(s, from)
	return s[from:end], end, true
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
			l := b.mlir.defs[string(t[d:len(t)-1])]
			if d == len(t)-1 {
				l = b.mlir.defs["0"]
			}
			if l == nil {
				return nil, place{}, false
			}
			return l, l.place, true
		}
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
