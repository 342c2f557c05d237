package timepattern

import (
	"math"
	"strconv"
	"strings"
)

// The patterns of times that the reference tries, in its order; each stands in quotes there. Besides the specifiers of a stored
// pattern they have some that stand for a choice: \Z a zone, \? decimals, \O{…} one of these bytes, \s a second from 00 to 60,
// \P time since 1970 in the unit that its size suggests. What was chosen makes the stored pattern.
// Source: y-scope/clp, components/core/src/clp_s/timestamp_parser.
var timePatterns = func() []string {
	const (
		mon   = `\B{Jan,Feb,Mar,Apr,May,Jun,Jul,Aug,Sep,Oct,Nov,Dec}`
		month = `\B{January,February,March,April,May,June,July,August,September,October,November,December}`
		dow   = `\A{Sun,Mon,Tue,Wed,Thu,Fri,Sat}`
		iso   = `\Y\O{-/}\m\O{-/}\d\O{T }\H:\M:\s`
		part  = `\O{,.}\?`
	)
	list := []string{
		iso + part + `\Z`, iso + `\Z`, iso + part, iso, `[` + iso + part + `]`, `[` + iso + `]`, `[` + iso, `<<<` + iso + `:\?`,
		`\d ` + mon + ` \Y \H:\M:\s` + part, `[\Y\m\d-\H:\M:\s]`, `\y\O{-/}\m\O{-/}\d\O{T }\H:\M:\s`, `\y\m\d\O{T }\k:\M:\s`,
		mon + ` \d, \Y \l:\M:\s \p`, mon + ` \d, \Y \I:\M:\s \p`, month + ` \d, \Y \H:\M`, `[\d\O{-/}` + mon + `\O{-/}\Y:\H:\M:\s`,
		dow + ` ` + mon + ` \e \H:\M:\s \Y`, mon + ` \d \H:\M:\s`, mon + ` \d \H:\M:\s\Z`, `\m\O{- }\d \H:\M:\s` + part,
	}
	for _, clock := range []string{`\H:\M:\s`, `\H:\M`} {
		for _, year := range []string{`\Y`, `\y`} {
			for _, day := range []string{`\d`, `\e`} {
				for _, prefix := range []string{dow + `, `, ``} {
					list = append(list, prefix+day+` `+mon+` `+year+` `+clock+`\Z`)
				}
			}
		}
	}
	return append(list, `\P`) // and `\E.\?`, see Match
}()

// Match finds the first pattern that a JSON string, quotes included, matches, and the time in nanoseconds since 1970. The text that the
// pattern prints may be another one.
func Match(raw []byte) (ns int64, pattern string, ok bool) {
	s := string(raw[1 : len(raw)-1])
	if s == "" || strings.ContainsAny(s, `\"`) {
		return 0, "", false
	}
	for _, p := range timePatterns {
		m := timeMatch{rest: s, year: 1970, month: 1, day: 1, weekday: -1}
		if m.match(p) {
			if ns, ok := m.ns(); ok {
				return ns, `"` + m.pattern.String() + `"`, true
			}
		}
	}
	if ns, pattern, ok := Decimals(s); ok {
		return ns, `"` + pattern + `"`, true
	}
	return 0, "", false
}

// timeMatch is a text on its way through a pattern.
type timeMatch struct {
	rest    string
	pattern strings.Builder // that is stored

	year, month, day, weekday  int
	hour, half, minute, second int
	noon                       string
	fraction                   int64 // ns
	zone                       int64 // seconds ahead of UTC
	epoch                      bool
	since                      int64 // ns since 1970, if epoch
}

// digits takes n digits, of which the first may be a space if padded.
func (m *timeMatch) digits(n int, padded bool) (v int, ok bool) {
	if len(m.rest) < n {
		return 0, false
	}
	for i := range n {
		c := m.rest[i]
		if padded && i == 0 && c == ' ' {
			c = '0'
		} else if padded && i == 0 && c == '0' {
			return 0, false
		}
		if c -= '0'; c > 9 {
			return 0, false
		}
		v = v*10 + int(c)
	}
	m.rest = m.rest[n:]
	return v, true
}

