package chrometrace

import (
	"bytes"

	"github.com/tracehandler/tracehandler/internal/jsontext"
)

// fault is what parseEvent found wrong; at is where, as an index into its slice.
type fault struct {
	at     int
	detail string
}

const (
	wantKey   = "Expecting property name enclosed in double quotes"
	wantColon = "Expecting ':' delimiter"
	wantComma = "Expecting ',' delimiter"
	wantValue = "Expecting value"
	mismatch  = "Mismatched closing bracket"
)

// short says that an event or a member does not end within the bytes at hand.
const short = -1

// parseEvent reads the object at b[0] == '{' into s.ev and returns the index after it. n is short when b ends before the
// object does; f.detail is set when the object is malformed. If SkipFunc wants the event skipped, s.skip is set.
func (s *Scanner) parseEvent(b []byte) (n int, f fault) {
	ev := &s.ev
	*ev = Event{members: ev.members[:0]}
	i, fields := s.heads.recall(b, ev), 2
	if i == 0 {
		i, fields = jsontext.SkipIndent(b, 1), 1
		if i < len(b) && b[i] == '}' {
			ev.Raw = b[:i+1]
			return i + 1, fault{}
		}
		if i, f = ev.field(b, i); i <= 0 {
			return i, f
		}
	}
	for asked := false; ; fields++ {
		if !asked && ev.Phase != 0 && ev.Category != nil {
			asked = true
			if fields == 2 {
				s.heads.remember(b[:i], ev)
			}
			if s.wantsSkip() {
				if n := skipEvent(b, i); n > 0 {
					return n, fault{}
				}
			}
		}
		if i = jsontext.SkipIndent(b, i); i >= len(b) {
			return short, fault{}
		}
		switch b[i] {
		case ',':
			i = jsontext.SkipIndent(b, i+1)
		case '}':
			ev.Raw = b[:i+1]
			return i + 1, fault{}
		default:
			return 0, fault{i, wantComma}
		}
		if i, f = ev.field(b, i); i <= 0 {
			return i, f
		}
	}
}

// field reads the member whose key begins at b[i] and returns the index behind its value. It is short when b ends before
// the value does, and 0 with f when there is no such member.
func (ev *Event) field(b []byte, i int) (n int, f fault) {
	if i >= len(b) {
		return short, fault{}
	}
	if b[i] != '"' {
		return 0, fault{i, wantKey}
	}
	end := jsontext.StringEnd(b, i+1)
	if end < 0 {
		return short, fault{}
	}
	key := b[i+1 : end-1]
	if i = jsontext.SkipIndent(b, end); i >= len(b) {
		return short, fault{}
	}
	if b[i] != ':' {
		return 0, fault{i, wantColon}
	}
	i++
	if i < len(b) && b[i] == ' ' { // the usual case
		i++
	}
	i = jsontext.SkipIndent(b, i)
	end = 0
	if len(key) == 4 && i < len(b) && b[i] == '{' && string(key) == "args" {
		if end = ev.walk(b, i); end == 0 {
			ev.members = ev.members[:0]
		}
	}
	if end == 0 {
		end = valueEnd(b, i)
	}
	switch {
	case end >= 0:
		ev.set(key, b[i:end])
		return end, fault{}
	case ^end == len(b):
		return short, fault{}
	case b[i] == '{' || b[i] == '[':
		return 0, fault{^end, mismatch}
	}
	return 0, fault{i, wantValue}
}

// wantsSkip asks SkipFunc, once an event, even if the event is parsed again after more input was read.
func (s *Scanner) wantsSkip() bool {
	if s.SkipFunc == nil {
		return false
	}
	if !s.asked {
		s.asked, s.skip = true, s.SkipFunc(s.ev.Phase, s.ev.Category)
	}
	return s.skip
}

// skipEvent returns the index after the event whose rest starts at b[i], behind a complete member, or 0 if it cannot
// tell, which is no fault. It looks for the first '}' with vector instructions and proves that it ends the arguments:
// with no backslash and an even number of quotes before it, it stands outside strings; with one '{' before it and
// another '}' right behind it, it ends an object inside the event, and the second one ends the event. (Were the '{' part
// of a string, the first '}' would end the event, and a second could not follow.)
func skipEvent(b []byte, i int) int {
	n := bytes.IndexByte(b[i:], '}')
	if n < 0 {
		return 0
	}
	span := b[i : i+n]
	if bytes.Count(span, openBrace) != 1 || bytes.Count(span, quote)&1 != 0 || bytes.IndexByte(span, '\\') >= 0 {
		return 0
	}
	i = jsontext.SkipIndent(b, i+n+1)
	if i < len(b) && b[i] == '}' {
		return i + 1
	}
	return 0
}

var openBrace, quote = []byte{'{'}, []byte{'"'}

// set stores one member of the event's object. Of a repeated key the last counts, as in most JSON readers.
func (ev *Event) set(key, value []byte) {
	switch string(key) {
	case "ph":
		if len(value) > 2 && value[0] == '"' {
			ev.Phase = value[1]
		}
	case "cat":
		ev.Category = inner(value)
	case "name":
		if value[0] == '"' {
			ev.Name = inner(value)
			ev.Has |= HasName
		}
	case "pid":
		ev.PID = id(value)
		ev.Has |= HasPID
	case "tid":
		ev.TID = id(value)
		ev.Has |= HasTID
	case "id":
		ev.FlowID = id(value)
		ev.Has |= HasFlow
	case "ts":
		if ns, _, ok := Nanoseconds(value); ok {
			ev.TS = ns
			ev.Has |= HasTS
		}
	case "dur":
		if ns, huge, ok := Nanoseconds(value); ok {
			ev.Dur = ns
			ev.Has |= HasDur
			if huge {
				ev.Has |= HugeDur
			}
		}
	case "args":
		if value[0] == '{' {
			ev.Args = value
		}
	}
}

func inner(value []byte) []byte {
	if len(value) >= 2 && value[0] == '"' {
		return value[1 : len(value)-1]
	}
	return nil
}

func id(value []byte) ID {
	if n, ok := Int(value); ok {
		return ID{Num: n}
	}
	if value[0] == '"' {
		return ID{Text: inner(value)}
	}
	return ID{Text: value}
}
