package archive

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/klauspost/compress/zstd"
)

// Find returns the entries whose text is this one, by ascending number. With fold, ASCII letters count in either case. The
// filters of the index say where an entry can be; without them, the whole dictionary is read, but not kept.
//
// Damage is reported behind the last record; entries of damaged parts are not found.
func (d Dictionary) Find(text []byte, fold bool) (*IDSet, error) {
	ids, err := d.find(text, fold)
	set := &IDSet{windows: d.windows(ids)}
	for _, id := range ids {
		set.Add(id)
	}
	return set, err
}

// windows returns where entries are used, if the index tells it of the dictionary.
func (d Dictionary) windows(ids []uint64) []window {
	if d.d != &d.r.vars {
		return nil
	}
	return d.r.index().windows(ids)
}

func (d Dictionary) find(text []byte, fold bool) (ids []uint64, err error) {
	var want func(frame int) bool
	unique := false
	if x := d.r.index(); x != nil {
		unique = !fold // in archives with an index, which are ours
		if filters := d.r.dictFilters(x, slices.Index(dictSections[:], d.d.name)); filters != nil {
			hash := hashText(text)
			want = func(i int) bool { return inFilter(filters[i], hash) }
		}
	}
	needle := append(binary.LittleEndian.AppendUint64(nil, uint64(len(text))), text...)
	err = d.chunks(want, func(first uint64, plain []byte) error {
		if !fold && !bytes.Contains(plain, needle) {
			return nil
		}
		id := first
		return eachEntry(plain, func(entry []byte) error {
			if len(entry) == len(text) && (bytes.Equal(entry, text) || fold && equalFold(entry, text)) {
				ids = append(ids, id)
				if unique {
					return errEnough
				}
			}
			id++
			return nil
		})
	})
	return ids, err
}

// Scan returns the entries whose texts match. What matches must contain fragment, which may be empty.
func (d Dictionary) Scan(fragment []byte, match func(text []byte) bool) (*IDSet, error) {
	set := &IDSet{}
	var few []uint64
	err := d.chunks(nil, func(first uint64, plain []byte) error {
		if len(fragment) > 0 && !bytes.Contains(plain, fragment) {
			return nil
		}
		id := first
		return eachEntry(plain, func(entry []byte) error {
			if match(entry) {
				set.Add(id)
				if len(few) <= maxWindows {
					few = append(few, id)
				}
			}
			id++
			return nil
		})
	})
	set.windows = d.windows(few)
	return set, err
}

// errEnough ends a walk over chunks early.
var errEnough = errors.New("archive: enough")

func equalFold(a, b []byte) bool {
	for i, c := range a {
		if d := b[i]; c != d && (c|0x20 != d|0x20 || c|0x20 < 'a' || c|0x20 > 'z') {
			return false
		}
	}
	return true
}

// eachEntry calls f for each entry of a run of whole ones.
func eachEntry(plain []byte, f func(text []byte) error) error {
	for len(plain) >= 8 {
		n := binary.LittleEndian.Uint64(plain)
		plain = plain[8:]
		if n > uint64(len(plain)) {
			return corrupt("", 0, ErrLength, "an entry of %d bytes", n)
		}
		if err := f(plain[:n:n]); err != nil {
			return err
		}
		plain = plain[n:]
	}
	return nil
}

// chunks calls f for runs of whole entries, which are valid during the call, and the number of the first entry of each.
// With an index, want says which frames are wanted; nil is all. Damage is kept for the end of reading, and is no error
// here.
func (d Dictionary) chunks(want func(frame int) bool, f func(first uint64, plain []byte) error) error {
	if d.r.err == ErrClosed {
		return ErrClosed
	}
	var err error
	if x := d.r.index(); x != nil {
		err = d.frames(x, want, f)
	} else {
		err = d.stream(f)
	}
	var damage *CorruptError
	switch {
	case err == errEnough:
		return nil
	case errors.As(err, &damage):
		if damage.Section == "" {
			damage.Section = d.d.name
		}
		d.d.damaged(damage)
		return nil
	}
	return err
}

