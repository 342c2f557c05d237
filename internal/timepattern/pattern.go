package timepattern

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// Pattern prints times as they were spelt in a log. It does not change.
type Pattern struct {
	ops  []timeOp
	zone int64 // seconds that the text is ahead of UTC
}

type timeOp struct {
	spec byte     // 0 for a literal
	text string   // literal
	list []string // names of months or weekdays
}

// ErrTime is wrapped by the error of printing a time that the pattern cannot print.
var ErrTime = errors.New("timepattern: time that the pattern cannot print")

var errCAT = fmt.Errorf("a specifier that only serves reading times")

// Parse reads a pattern.
func Parse(text string) (*Pattern, error) {
	p := &Pattern{}
	quoted := len(text) >= 2 && text[0] == '"' && text[len(text)-1] == '"'
	body := text
	if quoted {
		body = text[1 : len(text)-1]
		p.literal(`"`)
	}
	var dates, epochs, zones int
	seen := [256]bool{}
	for i := 0; i < len(body); i++ {
		c := body[i]
		if c < 0x20 || c == '"' {
			return nil, fmt.Errorf("byte %#02x", c)
		}
		if c != '\\' {
			p.literal(body[i : i+1])
			continue
		}
		i++
		if i == len(body) {
			return nil, fmt.Errorf("nothing behind the last backslash")
		}
		spec := body[i]
		if seen[spec] && spec != '\\' {
			return nil, fmt.Errorf(`\%c twice`, spec)
		}
		seen[spec] = true
		var arg string
		switch spec {
		case 'B', 'A', 'z', 'o':
			end := strings.IndexByte(body[i:], '}')
			if end < 2 || body[i+1] != '{' {
				return nil, fmt.Errorf(`\%c without {…}`, spec)
			}
			arg = body[i+2 : i+end]
			i += end
			if strings.ContainsAny(arg, "\"\\{") || strings.ContainsFunc(arg, func(r rune) bool { return r < 0x20 }) {
				return nil, fmt.Errorf(`\%c{%q}`, spec, arg)
			}
		}
		switch spec {
		case '\\':
			p.literal(`\\`) // as JSON has it
		case 'Y', 'y', 'm', 'd', 'e', 'H', 'k', 'I', 'l', 'p', 'M', 'S':
			dates++
			p.ops = append(p.ops, timeOp{spec: spec})
		case 'J':
			dates++
			p.literal("60") // a leap second, kept as second 59
		case '3', '6', '9', 'T':
			p.ops = append(p.ops, timeOp{spec: spec})
		case 'E', 'L', 'C', 'N':
			epochs++
			p.ops = append(p.ops, timeOp{spec: spec})
		case 'B', 'A':
			dates++
			list := strings.Split(arg, ",")
			if spec == 'B' && len(list) != 12 || spec == 'A' && len(list) != 7 {
				return nil, fmt.Errorf(`\%c with %d names`, spec, len(list))
			}
			p.ops = append(p.ops, timeOp{spec: spec, list: list})
		case 'z', 'o':
			zones++
			offset := arg
			if spec == 'o' {
				var name string
				var ok bool
				if name, offset, ok = strings.Cut(arg, ","); !ok || name == "" {
					return nil, fmt.Errorf(`\o{%s} without name and offset`, arg)
				}
				arg = name
			}
			var err error
			if p.zone, err = parseZone(offset); err != nil {
				return nil, err
			}
			p.literal(arg)
		case 'Z', '?', 'P', 'O', 's':
			return nil, errCAT
		default:
			return nil, fmt.Errorf(`unknown specifier \%c`, spec)
		}
	}
	switch {
	case dates > 0 && epochs > 0 || epochs > 1:
		return nil, fmt.Errorf("date and seconds since 1970 in one")
	case zones > 1:
		return nil, fmt.Errorf("two zones")
	case (seen['I'] || seen['l']) != seen['p']:
		return nil, fmt.Errorf("hours of half a day and AM or PM need each other")
	case !quoted && !p.isNumber():
		return nil, fmt.Errorf("without quotes it must be a number")
	}
	if quoted {
		p.literal(`"`)
	}
	return p, nil
}

