package analysis

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"
)

// fileCheck is a list of directives in the language of LLVM's FileCheck (llvm.org/docs/CommandGuide/FileCheck.html). Of
// it CHECK, CHECK-NOT, CHECK-NEXT, CHECK-SAME and {{regular expressions}} are understood; variables are not.
type fileCheck struct{ rules []rule }

type rule struct {
	kind ruleKind
	text []byte         // a fixed text, or
	re   *regexp.Regexp // a pattern with regular expressions
}

type ruleKind uint8

const (
	checkText ruleKind = iota
	checkNot
	checkNext
	checkSame
)

func compileCheck(text string) (*fileCheck, error) {
	c := &fileCheck{}
	for line := range strings.SplitSeq(text, "\n") {
		_, d, ok := strings.Cut(line, "CHECK")
		if !ok {
			continue
		}
		r := rule{}
		switch {
		case strings.HasPrefix(d, ":"):
		case strings.HasPrefix(d, "-NOT:"):
			r.kind = checkNot
		case strings.HasPrefix(d, "-NEXT:"):
			r.kind = checkNext
		case strings.HasPrefix(d, "-SAME:"):
			r.kind = checkSame
		default:
			return nil, fmt.Errorf("directive not supported: CHECK%s", d)
		}
		p := strings.TrimSpace(d[strings.IndexByte(d, ':')+1:])
		if p == "" {
			return nil, fmt.Errorf("empty pattern: %s", strings.TrimSpace(line))
		}
		if strings.Contains(p, "[[") {
			return nil, fmt.Errorf("variables are not supported: %s", p)
		}
		if (r.kind == checkNext || r.kind == checkSame) && len(c.rules) == 0 {
			return nil, fmt.Errorf("%s without a CHECK before it", strings.TrimSpace(line))
		}
		p = string(foldSpace([]byte(p)))
		if !strings.Contains(p, "{{") {
			r.text = []byte(p)
			c.rules = append(c.rules, r)
			continue
		}
		var expr strings.Builder
		for p != "" {
			fixed, rest, ok := strings.Cut(p, "{{")
			expr.WriteString(regexp.QuoteMeta(fixed))
			if !ok {
				break
			}
			inner, after, ok := strings.Cut(rest, "}}")
			if !ok {
				return nil, fmt.Errorf("{{ without }}: %s", p)
			}
			expr.WriteString("(?:" + inner + ")")
			p = after
		}
		var err error
		if r.re, err = regexp.Compile(expr.String()); err != nil {
			return nil, err
		}
		c.rules = append(c.rules, r)
	}
	if len(c.rules) == 0 {
		return nil, fmt.Errorf("no CHECK directive")
	}
	return c, nil
}

// foldSpace makes each run of spaces and tabs one space, as FileCheck does before it compares.
func foldSpace(s []byte) []byte {
	out := make([]byte, 0, len(s))
	for i, c := range s {
		if c == '\t' {
			c = ' '
		}
		if c == ' ' && i > 0 && (s[i-1] == ' ' || s[i-1] == '\t') {
			continue
		}
		out = append(out, c)
	}
	return out
}

func (r *rule) find(s []byte) (from, to int, ok bool) {
	if r.re == nil {
		i := bytes.Index(s, r.text)
		return i, i + len(r.text), i >= 0
	}
	loc := r.re.FindIndex(s)
	if loc == nil {
		return 0, 0, false
	}
	return loc[0], loc[1], true
}

// possible reports whether the text could pass: whether it holds the longest word of each fixed directive. It is
// cheap, and most texts fail it.
func (c *fileCheck) possible(s []byte) bool {
	for i := range c.rules {
		r := &c.rules[i]
		if r.kind == checkNot || r.re != nil {
			continue
		}
		var longest []byte
		for w := range bytes.SplitSeq(r.text, []byte{' '}) {
			if len(w) > len(longest) {
				longest = w
			}
		}
		if !bytes.Contains(s, longest) {
			return false
		}
	}
	return true
}

// run reports whether all directives hold for a text with folded spaces, and where each positive one matched.
func (c *fileCheck) run(s []byte) (places []int, ok bool) {
	at := 0
	var nots []rule
	clean := func(to int) bool {
		for i := range nots {
			if _, _, hit := nots[i].find(s[at:to]); hit {
				return false
			}
		}
		nots = nots[:0]
		return true
	}
	for i := range c.rules {
		r := &c.rules[i]
		if r.kind == checkNot {
			nots = append(nots, *r)
			continue
		}
		from, to, hit := r.find(s[at:])
		if !hit {
			return nil, false
		}
		from, to = at+from, at+to
		lineEnds := bytes.Count(s[at:from], []byte{'\n'})
		if r.kind == checkNext && lineEnds != 1 || r.kind == checkSame && lineEnds != 0 || !clean(from) {
			return nil, false
		}
		places = append(places, from)
		at = to
	}
	if !clean(len(s)) {
		return nil, false
	}
	return places, true
}
