package chrometrace

import (
	"math"
	"unicode/utf8"

	"github.com/tracehandler/tracehandler/internal/jsontext"
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
func AppendString(dst, raw []byte) []byte { return jsontext.AppendText(dst, raw) }

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
