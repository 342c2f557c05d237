package encoding

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

func TestEncodeMessage(t *testing.T) {
	var m Message
	EncodeMessage(&m, FourByte, ` WARN user=alice id task_1 took -2.50 s, 12 items`+"\n")
	if want := " WARN user=\x12 id \x12 took \x13 s, \x11 items\n"; string(m.Logtype) != want {
		t.Errorf("log type %q, want %q", m.Logtype, want)
	}
	if m.Words() != 2 || string(m.Word(0)) != "alice" || string(m.Word(1)) != "task_1" {
		t.Errorf("words %q", m.words)
	}
	if len(m.Encoded) != 2 || uint32(m.Encoded[0]) != 0x80003E91 || m.Encoded[1] != 12 {
		t.Errorf("encoded %x", m.Encoded)
	}
	EncodeMessage(&m, FourByte, []byte(`C:\dir1\f \x 5%`+"\x11\x12\x13"))
	if want := "C:\x12 \\\\x \x11%\\\x11\\\x12\\\x13"; string(m.Logtype) != want {
		t.Errorf("log type %q, want %q", m.Logtype, want)
	}
}

func TestDecodeMessageErrors(t *testing.T) {
	tests := []struct {
		logtype string
		want    string
		err     error
		pos     int
	}{
		{`a\b\\`, `ab\`, nil, 0},
		{"left over", "left over", nil, 0},
		{"int \x11", "int 7", nil, 0},
		{"int \x11\x11", "int 7", ErrVariable, 5},
		{"word \x12\x12", "word w", ErrVariable, 6},
		{"float \x13", "float ", ErrFloat, 6},
		{`end\`, "end", ErrEscape, 3},
	}
	for _, tt := range tests {
		m := Message{Width: FourByte, Logtype: []byte(tt.logtype), Encoded: []int64{7}}
		m.AddWord([]byte("w"))
		got, err := DecodeMessage(nil, &m)
		if string(got) != tt.want || !errors.Is(err, tt.err) {
			t.Errorf("%q: got %q, %v", tt.logtype, got, err)
		}
		if de := (*DecodeError)(nil); errors.As(err, &de) && de.Pos != tt.pos {
			t.Errorf("%q: error at %d, want %d", tt.logtype, de.Pos, tt.pos)
		}
		if q, _ := ParseQuery("*", false); tt.err != nil {
			if _, qerr := q.MatchMessage(&m); !errors.Is(qerr, tt.err) {
				t.Errorf("%q: MatchMessage %v", tt.logtype, qerr)
			}
		}
	}
}

// The rules again, as regular expressions.
var (
	reToken  = regexp.MustCompile(`[-+.0-9A-Z\\_a-z]+`)
	reDigit  = regexp.MustCompile(`[0-9]`)
	reLetter = regexp.MustCompile(`[A-Za-z]`)
	reHex    = regexp.MustCompile(`^[0-9A-Fa-f]{2,}$`)
	reInt    = regexp.MustCompile(`^(0|-?[1-9][0-9]*)$`)
	reFloat8 = regexp.MustCompile(`^-?[0-9]*\.[0-9]+$`)
)

func fitsInt64(token string) bool {
	_, err := strconv.ParseInt(token, 10, 64)
	return err == nil
}

func slowLogtype(text string) string {
	var b strings.Builder
	escape := strings.NewReplacer("\x11", "\\\x11", "\x12", "\\\x12", "\x13", "\\\x13", "\\", "\\\\")
	from := 0
	for _, at := range reToken.FindAllStringIndex(text, -1) {
		token := text[at[0]:at[1]]
		if !(reDigit.MatchString(token) || reHex.MatchString(token) ||
			at[0] > 0 && text[at[0]-1] == '=' && reLetter.MatchString(token)) {
			continue
		}
		b.WriteString(escape.Replace(text[from:at[0]]))
		from = at[1]
		digits := len(reDigit.FindAllString(token, -1))
		switch {
		case reInt.MatchString(token) && fitsInt64(token):
			b.WriteByte(0x11)
		case reFloat8.MatchString(token) && digits <= 16:
			b.WriteByte(0x13)
		default:
			b.WriteByte(0x12)
		}
	}
	b.WriteString(escape.Replace(text[from:]))
	return b.String()
}

// randomText strings together pieces that sit on the edges of the rules.
func randomText(r *rand.Rand) string {
	pieces := []string{"=", " ", "a", "be", "dead", "xyz", "0", "-", "+", ".", "1.5", "-0", "007", "\\", "_", "\x11", "\x12", "\x13",
		"世", "\xff", ":", "2147483647", "3355443.2", "922337203685477580", "9223372036854775807", ".5", "-.25", "\n", "user", "12345678.90123456"}
	var b strings.Builder
	for range r.IntN(12) {
		b.WriteString(pieces[r.IntN(len(pieces))])
	}
	return b.String()
}

func TestMessageProperties(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	var m Message
	var back []byte
	for range 100_000 {
		text := randomText(r)
		for _, w := range []Width{FourByte, EightByte} {
			EncodeMessage(&m, w, text)
			var err error
			if back, err = DecodeMessage(back[:0], &m); err != nil || string(back) != text {
				t.Fatalf("%v %q: read back as %q, %v", w, text, back, err)
			}
		}
		if want := slowLogtype(text); string(m.Logtype) != want {
			t.Fatalf("%q: log type %q, want %q", text, m.Logtype, want)
		}
	}
}

func TestAllocations(t *testing.T) {
	text := []byte(" INFO request 8f14e45f took 12.50 ms, user=alice status 200 path C:\\x\n")
	var m Message
	var back []byte
	q, err := ParseQuery("*took * ms*status 2*", false)
	if err != nil {
		t.Fatal(err)
	}
	if n := testing.AllocsPerRun(100, func() {
		EncodeMessage(&m, FourByte, text)
		back, _ = DecodeMessage(back[:0], &m)
		if ok, _ := q.MatchMessage(&m); !ok || !bytes.Equal(back, text) {
			t.Fatal("wrong result")
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func FuzzMessage(f *testing.F) {
	for _, s := range []string{"", `C:\dir1\f \x 5%`, "k=v be -2.50 007 .5 5.", "\x11\x12\x13\\", "世界 12\xff"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var m Message
		for _, w := range []Width{FourByte, EightByte} {
			EncodeMessage(&m, w, text)
			if back, err := DecodeMessage(nil, &m); err != nil || string(back) != text {
				t.Fatalf("%v %q: read back as %q, %v", w, text, back, err)
			}
		}
		if want := slowLogtype(text); len(text) < 1000 && string(m.Logtype) != want {
			t.Fatalf("%q: log type %q, want %q", text, m.Logtype, want)
		}
	})
}

func benchText() []byte {
	return []byte(" INFO [worker-3] request 8f14e45f-ceea-467f took 12.50 ms, user=alice status 200 bytes 48213 path /usr/lib/x86_64 retry 0\n")
}

func BenchmarkEncodeMessage(b *testing.B) {
	text := benchText()
	var m Message
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		EncodeMessage(&m, FourByte, text)
	}
}

func BenchmarkDecodeMessage(b *testing.B) {
	text := benchText()
	var m Message
	EncodeMessage(&m, FourByte, text)
	var back []byte
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		back, _ = DecodeMessage(back[:0], &m)
	}
}
