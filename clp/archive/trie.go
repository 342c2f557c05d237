package archive

import (
	"encoding/binary"
	"strings"
	"unicode/utf8"

	"github.com/tracehandler/tracehandler/event"
	"github.com/tracehandler/tracehandler/internal/jsontext"
)

// state is a place in the records that were seen so far: after the same members of the same types, in the same order. From
// there, a key and the type of its value lead to the next state, and the state after the last member knows the table. Most
// records go a known way, so that of their keys nothing but the bytes are compared. The states are a cache: they are
// forgotten when they are too many.
type state struct {
	from  *state // the way back
	token uint32 // see side; noToken behind the end of an object, and in front of the other namespace
	slots []*slot
	keys  map[string]*slot // by their text, if there are many
	end   *state           // behind the end of the object that is open, or the record if it has no members
	auto  *state           // where the keys of the other namespace begin
	shape *shape           // of the records that end here, nil if that was not asked yet
}

// slot is a key that followed on a state.
type slot struct {
	text string // with its quotes, as it is in the line, and the colon
	name string
	to   *state             // behind a value of kind, the first that was seen; nil for none
	more *[slotKinds]*state // behind values of other kinds
	path []string           // what is left of the time's path, if the value is an object that may have it
	kind uint8              // a type of node, or slotBegin
	time bool               // the value is the time of the record
}

// next returns the state behind a value of a kind, nil if there was none.
func (k *slot) next(kind uint8) *state {
	if k.kind == kind {
		return k.to
	}
	if k.more != nil {
		return k.more[kind]
	}
	return nil
}

// lead makes s the state behind a value of a kind.
func (k *slot) lead(kind uint8, s *state) {
	if k.to == nil {
		k.kind, k.to = kind, s
		return
	}
	if k.more == nil {
		k.more = &[slotKinds]*state{}
	}
	k.more[kind] = s
}

const (
	noToken   = 1<<32 - 1
	slotBegin = 15 // the kind of an object that begins; the others are types of nodes
	slotKinds = 16

	fewSlots  = 8
	stateSize = 80 // bytes of memory, about
	slotSize  = 112

	// statesShare is what part of the writer's memory the states may take.
	statesShare = 8
)

// find returns the slot of the key at pos of a line, and the index behind its colon, or nil if it is none of those known
// or is spelt with white space.
func (s *state) find(b []byte, pos int) (*slot, int) {
	for _, k := range s.slots {
		if n := pos + len(k.text); n <= len(b) && string(b[pos:n]) == k.text {
			return k, n
		}
	}
	return nil, pos
}

// key returns the slot of a key, whose text is given with its quotes.
func (g *ingest) slot(s *state, text []byte, path []string) *slot {
	g.name = append(append(g.name[:0], text...), ':')
	if s.keys != nil {
		if k := s.keys[string(g.name)]; k != nil {
			return k
		}
	} else {
		for _, k := range s.slots {
			if k.text == string(g.name) {
				return k
			}
		}
	}
	k := &slot{text: string(g.name)}
	k.name = k.text[1 : len(k.text)-2]
	if strings.IndexByte(k.name, '\\') >= 0 || !utf8.ValidString(k.name) {
		k.name = string(jsontext.AppendUnescaped(nil, text[1:len(text)-1]))
	}
	if len(path) > 0 && path[0] == k.name {
		k.path = path[1:]
		k.time = len(path) == 1
	}
	if s.keys == nil && len(s.slots) == fewSlots {
		s.keys = map[string]*slot{}
		for _, old := range s.slots {
			s.keys[old.text] = old
		}
	}
	if s.keys != nil {
		s.keys[k.text] = k
	}
	if len(s.slots) < fewSlots {
		s.slots = append(s.slots, k)
	}
	g.states += int64(len(k.text)+len(k.name)) + slotSize
	return k
}

// follow returns the state behind a value of kind, a type of node or slotBegin, of key k in the object parent.
func (g *ingest) follow(s *state, k *slot, parent int32, kind uint8) *state {
	typ, bit := NodeType(kind), uint32(0)
	if kind == slotBegin {
		typ, bit = Object, tokenBegin
	}
	next := &state{from: s, token: uint32(g.w.node(parent, typ, k.name))<<1 | bit}
	k.lead(kind, next)
	g.states += stateSize
	return next
}

// leave returns the state behind the end of the object that is open.
func (g *ingest) leave(s *state) *state {
	if s.end == nil {
		s.end = &state{from: s, token: noToken}
		g.states += stateSize
	}
	return s.end
}

// toAuto returns the state in front of the keys that the logging library made, which stand behind all others.
func (g *ingest) toAuto(s *state) *state {
	if s.auto == nil {
		s.auto = &state{from: s, token: noToken}
		g.states += stateSize
	}
	return s.auto
}

// tokens makes g.key the tokens on the way to s.
func (g *ingest) tokens(s *state) {
	n := 0
	for p := s; p.from != nil; p = p.from {
		if p.token != noToken {
			n++
		}
	}
	g.key = append(g.key[:0], make([]byte, 4*n)...)
	for p := s; p.from != nil; p = p.from {
		if p.token != noToken {
			n--
			binary.LittleEndian.PutUint32(g.key[4*n:], p.token)
		}
	}
}

// shapeOf returns the shape of a record that ended in s.
func (g *ingest) shapeOf(s *state) *shape {
	if s.shape != nil && len(g.entries) == 0 {
		return s.shape
	}
	g.tokens(s)
	key := g.key
	for _, e := range g.entries {
		key = binary.LittleEndian.AppendUint32(key, uint32(e))
	}
	known := g.w.shapes[string(key)]
	if known == nil {
		known = g.w.newShape(g)
		g.w.shapes[string(key)] = known
		g.w.held.Add(int64(len(key) + 4*len(known.columns) + 128))
	}
	if len(g.entries) == 0 {
		s.shape = known
	}
	if g.states > g.counted+g.w.memory/64 {
		g.forget()
	}
	return known
}

// forgetAll drops all states.
func (g *ingest) forgetAll() {
	g.root, g.states = &state{}, 0
	g.forget()
}

// forget drops all states if they are too many, and counts those there are.
func (g *ingest) forget() {
	if g.states > g.w.memory/statesShare {
		g.root, g.states = &state{}, 0
	}
	g.w.held.Add(g.states - g.counted)
	g.counted = g.states
}

const maxDepth = event.MaxDepth