func (d Dictionary) frames(x *archiveIndex, want func(frame int) bool, f func(first uint64, plain []byte) error) error {
	var first uint64
	var plain []byte
	var damaged error
	for i, fr := range x.dictFrames(d.d.name) {
		if want == nil || want(i) {
			var err error
			if plain, err = d.r.decodeFrame(plain[:0], d.r.box.sections[d.d.name], 8, -1, fr); err == nil {
				err = f(first, plain)
			}
			var damage *CorruptError
			if errors.As(err, &damage) {
				damaged = err // the entries of the other frames are known all the same
			} else if err != nil {
				return err
			}
		}
		first += uint64(fr.entries)
	}
	return damaged
}

func (d Dictionary) stream(f func(first uint64, plain []byte) error) error {
	alone := d.r.pipe == nil // nobody loads it meanwhile
	if alone && d.d.flat.whole {
		return f(0, d.d.flat.text)
	}
	s := d.r.box.sections[d.d.name]
	var b [8]byte
	if s.size < 8 {
		return corrupt(s.name, 0, ErrShort, "a dictionary has at least 8 bytes")
	}
	if _, err := s.src.ReadAt(b[:], s.off); err != nil && err != io.EOF {
		return fmt.Errorf("archive: %s: %w", s.name, err)
	}
	count := binary.LittleEndian.Uint64(b[:])
	in, err := d.r.scanInput()
	if err != nil {
		return err
	}
	in.count = &d.r.spent.dicts
	in.open(s.part(8, s.size-8), -1)
	defer func() { d.r.spent.dicts.add(0, in.offset()) }()
	flat, keep := flatEntries{pool: d.r.pool, expect: flatRatio * s.size}, alone && d.r.pool.flattens(s)
	err = in.entries(count, min(maxEntry, d.r.pool.limit/2), func(first uint64, plain []byte) error {
		keep = keep && flat.add(plain)
		return f(first, plain)
	})
	if flat.whole = keep && err == nil && in.finish() == nil && d.d.count == 0; flat.whole {
		d.d.flat = flat
	} else {
		flat.drop()
	}
	return err
}

// scanInput returns the input of searches, which goes its own way through a section.
func (r *Reader) scanInput() (*input, error) {
	if r.scanIn == nil {
		d, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(uint64(r.inputs.window)))
		if err != nil {
			return nil, err
		}
		r.scanIn = &input{decoder: d, window: r.inputs.window}
	}
	return r.scanIn, nil
}

// Text returns an entry. It is valid until the next call, and nil if it cannot be had. With an index, only the part of the
// dictionary is read that has it.
func (d Dictionary) Text(id uint64) ([]byte, error) {
	if err := d.r.loadDictionary(d.d); err != nil {
		return nil, err
	}
	text, err := d.d.entry(id, &d.r.view.word)
	var limit *LimitError
	switch {
	case errors.As(err, &limit):
		return nil, err
	case err != nil:
		return nil, nil
	case text == nil:
		text = []byte{}
	}
	return text, nil
}

// ColumnEntries returns the entries of the dictionary that the values of a column are, if the index lists them: those of
// columns with few.
func (r *Reader) ColumnEntries(t *Table, column int) ([]uint64, bool) {
	x := r.index()
	if x == nil || x.columns(t.index) == nil {
		return nil, false
	}
	set := &IDSet{}
	var ids []uint64
	blocks := x.columns(t.index)[column].blocks
	var entries uint64
	for _, f := range x.dicts[0].frames {
		entries += uint64(f.entries)
	}
	for i := range blocks {
		if blocks[i].set == nil {
			return nil, false
		}
		for _, e := range blocks[i].set {
			if e.id < entries && !set.Has(e.id) {
				set.Add(e.id)
				ids = append(ids, e.id)
			}
		}
	}
	return ids, len(blocks) > 0
}
