package archive

import (
	"encoding/binary"
	"hash/maphash"
	"math"
	"sync/atomic"
)

// dictionaryFrame is what is compressed together of a dictionary, about: a reader that wants one entry decodes as much.
const dictionaryFrame = 512 << 10

// dictWriter is a dictionary that is being made. It knows entries by their hashes alone, of 96 bits: their texts are
// compressed at once. The hashes depend on seeds that nobody can know, so that entries cannot be made to meet; that two
// of a billion do by chance is as likely as 1 to 10¹¹.
type dictWriter struct {
	seeds  [2]maphash.Seed
	tables [256]hashTable
	kind   int    // of frames
	text   []byte // entries as they are stored, the last ones
	frames []*packed
	count  atomic.Uint32
}

// hashTable is an open-addressed table of hashes with linear probing. It doubles while it is small, and grows by half then, so
// that it is never less than half full for long.
type hashTable struct {
	slots []hashSlot
	used  int
}

// hashSlot is an entry's hash and its ID; of a free one, id is 0 and the others' are one more.
type hashSlot struct {
	low  uint64
	high uint32
	id   uint32
}

const hashSlotSize = 16

func (d *dictWriter) init(kind int) {
	d.kind = kind
	d.seeds[0], d.seeds[1] = maphash.MakeSeed(), maphash.MakeSeed()
}

// hash returns 96 bits for a text.
func (d *dictWriter) hash(text []byte) (low uint64, high uint32) {
	return maphash.Bytes(d.seeds[0], text), uint32(maphash.Bytes(d.seeds[1], text) >> 32)
}

// touch reads the slots where hashes are looked for first. The tables are larger than the caches of a processor, which can
// fetch many slots at once if nothing is to be decided meanwhile.
func (d *dictWriter) touch(hashes []hashSlot) (sum uint64) {
	for i := range hashes {
		if t := &d.tables[hashes[i].high>>24]; len(t.slots) > 0 {
			sum += t.slots[t.home(hashes[i].high)].low
		}
	}
	return sum
}

// id returns the entry of text, which is new if it was not seen before.
func (d *dictWriter) id(w *Writer, text []byte) uint64 {
	low, high := d.hash(text)
	return d.lookUp(w, text, low, high)
}

// lookUp is id for a text whose hash is known.
func (d *dictWriter) lookUp(w *Writer, text []byte, low uint64, high uint32) uint64 {
	t := &d.tables[high>>24]
	if t.used*8 >= len(t.slots)*7 {
		t.grow(w)
	}
	i := t.home(high)
	for {
		s := &t.slots[i]
		if s.low == low && s.high == high && s.id != 0 {
			if d == &w.vars {
				w.reuse.used(uint64(s.id - 1))
			}
			return uint64(s.id - 1)
		}
		if s.id == 0 {
			break
		}
		if i++; i == len(t.slots) {
			i = 0
		}
	}
	id := d.count.Add(1)
	t.slots[i] = hashSlot{low, high, id}
	t.used++
	if len(d.text) > 0 && len(d.text)+len(text)+8 > dictionaryFrame {
		d.flush(w)
	}
	if d.text == nil && len(d.frames) > 0 { // another whole frame is likely
		d.text = w.packer.buffer()
	}
	before := cap(d.text)
	d.text = binary.LittleEndian.AppendUint64(d.text, uint64(len(text)))
	d.text = append(d.text, text...)
	if now := cap(d.text); now != before {
		w.held.Add(int64(now - before))
	}
	return uint64(id - 1)
}

// home returns the slot where a hash is looked for first.
func (t *hashTable) home(high uint32) int { return int(uint64(high<<8) * uint64(len(t.slots)) >> 32) }

func (t *hashTable) grow(w *Writer) {
	old := t.slots
	more := len(old)
	if more >= 4096 {
		more /= 2
	}
	t.slots = make([]hashSlot, max(len(old)+more, 8))
	w.held.Add(int64(len(t.slots)-len(old)) * hashSlotSize)
	for _, s := range old {
		if s.id == 0 {
			continue
		}
		i := t.home(s.high)
		for t.slots[i].id != 0 {
			if i++; i == len(t.slots) {
				i = 0
			}
		}
		t.slots[i] = s
	}
}

// flush makes a frame of what is not in one.
func (d *dictWriter) flush(w *Writer) {
	if len(d.text) == 0 {
		return
	}
	f := &packed{plain: len(d.text)}
	d.frames = append(d.frames, f)
	w.packer.pack(job{f: f, plain: d.text, kind: d.kind})
	d.text = nil
}

// full reports whether n more entries may be too many for the IDs.
func (d *dictWriter) full(n int64) bool { return int64(d.count.Load())+n >= math.MaxUint32 }
