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
