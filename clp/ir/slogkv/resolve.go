package slogkv

import (
	"fmt"
	"log/slog"
	"reflect"
)

const maxLogValues = 100 // as log/slog

// resolve is slog.Value.Resolve, but a panic's text is the panic's value and not a stack: as in package event, whose
// encoder writes the same text.
func resolve(v slog.Value) (out slog.Value) {
	first := v
	defer func() {
		if p := recover(); p != nil {
			out = slog.StringValue(panicText(v.Any(), p))
		}
	}()
	for range maxLogValues {
		if v.Kind() != slog.KindLogValuer {
			return v
		}
		v = v.LogValuer().LogValue()
	}
	return slog.AnyValue(fmt.Errorf("LogValue called too many times on Value of type %T", first.Any()))
}

// panicText says that a method of v panicked with p, in the words of package event.
func panicText(v, p any) string {
	if r := reflect.ValueOf(v); r.Kind() == reflect.Pointer && r.IsNil() {
		return "<nil>"
	}
	return fmt.Sprintf("!PANIC: %v", p)
}

// sourceAttrs returns the fields of s that are known, as log/slog writes them.
func sourceAttrs(s *slog.Source) []slog.Attr {
	if s == nil {
		return nil
	}
	attrs := make([]slog.Attr, 0, 3)
	if s.Function != "" {
		attrs = append(attrs, slog.String("function", s.Function))
	}
	if s.File != "" {
		attrs = append(attrs, slog.String("file", s.File))
	}
	if s.Line != 0 {
		attrs = append(attrs, slog.Int("line", s.Line))
	}
	return attrs
}
