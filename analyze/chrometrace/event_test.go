package chrometrace

import (
	"encoding/json"
	"math"
	"testing"
)

func TestNanoseconds(t *testing.T) {
	for _, c := range []struct {
		text     string
		ns       int64
		huge, ok bool
	}{
		{"0", 0, false, true},
		{"6520430069670.309", 6520430069670309, false, true},
		{"1000000000.0", 1e12, false, true},
		{`"10.5"`, 10500, false, true},
		{"-3", -3000, false, true},
		{"-0.001", -1, false, true},
		{"0.0004", 0, false, true},
		{"0.0005", 1, false, true},
		{"0.9995", 1000, false, true},
		{"1.23456789", 1235, false, true},
		{"1e3", 1000000, false, true},
		{"1.5E-3", 2, false, true},
		{"4e-4", 0, false, true},
		{"1e400", math.MaxInt64, true, true},
		{"-1e99999999999", -math.MaxInt64, true, true},
		{"1e-99999999999", 0, false, true},
		{"18446744073709551615", math.MaxInt64, true, true},
		{"9223372036854775", 9223372036854775000, true, true},
		{"NaN", 0, false, false},
		{"Infinity", 0, false, false},
		{"", 0, false, false},
		{".", 0, false, false},
		{"1/3", 0, false, false},
		{"0x10", 0, false, false},
		{"null", 0, false, false},
	} {
		ns, huge, ok := Nanoseconds([]byte(c.text))
		if c.text == "9223372036854775" { // right at the edge: either is right, as long as the value is
			huge = true
			if ns != math.MaxInt64 && ns != c.ns {
				t.Errorf("%s: %d", c.text, ns)
			}
			ns = c.ns
		}
		if ns != c.ns || huge != c.huge || ok != c.ok {
			t.Errorf("%s: %d %v %v, want %d %v %v", c.text, ns, huge, ok, c.ns, c.huge, c.ok)
		}
	}
}

func TestInt(t *testing.T) {
	for text, want := range map[string]int64{"7": 7, "-7": -7, `"12"`: 12, "3.0": 3, "18446744073709551615": -1} {
		if got, ok := Int([]byte(text)); !ok || got != want {
			t.Errorf("%s: %d %v", text, got, ok)
		}
	}
	for _, text := range []string{"", "-", "x", "1e3", "18446744073709551616", "null", "[1]"} {
		if got, ok := Int([]byte(text)); ok {
			t.Errorf("%s: %d", text, got)
		}
	}
}

func TestString(t *testing.T) {
	for raw, want := range map[string]string{
		`plain`: "plain", `a\nb`: "a\nb", `\u00e9`: "é", `\ud83d\ude00`: "😀", `\ud83d`: "\ufffd", `\ud83dx`: "\ufffdx",
		`C:\Users\me`: `C:\Users\me`, `\u12`: `\u12`, `\`: `\`, "a\nb": "a\nb", "\xff\xfe": "\ufffd\ufffd", `\"\\\/`: `"\/`,
	} {
		if got := String([]byte(raw)); got != want {
			t.Errorf("%s: %q, want %q", raw, got, want)
		}
	}
}

func FuzzString(f *testing.F) {
	f.Add(`a\u00e9\ud83d\ude00\n`)
	f.Fuzz(func(t *testing.T, raw string) {
		var want string
		if json.Unmarshal([]byte(`"`+raw+`"`), &want) == nil {
			if got := String([]byte(raw)); got != want {
				t.Errorf("%q: %q, encoding/json %q", raw, got, want)
			}
		}
	})
}

func TestArgs(t *testing.T) {
	obj := []byte(`{ "a" : 1, "b": "x\"y", "c": [1, [2], {"d": 3}], "e": Infinity}`)
	var got string
	for a := ArgsOf(obj); a.Next(); {
		got += string(a.Key) + "=" + string(a.Value) + ";"
	}
	if want := `a=1;b="x\"y";c=[1, [2], {"d": 3}];e=Infinity;`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	got = ""
	Elements([]byte(`[1, [2, "]"], "x"]`), func(v []byte) bool { got += string(v) + ";"; return true })
	if got != `1;[2, "]"];"x";` {
		t.Error(got)
	}
	a := ArgsOf(nil)
	if a.Next() {
		t.Error("nil has members")
	}
}
