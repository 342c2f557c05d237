// Package js reads one JSON text into a flat index of its values, without decoding what nobody asks for.
//
// A compile trace carries megabytes of program text inside JSON strings. Parsing such a line into maps costs more than
// everything that is done with it, and writing it again loses key order and number spelling. A Doc keeps the text as
// it is and remembers where each value begins and ends; a Value is a place in that index. What passes through is copied
// byte by byte.
//
//	var d js.Doc
//	if err := d.Parse(line); err != nil { … }
//	hash := d.Root().Get("payload").Get("metadata").Get("hash").Str()
//
// The accepted language is RFC 8259 with strict UTF-8, no lone surrogates, no number beyond the range of a float64 and
// at most MaxDepth levels. Of a repeated key the last one counts, as in most decoders.
package js
