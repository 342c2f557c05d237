package encoding

import (
	"errors"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"
)

func TestQuery(t *testing.T) {
	tests := []struct {
		pattern, text string
		fold, want    bool
	}{
		{"", "", false, true},
		{"", "a", false, false},
		{"*", "", false, true},
		{"***", "anything 12", false, true},
		{"?", "", false, false},
		{"?*?", "ab", false, true},
		{"a*b*c", "aXbXbXc", false, true},
		{"a*b*c", "aXbXbXcd", false, false},
		{"took * s*", "took -2.50 s, 12 items", false, true},
		{"took *.50 s*", "took -2.50 s, 12 items", false, true},
		{"took *.5 s*", "took -2.50 s, 12 items", false, false},
		{`5\*3 \?\\`, `5*3 ?\`, false, true},
		{`5\*3`, `5x3`, false, false},
		{"*ERROR*", "an error 7", true, true},
		{"*ERROR*", "an error 7", false, false},
		{"*node_??*", "on node_17 now", false, true},
		{strings.Repeat("a", 100), strings.Repeat("a", 100), false, true},
		{strings.Repeat("a", 100), strings.Repeat("a", 99) + "b", false, false},
		{strings.Repeat("a*", 50) + "b 12", strings.Repeat("a", 100) + "b 12", false, true},
	}
	for _, tt := range tests {
		q, err := ParseQuery(tt.pattern, tt.fold)
		if err != nil {
			t.Fatal(err)
		}
		if got := q.Match([]byte(tt.text)); got != tt.want {
			t.Errorf("Match(%q, %q) = %v", tt.pattern, tt.text, got)
		}
		checkQuery(t, q, tt.pattern, tt.text, tt.want)
	}
	if _, err := ParseQuery(`a\`, false); !errors.Is(err, ErrQuery) {
		t.Errorf("lone backslash: %v", err)
	}
}

func checkQuery(t *testing.T, q *Query, pattern, text string, want bool) {
	t.Helper()
	var m Message
	for _, w := range []Width{FourByte, EightByte} {
		EncodeMessage(&m, w, text)
		if got, err := q.MatchMessage(&m); err != nil || got != want {
			t.Fatalf("MatchMessage(%q, %q) = %v, %v, want %v", pattern, text, got, err, want)
		}
		if want && !q.MayMatchLogtype(m.Logtype) {
			t.Fatalf("MayMatchLogtype(%q, %q) = false, but the message matches", pattern, m.Logtype)
		}
	}
}

func TestMayMatchLogtypeExcludes(t *testing.T) {
	tests := []struct {
		pattern, logtype string
		want             bool
	}{
		{"*took*", "took \x13 s", true},
		{"*tool*", "took \x13 s", false},
		{"*task_1*", "took \x13 s", false},
		{"*task_1*", "took \x12 s", true},
		{"*k 1.5 s", "took \x13 s", true},
		{"*k 1.5 s", "took \x11 s", false},
		{"*k 15 s", "took \x11 s", true},
		{"took s", "took \x11s", false},
		{`*\\x*`, `C \\x`, true},
	}
	for _, tt := range tests {
		q, _ := ParseQuery(tt.pattern, false)
		if got := q.MayMatchLogtype([]byte(tt.logtype)); got != tt.want {
			t.Errorf("%q on %q: %v", tt.pattern, tt.logtype, got)
		}
	}
}

// slowMatch is the pattern as a regular expression.
func slowMatch(pattern, text string) bool {
	var b strings.Builder
	b.WriteString(`(?s)^`)
	for i := 0; i < len(pattern); i++ {
		switch c := pattern[i]; c {
		case '*':
			b.WriteString(`.*`)
		case '?':
			b.WriteString(`.`)
		case '\\':
			i++
			b.WriteString(regexp.QuoteMeta(pattern[i : i+1]))
		default:
			b.WriteString(regexp.QuoteMeta(string(c)))
		}
	}
	return regexp.MustCompile(b.String() + `$`).MatchString(text)
}

func TestQueryProperties(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	hits := 0
	for range 30_000 {
		text := randomText(r)
		if !isASCII(text) { // the regular expression counts runes
			continue
		}
		// A pattern that is the text with holes matches; with a byte changed it mostly does not.
		p := []byte(text)
		var pattern strings.Builder
		for i := 0; i < len(p); i++ {
			switch r.IntN(8) {
			case 0:
				pattern.WriteByte('?')
			case 1:
				pattern.WriteByte('*')
				i += r.IntN(4)
			case 2:
				if r.IntN(4) == 0 {
					pattern.WriteByte('q')
					continue
				}
				fallthrough
			default:
				if p[i] == '\\' || p[i] == '*' || p[i] == '?' {
					pattern.WriteByte('\\')
				}
				pattern.WriteByte(p[i])
			}
		}
		q, err := ParseQuery(pattern.String(), false)
		if err != nil {
			t.Fatal(err)
		}
		want := slowMatch(pattern.String(), text)
		if want {
			hits++
		}
		if got := q.Match([]byte(text)); got != want {
			t.Fatalf("Match(%q, %q) = %v", pattern.String(), text, got)
		}
		checkQuery(t, q, pattern.String(), text, want)
	}
	if hits < 1000 {
		t.Errorf("only %d of the random patterns match: the test tests nothing", hits)
	}
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= 0x80 {
			return false
		}
	}
	return true
}

func FuzzQuery(f *testing.F) {
	f.Add("took * s*", "took -2.50 s, 12 items", false)
	f.Add("*ERROR ?", "an error 7", true)
	f.Fuzz(func(t *testing.T, pattern, text string, fold bool) {
		q, err := ParseQuery(pattern, fold)
		if err != nil {
			return
		}
		checkQuery(t, q, pattern, text, q.Match([]byte(text)))
	})
}

func BenchmarkMatchMessage(b *testing.B) {
	var m Message
	EncodeMessage(&m, FourByte, benchText())
	q, err := ParseQuery("*took 12.* ms*status 2*", false)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if ok, _ := q.MatchMessage(&m); !ok {
			b.Fatal("no match")
		}
	}
}

func BenchmarkMayMatchLogtype(b *testing.B) {
	var m Message
	EncodeMessage(&m, FourByte, benchText())
	q, err := ParseQuery("*connection refused*", false)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if q.MayMatchLogtype(m.Logtype) {
			b.Fatal("may match")
		}
	}
}
