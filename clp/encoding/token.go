package encoding

// Text is what can be encoded: the functions read it and keep nothing of it.
type Text interface{ ~string | ~[]byte }

// Placeholders in a log type, and the byte that makes the byte behind it literal.
const (
	IntPlaceholder   = 0x11
	DictPlaceholder  = 0x12
	FloatPlaceholder = 0x13
	Escape           = '\\'
)

// Classes of a byte.
const (
	isToken  = 1 << iota // part of a token; every other byte is a delimiter
	isDigit              // 0–9
	isLetter             // A–Z a–z
	isHex                // 0–9 A–F a–f
	isEscape             // needs an Escape in a log type
)

var classes = func() (t [256]uint8) {
	for c := '0'; c <= '9'; c++ {
		t[c] = isToken | isDigit | isHex
	}
	for c := 'a'; c <= 'z'; c++ {
		t[c] = isToken | isLetter
		t[c-'a'+'A'] = isToken | isLetter
	}
	for c := 'a'; c <= 'f'; c++ {
		t[c] |= isHex
		t[c-'a'+'A'] |= isHex
	}
	for _, c := range "+-._" {
		t[c] = isToken
	}
	t[Escape] = isToken | isEscape
	t[IntPlaceholder], t[DictPlaceholder], t[FloatPlaceholder] = isEscape, isEscape, isEscape
	return t
}()

// NextVariable finds the first variable of text at or behind from, where from is 0 or the end of the variable before.
// The variable is text[start:end]; without one, both are len(text). text[from:start] is constant text, and escapes
// says whether it holds a byte that AppendConstant must escape.
//
// A token is a maximal run of the bytes + - . 0–9 A–Z \ _ a–z. It is a variable if it holds a decimal digit, or if
// the byte before it is '=' and it holds a letter, or if it has two bytes or more and all are hex digits.
func NextVariable[T Text](text T, from int) (start, end int, escapes bool) {
	var seen uint8
	i := from
	for {
		for i < len(text) && classes[text[i]]&isToken == 0 {
			seen |= classes[text[i]]
			i++
		}
		if i == len(text) {
			return i, i, seen&isEscape != 0
		}
		start = i
		any, all := uint8(0), uint8(isHex)
		for i < len(text) {
			c := classes[text[i]]
			if c&isToken == 0 {
				break
			}
			any |= c
			all &= c
			i++
		}
		if any&isDigit != 0 ||
			all != 0 && i-start >= 2 ||
			any&isLetter != 0 && start > 0 && text[start-1] == '=' {
			return start, i, seen&isEscape != 0
		}
		seen |= any
	}
}

// AppendConstant appends constant text to a log type, each of the bytes 0x11 0x12 0x13 and \ behind an Escape.
func AppendConstant[T Text](logtype []byte, text T) []byte {
	from := 0
	for i := 0; i < len(text); i++ {
		if classes[text[i]]&isEscape != 0 {
			logtype = append(logtype, text[from:i]...)
			logtype = append(logtype, Escape)
			from = i
		}
	}
	return append(logtype, text[from:]...)
}
