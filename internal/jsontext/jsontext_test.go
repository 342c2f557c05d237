package jsontext

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
	"testing"
)

// texts are values, and what is nearly one.
var texts = []string{
	``, `null`, `nul`, `nulls`, ` true `, `false`, `0`, `-0`, `01`, `-`, `1.`, `.5`, `1.50e+10`, `1E`, `1e+`, `+1`, `1E400`, `0x1`, `NaN`,
	`"a b"`, `"a`, `"\"\\\/\b\f\n\r\t"`, `"\u00e9\u00E9"`, `"\ud83c\udf89"`, `"\ud83c"`, `"\udf89\ud83c"`, `"\ud83c\ud83c\udf89"`, `"\q"`, `"\u12g4"`, `"\u12`, `"\`,
	"\"\x1f\"", "\"\x7f\"", "\"\xff\"", "\"\xe2\x80\"", "\"\xed\xa0\xbc\"", "\"\\\xff\"", `"a long string with more than thirty-two bytes, and a \" in it, and \\"`,
	`{}`, `[]`, ` { } `, `[ ]`, `{"a":1}`, "\t{\"a\" : [1,\r\n2 , {}] , \"\":null }\n", `{"a":1,}`, `[1,]`, `{a:1}`, `{"a" 1}`, `[1 2]`, `{"a":1]`, `[{]}`, `{`, `[`, `{"a":`, `]`, `}`, `,`, "\v1", "\xa01",
	strings.Repeat(`{"a":[`, 100) + "{}" + strings.Repeat("]}", 100), strings.Repeat("[", MaxDepth) + strings.Repeat("]", MaxDepth), strings.Repeat("[", MaxDepth+1) + strings.Repeat("]", MaxDepth+1),
}

// FuzzValue compares with encoding/json which texts are valid, where values end, and what is left without white space.
func FuzzValue(f *testing.F) {
	for _, text := range texts {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		if Valid(b) != json.Valid(b) {
			t.Fatalf("%q: %v", b, Valid(b))
		}
		begin := SkipSpace(b, 0)
		end, fault := ScanValue(b, begin, 0)
		if (end < 0) != (fault != NoFault) {
			t.Fatalf("%q: %d and fault %d", b, end, fault)
		}
		if end < 0 {
			if at := ^end; at < begin || at > len(b) || fault.At(b, at) == "" {
				t.Fatalf("%q: fault %d at %d", b, fault, at)
			}
			AppendCompact(nil, b)
			Deeper(b, 3)
			for i := range min(len(b)+1, 100) {
				if end := ValueEnd(b, i); end < ^len(b) || end > len(b) {
					t.Fatalf("%q from %d: %d", b, i, end)
				}
			}
			return
		}
		if got := ValueEnd(b, begin); got != end && SkipSpace(b, end) == len(b) {
			t.Fatalf("%q ends at %d, and at %d", b, end, got)
		}
		value := b[begin:end]
		if !json.Valid(value) {
			t.Fatalf("%q: %q", b, value)
		}
		var want bytes.Buffer
		if err := json.Compact(&want, value); err != nil {
			t.Fatal(err)
		}
		if got := AppendCompact([]byte("x"), value); string(got[1:]) != want.String() {
			t.Fatalf("%q: %q, want %q", value, got[1:], want.Bytes())
		}
		open, most := 0, 0
		for i := 0; i < len(value); i++ {
			switch value[i] {
			case '"':
				i = StringEnd(value, i+1) - 1
			case '[', '{':
				open++
				most = max(most, open)
			case ']', '}':
				open--
			}
		}
		if Deeper(value, most) || most > 0 && !Deeper(value, most-1) {
			t.Fatalf("%q is not %d deep", value, most)
		}
	})
}

// FuzzString compares with encoding/json which strings are valid and what they mean.
func FuzzString(f *testing.F) {
	for _, text := range texts {
		if len(text) < 1000 {
			f.Add([]byte(strings.Trim(text, `"`)))
		}
	}
	f.Fuzz(func(t *testing.T, inside []byte) {
		text := append(append([]byte{'"'}, inside...), '"')
		end, has := ScanString(text, 1)
		if (end == len(text)) != (json.Valid(text) && bytes.HasPrefix(text, []byte{'"'})) {
			t.Fatalf("%q: %d", text, end)
		}
		if spacedEnd, spaced := ScanSpaced(text, 1); spacedEnd != end || spaced&^Spaces != has {
			t.Fatalf("%q: %d, %d; with spaces %d, %d", text, end, has, spacedEnd, spaced)
		} else if end > 0 && (spaced&Spaces != 0) != (bytes.IndexByte(text[:end], ' ') >= 0) {
			t.Fatalf("%q: %d", text, spaced)
		}
		if end > 0 && StringEnd(text, 1) != end {
			t.Fatalf("%q ends at %d, and at %d", text, end, StringEnd(text, 1))
		}
		for i := range min(len(text)+1, 100) {
			if end := StringEnd(text, i); end < ^len(text) || end > len(text) {
				t.Fatalf("%q from %d: %d", text, i, end)
			}
		}
		HalfPair(text)
		got := AppendText([]byte("x"), inside)[1:]
		if bytes.IndexByte(inside, '\\') < 0 && string(got) != string([]rune(string(inside))) {
			t.Fatalf("%q: %q", inside, got)
		}
		if end != len(text) {
			return
		}
		var want string
		if err := json.Unmarshal(text, &want); err != nil || string(got) != want {
			t.Fatalf("%q: %q, want %q, %v", text, got, want, err)
		}
		if (has&Escapes != 0) != (bytes.IndexByte(inside, '\\') >= 0) {
			t.Fatalf("%q: %d", text, has)
		}
		if half := HalfPair(text); half >= 0 && has&Unicode == 0 {
			t.Fatalf("%q: half a pair at %d without an escape", text, half)
		}
	})
}

// FuzzNumber compares with encoding/json which numbers are valid, and with strconv what they are.
func FuzzNumber(f *testing.F) {
	for _, text := range append(texts, "123456789012345678", "-999999999999999999", "1234567890123456789", "0.000000000000001", "18446744073709551616.5") {
		if len(text) < 1000 {
			f.Add([]byte(text))
		}
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		want := json.Valid(b) && (b[0] == '-' || b[0]-'0' <= 9) && b[len(b)-1]-'0' <= 9
		if IsNumber(b) != want {
			t.Fatalf("%q: %v", b, !want)
		}
		n := ScanNumber(b, 0)
		if end := NumberEnd(b, 0); n.End != end {
			t.Fatalf("%q ends at %d, and at %d", b, end, n.End)
		}
		if n.End < 0 {
			return
		}
		text := b[:n.End]
		v, ok := n.Int()
		if w, okText := Int(text); w != v || okText != ok {
			t.Fatalf("%q: %d, %v; as text %d, %v", text, v, ok, w, okText)
		}
		if i, err := strconv.ParseInt(string(text), 10, 64); ok && (err != nil || i != v) || !ok && err == nil && len(text) <= 18 && string(text) != "-0" {
			t.Fatalf("%q: %d, %v", text, v, ok)
		}
		mantissa, _, exponent := bytes.Cut(bytes.ToLower(text), []byte{'e'})
		whole, fraction, _ := bytes.Cut(bytes.TrimPrefix(mantissa, []byte{'-'}), []byte{'.'})
		if n.Exponent != exponent || n.Whole != len(whole) || n.Fraction != len(fraction) || n.Neg != (text[0] == '-') {
			t.Fatalf("%q: %+v", text, n)
		}
		if all := string(whole) + string(fraction); len(all) <= 19 && strings.TrimLeft(all, "0") != strings.TrimLeft(strconv.FormatUint(n.Digits, 10), "0") {
			t.Fatalf("%q: %+v", text, n)
		}
	})
}

