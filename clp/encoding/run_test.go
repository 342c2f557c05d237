package encoding

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

func TestVariables(t *testing.T) {
	tests := []struct {
		pattern string
		fold    bool
		want    string
	}{
		{`job 42 took 3.50 s`, false, `1:42 2:3.50`},
		{`*job 42*`, false, ``},
		{`*job 42 *`, false, `1:42`},
		{`42`, false, `1:42`},
		{`42*`, false, ``},
		{`?42 x1?`, false, ``},
		{`*request 1a2b from*`, false, `0:1a2b`},
		{`*request 1A2B from*`, true, `0:1a2b`},
		{`a=b c=*`, false, `0:b`},
		{`*=b c`, false, `0:b`},
		{`=b c`, false, `0:b`},
		{`be add dead`, false, `0:be 0:add 0:dead`},
		{`x\*1`, false, `1:1`},
		{`x\\1`, false, `0:x\1`},
		{`* 1 * 2 *`, false, `1:1 1:2`},
		{``, false, ``},
	}
	for _, tt := range tests {
		q, err := ParseQuery(tt.pattern, tt.fold)
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		for i, v := range q.Variables(EightByte) {
			if i > 0 {
				got += " "
			}
			got += fmt.Sprintf("%d:%s", v.Kind, v.Word)
		}
		if got != tt.want {
			t.Errorf("%s: got %s, want %s", tt.pattern, got, tt.want)
		}
	}
}

// TestRun holds random messages against random patterns: what is said of a log type and of variables holds for its
// messages.
func TestRun(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	text := func(n int, alphabet string) (s string) {
		for range random.IntN(n) {
			s += string(alphabet[random.IntN(len(alphabet))])
		}
		return s
	}
	must, matched, words, vain, narrowed := 0, 0, 0, 0, 0
	for range 100_000 {
		s := text(9, "a1 =.-\\")
		pattern := text(7, "a1 =.-*?*")
		if random.IntN(2) == 0 {
			from := random.IntN(len(s) + 1)
			to := from + random.IntN(len(s)-from+1)
			pattern = strings.ReplaceAll(s[:from], `\`, `\\`) + "*" + strings.ReplaceAll(s[to:], `\`, `\\`)
		}
		fold := random.IntN(2) == 0
		q, err := ParseQuery(pattern, fold)
		if err != nil {
			t.Fatal(err)
		}
		match := q.Match([]byte(s))
		var m Message
		EncodeMessage(&m, EightByte, s)
		if q.MustMatchLogtype(m.Logtype) {
			if must++; !match {
				t.Fatalf("%q must match %q", s, pattern)
			}
		}
		r, ok := q.Run()
		cut := random.IntN(len(s) + 1)
		if may := r.Read([]byte(s[:cut])) && r.Read([]byte(s[cut:])) && r.Matches(); may != match || !ok {
			t.Fatalf("%q, %q: %v, run %v", s, pattern, match, may)
		}
		narrow := q.Narrow(func(run []byte) bool {
			for i := range m.Words() {
				word := m.Word(i)
				if fold {
					word = bytes.ToLower(word)
				}
				if bytes.Contains(word, run) {
					return true
				}
			}
			return false
		})
		if may := narrow.MayMatchLogtype(m.Logtype); may && !match {
			vain++
		} else if match && !may {
			t.Fatalf("%q matches %q, which is narrowed to nothing", s, pattern)
		} else if !match && q.MayMatchLogtype(m.Logtype) {
			narrowed++
		}
		if f := q.Fragment(); match && !fold && !strings.Contains(s, string(f)) {
			t.Fatalf("%q matches %q without %q", s, pattern, f)
		}
		if !match {
			continue
		}
		matched++
		for _, v := range q.Variables(EightByte) {
			words++
			found := false
			if v.Kind == Dict {
				for i := range m.Words() {
					found = found || string(m.Word(i)) == string(v.Word)
				}
			} else {
				found = slices.Contains(m.Encoded, v.Bits)
			}
			if !found {
				t.Fatalf("%q matches %q, without %s", s, pattern, v.Word)
			}
		}
	}
	if narrowed < 1000 {
		t.Errorf("narrowed only %d times, not %d times", narrowed, vain)
	}
	if must < 1000 || matched < 10_000 || words < 500 {
		t.Errorf("only %d, %d, %d", must, matched, words)
	}
}
