package parse

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"

	"github.com/tracehandler/tracehandler/parse/internal/js"
)

// skipInGroupHash reports whether a key, at any depth, does not count for the identity of a launch: it differs between
// two launches that do the same.
func skipInGroupHash(key []byte) bool {
	switch string(key) {
	case "timestamp", "pid", "launch_group_hash", "occurrence_id", "function":
		return true
	}
	return false
}

// groupHasher computes the identity of launches: launches with the same kernel, arguments and stack have the same. It is
// the first 16 hex digits of the SHA-256 of the canonical JSON.
type groupHasher struct {
	ids       *identifier
	canonizer js.Canonizer
	members   []js.Member
	canon     []byte
	text      []byte
}

// lastHash remembers what was hashed for one kernel, because it often comes again: the text of what counts.
type lastHash struct {
	text []byte
	sum  [16]byte
}

func (g *groupHasher) sum(root js.Value, last *lastHash) [16]byte {
	if last != nil {
		g.text = g.text[:0]
		for m := range root.Each() {
			key, plain := m.KeyPlain()
			if plain && skipInGroupHash(key) {
				continue
			}
			g.text = append(append(g.text, key...), 0)
			if d := m.Sub(); d != nil {
				g.text = binary.LittleEndian.AppendUint64(g.text, g.ids.id(m))
			} else {
				g.text = append(g.text, m.Raw()...)
			}
		}
		if len(last.text) > 0 && bytes.Equal(g.text, last.text) {
			return last.sum
		}
	}
	g.members = root.Sorted(g.members[:0], skipInGroupHash)
	c := append(g.canon[:0], '{')
	for i, m := range g.members {
		if i > 0 {
			c = append(c, ',')
		}
		c = append(m.Value.AppendCanonicalKey(c), ':')
		if d := m.Value.Sub(); d != nil {
			c = append(c, groupText(d)...)
		} else {
			c = g.canonizer.Append(c, m.Value, skipInGroupHash)
		}
	}
	c = append(c, '}')
	g.canon = c
	full := sha256.Sum256(c)
	var sum [16]byte
	hex.Encode(sum[:], full[:8])
	if last != nil {
		last.text, last.sum = nil, sum
		if len(g.text) <= 1<<20 { // a larger one costs more to keep than to hash
			last.text = append(last.text[:0], g.text...)
		}
	}
	return sum
}
