// Package ir reads and writes CLP IR streams: logs as a sequence of compact events that can be appended to, in two
// kinds. In a text stream an event is a timestamp and a message; in a key-value stream (KV-IR) it is two JSON-like
// objects, the keys that the logging library generates and those of the user.
//
//	w, err := ir.NewKVWriter(file, &ir.KVOptions{Output: ir.Output{Zstd: true}})
//	var b ir.Builder
//	b.Int("level", 4)        // auto-generated keys first …
//	b.User()                 // … then the user's
//	b.String("message", "took 12 ms")
//	err = w.Write(&b)
//	err = w.Close()          // ends the stream
//
//	r, err := ir.NewReader(file, nil)
//	for e, err := range r.All() { line, err = e.AppendJSON(line[:0]) }
//
// # Format
//
// A stream is raw or inside zstd frames, which may cut it anywhere. All integers are big-endian.
//
//	stream   = magic preamble unit* 0x00
//	magic    = FD 2F B5 29 (four-byte) | FD 2F B5 30 (eight-byte: size of the numbers inside encoded text)
//	preamble = 0x01 (0x11 u8 | 0x12 u16) JSON       VERSION in the JSON tells text (0.0.x) from key-value (0.1.0)
//
//	text:       unit  = event | 0x3F i64 (UTC offset, ms)
//	            event = text (0x30 i64 | 0x31 i8 | 0x32 i16 | 0x33 i32 | 0x34 i64)   0x30: ms since 1970, others: delta
//	key-value:  unit  = node | event | 0x3F i64
//	            node  = type parent-id key           adds a key to one of two trees; its ID is the next number
//	            event = (auto-id value)* (user-id+ value{as many} | 0x5E)
//
// The ID is what saves space: a key is written once in a stream, and then costs two bytes an event. Package
// encoding describes encoded text, which messages, strings with spaces, and arrays are kept as.
//
// The format is that of https://github.com/y-scope/clp (components/core/src/clp/ffi/ir_stream), versions 0.0.2 and
// 0.1.0. Streams with the four-byte magic are read by clp-ffi-js and the YScope log viewer.
//
// # Errors
//
// A reader tells three things apart: the end of the stream (io.EOF), a stream that stops before its end
// (*IncompleteError: a writer died, or has not finished), and damage (*CorruptError). All carry byte offsets, and
// every whole event before them is delivered. An event that is framed correctly and yet cannot be shown (its text
// lacks a variable, say) is a *CorruptError of that event alone; the stream goes on. Input is not trusted: nothing
// is allocated from a length that the input has not backed with bytes, and Limits bounds the rest.
package ir
