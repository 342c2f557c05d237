package slogkv

import (
	"github.com/tracehandler/tracehandler/clp/ir"
	"github.com/tracehandler/tracehandler/event"
)

// AppendAuto appends the auto-generated keys that an event has in a stream with this mapping, as a JSON object: what a query has with
// @ in front. It is {} for an event that brings no time and no level.
func AppendAuto(dst []byte, ev event.Event) []byte {
	b := event.GetBuffer()
	defer b.Free()
	ofLines.AppendEvent(b, ev)
	w := lineWriter{b: append(dst, '{'), fullFloat: true}
	if err := ir.VisitPacked(b.B[4:], ir.Auto, &w); err != nil { // never, of what the encoder made
		return append(dst, "{}"...)
	}
	return append(w.b, '}')
}

var ofLines = NewEncoder(event.Options{})

// AutoKeys are the outermost keys of what AppendAuto appends.
var AutoKeys = []string{keyTimestamp, keyLevel, keySource, keyExact}