// TestUnchecked: what is no escape stays, and half a pair is U+FFFD.
func TestUnchecked(t *testing.T) {
	for _, c := range []struct{ raw, bytes, text string }{
		{`\`, `\`, `\`}, {`a\`, `a\`, `a\`}, {`\q\n`, "\\q\n", "\\q\n"}, {`\u12g4\u00e9`, `\u12g4é`, `\u12g4é`}, {`\u00e`, `\u00e`, `\u00e`}, {`\U00e9`, `\U00e9`, `\U00e9`},
		{`\ud83c`, "\ufffd", "\ufffd"}, {`\ud83c\`, "\ufffd\\", "\ufffd\\"}, {`\ud83cx`, "\ufffdx", "\ufffdx"}, {`\ud83c\u0041`, "\ufffdA", "\ufffdA"},
		{`\ud83c\ud83c\udf89`, "\ufffd🎉", "\ufffd🎉"}, {`\udf89\ud83c`, "\ufffd\ufffd", "\ufffd\ufffd"}, {`\ud83c\udf8`, "\ufffd\\udf8", "\ufffd\\udf8"},
		{"\xff\\u00e9\xc3", "\xffé\xc3", "\ufffdé\ufffd"}, {"\xc3\\u00a9", "\xc3©", "\ufffd©"}, {"\xed\xa0\xbc", "\xed\xa0\xbc", "\ufffd\ufffd\ufffd"},
	} {
		if got := AppendUnescaped([]byte("x"), []byte(c.raw)); string(got) != "x"+c.bytes {
			t.Errorf("%q: %q, want %q", c.raw, got[1:], c.bytes)
		}
		if got := AppendText([]byte("\xff"), []byte(c.raw)); string(got) != "\xff"+c.text { // only what is appended is mended
			t.Errorf("%q: %q, want %q", c.raw, got[1:], c.text)
		}
	}
}

func TestHalfPair(t *testing.T) {
	for text, want := range map[string]int{
		``: -1, `"é\n\\ud83c"`: -1, `"\ud83c\udf89"`: -1, `"\uFFFD"`: -1, `"\ud83c"`: 1, `"x\udf89"`: 2, `"\ud83c\udf89\udf89"`: 13, `"\ud83c\ud83c\udf89"`: 1, `"\\\ud83c"`: 3, `\`: -1, `\ud83`: -1,
	} {
		if got := HalfPair([]byte(text)); got != want {
			t.Errorf("%q: %d, want %d", text, got, want)
		}
	}
}

func TestValidPrefix(t *testing.T) {
	for text, want := range map[string]int{"": 0, "aé\ufffd": 6, "é\xff": 2, "\xe2\x80": 0, "a\xed\xa0\xbc": 1} {
		if got := ValidPrefix([]byte(text)); got != want {
			t.Errorf("%q: %d, want %d", text, got, want)
		}
	}
}

// TestNestedEnd finds brackets of the wrong kind at any of the innermost 64 levels, and none that are right at any depth.
func TestNestedEnd(t *testing.T) {
	for _, depth := range []int{1, 2, 63, 64, 65, 66, 100, 200} {
		for _, begin := range []string{"[", `{"a":`, `{"a":[`, `[[{"]":`} {
			text := strings.Repeat(begin, depth)
			ends := strings.NewReplacer("{", "}", "[", "]", `"a":`, "", `"]":`, "").Replace(text)
			end := []byte(ends)
			for i, j := 0, len(end)-1; i < j; i, j = i+1, j-1 {
				end[i], end[j] = end[j], end[i]
			}
			text += `"x"`
			whole := append([]byte(text), end...)
			if got := NestedEnd(whole, 0); got != len(whole) {
				t.Errorf("%d times %s: %d of %d", depth, begin, got, len(whole))
			}
			if got := NestedEnd(whole[:len(whole)-1], 0); got != ^(len(whole) - 1) {
				t.Errorf("%d times %s, cut: %d", depth, begin, got)
			}
			for i := range min(len(end), 64) {
				bad := bytes.Clone(whole)
				bad[len(text)+i] ^= '}' ^ ']'
				if got := NestedEnd(bad, 0); got != ^(len(text) + i) {
					t.Errorf("%d times %s, wrong bracket at %d: %d", depth, begin, len(text)+i, got)
				}
			}
		}
	}
}

// TestSkip passes over white space of any length at any place, and over nothing else: a hole of NULs is damage.
func TestSkip(t *testing.T) {
	for n := range 40 {
		for _, c := range []string{" ", "\n", "\t", "\r", "\n   "} {
			b := []byte(strings.Repeat(c, n) + "x")
			for at := 0; at <= n*len(c); at++ {
				if i, j := SkipSpace(b, at), SkipIndent(b, at); i != n*len(c) || j != i {
					t.Fatalf("%q from %d: %d, %d", b, at, i, j)
				}
			}
			if i, j := SkipSpace(b[:n], 0), SkipIndent(b[:n], 0); i != n || j != n {
				t.Fatalf("%q: %d, %d", b[:n], i, j)
			}
		}
		for _, c := range []byte{0, 1, 8, '!', 0x7f, 0x80, 0x89, 0xa0, 0xff} {
			b := append([]byte(strings.Repeat(" ", n)), c, ' ', ' ', ' ', ' ', ' ', ' ', ' ', ' ')
			if i, j := SkipSpace(b, 0), SkipIndent(b, 0); i != n || j != n {
				t.Fatalf("%q: %d, %d, want %d", b, i, j, n)
			}
		}
	}
}

// TestDepth counts what encloses a value.
func TestDepth(t *testing.T) {
	for _, depth := range []int{0, 1, 63, 1024, MaxDepth - 1, MaxDepth} {
		for _, c := range []struct{ begin, end string }{{"[", "]"}, {`{"":`, "}"}} {
			room := MaxDepth - depth
			text := strings.Repeat(c.begin, room) + "1" + strings.Repeat(c.end, room)
			if end, f := ScanValue([]byte(text), 0, depth); end != len(text) {
				t.Errorf("%d times %s inside of %d levels: %d, fault %d", room, c.begin, depth, end, f)
			}
			at := room * len(c.begin)
			if end, f := ScanValue([]byte(c.begin+text+c.end), 0, depth); end != ^at || f != FaultDepth {
				t.Errorf("%d times %s inside of %d levels: %d, fault %d", room+1, c.begin, depth, end, f)
			}
		}
	}
}

func TestExpected(t *testing.T) {
	for text, want := range map[string]string{
		"":         "expected x, the line ends",
		"n":        "expected x, found 'n'",
		"\x00":     `expected x, found '\x00'`,
		"\u201chi": "expected x, found '\u201c'",
		"\xff\xfe": `expected x, found '\xff'`, // not ÿ
	} {
		if got := Expected("expected x", []byte(text), 0); got != want {
			t.Errorf("%q: %s, not %s", text, got, want)
		}
	}
}
