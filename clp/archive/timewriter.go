package archive

import (
	"strconv"
	"strings"

	"github.com/tracehandler/tracehandler/internal/timepattern"
)

// times is what the writer knows of the times of records.
type times struct {
	ids      map[string]uint64 // of patterns
	spelling []string          // by their ID
	text     []byte

	// The last time that was spelt as RFC 3339 has it, or nearly so.
	day     [10]byte // its date
	days    int64    // since 1970
	iso     [5]isoPattern
	isoNext int

	forms    [8]knownForm // of Row
	formNext int
}

// isoPattern is a pattern of times that begin like 2006-01-02T15:04:05, and how to know one.
type isoPattern struct {
	dash      byte   // between year, month and day
	separator byte   // between date and clock
	point     byte   // before the decimals, 0 if there are none
	decimals  byte   // 3, 6, 9, or 1 for any others
	zone      string // text behind all that
	offset    int64  // seconds that it is ahead of UTC
	id        uint64
	known     bool
}

// maxPatterns is how many spellings of the time an archive has: zones vary, but not without end.
const maxPatterns = 1000

// timeSpan is the range of the archive's times.
type timeSpan struct {
	began       bool // a time has been seen
	first, last int64
}

// saw widens the range.
func (t *timeSpan) saw(ns int64) {
	if !t.began {
		t.began, t.first, t.last = true, ns, ns
	}
	t.first, t.last = min(t.first, ns), max(t.last, ns)
}

// id returns the ID of a pattern, which is new if it was not seen before. It reports false if there are too many.
func (t *times) id(pattern string) (uint64, bool) {
	if id, ok := t.ids[pattern]; ok {
		return id, true
	}
	if len(t.spelling) == maxPatterns {
		return 0, false
	}
	id := uint64(len(t.spelling))
	t.ids[pattern] = id
	t.spelling = append(t.spelling, pattern)
	return id, true
}

// string makes a time of a JSON string, quotes included, if a pattern prints the string again.
func (t *times) string(raw []byte) (leaf, bool) {
	if l, ok := t.isoString(raw); ok {
		return l, true
	}
	ns, pattern, ok := timepattern.Match(raw)
	if !ok {
		return leaf{}, false
	}
	return t.checked(pattern, ns, raw)
}

// checked makes a time if the pattern prints it as text has it.
func (t *times) checked(pattern string, ns int64, text []byte) (leaf, bool) {
	p, err := timepattern.Parse(pattern)
	if err != nil {
		return leaf{}, false
	}
	if t.text, err = p.Append(t.text[:0], ns); err != nil || string(t.text) != string(text) {
		return leaf{}, false
	}
	id, ok := t.id(pattern)
	return leaf{bits: uint64(ns), second: id}, ok
}

// isoString makes a time of what most programs write: a date, T or a space, a clock, decimals, and a zone that was seen
// before or is Z. All its fields have fixed widths, so that what is read prints the same.
func (t *times) isoString(raw []byte) (leaf, bool) {
	s := raw[1 : len(raw)-1]
	if len(s) < 19 {
		return leaf{}, false
	}
	if [10]byte(s) != t.day {
		if !t.date(s) {
			return leaf{}, false
		}
	}
	hour, ok1 := two(s[11:])
	minute, ok2 := two(s[14:])
	second, ok3 := two(s[17:])
	if !ok1 || !ok2 || !ok3 || s[13] != ':' || s[16] != ':' || hour > 23 || minute > 59 || second > 59 {
		return leaf{}, false
	}
	rest := s[19:]
	p := isoPattern{dash: s[4], separator: s[10]}
	ns := int64(0)
	if len(rest) > 1 && (rest[0] == '.' || rest[0] == ',') {
		n := 1
		for n < len(rest) && rest[n]-'0' <= 9 {
			ns = ns*10 + int64(rest[n]-'0')
			if n++; n > 10 {
				return leaf{}, false
			}
		}
		if n == 1 {
			return leaf{}, false
		}
		p.point, p.decimals = rest[0], byte(n-1)
		if p.decimals != 3 && p.decimals != 6 && p.decimals != 9 {
			if rest[n-1] == '0' {
				return leaf{}, false
			}
			p.decimals = 1
		}
		ns = timepattern.Fraction(ns, n-1)
		rest = rest[n:]
	}
	for i := range t.iso {
		k := &t.iso[i]
		if k.known && k.dash == p.dash && k.separator == p.separator && k.point == p.point && k.decimals == p.decimals && k.zone == string(rest) {
			seconds := t.days*86400 + int64(hour*3600+minute*60+second) - k.offset
			at, ok := timepattern.Nanoseconds(seconds, ns)
			return leaf{bits: uint64(at), second: k.id}, ok
		}
	}
	return t.newISO(raw, p, string(rest))
}

// newISO makes a time whose pattern was not seen lately.
func (t *times) newISO(raw []byte, p isoPattern, zone string) (leaf, bool) {
	ns, pattern, ok := timepattern.Match(raw)
	if !ok {
		return leaf{}, false
	}
	l, ok := t.checked(pattern, ns, raw)
	if !ok {
		return leaf{}, false
	}
	parsed, err := timepattern.Parse(pattern)
	if err != nil || strings.Contains(pattern, `\J`) || !strings.HasPrefix(pattern, `"\Y`) {
		return l, true
	}
	p.zone, p.offset, p.id, p.known = zone, parsed.Zone(), l.second, true
	t.iso[t.isoNext] = p
	t.isoNext = (t.isoNext + 1) % len(t.iso)
	return l, true
}

// date reads the date that s begins with.
func (t *times) date(s []byte) bool {
	century, ok1 := two(s)
	year, ok2 := two(s[2:])
	month, ok3 := two(s[5:])
	day, ok4 := two(s[8:])
	year += 100 * century
	if !ok1 || !ok2 || !ok3 || !ok4 || s[4] != '-' && s[4] != '/' || s[7] != s[4] || !timepattern.ValidDate(year, month, day) {
		return false
	}
	t.day = [10]byte(s)
	t.days = timepattern.Days(int64(year), int64(month), int64(day))
	return true
}

// two reads two digits.
func two(s []byte) (int, bool) {
	a, b := s[0]-'0', s[1]-'0'
	return int(a)*10 + int(b), a <= 9 && b <= 9
}

// number makes a time of a JSON number: since 1970 in the unit that the size suggests, or seconds with decimals.
func (t *times) number(text []byte) (leaf, bool) {
	if i, ok := parseInteger(text); ok {
		ns, pattern, ok := timepattern.Integer(i)
		if !ok {
			return leaf{}, false
		}
		id, ok := t.id(pattern)
		return leaf{bits: uint64(ns), second: id}, ok
	}
	ns, pattern, ok := timepattern.Decimals(unsafeString(text))
	if !ok {
		return leaf{}, false
	}
	return t.checked(pattern, ns, text)
}

// parseInteger reads an integer whose text comes back.
func parseInteger(text []byte) (int64, bool) {
	i, err := strconv.ParseInt(unsafeString(text), 10, 64)
	return i, err == nil && (i != 0 || text[0] != '-')
}
