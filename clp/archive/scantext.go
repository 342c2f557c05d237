package archive

import (
	"encoding/binary"
	"math/bits"
	"slices"

	"github.com/tracehandler/tracehandler/clp/encoding"
)

// TextTest asks of texts of ClpStrings whether they match a pattern. It knows what to look for in log types and variables,
// so that few texts are put together.
type TextTest struct {
	r       *Reader
	pattern *encoding.Query
	types   []certainty // of log types
	kinds   [][]byte    // placeholders of log types of which it is open
	known   []*logtype  // of log types of which it is open
	open    bool        // of some log types
	never   bool
	fold    bool
	held    map[string]bool // runs of the pattern that dictionary variables have
	byWord  [][]int         // of log types that match only if a variable is in words: the places of those of the dictionary
	words   *IDSet          // nil if it is not known
	needs   []need
	windows []window // that matching records lie in, nil if it is not known
}

// need is a variable that a text must have to match.
type need struct {
	placeholder byte
	bits        uint64   // of a number
	ids         []uint64 // entries of the dictionary, any of them
}

// NewTextTest looks the pattern's words up in the dictionaries. fold says whether the pattern was parsed with fold. It
// takes for granted that texts are split as package encoding does it.
func (r *Reader) NewTextTest(pattern *encoding.Query, fold bool) (*TextTest, error) {
	t := &TextTest{r: r, pattern: pattern, fold: fold}
	if err := t.findWords(); err != nil || t.never {
		return t, err
	}
	// What a text must have if no dictionary variable has a part of what is looked for, and if any may have.
	without := pattern.Narrow(func([]byte) bool { return false })
	with := pattern.Narrow(func([]byte) bool { return true })
	var types [][]byte // that match only with a variable
	var ids []uint64
	t.never = true
	err := r.LogTypes().chunks(nil, func(first uint64, plain []byte) error {
		t.unknown(first)
		return eachEntry(plain, func(text []byte) error {
			id := uint64(len(t.types))
			v := no
			switch {
			case pattern.MustMatchLogtype(text):
				v = yes
			case without.MayMatchLogtype(text):
				v = maybe
			case with.MayMatchLogtype(text):
				types, ids = append(types, slices.Clone(text)), append(ids, id)
			}
			t.add(v)
			t.never = t.never && v == no
			if v == maybe {
				t.keep(id, text)
			}
			return r.pool.take(48 + int64(len(text)))
		})
	})
	if r.logs.damage() != nil { // some are not known
		t.unknown(uint64(len(t.types)) + 1)
	}
	if err != nil || len(types) == 0 {
		return t, err
	}
	if t.held, err = t.findRuns(); err != nil {
		return nil, err
	}
	narrow := pattern.Narrow(func(run []byte) bool { return t.held[string(run)] })
	t.byWord = make([][]int, len(t.types))
	few := 0
	for i, text := range types {
		if narrow.MayMatchLogtype(text) {
			t.types[ids[i]], t.never = maybe, false
			t.keep(ids[i], text)
			t.byWord[ids[i]] = places(t.kinds[ids[i]])
			few++
		}
	}
	// If all texts need one of few words, they are where those are.
	matching := 0
	for _, v := range t.types {
		if v != no {
			matching++
		}
	}
	if matching == few && t.windows == nil && t.words != nil && t.words.n <= maxWindows {
		t.windows = t.words.windows
	}
	return t, nil
}

// add takes up the next log type.
func (t *TextTest) add(v certainty) {
	t.types, t.kinds, t.known = append(t.types, v), append(t.kinds, nil), append(t.known, nil)
}

// keep remembers a log type of which it is open whether its texts match.
func (t *TextTest) keep(id uint64, text []byte) {
	t.kinds[id], t.known[id], t.open = placeholders(text), parseLogtype(text, false), true
}

// width returns the number of records that windows span, about.
func width(list []window) (n float64) {
	for _, w := range list {
		n += float64(w.to) - float64(w.from)
	}
	return n
}

// unknown makes log types up to count open, if they could not be read.
func (t *TextTest) unknown(count uint64) {
	for uint64(len(t.types)) < count {
		t.add(maybe)
		t.never, t.open = false, true
	}
}

// Never reports whether no text can match.
func (t *TextTest) Never() bool { return t.never }

// logType says what is known of texts of a log type. The log type of an entry that is not there is open.
func (t *TextTest) logType(id uint64) certainty {
	switch {
	case t.never:
		return no
	case id < uint64(len(t.types)):
		return t.types[id]
	}
	return maybe
}

// placeholders returns the placeholders of a log type in their order.
func placeholders(logtype []byte) (list []byte) {
	list = []byte{}
	for i := 0; i < len(logtype); i++ {
		switch c := logtype[i]; c {
		case encoding.IntPlaceholder, encoding.DictPlaceholder, encoding.FloatPlaceholder:
			list = append(list, c)
		case encoding.Escape:
			i++
		}
	}
	return list
}

// places returns where the variables of the dictionary are among those of a log type.
func places(kinds []byte) []int {
	list := []int{}
	for i, kind := range kinds {
		if kind == encoding.DictPlaceholder {
			list = append(list, i)
		}
	}
	return list
}