func (m *timeMatch) match(pattern string) bool {
	for i := 0; i < len(pattern); i++ {
		c := pattern[i]
		if c != '\\' {
			if m.rest == "" || m.rest[0] != c {
				return false
			}
			m.rest = m.rest[1:]
			m.pattern.WriteByte(c)
			continue
		}
		i++
		spec, arg := pattern[i], ""
		if i+1 < len(pattern) && pattern[i+1] == '{' {
			end := i + 2 + strings.IndexByte(pattern[i+2:], '}')
			arg = pattern[i+2 : end]
			i = end
		}
		if !m.specifier(spec, arg) {
			return false
		}
	}
	return m.rest == ""
}

// timeNumber is a specifier that stands for a number.
type timeNumber struct {
	digits, least, most int
	padded              bool // with a space
	field               func(m *timeMatch) *int
}

var timeNumbers = map[byte]timeNumber{
	'Y': {4, 0, 9999, false, func(m *timeMatch) *int { return &m.year }},
	'y': {2, 0, 99, false, func(m *timeMatch) *int { return &m.year }},
	'm': {2, 1, 12, false, func(m *timeMatch) *int { return &m.month }},
	'd': {2, 1, 31, false, func(m *timeMatch) *int { return &m.day }},
	'e': {2, 1, 31, true, func(m *timeMatch) *int { return &m.day }},
	'H': {2, 0, 23, false, func(m *timeMatch) *int { return &m.hour }},
	'k': {2, 0, 23, true, func(m *timeMatch) *int { return &m.hour }},
	'I': {2, 1, 12, false, func(m *timeMatch) *int { return &m.half }},
	'l': {2, 1, 12, true, func(m *timeMatch) *int { return &m.half }},
	'M': {2, 0, 59, false, func(m *timeMatch) *int { return &m.minute }},
	's': {2, 0, 60, false, func(m *timeMatch) *int { return &m.second }},
}

// number takes a number.
func (m *timeMatch) number(n timeNumber) bool {
	v, ok := m.digits(n.digits, n.padded)
	*n.field(m) = v
	return ok && v >= n.least && v <= n.most
}

