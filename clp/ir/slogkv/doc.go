// Package slogkv writes records of log/slog as key-value events of CLP IR streams, and reads them back: package ir knows
// the format, this package what goes where in it.
//
//	enc := slogkv.NewEncoder(event.Options{})        // an event.Encoder; it needs no stream
//	enc.AppendRecord(buffer, record, nil)            // one packed event
//	w := slogkv.NewWriter(ir.Limits{})               // the stream's state
//	stream, err = w.AppendPreamble(stream)
//	stream, err = w.Append(stream, buffer.B)
//
//	d := slogkv.NewDecoder(reader)                   // an *ir.Reader
//	line, err = d.AppendLine(line, irEvent)          // the line that the JSON encoder would have written
//
// # The mapping
//
// The built-in attributes go where the logging libraries of CLP put them, so that the same settings of a viewer and the
// same queries serve logs of all languages. Everything else is user-generated, under its own keys and in its order;
// groups are objects.
//
//	slog                              key-value event
//	time                              @timestamp.unix_millisecs, @timestamp.utc_offset_secs, integers
//	  below the millisecond             @timestamp.sub_millisec_nanos, integer, if it is not 0
//	level                             @level.name, one of TRACE DEBUG INFO WARN ERROR FATAL; @level.num, slog's number
//	source                            @source_location.path, .line, .function
//	msg                               message, the first user-generated key
//	String, error, Stringer, []byte   string, as the JSON encoder writes it; times as RFC 3339
//	Int64, Duration (ns), Uint64      integer; above 2^63-1 see below
//	Float64, Bool, nil                float, boolean, null; NaN and infinities are strings, as in JSON
//	slices                            array (JSON text)
//	maps, structs                     objects, as encoding/json sees them
//
// (A leading @ stands for "auto-generated", as in CLP's query language.) What a key-value event cannot say is kept
// beside what it can, in auto-generated keys that other readers can ignore:
//
//	@exact.numbers   array of pairs: the position of a value among the user-generated ones, and its JSON text; for
//	                 integers above 2^63-1 (strings to others), 1e999, 30 digits (floats or strings to others), …
//	@exact.point     true: floats without a fraction were written as 1.0, not 1
//	@exact.json      the event as a JSON line. It is there if the event has a key twice in an object (others see the
//	                 first), is nested too deep, or would need more keys than a stream may have (others see only the
//	                 message)
//
// With Options.ViewerKeys time and level are there once more for the YScope log viewer, which looks for them under
// timestamp and log.level unless its settings say otherwise; @viewer is true then, and reading back leaves them out.
//
// A JSON event that does not begin as a record does (time, level, source, msg, as far as they are there, in this order
// and form) is wholly user-generated. If it has a time and a level, @timestamp.unix_millisecs and @level.name say so,
// for viewers; there is no @level.num then.
//
// Streams say in their user-defined metadata that they follow this mapping: {"tracehandler":{"mapping":1}}. Other
// streams are read by what they have: @timestamp, @level.name and @source_location become time, level and source,
// user-generated keys follow as they are, and what else is auto-generated comes last, under the key "@".
package slogkv
