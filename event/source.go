package event

import (
	"log/slog"
	"sync/atomic"
)

// sources remembers the call sites that records come from: 0 to 4 loads instead of a walk through the symbol table
// (some 400 ns). It is bounded: a call site that finds its four places taken replaces one of them.
type sources struct {
	slots [1 << sourceBits]atomic.Pointer[site]
}

const sourceBits = 12 // 32 KiB of pointers on 64-bit machines

// site is a call site. It does not change.
type site struct {
	pc     uintptr
	source slog.Source
	text   []byte // "source":{…}, or empty if nothing is known
}

var nowhere = new(site)

func (s *sources) get(r *slog.Record) *site {
	if r.PC == 0 {
		return nowhere
	}
	home := uint64(r.PC) * 0x9e3779b97f4a7c15 >> (64 - sourceBits)
	for i := range uint64(4) {
		at := s.slots[(home+i)%uint64(len(s.slots))].Load()
		if at == nil {
			return s.add(r, home+i)
		}
		if at.pc == r.PC {
			return at
		}
	}
	return s.add(r, home)
}

func (s *sources) add(r *slog.Record, slot uint64) *site {
	at := &site{pc: r.PC}
	if src := r.Source(); src != nil {
		at.source = *src
	}
	w := writer{b: new(Buffer), limit: MaxRecordDepth}
	at.text = w.appendAttr([]byte{'{'}, slog.Any(slog.SourceKey, &at.source))[1:]
	s.slots[slot%uint64(len(s.slots))].Store(at)
	return at
}

// SourceAttrs returns the fields of s that are known, in the order and under the keys in which log/slog writes them: function,
// file, line. It returns nil for nil.
func SourceAttrs(s *slog.Source) []slog.Attr {
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