// specifier takes what a specifier stands for.
func (m *timeMatch) specifier(spec byte, arg string) bool {
	ok := false
	stored := `\` + string(spec)
	if n, is := timeNumbers[spec]; is {
		ok = m.number(n)
	}
	switch spec {
	case 'y':
		if m.year >= 69 {
			m.year += 1900
		} else {
			m.year += 2000
		}
	case 's':
		if stored = `\S`; m.second == 60 {
			m.second, stored = 59, `\J`
		}
	case 'B', 'A':
		stored += `{` + arg + `}`
		for i, name := range strings.Split(arg, ",") {
			if rest, found := strings.CutPrefix(m.rest, name); found {
				m.rest, ok = rest, true
				if spec == 'B' {
					m.month = i + 1
				} else {
					m.weekday = i
				}
				break
			}
		}
	case 'p':
		if ok = strings.HasPrefix(m.rest, "AM") || strings.HasPrefix(m.rest, "PM"); ok {
			m.noon, m.rest = m.rest[:2], m.rest[2:]
		}
	case 'O':
		if ok = m.rest != "" && strings.IndexByte(arg, m.rest[0]) >= 0; ok {
			stored, m.rest = m.rest[:1], m.rest[1:]
		}
	case '?':
		n := 0
		for n < len(m.rest) && m.rest[n]-'0' <= 9 {
			n++
		}
		if n < 1 || n > 9 {
			return false
		}
		for i := range n {
			m.fraction = m.fraction*10 + int64(m.rest[i]-'0')
		}
		m.fraction = Fraction(m.fraction, n)
		stored, m.rest, ok = fractionSpec(n), m.rest[n:], true
	case 'Z':
		return m.zoneName()
	case 'P':
		i, err := strconv.ParseInt(m.rest, 10, 64)
		if err != nil || i == 0 && m.rest != "0" {
			return false
		}
		if m.since, stored, ok = Integer(i); !ok {
			return false
		}
		m.epoch, m.rest = true, ""
	}
	m.pattern.WriteString(stored)
	return ok
}

// zones are the names of zones that the reference knows.
var zones = []struct{ name, offset string }{
	{"EDT", "-0400"}, {"EST", "-0500"}, {"CDT", "-0500"}, {"CST", "-0600"}, {"MDT", "-0600"}, {"MST", "-0700"}, {"PDT", "-0700"}, {"PST", "-0800"},
}

// zoneName takes a zone: perhaps a space; a name, an offset, Z, or UTC with an offset.
func (m *timeMatch) zoneName() bool {
	some := false
	literal := func(s string) bool {
		rest, found := strings.CutPrefix(m.rest, s)
		if found {
			m.rest = rest
			m.pattern.WriteString(s)
		}
		return found
	}
	literal(" ")
	switch {
	case literal("UTC"):
		some = true
	case literal("UT"), literal("GMT"):
		return true
	default:
		for _, z := range zones {
			if rest, found := strings.CutPrefix(m.rest, z.name); found {
				m.rest = rest
				m.zone, _ = parseZone(z.offset)
				m.pattern.WriteString(`\o{` + z.name + `,` + z.offset + `}`)
				return true
			}
		}
	}
	for _, n := range []int{6, 5, 3} { // ±HH:MM, ±HHMM, ±HH
		if len(m.rest) < n || m.rest[0] != '+' && m.rest[0] != '-' {
			continue
		}
		zone, err := parseZone(m.rest[:n])
		if err != nil || n > 3 && m.rest[n-2] > '5' {
			continue
		}
		m.zone = zone
		m.pattern.WriteString(`\z{` + m.rest[:n] + `}`)
		m.rest = m.rest[n:]
		some = true
		break
	}
	return literal("Z") || some
}

// ns returns the time. It reports false if there is no such date, or it is beyond 64 bits.
func (m *timeMatch) ns() (int64, bool) {
	if m.epoch {
		return m.since, true
	}
	if !ValidDate(m.year, m.month, m.day) {
		return 0, false
	}
	days := Days(int64(m.year), int64(m.month), int64(m.day))
	if weekday := ((days+4)%7 + 7) % 7; m.weekday >= 0 && int64(m.weekday) != weekday {
		return 0, false
	}
	hour := m.hour
	if m.noon != "" {
		if hour = m.half % 12; m.noon == "PM" {
			hour += 12
		}
	}
	seconds := days*86400 + int64(hour*3600+m.minute*60+m.second) - m.zone
	return Nanoseconds(seconds, m.fraction)
}

// Nanoseconds returns seconds and a fraction of one, in ns, as one number, if it can be.
func Nanoseconds(seconds, fraction int64) (int64, bool) {
	if seconds < math.MinInt64/1_000_000_000 || seconds > math.MaxInt64/1_000_000_000 {
		return 0, false
	}
	ns := seconds * 1_000_000_000
	return ns + fraction, ns+fraction >= ns
}

// Fraction returns n decimals, as a number, in nanoseconds. n is 1 to 9.
func Fraction(decimals int64, n int) int64 { return decimals * tens[9-n] }

var tens = [...]int64{1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8}

// Integer makes a time of a number: since 1970 in the unit that the size suggests.
func Integer(i int64) (ns int64, pattern string, ok bool) {
	const year = 31_536_000
	unit, pattern := int64(1e9), `\E`
	switch v := abs(i); {
	case v > year*1_000_000_000 || v < 0:
		unit, pattern = 1, `\N`
	case v > year*1_000_000:
		unit, pattern = 1e3, `\C`
	case v > year*1_000:
		unit, pattern = 1e6, `\L`
	}
	if i > math.MaxInt64/unit || i < math.MinInt64/unit {
		return 0, "", false
	}
	return i * unit, pattern, true
}

// Decimals reads seconds since 1970 with one to nine decimals.
func Decimals(text string) (ns int64, pattern string, ok bool) {
	whole, decimals, _ := strings.Cut(text, ".")
	seconds, err := strconv.ParseInt(whole, 10, 64)
	n := len(decimals)
	if err != nil || n < 1 || n > 9 || abs(seconds) >= math.MaxInt64/1_000_000_000 {
		return 0, "", false
	}
	for i := range n {
		d := decimals[i] - '0'
		if d > 9 {
			return 0, "", false
		}
		ns = ns*10 + int64(d)
	}
	ns = Fraction(ns, n)
	if text[0] == '-' {
		ns = -ns
	}
	return seconds*1e9 + ns, `\E.` + fractionSpec(n), true
}

// fractionSpec returns the specifier of n decimals.
func fractionSpec(n int) string {
	switch n {
	case 3, 6, 9:
		return `\` + strconv.Itoa(n)
	}
	return `\T`
}
