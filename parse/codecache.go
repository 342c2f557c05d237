package parse

import (
	"encoding/binary"
	"hash/maphash"
	"sync"

	"github.com/tracehandler/tracehandler/parse/internal/js"
)

// codeCache keeps what was worked out about the code of compilations. All processes of a distributed job compile the same
// kernels, so the ranks of a trace hold the same code again and again; the work of mapping, analysing and packing it is
// done once. Safe for concurrent use.
//
// Code counts as the same if two 64-bit hashes of it with random seeds are.
type codeCache struct {
	mu    sync.Mutex
	byKey map[codeKey]*code
	size  int // bytes held
	limit int
}

type codeKey [2]uint64

// shortCode is the number of bytes of code below which it is worked out each time.
const shortCode = 2 << 10

// codeMemory bounds what a codeCache holds, in bytes. A whole compilation of 60 kB takes some 25 kB, packed.
const codeMemory = 8 << 20

func newCodeCache() *codeCache { return &codeCache{byKey: map[codeKey]*code{}, limit: codeMemory} }

func (c *codeCache) get(key codeKey) *code {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.byKey[key]
}

// put keeps k. If there is no room others go, whichever: ranks come to the same kernels in the same order, so the one
// that was used last is as likely as any to be used again.
func (c *codeCache) put(key codeKey, k *code) {
	size := k.size()
	if size > c.limit/4 {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.byKey[key] != nil {
		return
	}
	for c.size+size > c.limit {
		for old, k := range c.byKey {
			delete(c.byKey, old)
			c.size -= k.size()
			break
		}
	}
	c.byKey[key] = k
	c.size += size
}

// size is about the number of bytes that k holds.
func (k *code) size() int {
	n := 500 + len(k.body.text) + len(k.body.packed) + len(k.analysis)
	for _, w := range k.warnings {
		n += len(w)
	}
	if k.static != nil {
		for _, s := range k.static.Notes {
			n += len(s)
		}
	}
	return n
}

var codeSeeds = [2]maphash.Seed{maphash.MakeSeed(), maphash.MakeSeed()}

// codeKeys makes keys. One goroutine uses it.
type codeKeys struct{ buf [2][]byte }

// of returns the key of a payload whose text from the artifacts on is given. It covers everything that a code depends on.
func (x *codeKeys) of(payload js.Value, text []byte) (key codeKey) {
	meta := payload.Get("metadata")
	parts := [...][]byte{text, payload.Get("python_source").Raw(), meta.Get("backend_name").Raw(), meta.Get("num_warps").Raw(), meta.Get("num_warps_base").Raw()}
	for i, seed := range codeSeeds {
		b := x.buf[i][:0]
		for _, p := range parts {
			b = binary.LittleEndian.AppendUint64(b, maphash.Bytes(seed, p))
			b = binary.LittleEndian.AppendUint64(b, uint64(len(p)))
		}
		x.buf[i] = b
		key[i] = maphash.Bytes(seed, b)
	}
	return key
}
