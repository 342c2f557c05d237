package jsontext

import (
	"encoding/binary"
	"encoding/json"
	"math/bits"
	"strings"
	"testing"
	"unicode/utf8"
)

// TestSpecial looks at every byte at every place, behind bytes that stand for themselves and before any others.
func TestSpecial(t *testing.T) {
	for c := range 256 {
		special := c < ' ' || c == '"' || c == '\\'
		for at := range 8 {
			for _, around := range []string{"        ", "!!!!!!!!", "[]]][[[]", "\x7f\x7f\x7f\x7f\x7f\x7f\x7f\x7f", "########"} {
				b := []byte(around)
				b[at] = byte(c)
				check := func(name string, x uint64, want bool) {
					if got := x != 0; got != want || want && bits.TrailingZeros64(x) != at*8+7 {
						t.Fatalf("%s of %q: %#x", name, b, x)
					}
				}
				x := binary.LittleEndian.Uint64(b)
				check("Special", Special(x), special)
				check("Unplain", Unplain(x), special || c >= utf8.RuneSelf)
			}
		}
	}
	if x := binary.LittleEndian.Uint64([]byte("\xff\x80\xc3\xa9\xa0\xa2\xdc\x9f")); Special(x) != 0 {
		t.Errorf("of no ASCII: %#x", Special(x))
	}
}

func TestAppendEscape(t *testing.T) {
	for _, c := range append([]byte("\"\\\x7f"), "\x00\x01\b\t\n\v\f\r\x1f"...) {
		text := AppendEscape([]byte{'"'}, c)
		var s string
		if err := json.Unmarshal(append(text, '"'), &s); err != nil || s != string(rune(c)) || !strings.HasPrefix(string(text), `"\`) {
			t.Errorf("%q: %s, %v", c, text, err)
		}
	}
}
