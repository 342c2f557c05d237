package parse

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"hash/maphash"
	"strings"

	"github.com/tracehandler/tracehandler/parse/internal/js"
)

// memo keeps the parts of launches that come again and again, parsed: the metadata of the kernel and the stack are most
// of a launch, and few of them differ. It implements js.Known. One goroutine uses it.
type memo struct {
	meta, stack, args memoSlot
	bytes             int
}

// memoLimit bounds the text held, in bytes; beyond it the memo starts again. What is in use elsewhere stays valid.
const memoLimit = 24 << 20

type memoSlot struct {
	byText map[uint64]*js.Doc
	last   *js.Doc
	recent [4]*js.Doc
	turn   int
	once   []uint64 // of arguments: texts seen once, by hash; nil if every text is kept at first sight
}

// onceSize is the number of argument texts that are remembered as seen. Arguments that come once only, because a
// pointer is always another one, are not worth keeping.
const onceSize = 4096

// known is the Tag of a Doc in the memo: what was worked out about its text.
type known struct {
	next *js.Doc // what followed this one last time

	// Of what is in launches only, so worked out when it is asked for.
	canon []byte // its part of a launch's group hash
	id    uint64 // its identity as a JSON value, 0 if that is not known yet

	// of a stack
	site      site
	sessionID string

	argBytes int64 // of arguments
}

var memoSeed = maphash.MakeSeed()

func (m *memo) slot(key []byte) *memoSlot {
	switch string(key) {
	case "compilation_metadata":
		return &m.meta
	case "stack":
		return &m.stack
	case "extracted_args":
		return &m.args
	}
	return nil
}

// Match tries the values that are likely: the one that followed the last one before, the last one, the recent ones.
func (m *memo) Match(key, rest []byte) *js.Doc {
	s := m.slot(key)
	if s == nil || s.last == nil {
		return nil
	}
	fits := func(d *js.Doc) bool { return d != nil && bytes.HasPrefix(rest, d.Text) }
	if d := s.last.Tag.(*known).next; fits(d) {
		s.last = d
		return d
	}
	for _, d := range s.recent {
		if fits(d) {
			s.last.Tag.(*known).next = d
			s.last = d
			return d
		}
	}
	return nil
}

// Learn keeps a copy of a value that was parsed, or finds the copy that is there.
func (m *memo) Learn(key, text []byte) *js.Doc {
	s := m.slot(key)
	if s == nil || len(text) > 1<<20 {
		return nil
	}
	if m.bytes > memoLimit {
		m.forget()
	}
	h := maphash.Bytes(memoSeed, text)
	d := s.byText[h]
	if d == nil && s == &m.args {
		if s.once == nil {
			s.once = make([]uint64, onceSize)
		}
		if seen := &s.once[h%onceSize]; *seen != h {
			*seen = h
			return nil
		}
	}
	if d == nil || !bytes.Equal(d.Text, text) {
		d = &js.Doc{}
		if d.Parse(bytes.Clone(text)) != nil {
			return nil
		}
		k := &known{}
		switch s {
		case &m.stack:
			k.site, k.sessionID = readSite(d.Root())
		case &m.args:
			k.argBytes = argBytes(d.Root())
		}
		d.Tag = k
		if s.byText == nil {
			s.byText = map[uint64]*js.Doc{}
		}
		s.byText[h] = d
		m.bytes += 3 * len(text)
	}
	if s.last != nil {
		s.last.Tag.(*known).next = d
	}
	s.last = d
	s.recent[s.turn&3] = d
	s.turn++
	return d
}

// groupText returns the part of a launch's group hash that a value of the memo makes.
func groupText(d *js.Doc) []byte {
	k := d.Tag.(*known)
	if k.canon == nil {
		k.canon = d.Root().AppendCanonical(nil, skipInGroupHash)
	}
	return k.canon
}

// forget empties the memo. Values that are in use elsewhere stay, but must not hold on to each other.
func (m *memo) forget() {
	for _, s := range [...]*memoSlot{&m.meta, &m.stack, &m.args} {
		for _, d := range s.byText {
			d.Tag.(*known).next = nil
		}
		*s = memoSlot{}
	}
	m.bytes = 0
}

// identifier computes the identity of values. One goroutine uses it.
type identifier struct {
	canonizer js.Canonizer
	buf       []byte
	texts     textStore // of values that differ
}

// id identifies v up to equality as JSON: key order and the spelling of numbers and strings do not matter. It is never
// 0, which says that there is no value.
func (x *identifier) id(v js.Value) uint64 {
	if d := v.Sub(); d != nil && d.Tag != nil {
		k := d.Tag.(*known)
		if k.id == 0 {
			k.id = x.id(d.Root())
		}
		return k.id
	}
	x.buf = x.canonizer.Append(x.buf[:0], v, nil)
	return max(1, maphash.Bytes(memoSeed, x.buf))
}

// site is what a stack says about autotuning.
type site struct {
	benchmark  bool   // the autotuner is trying configurations
	userFrames []byte // JSON: the frames before the autotuner
}

// readSite finds the autotuner on a stack. The id names the place in the user's program that tunes; it is "" if there is
// no autotuner, or nothing before it.
func readSite(stack js.Value) (s site, id string) {
	if text := stack.Raw(); !bytes.Contains(text, []byte("autotuner")) && !bytes.Contains(text, []byte(`\u`)) {
		return s, "" // most stacks; the word can be spelt otherwise only with escapes
	}
	var user []byte
	var hashed strings.Builder
	found := false
	for f := range stack.Each() {
		file, name := f.Get("filename").Str(), f.Get("name").Str()
		if strings.Contains(file, "triton/runtime/autotuner.py") {
			if name == "_bench" {
				s.benchmark = true
			}
			if name == "run" || name == "_bench" {
				found = true
			}
		}
		if found {
			continue
		}
		if user != nil {
			user = append(user, ',')
			hashed.WriteByte('|')
		}
		user = append(user, f.Raw()...)
		hashed.WriteString(file)
		hashed.WriteByte(':')
		hashed.Write(f.Get("line").AppendCanonical(nil, nil))
		hashed.WriteByte(':')
		hashed.WriteString(name)
	}
	if !found || user == nil {
		return s, ""
	}
	s.userFrames = append(append([]byte{'['}, user...), ']')
	sum := sha256.Sum256([]byte(hashed.String()))
	return s, hex.EncodeToString(sum[:8])
}
