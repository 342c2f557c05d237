package chrometrace

import (
	"fmt"
	"strings"
	"testing"
)

// TestHeads mixes more beginnings of events than are remembered, some of them prefixes of others, in both orders and
// spellings, with and without SkipFunc: each event is what it is alone.
func TestHeads(t *testing.T) {
	var events []string
	for i := range 40 {
		cat := fmt.Sprintf("c%d", i%11)
		switch i % 4 {
		case 0:
			events = append(events, fmt.Sprintf(`{"ph": "X", "cat": %q, "name": "n%d", "ts": %d, "args": {"i": %d}}`, cat, i, i, i))
		case 1:
			events = append(events, fmt.Sprintf(`{"cat": %q, "ph": "f", "name": "n%d", "ts": %d, "args": {"i": %d}}`, cat, i, i, i))
		case 2:
			events = append(events, fmt.Sprintf("{\n\t\"ph\": \"X\",\n\t\"cat\": %q,\n\t\"ts\": %d,\n\t\"args\": {\"i\": %d}\n}", cat, i, i))
		case 3:
			events = append(events, `{"ph": "X", "cat": "c1", "ts": 1}`)
		}
	}
	alone := func(text string) string {
		s := NewScanner(strings.NewReader(`{"traceEvents":[` + text + `]}`))
		if !s.Scan() {
			t.Fatalf("%s: %v", text, s.Errors())
		}
		return describe(s.Event())
	}
	for _, skip := range []string{"", "c1", "c2"} {
		s := NewScanner(strings.NewReader(`{"traceEvents":[` + strings.Join(events, ",\n") + `]}`))
		asked := 0
		s.SkipFunc = func(_ byte, cat []byte) bool { asked++; return string(cat) == skip }
		for _, text := range events {
			want := alone(text)
			if skip != "" && strings.Contains(want, fmt.Sprintf("cat=%s ", skip)) {
				continue
			}
			if !s.Scan() {
				t.Fatalf("skipping %q: %s is missing: %v", skip, text, s.Errors())
			}
			if got := describe(s.Event()); got != want {
				t.Errorf("skipping %q: %s, want %s", skip, got, want)
			}
		}
		if s.Scan() || s.Events() != int64(len(events)) || asked != len(events) || s.ErrorCount() != 0 {
			t.Errorf("skipping %q: %d events, asked %d times: %v", skip, s.Events(), asked, s.Errors())
		}
	}
}

func describe(ev *Event) string {
	return fmt.Sprintf("ph=%c cat=%s name=%s ts=%d args=%s noted=%s", ev.Phase, ev.Category, ev.Name, ev.TS, ev.Args, members(ev.Arguments()))
}

// TestManyArguments has more arguments than the scanner notes.
func TestManyArguments(t *testing.T) {
	args := make([]string, maxMembers+10)
	for i := range args {
		args[i] = fmt.Sprintf(`"k%d": [%d]`, i, i)
	}
	s := NewScanner(strings.NewReader(`[{"ph": "X", "args": {` + strings.Join(args, ", ") + `}}]`))
	if !s.Scan() {
		t.Fatal(s.Errors())
	}
	if got, want := members(s.Event().Arguments()), members(ArgsOf(s.Event().Args)); got != want || strings.Count(got, ";") != len(args) {
		t.Errorf("%d arguments, want %d", strings.Count(got, ";"), len(args))
	}
}

// TestHole: NULs between events are damage, not white space.
func TestHole(t *testing.T) {
	s := NewScanner(strings.NewReader(`[{"ph":"X","name":"a"},` + strings.Repeat("\x00", 100) + `{"ph":"X","name":"b"}]`))
	n := 0
	for s.Scan() {
		n++
	}
	if n != 2 || !s.Degraded() {
		t.Errorf("%d events around a hole, degraded %v", n, s.Degraded())
	}
}

// TestDeepArguments has arguments nested deeper than the scanner remembers the kinds of brackets.
func TestDeepArguments(t *testing.T) {
	for _, depth := range []int{10, 63, 64, 65, 100} {
		args := strings.Repeat(`{"a":`, depth) + "[]" + strings.Repeat("}", depth)
		s := NewScanner(strings.NewReader(`[{"ph":"X","ts":1,"args":` + args + `},{"ph":"X","ts":2}]`))
		n := 0
		for s.Scan() {
			n++
		}
		if n != 2 || s.ErrorCount() != 0 {
			t.Errorf("%d levels: %d events, %v", depth, n, s.Errors())
		}
	}
}