// text evaluates a test on n rows from row from on.
func (s *scan) text(t *TextTest, c *scanColumn, from int64, n int, rows []uint64) (may, must []uint64, err error) {
	b, err := s.bytes(&c.values, c.off+8*from, 8*int64(n))
	if err != nil {
		return nil, nil, err
	}
	if len(b) >= 8 { // the variables of the block are kept, other conditions may be about them, too
		c.vars.keep = c.off + 8*s.table.records + 8 + 8*int64(min(binary.LittleEndian.Uint64(b)>>24, uint64(c.variables)))
	}
	may, must = make([]uint64, (n+63)/64), make([]uint64, (n+63)/64)
	for w, left := range rows {
		for left != 0 {
			i := bits.TrailingZeros64(left)
			bit := left & -left
			left ^= bit
			cell := binary.LittleEndian.Uint64(b[8*(64*w+i):])
			v := t.logType(cell & 0xFFFFFF)
			if v == maybe {
				if t.words != nil && s.lacksWord(t, c, cell) {
					continue
				}
				if v, err = s.cell(t, c, cell); err != nil {
					return nil, nil, err
				}
			}
			switch v {
			case yes:
				must[w] |= bit
				may[w] |= bit
			case maybe:
				may[w] |= bit
			}
		}
	}
	return andBits(may, rows), andBits(must, rows), nil
}

// cell evaluates a test on one text, whose log type may match. A text that cannot be put together is open.
func (s *scan) cell(t *TextTest, c *scanColumn, cell uint64) (certainty, error) {
	id, index := cell&0xFFFFFF, cell>>24
	if id >= uint64(len(t.types)) || t.known[id] == nil {
		return maybe, nil
	}
	kinds := t.kinds[id]
	if index > uint64(c.variables) || uint64(len(kinds)) > uint64(c.variables)-index {
		return maybe, nil
	}
	vars, err := s.bytes(&c.vars, c.off+8*s.table.records+8+8*int64(index), 8*int64(len(kinds)))
	if err != nil {
		if s.leaves != nil { // they are not where those of the block are
			return maybe, nil
		}
		return maybe, err
	}
	for i := range t.needs {
		if !t.needs[i].met(kinds, vars) {
			return no, nil
		}
	}
	if t.lacksWord(id, vars) {
		return no, nil
	}
	return s.match(t, t.known[id], vars)
}

// met reports whether one of the variables is the one that is needed.
func (n *need) met(kinds, vars []byte) bool {
	for i, kind := range kinds {
		if kind != n.placeholder {
			continue
		}
		v := binary.LittleEndian.Uint64(vars[8*i:])
		if v == n.bits && kind != encoding.DictPlaceholder || kind == encoding.DictPlaceholder && slices.Contains(n.ids, v) {
			return true
		}
	}
	return false
}

// lacksWord reports whether a text would need a variable of the dictionary that it does not have, as far as its variables are at
// hand.
func (s *scan) lacksWord(t *TextTest, c *scanColumn, cell uint64) bool {
	id, index := cell&0xFFFFFF, int64(cell>>24)
	if id >= uint64(len(t.kinds)) {
		return false
	}
	at := c.off + 8*s.table.records + 8 + 8*index - c.vars.from
	if n := len(t.kinds[id]); at < 0 || at+int64(8*n) > int64(len(c.vars.plain)) || index > c.variables-int64(n) {
		return false
	}
	return t.lacksWord(id, c.vars.plain[at:])
}

// lacksWord reports whether a text of a log type would need a variable of the dictionary that vars do not have.
func (t *TextTest) lacksWord(id uint64, vars []byte) bool {
	if t.words == nil || id >= uint64(len(t.byWord)) || t.byWord[id] == nil {
		return false
	}
	for _, i := range t.byWord[id] {
		if t.words.Has(binary.LittleEndian.Uint64(vars[8*i:])) {
			return false
		}
	}
	return true
}

// match puts a text together, or as much of it as decides.
func (s *scan) match(t *TextTest, l *logtype, vars []byte) (certainty, error) {
	if l.err != nil {
		return maybe, nil
	}
	run, ok := t.pattern.Run()
	s.message = s.message[:0]
	for i := range l.pieces {
		p := &l.pieces[i]
		v := binary.LittleEndian.Uint64(vars[8*i:])
		from := len(s.message)
		s.message = append(s.message, p.text...)
		var err error
		switch p.kind {
		case encoding.IntPlaceholder:
			s.message = encoding.AppendInt(s.message, int64(v))
		case encoding.FloatPlaceholder:
			if s.message, err = encoding.AppendFloat(s.message, encoding.EightByte, int64(v)); err != nil {
				return maybe, nil
			}
		default:
			word, err := s.variable(v)
			if _, limit := err.(*LimitError); limit {
				return maybe, err
			}
			if err != nil {
				return maybe, nil
			}
			s.message = append(s.message, word...)
		}
		if ok && !run.Read(s.message[from:]) {
			return no, nil
		}
	}
	from := len(s.message)
	s.message = append(s.message, l.tail...)
	if ok {
		run.Read(s.message[from:])
		ok = run.Matches()
	} else {
		ok = t.pattern.Match(s.message)
	}
	if ok {
		return yes, nil
	}
	return no, nil
}
