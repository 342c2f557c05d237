package kql

import (
	"math"
	"strings"
	"time"
)

// Patterns of times: literal bytes, and specifiers, a backslash and a letter. Source: y-scope/clp,
// components/core/src/clp_s/timestamp_parser; the list is what its search tries on a literal, in that order.
var timePatterns = func() []string {
	const (
		month    = `\B{Jan,Feb,Mar,Apr,May,Jun,Jul,Aug,Sep,Oct,Nov,Dec}`
		long     = `\B{January,February,March,April,May,June,July,August,September,October,November,December}`
		weekday  = `\A{Sun,Mon,Tue,Wed,Thu,Fri,Sat}`
		date     = `\Y\O{-/}\m\O{-/}\d\O{T }\H:\M:\s`
		fraction = `\O{,.}\?`
	)
	list := []string{
		date + fraction + `\Z`, date + `\Z`, date + fraction, date, `[` + date + fraction + `]`, `[` + date + `]`, `[` + date,
		`<<<` + date + `:\?`, `\d ` + month + ` \Y \H:\M:\s` + fraction, `[\Y\m\d-\H:\M:\s]`, `\y\O{-/}\m\O{-/}\d\O{T }\H:\M:\s`,
		`\y\m\d\O{T }\k:\M:\s`, month + ` \d, \Y \l:\M:\s \p`, month + ` \d, \Y \I:\M:\s \p`, long + ` \d, \Y \H:\M`,
		`[\d\O{-/}` + month + `\O{-/}\Y:\H:\M:\s`, weekday + ` ` + month + ` \e \H:\M:\s \Y`, month + ` \d \H:\M:\s`,
		month + ` \d \H:\M:\s\Z`, `\m\O{- }\d \H:\M:\s` + fraction,
	}
	for _, clock := range []string{`\H:\M:\s`, `\H:\M`} {
		for _, year := range []string{`\Y`, `\y`} {
			for _, day := range []string{`\d`, `\e`} {
				for _, prefix := range []string{weekday + `, `, ``} {
					list = append(list, prefix+day+` `+month+` `+year+` `+clock+`\Z`)
				}
			}
		}
	}
	return append(list, `\P`, `\E.\?`)
}()

// parseTime reads a time in any of the spellings known, as nanoseconds since 1970.
func parseTime(text string) (int64, bool) {
	for _, pattern := range timePatterns {
		if ns, ok := parseTimeAs(text, pattern); ok {
			return ns, true
		}
	}
	return 0, false
}

// clock collects the fields of a time.
type clock struct {
	year, month, day, hour, minute, second int
	ns                                     int64
	weekday                                int // -1: not given
	half, noon                             bool
	offset                                 int // seconds ahead of UTC
	epoch                                  int64
	unit                                   int64 // nanoseconds of one of epoch, 0 if it is a date
	negative                               bool
}

// parseTimeAs reads a time spelt as pattern says.
func parseTimeAs(text, pattern string) (int64, bool) {
	c := clock{year: 1970, month: 1, day: 1, weekday: -1}
	if len(pattern) > 1 && pattern[0] == '"' && strings.HasSuffix(pattern, `"`) {
		pattern = pattern[1 : len(pattern)-1]
	}
	for len(pattern) > 0 {
		if pattern[0] != '\\' {
			if text == "" || text[0] != pattern[0] {
				return 0, false
			}
			text, pattern = text[1:], pattern[1:]
			continue
		}
		if len(pattern) < 2 {
			return 0, false
		}
		spec := pattern[1]
		pattern = pattern[2:]
		arg := ""
		if strings.IndexByte("BAOzo", spec) >= 0 {
			end := strings.IndexByte(pattern, '}')
			if end < 0 || pattern[0] != '{' {
				return 0, false
			}
			arg, pattern = pattern[1:end], pattern[end+1:]
		}
		n, ok := c.read(spec, arg, text)
		if !ok {
			return 0, false
		}
		text = text[n:]
	}
	if text != "" {
		return 0, false
	}
	return c.time()
}

