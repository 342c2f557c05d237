package encoding

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
)

func TestEncodeVariable(t *testing.T) {
	const dict = "dict"
	tests := []struct{ token, four, eight string }{
		{"0", "int 0", "int 0"},
		{"42", "int 42", "int 42"},
		{"-42", "int -42", "int -42"},
		{"2147483647", "int 2147483647", "int 2147483647"},
		{"2147483648", dict, "int 2147483648"},
		{"-2147483648", "int -2147483648", "int -2147483648"},
		{"-2147483649", dict, "int -2147483649"},
		{"9223372036854775807", dict, "int 9223372036854775807"},
		{"9223372036854775808", dict, dict},
		{"-9223372036854775808", dict, "int -9223372036854775808"},
		{"-9223372036854775809", dict, dict},
		{"9999999999999999999", dict, dict},
		{"18446744073709551616", dict, dict},
		{"-0", dict, dict},
		{"00", dict, dict},
		{"007", dict, dict},
		{"-01", dict, dict},
		{"+5", dict, dict},
		{"--4", dict, dict},
		{"4-", dict, dict},
		{"-", dict, dict},
		{"", dict, dict},
		{"abc", dict, dict},
		{"1e5", dict, dict},
		{"1.5", "float 000003C8", "float 0000000000000F10"},
		{"-2.50", "float 80003E91", "float 800000000000FA21"},
		{".5", "float 00000140", "float 0000000000000500"},
		{"-.001", "float 80000052", "float 8000000000000122"},
		{"3355443.1", "float 7FFFFFF8", "float 00000001FFFFFF70"},
		{"3355443.2", dict, "float 0000000200000070"},
		{".33554431", "float 7FFFFFFF", "float 00000001FFFFFF77"},
		{".33554432", dict, "float 0000000200000077"},
		{"0.0", "float 00000008", "float 0000000000000010"},
		{"-0.0", "float 80000008", "float 8000000000000010"},
		{"000.10", "float 000002A1", "float 0000000000000A41"},
		{"12345678.9", dict, "float 0000000" + fmt.Sprintf("%X", uint64(123456789)<<8|0x80)},
		{"123456789012345.6", dict, fmt.Sprintf("float %016X", uint64(1234567890123456)<<8|0xF0)},
		{"-.9999999999999999", dict, fmt.Sprintf("float %016X", uint64(1)<<63|uint64(9999999999999999)<<8|0xFF)},
		{"1234567890123456.7", dict, dict},
		{"5.", dict, dict},
		{"-5.", dict, dict},
		{".", dict, dict},
		{"-.", dict, dict},
		{"1.2.3", dict, dict},
		{"1..2", dict, dict},
	}
	for _, tt := range tests {
		for w, want := range map[Width]string{FourByte: tt.four, EightByte: tt.eight} {
			kind, bits := EncodeVariable(w, tt.token)
			got := dict
			switch {
			case kind == Int:
				got = fmt.Sprintf("int %d", bits)
			case kind == Float && w == FourByte:
				got = fmt.Sprintf("float %08X", uint32(bits))
			case kind == Float:
				got = fmt.Sprintf("float %016X", uint64(bits))
			}
			if got != want {
				t.Errorf("%v %q: got %s, want %s", w, tt.token, got, want)
			}
			if kind == Dict {
				continue
			}
			if text, err := appendNumber(kind, w, bits); err != nil || text != tt.token {
				t.Errorf("%v %q: read back as %q, %v", w, tt.token, text, err)
			}
			if w == FourByte {
				if text, err := appendNumber(kind, EightByte, Widen(kind, bits)); err != nil || text != tt.token {
					t.Errorf("%q widened: read back as %q, %v", tt.token, text, err)
				}
			}
		}
	}
}

func appendNumber(k Kind, w Width, bits int64) (string, error) {
	if k == Int {
		return string(AppendInt(nil, bits)), nil
	}
	text, err := AppendFloat(nil, w, bits)
	return string(text), err
}

func TestAppendFloatRefusesContradictions(t *testing.T) {
	tests := []struct {
		name string
		w    Width
		bits uint64
		ok   bool
	}{
		{"four: more places than digits", FourByte, 5<<6 | 1, false},
		{"four: more digits than said", FourByte, 12 << 6, false},
		{"four: all bits", FourByte, math.MaxUint32, true},
		{"eight: more places than digits", EightByte, 5<<8 | 1, false},
		{"eight: more digits than said", EightByte, 12 << 8, false},
		{"eight: too large", EightByte, 10_000_000_000_000_000<<8 | 0xFF, false},
		{"eight: unused bit 62", EightByte, 1<<62 | 5<<8, true},
	}
	for _, tt := range tests {
		_, err := AppendFloat(nil, tt.w, int64(tt.bits))
		if ok := err == nil; ok != tt.ok || !ok && !errors.Is(err, ErrFloat) {
			t.Errorf("%s: %v", tt.name, err)
		}
	}
}

func TestNextVariable(t *testing.T) {
	// The variables of a text are in brackets.
	tests := []string{
		"",
		"plain text only",
		"[ab] [AB] [face] [Face] [deadbeef] g beg",
		"a g [be] beg x",
		"k=[v] [k2]=[v] =[v] k=- k=_ k=. =",
		"a==[b] a=[b]=[c] x=\\ url?x=[y]&z=[w]",
		"q=\"v\" n=[null]",
		"[10.0.0.1]:[8080] /usr/lib/[x86_64] [main-3] <[id7]> {a} #[12]",
		"世界[12]é[be]",
		"C:\\dir \\x [\\dir1\\f] [5]%",
		"[-1] [+1] [.5] - + . _",
	}
	for _, tt := range tests {
		text := strings.NewReplacer("[", "", "]", "").Replace(tt)
		var got strings.Builder
		for from := 0; ; {
			start, end, escapes := NextVariable(text, from)
			if want := strings.Contains(text[from:start], "\\"); escapes != want {
				t.Errorf("%q at %d: escapes %v, want %v", text, from, escapes, want)
			}
			got.WriteString(text[from:start])
			if start == end {
				break
			}
			got.WriteString("[" + text[start:end] + "]")
			from = end
		}
		if got.String() != tt {
			t.Errorf("got %s, want %s", got.String(), tt)
		}
	}
}