// literal appends text to print as it is.
func (p *Pattern) literal(text string) {
	if n := len(p.ops); n > 0 && p.ops[n-1].spec == 0 {
		p.ops[n-1].text += text
		return
	}
	p.ops = append(p.ops, timeOp{text: text})
}

// isNumber reports whether the pattern is an epoch specifier, perhaps with a fraction.
func (p *Pattern) isNumber() bool {
	if len(p.ops) != 1 && len(p.ops) != 3 || strings.IndexByte("ELCN", p.ops[0].spec) < 0 {
		return false
	}
	return len(p.ops) == 1 || p.ops[1].spec == 0 && p.ops[1].text == "." && strings.IndexByte("369T", p.ops[2].spec) >= 0
}

// parseZone reads ±HH, ±HHMM or ±HH:MM; the minus may be U+2212.
func parseZone(s string) (int64, error) {
	digits, sign := s, int64(1)
	if rest, ok := strings.CutPrefix(s, "+"); ok {
		digits = rest
	} else if rest, ok := strings.CutPrefix(s, "-"); ok {
		digits, sign = rest, -1
	} else if rest, ok := strings.CutPrefix(s, "\u2212"); ok {
		digits, sign = rest, -1
	} else {
		return 0, fmt.Errorf("zone %q", s)
	}
	if len(digits) == 5 && digits[2] == ':' {
		digits = digits[:2] + digits[3:]
	}
	n, err := strconv.ParseUint(digits, 10, 16)
	if err != nil || len(digits) != 2 && len(digits) != 4 {
		return 0, fmt.Errorf("zone %q", s)
	}
	if len(digits) == 2 {
		n *= 100
	}
	return sign * int64(n/100*3600+n%100*60), nil
}

// Zone returns the seconds that the clock of what is printed is ahead of UTC.
func (p *Pattern) Zone() int64 { return p.zone }

// Append prints a time in nanoseconds since 1970.
func (p *Pattern) Append(dst []byte, ns int64) ([]byte, error) {
	var d date
	d.set(ns, p.zone)
	return p.appendOps(dst, p.ops, &d, ns, d.ns)
}

// appendOps prints what some operations of the pattern say: d and fraction are those of ns.
func (p *Pattern) appendOps(dst []byte, ops []timeOp, d *date, ns, fraction int64) ([]byte, error) {
	for i := range ops {
		op := &ops[i]
		switch op.spec {
		case 0:
			dst = append(dst, op.text...)
		case 'E':
			dst, fraction = strconv.AppendInt(dst, ns/1e9, 10), abs(ns%1e9)
		case 'L':
			dst, fraction = strconv.AppendInt(dst, ns/1e6, 10), abs(ns%1e9)
		case 'C':
			dst, fraction = strconv.AppendInt(dst, ns/1e3, 10), abs(ns%1e9)
		case 'N':
			dst, fraction = strconv.AppendInt(dst, ns, 10), abs(ns%1e9)
		case '3':
			dst = appendPadded(dst, fraction/1e6, 3, '0')
		case '6':
			dst = appendPadded(dst, fraction/1e3, 6, '0')
		case '9':
			dst = appendPadded(dst, fraction, 9, '0')
		case 'T':
			if fraction == 0 {
				return dst, fmt.Errorf(`%w: \T of a whole second`, ErrTime)
			}
			dst = appendPadded(dst, fraction, 9, '0')
			for dst[len(dst)-1] == '0' {
				dst = dst[:len(dst)-1]
			}
		default:
			dst = d.append(dst, op)
		}
	}
	return dst, nil
}

func abs(v int64) int64 {
	if v < 0 {
		return -v
	}
	return v
}

// appendPadded appends v with at least width characters.
func appendPadded(dst []byte, v int64, width int, pad byte) []byte {
	var b [20]byte
	if v < 0 { // a year
		s := strconv.AppendInt(b[:0], v, 10)
		for n := len(s); n < width; n++ {
			dst = append(dst, pad)
		}
		return append(dst, s...)
	}
	n := len(b)
	for u := uint64(v); u > 0 || n == len(b); u /= 10 {
		n--
		b[n] = byte('0' + u%10)
	}
	for len(b)-n < width {
		n--
		b[n] = pad
	}
	return append(dst, b[n:]...)
}
