// Package event is the data model of a trace: events, and their text as JSON lines.
//
// An [Event] is an ordered list of attributes. It is made of [slog.Attr]s, or it is one line of JSON that is decoded
// only as far as somebody asks:
//
//	e, err := event.Parse(line)          // checks the whole line
//	e = event.Lazy(line)                 // checks nothing: two keys of a long line cost what they cost
//	id, ok := e.Get("request", "id")     // stops where it is found
//	when, ok := e.Time()
//	for a := range e.All() { … }         // order, duplicate keys and the text of numbers are kept
//
// An [Encoder] turns records into events of one format. [NewJSON] makes the one for JSON lines. It writes what
// [slog.JSONHandler] writes, byte for byte, save where that is not JSON or loses something (see [NewJSON]):
//
//	enc := event.NewJSON(event.Options{AddSource: true}).WithGroup("app")
//	b := event.GetBuffer()
//	defer b.Free()
//	enc.AppendRecord(b, record, nil)     // b.B ends with one whole line
package event
