package slogkv

import (
	"log/slog"
	"sync/atomic"

	"github.com/tracehandler/tracehandler/clp/ir"
)

// sources remembers the call sites that records come from: a load instead of a walk through the symbol table. It is
// bounded: a call site that finds its place taken replaces the other one.
type sources struct {
	slots [1 << sourceBits]atomic.Pointer[site]
}

const sourceBits = 10

// site is a call site. It does not change.
type site struct {
	pc     uintptr
	source slog.Source
	keys   ir.Fragment
}

func (s *sources) get(r *slog.Record) *site {
	slot := &s.slots[uint64(r.PC)*0x9e3779b97f4a7c15>>(64-sourceBits)]
	at := slot.Load()
	if at == nil || at.pc != r.PC {
		at = &site{pc: r.PC}
		if src := r.Source(); src != nil {
			at.source = *src
		}
		at.keys = sourceKeys(&at.source)
		slot.Store(at)
	}
	return at
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
