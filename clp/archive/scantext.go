package archive

import (
	"encoding/binary"
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
	known   map[uint64]*logtype
	open    bool // of some log types
	never   bool
	needs   []need
	windows []window // that matching records lie in, nil if it is not known
	text    []byte
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
	t := &TextTest{r: r, pattern: pattern, known: map[uint64]*logtype{}}
	t.never = true
	err := r.LogTypes().chunks(nil, func(first uint64, plain []byte) error {
		t.unknown(first)
		return eachEntry(plain, func(text []byte) error {
			v := no
			var kinds []byte
			if pattern.MayMatchLogtype(text) {
				v, t.never = maybe, false
				if pattern.MustMatchLogtype(text) {
					v = yes
				} else {
					kinds = placeholders(text)
					t.known[uint64(len(t.types))] = parseLogtype(text, false)
				}
			}
			t.types = append(t.types, v)
			t.kinds = append(t.kinds, kinds)
			t.open = t.open || v == maybe
			return r.pool.take(32 + int64(len(kinds)))
		})
	})
	if r.logs.damage() != nil { // some are not known
		t.unknown(uint64(len(t.types)) + 1)
	}
	if err != nil || t.never {
		return t, err
	}
	for _, v := range pattern.Variables(encoding.EightByte) {
		n := need{placeholder: v.Kind.Placeholder(), bits: uint64(v.Bits)}
		if v.Kind == encoding.Dict {
			if n.ids, err = r.Variables().find(v.Word, fold); err != nil {
				return nil, err
			}
			if len(n.ids) == 0 {
				t.never, t.open = true, false
				return t, nil
			}
			if w := r.Variables().windows(n.ids); w != nil && (t.windows == nil || width(w) < width(t.windows)) {
				t.windows = w
			}
		}
		t.needs = append(t.needs, n)
	}
	return t, nil
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
		t.types, t.kinds = append(t.types, maybe), append(t.kinds, nil)
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

// text evaluates a test on n rows from row from on.
func (s *scan) text(t *TextTest, c *scanColumn, from int64, n int, rows []uint64) (may, must []uint64, err error) {
	b, err := s.bytes(&c.values, c.off+8*from, 8*int64(n))
	if err != nil {
		return nil, nil, err
	}
	may, must = make([]uint64, (n+63)/64), make([]uint64, (n+63)/64)
	for i := 0; len(b) >= 8; i++ {
		cell := binary.LittleEndian.Uint64(b)
		b = b[8:]
		bit := uint64(1) << (i % 64)
		if rows[i/64]&bit == 0 {
			continue
		}
		v := t.logType(cell & 0xFFFFFF)
		if v == no {
			continue
		}
		if v == maybe {
			if v, err = s.message(t, c, cell); err != nil {
				return nil, nil, err
			}
		}
		if v != no {
			may[i/64] |= bit
			if v == yes {
				must[i/64] |= bit
			}
		}
	}
	return andBits(may, rows), andBits(must, rows), nil
}

// message evaluates a test on one text, whose log type may match. A text that cannot be put together is open.
func (s *scan) message(t *TextTest, c *scanColumn, cell uint64) (certainty, error) {
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
		return maybe, err
	}
	for i := range t.needs {
		if !t.needs[i].met(kinds, vars) {
			return no, nil
		}
	}
	return t.match(t.known[id], vars)
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

// match puts a text together, or as much of it as decides.
func (t *TextTest) match(l *logtype, vars []byte) (certainty, error) {
	if l.err != nil {
		return maybe, nil
	}
	run, ok := t.pattern.Run()
	t.text = t.text[:0]
	for i := range l.pieces {
		p := &l.pieces[i]
		v := binary.LittleEndian.Uint64(vars[8*i:])
		from := len(t.text)
		t.text = append(t.text, p.text...)
		var err error
		switch p.kind {
		case encoding.IntPlaceholder:
			t.text = encoding.AppendInt(t.text, int64(v))
		case encoding.FloatPlaceholder:
			if t.text, err = encoding.AppendFloat(t.text, encoding.EightByte, int64(v)); err != nil {
				return maybe, nil
			}
		default:
			word, err := t.r.variable(v)
			if _, limit := err.(*LimitError); limit {
				return maybe, err
			}
			if err != nil {
				return maybe, nil
			}
			t.text = append(t.text, word...)
		}
		if ok && !run.Read(t.text[from:]) {
			return no, nil
		}
	}
	from := len(t.text)
	t.text = append(t.text, l.tail...)
	if ok {
		run.Read(t.text[from:])
		ok = run.Matches()
	} else {
		ok = t.pattern.Match(t.text)
	}
	if ok {
		return yes, nil
	}
	return no, nil
}
