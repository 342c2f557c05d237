package kql

import (
	"fmt"
	"strings"
)

// column is the path of a key.
type column struct {
	namespace byte // 0, '@', '$', '!' or '#'
	words     []keyWord
	star      bool // some word is any
	all       bool // all words are any
}

// keyWord is a name, or any number of levels.
type keyWord struct {
	name string
	any  bool
}

const maxWords = 63 // levels in a path; states of a match have a bit each

// parseColumn reads a path.
func parseColumn(l lexeme) (column, error) {
	s, at := l.content()
	var c column
	if s != "" && strings.IndexByte("@$!#", s[0]) >= 0 {
		c.namespace = s[0]
		s, at = s[1:], at+1
	}
	var name []byte
	from := 0
	flush := func(to int) error {
		if from == to {
			return &SyntaxError{at + to, "a name in the path is empty", "a dot in a name is written \\."}
		}
		if len(c.words) == maxWords {
			return &SyntaxError{at + to, fmt.Sprintf("a path of more than %d names", maxWords), ""}
		}
		c.words = append(c.words, keyWord{string(name), s[from:to] == "*"})
		name, from = name[:0], to+1
		return nil
	}
	for i := 0; i < len(s); i++ {
		switch ch := s[i]; ch {
		case '.':
			if err := flush(i); err != nil {
				return c, err
			}
		case '\\':
			if i++; i == len(s) {
				return c, &SyntaxError{at + i - 1, "nothing behind the last backslash", `a backslash is written \\`}
			}
			switch e := s[i]; e {
			case 't', 'r', 'n', 'b', 'f':
				name = append(name, control(e))
			case 'u':
				r, ok := hex4(s[i:])
				if !ok {
					return c, &SyntaxError{at + i - 1, `\u without four digits`, ""}
				}
				name = append(name, string(r)...)
				i += 4
			default:
				if strings.IndexByte(`\*?"{}()<>@$!#.:`, e) < 0 {
					return c, &SyntaxError{at + i - 1, fmt.Sprintf(`\%c is no escape in a key`, e), ""}
				}
				name = append(name, e)
			}
		default:
			name = append(name, ch)
		}
	}
	if err := flush(len(s)); err != nil {
		return c, err
	}
	c.look()
	return c, nil
}

func (c *column) look() {
	c.star, c.all = false, true
	for _, w := range c.words {
		c.star = c.star || w.any
		c.all = c.all && w.any
	}
}

// inside returns c as a key inside outer.
func (c column) inside(outer column) column {
	c.namespace = outer.namespace
	c.words = append(append([]keyWord{}, outer.words...), c.words...)
	c.look()
	return c
}

// states is the set of words of a path that may come next, a bit each: bit i after i words.
type states uint64

func (c *column) start() states { return c.closure(1) }

func (c *column) done(s states) bool { return s>>len(c.words)&1 != 0 }

// closure adds what is behind words that may stand for no level.
func (c *column) closure(s states) states {
	for i, w := range c.words {
		if w.any {
			s |= s >> i & 1 << (i + 1)
		}
	}
	return s
}

// step goes through a key. An empty one takes no word.
func (c *column) step(s states, key string) states {
	var next states
	for i := range c.words {
		if s>>i&1 == 0 {
			continue
		}
		if w := &c.words[i]; w.any {
			next |= 1 << i
		} else if w.name == key {
			next |= 1 << (i + 1)
		}
	}
	if key == "" {
		next |= s
	}
	return c.closure(next)
}

// exact goes through a key that must be the next word.
func (c *column) exact(s states, key string) states {
	for i, w := range c.words {
		if s == 1<<i && w.name == key {
			return 1 << (i + 1)
		}
	}
	return 0
}