// number reads exactly n digits between low and high; pad may stand for zeros in front.
func number(text string, n, low, high int, pad byte) (int, bool) {
	if len(text) < n {
		return 0, false
	}
	v := 0
	for i, d := range []byte(text[:n]) {
		if d == pad && i < n-1 && v == 0 && pad == ' ' {
			continue
		}
		if d < '0' || d > '9' {
			return 0, false
		}
		v = v*10 + int(d-'0')
	}
	return v, low <= v && v <= high
}

// read takes what a specifier says off the start of text, and returns its length.
func (c *clock) read(spec byte, arg, text string) (n int, ok bool) {
	switch spec {
	case '\\':
		return 1, text != "" && text[0] == '\\'
	case 'Y':
		c.year, ok = number(text, 4, 0, 9999, '0')
		return 4, ok
	case 'y':
		if c.year, ok = number(text, 2, 0, 99, '0'); c.year >= 69 {
			c.year += 1900
		} else {
			c.year += 2000
		}
		return 2, ok
	case 'm':
		c.month, ok = number(text, 2, 1, 12, '0')
		return 2, ok
	case 'd', 'e':
		c.day, ok = number(text, 2, 1, 31, pad(spec == 'e'))
		return 2, ok
	case 'H', 'k':
		c.hour, ok = number(text, 2, 0, 23, pad(spec == 'k'))
		return 2, ok
	case 'I', 'l':
		c.half = true
		c.hour, ok = number(text, 2, 1, 12, pad(spec == 'l'))
		return 2, ok
	case 'p':
		c.noon = strings.HasPrefix(text, "PM")
		return 2, c.noon || strings.HasPrefix(text, "AM")
	case 'M':
		c.minute, ok = number(text, 2, 0, 59, '0')
		return 2, ok
	case 'S', 's', 'J':
		c.second, ok = number(text, 2, 0, 60, '0')
		ok = ok && (spec == 's' || (c.second == 60) == (spec == 'J'))
		c.second = min(c.second, 59)
		return 2, ok
	case 'B', 'A':
		for i, name := range strings.Split(arg, ",") {
			if strings.HasPrefix(text, name) {
				if spec == 'B' {
					c.month = i + 1
				} else {
					c.weekday = i
				}
				return len(name), true
			}
		}
		return 0, false
	case 'O':
		return 1, text != "" && strings.IndexByte(arg, text[0]) >= 0
	case '3', '6', '9', 'T', '?':
		return c.fraction(spec, text)
	case 'E', 'L', 'C', 'N', 'P':
		return c.since1970(spec, text)
	case 'Z':
		return c.zone(text)
	case 'z', 'o':
		name, offset := arg, arg
		if spec == 'o' {
			name, offset, _ = strings.Cut(arg, ",")
		}
		if c.offset, n, ok = readOffset(offset); !ok || n != len(offset) {
			return 0, false
		}
		return len(name), strings.HasPrefix(text, name)
	}
	return 0, false
}

func pad(space bool) byte {
	if space {
		return ' '
	}
	return '0'
}

// digits returns how many digits text begins with.
func digits(text string) int {
	n := 0
	for n < len(text) && '0' <= text[n] && text[n] <= '9' {
		n++
	}
	return n
}

func (c *clock) fraction(spec byte, text string) (int, bool) {
	n := digits(text)
	switch spec {
	case '3', '6', '9':
		if want := int(spec - '0'); n >= want {
			n = want
		} else {
			return 0, false
		}
	default:
		if n < 1 || n > 9 || text[n-1] == '0' && (spec == 'T' || n != 3 && n != 6 && n != 9) {
			return 0, false
		}
	}
	c.ns = 0
	for i := range 9 {
		c.ns *= 10
		if i < n {
			c.ns += int64(text[i] - '0')
		}
	}
	return n, true
}

