package archive

import (
	"math"
	"strconv"
	"time"
)

// floatFormat derives the format of a number's text; see appendFormatted. Whether the format restores the text must be
// tried.
func floatFormat(text []byte) (format uint16, ok bool) {
	i := 0
	if text[0] == '-' {
		i++
	}
	whole, digits, point, significant := 0, 0, false, false
	for ; i < len(text); i++ {
		c := text[i]
		if c == '.' {
			point = true
			continue
		}
		if c-'0' > 9 {
			break
		}
		if !point {
			whole++
		}
		if c != '0' || !point {
			significant = significant || c != '0'
		}
		if significant {
			digits++
		}
	}
	if !significant { // only zeros: all of them count
		digits = 0
		for _, c := range text[:i] {
			if c-'0' <= 9 {
				digits++
			}
		}
	}
	if digits < 1 || digits > 17 {
		return 0, false
	}
	format = uint16(digits-1) << 5
	if i == len(text) {
		return format, true
	}
	if whole != 1 {
		return 0, false
	}
	format |= floatExponent
	if text[i] == 'E' {
		format |= floatUpper
	}
	i++
	switch text[i] {
	case '+':
		format |= 1 << 12
		i++
	case '-':
		format |= 2 << 12
		i++
	}
	n := len(text) - i
	if n < 1 || n > 4 {
		return 0, false
	}
	return format | uint16(n-1)<<10, true
}

// timeString makes a time of a JSON string, quotes included: RFC 3339 with T or a space, any number of decimals that the
// format has a specifier for, and a zone or none. It is taken only if its pattern prints it again.
func (w *Writer) timeString(raw []byte) (leaf, bool) {
	s := unsafeString(raw[1 : len(raw)-1])
	if len(s) < len("2006-01-02T15:04:05") || s[4] != '-' || s[7] != '-' || s[10] != 'T' && s[10] != ' ' {
		return leaf{}, false
	}
	pattern := `"\Y-\m-\d` + s[10:11] + `\H:\M:\S`
	rest := s[19:]
	if rest != "" && (rest[0] == '.' || rest[0] == ',') {
		n := 1
		for n < len(rest) && rest[n]-'0' <= 9 {
			n++
		}
		pattern += rest[:1]
		switch n - 1 {
		case 3:
			pattern += `\3`
		case 6:
			pattern += `\6`
		case 9:
			pattern += `\9`
		default:
			pattern += `\T`
		}
		rest = rest[n:]
	}
	layout := "2006-01-02" + s[10:11] + "15:04:05"
	switch {
	case rest == "Z":
		pattern += "Z"
		layout += "Z"
	case rest != "":
		pattern += `\z{` + rest + `}`
		layout += "Z07:00"
		if len(rest) == 5 {
			layout = layout[:len(layout)-len("Z07:00")] + "-0700"
		}
	}
	t, err := time.Parse(layout, s)
	if err != nil {
		return leaf{}, false
	}
	return w.timeAs(pattern+`"`, t, raw)
}

// timeNumber makes a time of a JSON number: since 1970 in the unit that the size suggests, or seconds with decimals.
func (w *Writer) timeNumber(text []byte) (leaf, bool) {
	if i, err := strconv.ParseInt(unsafeString(text), 10, 64); err == nil {
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
			return leaf{}, false
		}
		return w.timeNanoseconds(pattern, i*unit, text)
	}
	whole, n := 0, 0
	for whole < len(text) && text[whole] != '.' {
		whole++
	}
	n = len(text) - whole - 1
	seconds, err := strconv.ParseInt(unsafeString(text[:whole]), 10, 64)
	if err != nil || n < 1 || n > 9 || abs(seconds) >= math.MaxInt64/1_000_000_000 {
		return leaf{}, false
	}
	var ns int64
	for i := range 9 {
		ns *= 10
		if i < n {
			d := text[whole+1+i] - '0'
			if d > 9 {
				return leaf{}, false
			}
			ns += int64(d)
		}
	}
	if text[0] == '-' {
		ns = -ns
	}
	pattern := `\E.\T`
	if n == 3 || n == 6 || n == 9 {
		pattern = `\E.\` + strconv.Itoa(n)
	}
	return w.timeNanoseconds(pattern, seconds*1e9+ns, text)
}

func (w *Writer) timeAs(pattern string, t time.Time, text []byte) (leaf, bool) {
	if t.Before(time.Unix(0, math.MinInt64)) || t.After(time.Unix(0, math.MaxInt64)) {
		return leaf{}, false
	}
	return w.timeNanoseconds(pattern, t.UnixNano(), text)
}

// timeNanoseconds makes a time if the pattern prints it as text has it.
func (w *Writer) timeNanoseconds(pattern string, ns int64, text []byte) (leaf, bool) {
	p := w.times.parsed[pattern]
	if p == nil {
		if len(w.times.parsed) > maxPatterns {
			return leaf{}, false
		}
		var err error
		if p, err = parsePattern(pattern); err != nil {
			return leaf{}, false
		}
	}
	var err error
	if w.times.text, err = p.append(w.times.text[:0], ns); err != nil || string(w.times.text) != string(text) {
		return leaf{}, false
	}
	if w.times.parsed[pattern] == nil {
		w.times.parsed[pattern] = p
		w.times.ids[pattern] = uint64(len(w.times.spelling))
		w.times.spelling = append(w.times.spelling, pattern)
	}
	return leaf{bits: uint64(ns), second: w.times.ids[pattern]}, true
}

// maxPatterns is how many spellings of the time an archive has: zones vary, but not without end.
const maxPatterns = 1000

// sawTime widens the range of the archive's times.
func (w *Writer) sawTime(ns int64) {
	if !w.times.began {
		w.times.began, w.times.first, w.times.last = true, ns, ns
	}
	w.times.first, w.times.last = min(w.times.first, ns), max(w.times.last, ns)
}

// times is what the writer knows of the times of records.
type times struct {
	parsed   map[string]*pattern
	ids      map[string]uint64 // of patterns
	spelling []string          // by their ID
	text     []byte

	began       bool // a time has been seen
	first, last int64
}

// parseInteger reads an integer whose text comes back.
func parseInteger(text []byte) (int64, bool) {
	i, err := strconv.ParseInt(unsafeString(text), 10, 64)
	return i, err == nil && (i != 0 || text[0] != '-')
}

func floatBits(v float64) uint64 { return math.Float64bits(v) }
