package chrometrace

import (
	"math"
	"unicode/utf16"
	"unicode/utf8"
)

// Event is one element of traceEvents. Its byte slices are spans of the scanner's buffer: they are valid until the next
// Scan, and hold the text between the quotes as it stands in the file. Use AppendString to decode them.
type Event struct {
	Phase    byte   // first byte of "ph": 'X' complete, 'B'/'E', 'i' instant, 'M' metadata, 's'/'t'/'f' flow, 'C' counter; 0 if absent
	Category []byte // "cat"
	Name     []byte // "name"
	PID, TID ID
	FlowID   ID     // "id"
	Args     []byte // raw JSON of "args", braces included; nil if absent
	TS, Dur  int64  // nanoseconds; 0 if absent. Values that do not fit saturate
	Offset   int64  // of the event's '{' in the uncompressed text
	Raw      []byte // the whole object, braces included
	Has      Fields
	members  []span // of Args, if it is as it should be; see Arguments
}

// Fields says which of an event's fields were there and usable.
type Fields uint8

const (
	HasTS   Fields = 1 << iota // "ts" was a finite number
	HasDur                     // "dur" was a finite number
	HugeDur                    // "dur" does not fit 64-bit nanoseconds; Dur is math.MaxInt64
	HasName                    // "name" was a string
	HasPID                     // "pid" was present
	HasTID                     // "tid" was present
	HasFlow                    // "id" was present
)

// ID is a pid, tid or flow id: a number, or a string when Text is not nil.
type ID struct {
	Num  int64
	Text []byte
}

// AppendString appends the decoded form of a raw string (the text between its quotes) to dst: escapes are resolved,
// lone backslashes and unknown escapes stay as they are, invalid UTF-8 becomes U+FFFD.
func AppendString(dst, raw []byte) []byte {
	for i := 0; i < len(raw); {
		c := raw[i]
		switch {
		case c == '\\' && i+1 < len(raw):
			n := 2
			switch raw[i+1] {
			case '"', '\\', '/':
				dst = append(dst, raw[i+1])
			case 'b':
				dst = append(dst, '\b')
			case 'f':
				dst = append(dst, '\f')
			case 'n':
				dst = append(dst, '\n')
			case 'r':
				dst = append(dst, '\r')
			case 't':
				dst = append(dst, '\t')
			case 'u':
				r, ok := hex4(raw[i+2:])
				if !ok {
					dst = append(dst, '\\', 'u')
					break
				}
				n = 6
				if utf16.IsSurrogate(r) {
					pair := rune(utf8.RuneError)
					if len(raw) >= i+12 && raw[i+6] == '\\' && raw[i+7] == 'u' {
						if low, ok := hex4(raw[i+8:]); ok {
							pair = utf16.DecodeRune(r, low)
						}
					}
					if pair != utf8.RuneError {
						n = 12
					}
					r = pair
				}
				dst = utf8.AppendRune(dst, r)
			default:
				dst, n = append(dst, '\\'), 1
			}
			i += n
		case c < utf8.RuneSelf:
			dst = append(dst, c)
			i++
		default:
			r, n := utf8.DecodeRune(raw[i:])
			dst = utf8.AppendRune(dst, r)
			i += n
		}
	}
	return dst
}

func hex4(b []byte) (r rune, ok bool) {
	if len(b) < 4 {
		return 0, false
	}
	for _, c := range b[:4] {
		r <<= 4
		switch {
		case '0' <= c && c <= '9':
			r |= rune(c - '0')
		case 'a' <= c|0x20 && c|0x20 <= 'f':
			r |= rune(c|0x20-'a') + 10
		default:
			return 0, false
		}
	}
	return r, true
}

// plain reports whether a raw string is its own decoded form.
func plain(raw []byte) bool {
	for _, c := range raw {
		if c == '\\' || c >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// String decodes a raw string. See AppendString.
func String(raw []byte) string {
	if plain(raw) {
		return string(raw)
	}
	return string(AppendString(make([]byte, 0, len(raw)), raw))
}

// Nanoseconds converts the text of a number of microseconds, quoted or not, to integer nanoseconds, rounding half away
// from zero. ok is false for anything but a finite number; a value beyond 64 bits saturates and sets huge.
func Nanoseconds(text []byte) (ns int64, huge, ok bool) {
	text = unquote(text)
	i, neg := 0, false
	if i < len(text) && (text[i] == '-' || text[i] == '+') {
		neg = text[i] == '-'
		i++
	}
	const limit = (math.MaxInt64 - 1000) / 10
	digits := 0
	for ; i < len(text) && '0' <= text[i] && text[i] <= '9'; i++ {
		digits++
		if ns >= limit {
			huge = true
			continue
		}
		ns = ns*10 + int64(text[i]-'0')
	}
	frac := int64(0)
	if i < len(text) && text[i] == '.' {
		i++
		scale := int64(100)
		for ; i < len(text) && '0' <= text[i] && text[i] <= '9'; i++ {
			digits++
			switch {
			case scale > 0:
				frac += int64(text[i]-'0') * scale
				scale /= 10
			case scale == 0:
				if text[i] >= '5' {
					frac++
				}
				scale = -1
			}
		}
	}
	if digits == 0 {
		return 0, false, false
	}
	if i < len(text) {
		return exponent(text)
	}
	if huge || ns > (math.MaxInt64-1000)/1000 {
		ns, huge = math.MaxInt64, true
	} else {
		ns = ns*1000 + frac
	}
	if neg {
		ns = -ns
	}
	return ns, huge, true
}

// Int reads an integer, quoted or not. Numbers beyond int64 but within uint64 keep their bits; a fraction is cut off.
func Int(text []byte) (int64, bool) {
	text = unquote(text)
	i, neg := 0, false
	if i < len(text) && text[i] == '-' {
		neg = true
		i++
	}
	start := i
	var v uint64
	for ; i < len(text) && '0' <= text[i] && text[i] <= '9'; i++ {
		d := uint64(text[i] - '0')
		if v > (math.MaxUint64-d)/10 {
			return 0, false
		}
		v = v*10 + d
	}
	if i == start || i < len(text) && text[i] != '.' {
		return 0, false
	}
	if neg {
		return -int64(v), true
	}
	return int64(v), true
}

func unquote(b []byte) []byte {
	if len(b) >= 2 && b[0] == '"' && b[len(b)-1] == '"' {
		b = b[1 : len(b)-1]
	}
	for len(b) > 0 && b[0] == ' ' {
		b = b[1:]
	}
	for len(b) > 0 && b[len(b)-1] == ' ' {
		b = b[:len(b)-1]
	}
	return b
}
