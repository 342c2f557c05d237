package filter

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"log/slog"
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/tracehandler/tracehandler/event"
)

// Condition is a test of one key: "status>=500", "err", "!user", "http.route=/healthz".
//
// Keys: groups are joined by dots ("http.status"). A key that itself holds dots is found too; what is nested comes first.
//
// Operators:
//
//	key            the key is there                  !key           it is not
//	key=value      equal                             key!=value     not equal, or not there
//	key~=text      the value contains the text       key!~=text     does not, or is not there
//	key=~regexp    the value matches (RE2)           key!~regexp    does not, or is not there
//	key<value  key<=value  key>value  key>=value     smaller, greater
//
// Values: numbers are compared as numbers; a length of time such as 1.5ms also compares with the whole nanoseconds that slog
// writes; times as times if both are RFC 3339; other text byte by byte. Objects and arrays are tested by their JSON text.
type Condition struct {
	paths  [][]string // where the key may be, in order of preference
	needle []byte     // what a line holds that has the key and no \u escape; nil if that cannot be said
	op     op
	text   string
	number number
	length time.Duration
	hasLen bool
	at     time.Time // zero if text is no time
	re     *regexp.Regexp
}

type op uint8

const (
	exists op = iota
	absent
	equal
	notEqual
	contains
	notContains
	matches
	notMatches
	less
	lessEqual
	greater
	greaterEqual
)

// operators, longest first so that none hides another.
var operators = []struct {
	text string
	op   op
}{
	{"!~=", notContains}, {"!=", notEqual}, {"~=", contains}, {"=~", matches}, {"!~", notMatches},
	{"<=", lessEqual}, {">=", greaterEqual}, {"=", equal}, {"<", less}, {">", greater},
}

// ConditionError says what is wrong with a condition.
type ConditionError struct {
	Text string
	Err  error
}

func (e *ConditionError) Error() string { return fmt.Sprintf("condition %q: %v", e.Text, e.Err) }

// Unwrap returns the cause.
func (e *ConditionError) Unwrap() error { return e.Err }

// ParseCondition reads a condition. The error is a [*ConditionError].
func ParseCondition(text string) (*Condition, error) {
	key, o, value := split(text)
	c := &Condition{op: o, text: value}
	if key == "" {
		return nil, &ConditionError{text, fmt.Errorf("no key; want key=value, key!=value, key~=text, key=~regexp, key<value, key>value, key or !key")}
	}
	c.paths = paths(key)
	if last := key[strings.LastIndexByte(key, '.')+1:]; strings.Trim(last, plainKey) == "" {
		c.needle = []byte(last + `"`)
	}
	switch o {
	case matches, notMatches:
		re, err := regexp.Compile(value)
		if err != nil {
			return nil, &ConditionError{text, err}
		}
		c.re = re
	case less, lessEqual, greater, greaterEqual:
		if value == "" {
			return nil, &ConditionError{text, fmt.Errorf("nothing to compare with")}
		}
	}
	c.number = parseNumber(value)
	if !c.number.ok {
		d, err := time.ParseDuration(value)
		c.length, c.hasLen = d, err == nil
	}
	if t, err := time.Parse(time.RFC3339, value); err == nil {
		c.at = t
	}
	return c, nil
}

// plainKey are characters that JSON writes as they are or as \u escapes.
const plainKey = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-@"

// surelyAbsent reports whether a search for bytes, which is much faster than one for keys, is enough to know that e does
// not have the key.
func (c *Condition) surelyAbsent(e event.Event) bool {
	line := e.Line()
	return line != nil && c.needle != nil && !bytes.Contains(line, c.needle) && !bytes.Contains(line, []byte(`\u`))
}

// split finds the first operator. A "!" in front of a key without operator means absent.
func split(text string) (key string, o op, value string) {
	for i := range len(text) {
		for _, p := range operators {
			if strings.HasPrefix(text[i:], p.text) {
				return text[:i], p.op, text[i+len(p.text):]
			}
		}
	}
	if rest, ok := strings.CutPrefix(text, "!"); ok {
		return rest, absent, ""
	}
	return text, exists, ""
}

// paths returns the places at which a dotted key may be found. Up to four parts every reading is tried, from fully
// nested to one literal key; beyond that only these two.
func paths(key string) [][]string {
	parts := strings.Split(key, ".")
	if len(parts) == 1 {
		return [][]string{parts}
	}
	if len(parts) > 4 {
		return [][]string{parts, {key}}
	}
	var all [][]string
	for joined := range 1 << (len(parts) - 1) { // bit i: parts i and i+1 are one key
		path := parts[:1:1]
		for i, part := range parts[1:] {
			if joined&(1<<i) != 0 {
				path = append(path[:len(path)-1:len(path)-1], path[len(path)-1]+"."+part)
			} else {
				path = append(path, part)
			}
		}
		all = append(all, path)
	}
	return all
}

