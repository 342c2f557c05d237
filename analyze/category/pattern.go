package category

import "strings"

// pattern is a small search language, fast on kernel names of several kilobytes, where a table of regular expressions
// would take longer than reading the trace: lower-case literals that occur in this order, separated by '*'. A literal in
// angle brackets is a whole word in the sense of \b…\b; '#' stands for one digit or more; a leading '^' anchors.
type pattern []literal

type literal struct {
	text   string
	word   bool
	anchor bool
}

func compile(s string) pattern {
	var p pattern
	for part := range strings.SplitSeq(s, "*") {
		var l literal
		if rest, ok := strings.CutPrefix(part, "^"); ok {
			l.anchor, part = true, rest
		}
		if strings.HasPrefix(part, "<") && strings.HasSuffix(part, ">") {
			l.word, part = true, part[1:len(part)-1]
		}
		l.text = part
		p = append(p, l)
	}
	return p
}

// match reports whether the lower-case name contains the pattern.
func (p pattern) match(name string) bool {
	rest := 0
	for _, l := range p {
		n := l.find(name, rest)
		if n < 0 {
			return false
		}
		rest = n
	}
	return true
}

// find returns the index behind the literal's first occurrence at or after from.
func (l literal) find(name string, from int) int {
	head, tail, digits := strings.Cut(l.text, "#")
	for at := from; ; {
		n := strings.Index(name[at:], head)
		if n < 0 || l.anchor && at+n != 0 {
			return -1
		}
		start := at + n
		end := start + len(head)
		ok := true
		if digits {
			first := end
			for end < len(name) && '0' <= name[end] && name[end] <= '9' {
				end++
			}
			ok = end > first
			if ok && tail != "" {
				sub := literal{text: tail}
				behind := sub.find(name, end)
				ok = behind >= 0 && strings.HasPrefix(name[end:], strings.SplitN(tail, "#", 2)[0])
				end = behind
			}
		}
		if ok && l.word {
			ok = (start == 0 || !wordByte(name[start-1])) && (end == len(name) || !wordByte(name[end]))
		}
		if ok {
			return end
		}
		at = start + 1
	}
}

func wordByte(c byte) bool {
	return c == '_' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || c >= 0x80
}

// rules is an ordered list; the first that matches wins.
type rules []rule

type rule struct {
	category Category
	patterns []pattern
}

func newRules(table []struct {
	Category Category
	Patterns string
}) rules {
	var rs rules
	for _, t := range table {
		r := rule{category: t.Category}
		for _, s := range strings.Fields(t.Patterns) {
			r.patterns = append(r.patterns, compile(strings.ReplaceAll(s, "␣", " ")))
		}
		rs = append(rs, r)
	}
	return rs
}

func (rs rules) first(name string) (Category, bool) {
	for _, r := range rs {
		for _, p := range r.patterns {
			if p.match(name) {
				return r.category, true
			}
		}
	}
	return Others, false
}
