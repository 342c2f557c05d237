package event

import (
	"fmt"

	"github.com/tracehandler/tracehandler/internal/jsontext"
)

// SyntaxError says where a line stops being one JSON object.
type SyntaxError struct {
	Offset int    // bytes of the line before the fault
	Msg    string // what is wrong or what was expected
	err    error
}

func (e *SyntaxError) Error() string { return fmt.Sprintf("event: offset %d: %s", e.Offset, e.Msg) }

// Unwrap returns [ErrDepth] if the line is nested too deep, otherwise nil.
func (e *SyntaxError) Unwrap() error { return e.err }

// validateObject checks that b is one object and white space around it.
func validateObject(b []byte) error {
	i := jsontext.SkipSpace(b, 0)
	if i >= len(b) || b[i] != '{' {
		return &SyntaxError{Offset: i, Msg: jsontext.Expected("expected an object", b, i)}
	}
	end, f := jsontext.ScanValue(b, i, 0)
	if f != jsontext.NoFault {
		e := &SyntaxError{Offset: ^end, Msg: f.At(b, ^end)}
		if f == jsontext.FaultDepth {
			e.err = ErrDepth
		}
		return e
	}
	if i = jsontext.SkipSpace(b, end); i < len(b) {
		return &SyntaxError{Offset: i, Msg: jsontext.Expected("expected nothing after the object", b, i)}
	}
	return nil
}
