// Package repeat compresses text whose writer knows which parts of it are repeats.
//
// A general compressor looks for repeats; for text that is put together from a few pieces, such as a table in JSON, the
// search costs many times what the table does. A Text remembers where each Piece was written last, and the encoder
// writes that down as a back reference. The result is a block of DEFLATE (RFC 1951) that any inflater reads.
//
//	var t repeat.Text
//	var sep repeat.Piece
//	for _, n := range numbers {
//		t.B = strconv.AppendInt(t.B, n, 10)
//		t.Write(&sep, separator)
//	}
//	dst = enc.AppendBlock(dst, &t)
package repeat
