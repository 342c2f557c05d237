package archive

import (
	"bytes"
	"slices"

	"github.com/tracehandler/tracehandler/clp/encoding"
)

// findWords looks up the variables that a text must have.
func (t *TextTest) findWords() (err error) {
	for _, v := range t.pattern.Variables(encoding.EightByte) {
		n := need{placeholder: v.Kind.Placeholder(), bits: uint64(v.Bits)}
		if v.Kind == encoding.Dict {
			d := t.r.Variables()
			if n.ids, err = d.find(v.Word, t.fold); err != nil {
				return err
			}
			if len(n.ids) == 0 {
				t.never = true
				return nil
			}
			if w := d.windows(n.ids); w != nil && (t.windows == nil || width(w) < width(t.windows)) {
				t.windows = w
			}
		}
		t.needs = append(t.needs, n)
	}
	return nil
}

// minRun is how long a run of the pattern is, at least, for the dictionary to be asked whether it has it: short ones it
// has.
const minRun = 3

// findRuns says which runs of the pattern are in a dictionary variable, and which variables have one of them.
func (t *TextTest) findRuns() (held map[string]bool, err error) {
	held = map[string]bool{}
	var runs [][]byte
	for _, run := range t.pattern.Runs() {
		if len(run) < minRun || slices.ContainsFunc(t.needs, func(n need) bool { return n.ids != nil }) {
			held[string(run)] = true // a variable that is needed says more
		} else if !held[string(run)] {
			runs = append(runs, run)
		}
	}
	if len(runs) == 0 {
		return held, nil
	}
	short := len(held) > 0
	words := &IDSet{}
	var few []uint64
	var lower []byte
	err = t.r.Variables().chunks(nil, func(first uint64, plain []byte) error {
		if t.fold {
			lower = appendLower(lower[:0], plain)
		} else {
			lower = plain
		}
		here := slices.DeleteFunc(slices.Clone(runs), func(run []byte) bool { return !bytes.Contains(lower, run) })
		if len(here) == 0 {
			return nil
		}
		// Lengths are not texts, and may have been changed in lower.
		id, at := first, 0
		return eachEntry(plain, func(entry []byte) error {
			text := lower[at+8:][:len(entry)]
			at += 8 + len(entry)
			has := false
			for _, run := range here {
				if bytes.Contains(text, run) {
					held[string(run)], has = true, true
				}
			}
			if has {
				words.Add(id)
				if len(few) <= maxWindows {
					few = append(few, id)
				}
			}
			id++
			return nil
		})
	})
	if t.r.vars.err != nil { // some are not known
		for _, run := range runs {
			held[string(run)] = true
		}
		return held, err
	}
	if words.windows = t.r.Variables().windows(few); !short {
		t.words = words
	}
	return held, err
}

func appendLower(dst, text []byte) []byte {
	for _, c := range text {
		if 'A' <= c && c <= 'Z' {
			c |= 0x20
		}
		dst = append(dst, c)
	}
	return dst
}
