// Package fields picks the keys of events that a user wants to see.
//
//	s, err := fields.Parse([]string{"http.*", "took"}, []string{"*_id"})
//	e = s.Apply(e)
//
// A pattern is a dotted key ("http.status"), in which * stands for any text, ? for one character and [ab] for one of
// several, as in [path.Match]. It names the key and everything below it.
package fields

import (
	"fmt"
	"log/slog"
	"path"
	"strings"

	"github.com/tracehandler/tracehandler/event"
)

// Selection shows and hides keys. The zero Selection shows all. It is immutable once parsed.
type Selection struct {
	show, hide []pattern
}

// pattern is a key, or a glob if it holds one of its signs.
type pattern struct {
	text string
	glob bool
}

// Parse checks the patterns. With no pattern in show, everything is shown that hide does not name.
func Parse(show, hide []string) (s Selection, err error) {
	if s.show, err = parse(show); err != nil {
		return Selection{}, err
	}
	if s.hide, err = parse(hide); err != nil {
		return Selection{}, err
	}
	return s, nil
}

func parse(texts []string) ([]pattern, error) {
	var all []pattern
	for _, t := range texts {
		if _, err := path.Match(t, ""); err != nil || t == "" {
			return nil, fmt.Errorf("%q is no key pattern", t)
		}
		p := pattern{t, strings.ContainsAny(t, `*?[\`)}
		if p.glob {
			p.text = escape(t)
		}
		all = append(all, p)
	}
	return all, nil
}

// Empty reports whether the selection shows everything.
func (s Selection) Empty() bool { return len(s.show) == 0 && len(s.hide) == 0 }

// Names returns the outermost keys that the selection may show something of; all is true if it may be any.
func (s Selection) Names() (names []string, all bool) {
	for _, p := range s.show {
		all = all || p.glob
		for i := range len(p.text) { // a dot may be one of a key
			if p.text[i] == '.' {
				names = append(names, p.text[:i])
			}
		}
		names = append(names, p.text)
	}
	return names, all || len(s.show) == 0
}

// Apply returns the event with the keys that the selection shows. Groups that lose all their keys go too. A line that is not valid
// JSON loses what follows the fault.
func (s Selection) Apply(e event.Event) event.Event {
	if s.Empty() {
		return e
	}
	kept := make([]slog.Attr, 0, 8)
	var name [64]byte
	for a := range e.All() {
		if a, ok := s.attr(name[:0], a, len(s.show) == 0); ok {
			kept = append(kept, a)
		}
	}
	return event.New(kept...)
}

// attr returns what is left of a below prefix. Shown says that an ancestor is already chosen.
func (s Selection) attr(prefix []byte, a slog.Attr, shown bool) (slog.Attr, bool) {
	name := append(prefix, a.Key...)
	if matches(s.hide, name) {
		return a, false
	}
	shown = shown || matches(s.show, name)
	if a.Value.Kind() != slog.KindGroup {
		return a, shown
	}
	group := a.Value.Group()
	if len(group) == 0 || shown && len(s.hide) == 0 {
		return a, shown
	}
	var kept []slog.Attr
	name = append(name, '.')
	for _, child := range group {
		if child, ok := s.attr(name, child, shown); ok {
			kept = append(kept, child)
		}
	}
	return slog.Attr{Key: a.Key, Value: slog.GroupValue(kept...)}, len(kept) > 0
}

func matches(patterns []pattern, name []byte) bool {
	globbed := ""
	for _, p := range patterns {
		if !p.glob {
			if string(name) == p.text {
				return true
			}
			continue
		}
		if globbed == "" {
			globbed = escape(string(name))
		}
		if ok, _ := path.Match(p.text, globbed); ok {
			return true
		}
	}
	return false
}

// escape takes the special meaning from the slash, which separates nothing in keys.
func escape(s string) string { return strings.ReplaceAll(s, "/", "\x00") }
