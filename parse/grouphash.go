package parse

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"

	"github.com/tracehandler/tracehandler/parse/internal/js"
)

// skipInGroupHash reports whether a key, at any depth, does not count for the identity of a launch: it differs between
// two launches that do the same.
func skipInGroupHash(key string) bool {
	switch key {
	case "timestamp", "pid", "launch_group_hash", "occurrence_id", "function":
		return true
	}
	return false
}

// groupHasher computes the identity of launches: launches with the same kernel, arguments and stack have the same. It is
// the first 16 hex digits of the SHA-256 of the canonical JSON.
type groupHasher struct {
	members []js.Member
	canon   []byte
}

// lastHash remembers the last text hashed for one kernel, which often comes again.
type lastHash struct {
	canon []byte
	sum   [16]byte
}

func (g *groupHasher) sum(root js.Value, last *lastHash) [16]byte {
	g.members = root.Sorted(g.members[:0], skipInGroupHash)
	c := append(g.canon[:0], '{')
	for i, m := range g.members {
		if i > 0 {
			c = append(c, ',')
		}
		c = append(m.Value.AppendCanonicalKey(c), ':')
		if d := m.Value.Sub(); d != nil {
			c = append(c, d.Tag.(*known).canon...)
		} else {
			c = m.Value.AppendCanonical(c, skipInGroupHash)
		}
	}
	c = append(c, '}')
	g.canon = c
	if last != nil && bytes.Equal(c, last.canon) {
		return last.sum
	}
	full := sha256.Sum256(c)
	var sum [16]byte
	hex.Encode(sum[:], full[:8])
	if last != nil {
		last.canon, last.sum = append(last.canon[:0], c...), sum
	}
	return sum
}
