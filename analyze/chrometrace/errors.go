package chrometrace

import (
	"fmt"
	"strings"
)

// Kind classifies what was wrong with a trace.
type Kind uint8

const (
	NotFound     Kind = iota + 1 // no traceEvents array
	NotArray                     // traceEvents is not an array
	Unterminated                 // the input ended between two events
	Truncated                    // the input ended inside an event
	Malformed                    // an event is not a JSON object; it was skipped
	NotObject                    // an element of traceEvents is not an object; it was skipped
	TooLong                      // an event or a metadata value exceeds the limit; it was skipped
	Input                        // reading or decompressing failed; Err says how
	Time                         // an event's duration is negative or beyond 64 bits, or a complete event has no ts; it was delivered
)

var kindNames = [...]string{"unknown", "not_found", "not_array", "unterminated", "truncated", "malformed", "not_object", "too_long", "input", "time"}

func (k Kind) String() string {
	if int(k) < len(kindNames) {
		return kindNames[k]
	}
	return kindNames[0]
}

// Error is one fault of a trace, with its place.
type Error struct {
	Kind   Kind
	Offset int64  // byte offset in the uncompressed text
	Events int64  // events delivered before it
	Detail string // what was expected
	Err    error  // the cause, for Input
}

func (e *Error) Error() string {
	return fmt.Sprintf("chrometrace: %s (byte %d)", e.Text(), e.Offset)
}

func (e *Error) Unwrap() error { return e.Err }

// Text is the message without package and place. Its wording is the one that tools of this field already match on.
func (e *Error) Text() string {
	switch e.Kind {
	case NotFound:
		return "traceEvents array not found"
	case NotArray:
		return "traceEvents value is not an array"
	case Unterminated:
		return fmt.Sprintf("traceEvents array unterminated after %d event(s)", e.Events)
	case Truncated:
		return fmt.Sprintf("traceEvents object truncated after %d event(s): unterminated object", e.Events)
	case Malformed:
		return fmt.Sprintf("traceEvents object malformed after %d event(s): %s", e.Events, e.Detail)
	case NotObject:
		return fmt.Sprintf("traceEvents element malformed after %d event(s): expected an object", e.Events)
	case TooLong:
		return fmt.Sprintf("traceEvents %s after %d event(s)", e.Detail, e.Events)
	case Input:
		return fmt.Sprintf("trace input error: %s: %s", errorClass(e.Err), e.Err)
	default:
		return fmt.Sprintf("traceEvents time impossible after %d event(s): %s", e.Events, e.Detail)
	}
}

// errorClass names the Go type of the innermost cause, as far as it has one worth showing.
func errorClass(err error) string {
	name := fmt.Sprintf("%T", err)
	name = strings.TrimPrefix(name, "*")
	if name == "errors.errorString" {
		return "error"
	}
	return name
}
