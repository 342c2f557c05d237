package timepattern

import "testing"

// FuzzMatch matches any string: the pattern that is found can be parsed, and prints the time with a clock as without.
func FuzzMatch(f *testing.F) {
	for _, text := range []string{"2026-01-02T03:04:05.678Z", "Jan 02, 2026  3:04:05 PM", "1767323045.25", "-5", "[02/Jan/2026:03:04:05", "2026-01-02 23:59:60 EST"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		ns, pattern, ok := Match([]byte(`"` + text + `"`))
		if !ok {
			return
		}
		p, err := Parse(pattern)
		if err != nil {
			t.Fatalf("%q has the pattern %s: %v", text, pattern, err)
		}
		a, errA := p.Append(nil, ns)
		b, errB := NewClock(p).Append(nil, ns)
		if string(a) != string(b) || (errA == nil) != (errB == nil) {
			t.Fatalf("%q: %s, %v; %s, %v", text, a, errA, b, errB)
		}
	})
}