// lookup returns the value of the first of the paths that e has.
func lookup(e event.Event, paths [][]string) (slog.Value, bool) {
	for _, p := range paths {
		if v, ok := e.Get(p...); ok {
			return v, true
		}
	}
	return slog.Value{}, false
}

// Match reports whether e meets the condition.
func (c *Condition) Match(e event.Event) bool {
	var v slog.Value
	ok := false
	if !c.surelyAbsent(e) {
		v, ok = lookup(e, c.paths)
	}
	switch c.op {
	case exists:
		return ok
	case absent:
		return !ok
	case equal:
		return ok && c.equal(v)
	case notEqual:
		return !ok || !c.equal(v)
	case contains:
		return ok && strings.Contains(Text(v), c.text)
	case notContains:
		return !ok || !strings.Contains(Text(v), c.text)
	case matches:
		return ok && c.re.MatchString(Text(v))
	case notMatches:
		return !ok || !c.re.MatchString(Text(v))
	}
	if !ok {
		return false
	}
	order, ok := c.compare(v)
	if !ok {
		return false
	}
	switch c.op {
	case less:
		return order < 0
	case lessEqual:
		return order <= 0
	case greater:
		return order > 0
	default:
		return order >= 0
	}
}

func (c *Condition) equal(v slog.Value) bool {
	text := Text(v)
	if text == c.text {
		return true
	}
	if v.Kind() == slog.KindString { // "007" is not 7
		return !c.at.IsZero() && c.equalTime(text)
	}
	order, ok := c.compare(v)
	return ok && order == 0
}

func (c *Condition) equalTime(text string) bool {
	t, err := time.Parse(time.RFC3339, text)
	return err == nil && t.Equal(c.at)
}

// compare orders the value against the condition's. Not ok: they cannot be compared.
func (c *Condition) compare(v slog.Value) (order int, ok bool) {
	if n := numberOf(v); n.ok {
		switch {
		case c.number.ok:
			return n.compare(c.number)
		case c.hasLen:
			return n.compare(number{ok: true, isInt: true, i: int64(c.length), f: float64(c.length)})
		}
		return 0, false
	}
	if v.Kind() != slog.KindString {
		return 0, false
	}
	text := v.String()
	switch {
	case c.number.ok:
		return parseNumber(text).compare(c.number)
	case c.hasLen:
		d, err := time.ParseDuration(text)
		return cmp.Compare(d, c.length), err == nil
	case !c.at.IsZero():
		if t, err := time.Parse(time.RFC3339, text); err == nil {
			return t.Compare(c.at), true
		}
	}
	return strings.Compare(text, c.text), true
}

// number is exact for integers and a float64 for the rest.
type number struct {
	ok, isInt bool
	i         int64
	f         float64
}

func parseNumber(text string) number {
	if i, err := strconv.ParseInt(text, 10, 64); err == nil {
		return number{ok: true, isInt: true, i: i, f: float64(i)}
	}
	f, err := strconv.ParseFloat(text, 64)
	return number{ok: err == nil && !math.IsNaN(f), f: f}
}

func numberOf(v slog.Value) number {
	switch v.Kind() {
	case slog.KindInt64:
		return number{ok: true, isInt: true, i: v.Int64(), f: float64(v.Int64())}
	case slog.KindDuration:
		return number{ok: true, isInt: true, i: int64(v.Duration()), f: float64(v.Duration())}
	case slog.KindUint64:
		u := v.Uint64()
		return number{ok: true, isInt: u <= math.MaxInt64, i: int64(u), f: float64(u)}
	case slog.KindFloat64:
		return number{ok: !math.IsNaN(v.Float64()), f: v.Float64()}
	case slog.KindAny:
		if n, ok := v.Any().(json.Number); ok {
			return parseNumber(string(n))
		}
	}
	return number{}
}

func (n number) compare(m number) (int, bool) {
	switch {
	case !n.ok || !m.ok:
		return 0, false
	case n.isInt && m.isInt && n.i < m.i, !(n.isInt && m.isInt) && n.f < m.f:
		return -1, true
	case n.isInt && m.isInt && n.i > m.i, !(n.isInt && m.isInt) && n.f > m.f:
		return 1, true
	}
	return 0, true
}
