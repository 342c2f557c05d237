package chrometrace

import "github.com/tracehandler/tracehandler/internal/jsontext"

// Args walks the members of a JSON object: an event's arguments, or any object nested in them.
//
//	for a := ev.Arguments(); a.Next(); {
//		if string(a.Key) == "correlation" { id, ok = chrometrace.Int(a.Value) }
//	}
type Args struct {
	Key   []byte // raw text between the quotes
	Value []byte // raw JSON value: a string keeps its quotes
	b     []byte
	i     int
	spans []span // of the members that are left, if the object was walked before; else nil
}

// maxMembers bounds the spans that are kept; real arguments have a few dozen members.
const maxMembers = 1024

// span is where a member stands: its key between the quotes, and its value.
type span struct{ key, keyEnd, value, end int32 }

// ArgsOf starts at the first member of the object obj; nil or anything but an object has no members.
func ArgsOf(obj []byte) Args {
	i := jsontext.SkipIndent(obj, 0)
	if i >= len(obj) || obj[i] != '{' {
		return Args{}
	}
	return Args{b: obj, i: i + 1}
}

// Arguments walks the event's arguments. It does the same as ArgsOf(ev.Args), without reading their text again: the scanner
// notes where the members stand when it looks for the end of the arguments.
func (ev *Event) Arguments() Args {
	if len(ev.members) == 0 {
		return ArgsOf(ev.Args)
	}
	return Args{b: ev.Args, spans: ev.members}
}

// walk notes in ev.members where the members of the object at b[i] stand and returns the index after it, or 0 if b ends before
// the object does, or something in it is not as it should be. A place is counted from i.
func (ev *Event) walk(b []byte, i int) int {
	ev.members = ev.members[:0]
	start := i
	i = jsontext.SkipIndent(b, i+1)
	if i < len(b) && b[i] == '}' {
		return i + 1
	}
	for {
		if i >= len(b) || b[i] != '"' || len(ev.members) == maxMembers {
			return 0
		}
		m := span{key: int32(i + 1 - start)}
		end := jsontext.StringEnd(b, i+1)
		if end < 0 {
			return 0
		}
		m.keyEnd = int32(end - 1 - start)
		if i = jsontext.SkipIndent(b, end); i >= len(b) || b[i] != ':' {
			return 0
		}
		i = jsontext.SkipIndent(b, i+1)
		m.value = int32(i - start)
		if i = valueEnd(b, i); i < 0 {
			return 0
		}
		m.end = int32(i - start)
		ev.members = append(ev.members, m)
		if i = jsontext.SkipIndent(b, i); i >= len(b) {
			return 0
		}
		switch b[i] {
		case ',':
			i = jsontext.SkipIndent(b, i+1)
		case '}':
			return i + 1
		default:
			return 0
		}
	}
}

// Next moves to the next member. It returns false at the end and at the first thing that is not a member.
func (a *Args) Next() bool {
	b, i := a.b, a.i
	if len(a.spans) > 0 {
		m := a.spans[0]
		a.spans = a.spans[1:]
		a.Key, a.Value, a.i = b[m.key:m.keyEnd], b[m.value:m.end], int(m.end)
		return true
	}
	i = jsontext.SkipIndent(b, i)
	if i < len(b) && b[i] == ',' {
		i = jsontext.SkipIndent(b, i+1)
	}
	if i >= len(b) || b[i] != '"' {
		return false
	}
	end := jsontext.StringEnd(b, i+1)
	if end < 0 {
		return false
	}
	a.Key = b[i+1 : end-1]
	i = jsontext.SkipIndent(b, end)
	if i >= len(b) || b[i] != ':' {
		return false
	}
	i = jsontext.SkipIndent(b, i+1)
	end = valueEnd(b, i)
	if end < 0 {
		return false
	}
	a.Value, a.i = b[i:end], end
	return true
}

// valueEnd returns the index after the JSON value at b[i], or ^index of what is wrong: ^len(b) if it does not end in b.
func valueEnd(b []byte, i int) int {
	if i >= len(b) {
		return ^len(b)
	}
	switch b[i] {
	case '"':
		return jsontext.StringEnd(b, i+1)
	case '{':
		if end := flatEnd(b, i); end > 0 {
			return end
		}
		return jsontext.NestedEnd(b, i)
	case '[':
		return jsontext.NestedEnd(b, i)
	}
	end := scalarEnd(b, i)
	if end >= 0 && !scalarOK(b[i:end]) {
		return ^i
	}
	return end
}

// Elements walks a JSON array. It stops at the first thing that is not a value.
func Elements(arr []byte, yield func(value []byte) bool) {
	i := jsontext.SkipIndent(arr, 0)
	if i >= len(arr) || arr[i] != '[' {
		return
	}
	for i++; ; {
		i = jsontext.SkipIndent(arr, i)
		if i < len(arr) && arr[i] == ',' {
			i = jsontext.SkipIndent(arr, i+1)
		}
		end := valueEnd(arr, i)
		if end <= i || !yield(arr[i:end]) {
			return
		}
		i = end
	}
}

// Text returns the decoded text of a raw value if it is a string.
func Text(value []byte) (string, bool) {
	if len(value) < 2 || value[0] != '"' {
		return "", false
	}
	return String(value[1 : len(value)-1]), true
}

// Start is the index of Value in the object that ArgsOf was given.
func (a *Args) Start() int { return a.i - len(a.Value) }
