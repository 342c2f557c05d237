package jsontext

// Special has the high bit set of the lowest byte of x that does not stand for itself in a JSON string: a quote, a
// backslash or a control character; 0 if there is none. A borrow may set the bits of bytes above it, too: they mean nothing.
func Special(x uint64) uint64 {
	return ((x ^ '"'*ones - ones) | (x ^ '\\'*ones - ones) | (x - ' '*ones)) &^ x & highs
}

// Unplain is [Special] for which bytes that are not ASCII do not stand for themselves either.
func Unplain(x uint64) uint64 {
	return (x | (x - ' '*ones) | (x ^ '"'*ones - ones) | (x ^ '\\'*ones - ones)) & highs
}

// AppendEscape appends the escape of an ASCII character that needs one, as log/slog writes it.
func AppendEscape(dst []byte, c byte) []byte {
	switch c {
	case '"', '\\':
		return append(dst, '\\', c)
	case '\n':
		return append(dst, '\\', 'n')
	case '\r':
		return append(dst, '\\', 'r')
	case '\t':
		return append(dst, '\\', 't')
	}
	const hex = "0123456789abcdef"
	return append(dst, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
}