// since1970 reads seconds, milliseconds, microseconds or nanoseconds; 'P' guesses which from the size.
func (c *clock) since1970(spec byte, text string) (int, bool) {
	sign := 0
	if strings.HasPrefix(text, "-") {
		c.negative, sign = true, 1
	}
	n := digits(text[sign:])
	if n == 0 || n > 19 || n > 1 && text[sign] == '0' {
		return 0, false
	}
	var v uint64
	for _, d := range []byte(text[sign : sign+n]) {
		v = v*10 + uint64(d-'0')
	}
	if v > math.MaxInt64 {
		return 0, false
	}
	if spec == 'P' {
		const year = 31_536_000
		switch {
		case v > year*1_000_000_000:
			spec = 'N'
		case v > year*1_000_000:
			spec = 'C'
		case v > year*1_000:
			spec = 'L'
		default:
			spec = 'E'
		}
	}
	c.unit = map[byte]int64{'E': 1e9, 'L': 1e6, 'C': 1e3, 'N': 1}[spec]
	if v > uint64(math.MaxInt64/c.unit) {
		return 0, false
	}
	c.epoch = int64(v) * c.unit
	return sign + n, true
}

// namedZones are the zones with a name that RFC 2822 knows, in seconds.
var namedZones = map[string]int{
	"EDT": -4 * 3600, "EST": -5 * 3600, "CDT": -5 * 3600, "CST": -6 * 3600, "MDT": -6 * 3600, "MST": -7 * 3600, "PDT": -7 * 3600, "PST": -8 * 3600,
}

// zone reads a zone: UTC, GMT, a name, an offset, Z, perhaps behind a space.
func (c *clock) zone(text string) (int, bool) {
	n := 0
	if strings.HasPrefix(text, " ") {
		n++
	}
	rest := text[n:]
	some := false
	switch {
	case strings.HasPrefix(rest, "UTC"):
		n, some = n+3, true
	case strings.HasPrefix(rest, "UT"):
		return n + 2, true
	case strings.HasPrefix(rest, "GMT"):
		return n + 3, true
	case len(rest) >= 3 && namedZones[rest[:3]] != 0:
		c.offset = namedZones[rest[:3]]
		return n + 3, true
	}
	if offset, m, ok := readOffset(text[n:]); ok {
		c.offset = offset
		n, some = n+m, true
	}
	if strings.HasPrefix(text[n:], "Z") {
		n, some = n+1, true
	}
	return n, some
}

// readOffset reads ±HH, ±HHMM or ±HH:MM.
func readOffset(text string) (seconds, n int, ok bool) {
	sign := 1
	switch {
	case strings.HasPrefix(text, "+"):
		n = 1
	case strings.HasPrefix(text, "-"):
		n, sign = 1, -1
	case strings.HasPrefix(text, "\u2212"):
		n, sign = len("\u2212"), -1
	default:
		return 0, 0, false
	}
	hours, ok := number(text[n:], 2, 0, 99, '0')
	if !ok {
		return 0, 0, false
	}
	n += 2
	rest := strings.TrimPrefix(text[n:], ":")
	minutes, ok := number(rest, 2, 0, 59, '0')
	if ok {
		n = len(text) - len(rest) + 2
	}
	return sign * (hours*3600 + minutes*60), n, true
}

// time puts the fields together.
func (c *clock) time() (int64, bool) {
	if c.unit != 0 {
		ns := c.epoch + c.ns
		if c.negative {
			ns = -ns
		}
		return ns, ns >= 0 != c.negative || ns == 0
	}
	if c.half {
		c.hour %= 12
		if c.noon {
			c.hour += 12
		}
	}
	t := time.Date(c.year, time.Month(c.month), c.day, c.hour, c.minute, c.second, int(c.ns), time.UTC)
	if t.Day() != c.day || c.weekday >= 0 && int(t.Weekday()) != c.weekday {
		return 0, false
	}
	t = t.Add(-time.Duration(c.offset) * time.Second)
	if t.Before(time.Unix(0, math.MinInt64)) || t.After(time.Unix(0, math.MaxInt64)) {
		return 0, false
	}
	return t.UnixNano(), true
}
