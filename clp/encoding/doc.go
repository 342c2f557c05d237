// Package encoding is CLP's encoding of text: a message is split into its constant part, the log type, and its
// variables, which are kept as integers, as floats whose spelling survives, or as dictionary words.
//
//	message   took -2.50 s, 12 items on node_7
//	log type  took 0x13 s, 0x11 items on 0x12
//	encoded   float -2.50, integer 12           (32 or 64 bits each, see Width)
//	words     node_7
//
// Every byte string survives, valid UTF-8 or not. The rules are those of CLP's schema "VariablesSchemaV2" with the
// methods "VariableEncodingMethodsV1" (https://github.com/y-scope/clp, components/core/src/clp/ffi); package clp/ir
// and package clp/archive store messages in this form.
//
//	var m encoding.Message
//	encoding.EncodeMessage(&m, encoding.EightByte, "took -2.50 s, 12 items on node_7")
//	text, err := encoding.DecodeMessage(nil, &m)
//
//	q, err := encoding.ParseQuery("took * items*", false)
//	hit, err := q.MatchMessage(&m) // without rebuilding the text
//
// All functions append to, or reuse, what the caller gives them and allocate nothing in steady state. A Message is
// for one goroutine at a time; a Query is immutable and safe for concurrent use.
package encoding
