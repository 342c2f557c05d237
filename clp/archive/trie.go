package archive

import (
	"encoding/binary"

	"github.com/tracehandler/tracehandler/event"
	"github.com/tracehandler/tracehandler/internal/jsontext"
)

// state is a place in the records that were seen so far: after the same members of the same types, in the same order. From
// there, a key and the type of its value lead to the next state, and the state after the last member knows the table. Most
// records go a known way, so that of their keys nothing but the bytes are compared. The states are a cache: they are
// forgotten when they are too many.
type state struct {
	from  *state // the way back
	token uint32 // see side; noToken behind the end of an object
	slots []*slot
	keys  map[string]*slot // by their text, if there are many
	end   *state           // behind the end of the object that is open
	shape *shape           // of the records that end here, nil if that was not asked yet
}

// slot is a key that followed on a state.
type slot struct {
	text string // with its quotes, as it is in the line, and the colon
	name string
	time bool     // the value is the time of the record
	path []string // what is left of the time's path, if the value is an object that may have it
	next [slotKinds]*state
}

const (
	noToken   = 1<<32 - 1
	slotBegin = 15 // index in next of the object that begins; the others are types of nodes
	slotKinds = 16

	fewSlots  = 8
	stateSize = 112 // bytes of memory, about
	slotSize  = 240
	maxStates = 32 << 20 // bytes
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
	k := &slot{text: string(g.name), name: string(jsontext.AppendUnescaped(nil, text[1:len(text)-1]))}
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
	k.next[kind] = next
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
		g.w.held.Add(int64(len(key) + 48*len(known.columns) + 128))
	}
	if len(g.entries) == 0 {
		s.shape = known
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
	if g.states > maxStates {
		g.root, g.states = &state{}, 0
	}
	g.w.held.Add(g.states - g.counted)
	g.counted = g.states
}

const maxDepth = event.MaxDepth
