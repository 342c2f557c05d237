package encoding

import (
	"errors"
	"fmt"
)

// Query is a wildcard pattern for whole texts: * stands for any bytes or none, ? for one byte, \ makes the next byte
// literal. It is immutable and safe for concurrent use.
type Query struct {
	elems []element
	fold  bool
	// A machine whose states are the positions in elems, one bit each (shift-and, Baeza-Yates and Gonnet 1992): bit i
	// set means that elems[:i] match what was read. It holds a prefix of at most machineStates elements.
	step  [256]uint64 // states that reading this byte leaves for the next one
	stars uint64      // states that are a *
	final uint64
	some  [3]uint64 // by Kind: states that a byte of such a variable leaves for the next one
	whole bool      // the machine holds all of elems
}

const machineStates = 63

type element struct {
	kind uint8 // 0: the byte c; '?': one byte; '*': any bytes
	c    byte
}

// ErrQuery is wrapped by what ParseQuery returns for a pattern that ends in a lone \.
var ErrQuery = errors.New("encoding: bad wildcard pattern")

// ParseQuery compiles a pattern. With fold, ASCII letters match in either case.
func ParseQuery(pattern string, fold bool) (*Query, error) {
	q := &Query{fold: fold}
	for i := 0; i < len(pattern); i++ {
		c := pattern[i]
		switch c {
		case '*':
			if n := len(q.elems); n == 0 || q.elems[n-1].kind != '*' {
				q.elems = append(q.elems, element{kind: '*'})
			}
			continue
		case '?':
			q.elems = append(q.elems, element{kind: '?'})
			continue
		case '\\':
			if i++; i == len(pattern) {
				return nil, fmt.Errorf("%w: %q ends in a lone \\", ErrQuery, pattern)
			}
			c = pattern[i]
		}
		q.elems = append(q.elems, element{c: q.lower(c)})
	}
	q.compile()
	return q, nil
}

func (q *Query) compile() {
	elems := q.elems
	q.whole = len(elems) <= machineStates
	if !q.whole {
		elems = elems[:machineStates-1]
		if elems[len(elems)-1].kind == '*' { // two stars in a row would break closure
			elems = elems[:len(elems)-1]
		}
		elems = append(elems[:len(elems):len(elems)], element{kind: '*'})
	}
	for i, e := range elems {
		bit := uint64(1) << i
		switch e.kind {
		case '*':
			q.stars |= bit
		case '?':
			for c := range q.step {
				q.step[c] |= bit
			}
		default:
			for c := range q.step {
				if q.lower(byte(c)) == e.c {
					q.step[c] |= bit
				}
			}
		}
	}
	q.final = 1 << len(elems)
	for c, class := range classes {
		if class&isToken != 0 {
			q.some[Dict] |= q.step[c]
		}
		if class&isDigit != 0 || c == '-' {
			q.some[Int] |= q.step[c]
		}
	}
	q.some[Float] = q.some[Int] | q.step['.']
}

func (q *Query) lower(c byte) byte {
	if q.fold && 'A' <= c && c <= 'Z' {
		return c + 'a' - 'A'
	}
	return c
}

// start is the set of states before anything is read.
func (q *Query) start() uint64 { return q.closure(1) }

// closure adds the state behind each * (which may match nothing).
func (q *Query) closure(s uint64) uint64 { return s | s&q.stars<<1 }

func (q *Query) read(s uint64, c byte) uint64 { return q.closure(s&q.step[c]<<1 | s&q.stars) }

func (q *Query) readAll(s uint64, text []byte) uint64 {
	for _, c := range text {
		s = q.read(s, c)
	}
	return s
}

// Match reports whether text as a whole matches.
func (q *Query) Match(text []byte) bool {
	// Greedy: on a mismatch, the last * takes one more byte.
	i, star, mark := 0, -1, 0
	for pos := 0; pos < len(text); {
		switch {
		case i < len(q.elems) && q.elems[i].kind == '*':
			star, mark = i, pos
			i++
		case i < len(q.elems) && (q.elems[i].kind == '?' || q.elems[i].c == q.lower(text[pos])):
			i++
			pos++
		case star >= 0:
			mark++
			i, pos = star+1, mark
		default:
			return false
		}
	}
	for i < len(q.elems) && q.elems[i].kind == '*' {
		i++
	}
	return i == len(q.elems)
}

// MayMatchLogtype reports whether any message with this log type can match: false is certain, true is not. A search
// asks it once for each distinct log type, and looks at the variables of the messages that are left. It takes for
// granted that a dictionary variable consists of token bytes, as NextVariable finds them; all known writers do.
func (q *Query) MayMatchLogtype(logtype []byte) bool { return q.mayMatch(logtype, &q.some) }

// mayMatch is MayMatchLogtype with the states in which some byte of a variable of each kind can be read.
func (q *Query) mayMatch(logtype []byte, some *[3]uint64) bool {
	s := q.start()
	for i := 0; i < len(logtype) && s != 0; i++ {
		switch c := logtype[i]; c {
		case IntPlaceholder:
			s = q.readAny(s, some[Int])
		case FloatPlaceholder:
			s = q.readAny(s, some[Float])
		case DictPlaceholder:
			s |= q.readAny(s, some[Dict]) // a word may be empty, too
		case Escape:
			if i++; i < len(logtype) {
				s = q.read(s, logtype[i])
			}
		default:
			s = q.read(s, c)
		}
	}
	return s&q.final != 0
}

// readAny gives all states that one byte and more lead to, which are read in the given states or taken by a *.
func (q *Query) readAny(s, some uint64) uint64 {
	s = q.closure(s&some<<1 | s&q.stars)
	for {
		next := s | q.closure(s&some<<1)
		if next == s {
			return s
		}
		s = next
	}
}

// MatchMessage reports whether the text of m as a whole matches, without building the text if the pattern is shorter
// than 64 bytes. The error is a *DecodeError, as of DecodeMessage.
func (q *Query) MatchMessage(m *Message) (bool, error) {
	if !q.whole {
		text, err := DecodeMessage(nil, m)
		return err == nil && q.Match(text), err
	}
	s := q.start()
	encoded, word := 0, 0
	var digits [24]byte
	for i := 0; i < len(m.Logtype); i++ {
		c := m.Logtype[i]
		if classes[c]&isEscape == 0 {
			s = q.read(s, c)
			continue
		}
		switch {
		case c == Escape:
			if i++; i == len(m.Logtype) {
				return false, &DecodeError{Pos: i - 1, Err: ErrEscape}
			}
			s = q.read(s, m.Logtype[i])
		case c == DictPlaceholder:
			if word == m.Words() {
				return false, &DecodeError{Pos: i, Err: ErrVariable}
			}
			s = q.readAll(s, m.Word(word))
			word++
		case encoded == len(m.Encoded):
			return false, &DecodeError{Pos: i, Err: ErrVariable}
		default:
			text, err := digits[:0], error(nil)
			if c == IntPlaceholder {
				text = AppendInt(text, m.Encoded[encoded])
			} else if text, err = AppendFloat(text, m.Width, m.Encoded[encoded]); err != nil {
				return false, &DecodeError{Pos: i, Err: err}
			}
			s = q.readAll(s, text)
			encoded++
		}
	}
	return s&q.final != 0, nil
}
