package crashfs

import (
	"bytes"
	"math/rand/v2"
)

// Loss says what a crash does to changes that were not synced.
type Loss int

// The losses. Names in a directory are a journal: of those not synced, a crash keeps a first part.
const (
	LoseAll   Loss = iota // what was not synced is gone
	LoseNone              // everything had reached the disk
	LoseTail              // the first writes had reached the disk, the last of them perhaps in part
	LosePages             // some pages had reached the disk, in no order; a file may be longer than its data, with zeros
)

// page is the unit in which LosePages keeps and loses.
const page = 4096

// CrashClone returns what a machine finds after it lost power now. No file of the clone is open or locked. fsys and its
// open files go on unharmed. rng decides what LoseTail and LosePages keep; it may be nil for the others.
func (fsys *FS) CrashClone(loss Loss, rng *rand.Rand) *FS {
	fsys.mu.Lock()
	defer fsys.mu.Unlock()
	c := cloner{loss: loss, rng: rng, done: map[node]node{}}
	return &FS{root: c.dir(fsys.root)}
}

type cloner struct {
	loss Loss
	rng  *rand.Rand
	done map[node]node // a file with two names stays one file
}

func (c *cloner) dir(d *dir) *dir {
	out := newDir(d.mode)
	out.mtime = d.mtime
	c.done[d] = out
	entries := map[string]node{}
	for name, n := range d.durable {
		entries[name] = n
	}
	for _, ch := range d.pending[:c.kept(len(d.pending))] {
		ch.apply(entries)
	}
	for name, n := range entries {
		m, ok := c.done[n]
		if !ok {
			switch n := n.(type) {
			case *dir:
				m = c.dir(n)
			case *content:
				m = c.content(n)
			}
			c.done[n] = m
		}
		out.entries[name], out.durable[name] = m, m
	}
	return out
}

// kept returns how many of n changes, in order, the crash leaves.
func (c *cloner) kept(n int) int {
	switch {
	case c.loss == LoseAll, n == 0:
		return 0
	case c.loss == LoseNone:
		return n
	}
	return c.rng.IntN(n + 1)
}

func (c *cloner) content(n *content) *content {
	b := bytes.Clone(n.durable)
	var pending []change
	for _, ch := range n.pending {
		if !ch.lost {
			pending = append(pending, ch)
		}
	}
	if c.loss == LosePages {
		for _, ch := range pending {
			b = c.pages(b, ch)
		}
	} else {
		k := c.kept(len(pending))
		for _, ch := range pending[:k] {
			b = ch.apply(b)
		}
		if c.loss == LoseTail && k < len(pending) && pending[k].data != nil {
			ch := pending[k]
			if ch.data = ch.data[:c.rng.IntN(len(ch.data)+1)]; len(ch.data) > 0 {
				b = ch.apply(b)
			}
		}
	}
	return &content{mode: n.mode, mtime: n.mtime, data: b, durable: bytes.Clone(b)}
}

// pages applies some pages of a write. The size of a file may be on disk before its data: then zeros stand there.
func (c *cloner) pages(b []byte, ch change) []byte {
	if ch.data == nil {
		if c.rng.IntN(2) == 0 {
			b = ch.apply(b)
		}
		return b
	}
	if end := ch.off + int64(len(ch.data)); end > int64(len(b)) && c.rng.IntN(2) == 0 {
		b = change{off: end}.apply(b)
	}
	for data, off := ch.data, ch.off; len(data) > 0; {
		n := min(int64(len(data)), page-off%page)
		if c.rng.IntN(2) == 0 {
			b = change{off: off, data: data[:n]}.apply(b)
		}
		data, off = data[n:], off+n
	}
	return b
}
