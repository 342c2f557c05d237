package summary

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/tracehandler/tracehandler/event"
	"github.com/tracehandler/tracehandler/internal/corpus"
)

func sum(t *testing.T, name string, lines ...string) *Summary {
	t.Helper()
	s := New(name)
	for _, l := range lines {
		e, err := event.Parse([]byte(l))
		if err != nil {
			t.Fatal(err)
		}
		s.Add(e)
	}
	return s
}

func TestTotal(t *testing.T) {
	a := sum(t, "a",
		`{"time":"2026-11-30T10:00:02Z","level":"INFO","msg":"x","g":{"n":1,"s":"y","deep":{"b":true}}}`,
		`{"time":"2026-11-30T10:00:01Z","level":"WARN","msg":"x","g":{"n":null}}`)
	b := sum(t, "b",
		`{"msg":"z","g":{"n":"text"},"list":[1],"none":{},"num":1.0}`)
	a.Events, a.Text, b.Damage = 2, 100, 1
	all := Total([]*Summary{a, b})
	if all.Chosen != 3 || all.NoTime != 1 || all.NoLevel != 1 || all.ByLevel[slog.LevelWarn] != 1 || all.Text != 100 || all.Damage != 1 {
		t.Errorf("total = %+v", all)
	}
	if want := time.Date(2026, 11, 30, 10, 0, 1, 0, time.UTC); !all.First.Equal(want) || !all.Last.Equal(want.Add(time.Second)) {
		t.Errorf("from %v to %v", all.First, all.Last)
	}
	got, err := json.Marshal(all.TopKeys(0))
	if err != nil {
		t.Fatal(err)
	}
	want := `[{"key":"g.n","events":3,"values":["string","number","null"]},{"key":"msg","events":3,"values":["string"]},` +
		`{"key":"level","events":2,"values":["string"]},{"key":"time","events":2,"values":["string"]},` +
		`{"key":"g.deep.b","events":1,"values":["bool"]},{"key":"g.s","events":1,"values":["string"]},` +
		`{"key":"list","events":1,"values":["array"]},{"key":"none","events":1,"values":["object"]},{"key":"num","events":1,"values":["number"]}]`
	if string(got) != want {
		t.Errorf("keys:\n got %s\nwant %s", got, want)
	}
	if top := all.TopKeys(2); len(top) != 2 || top[1].Name != "msg" {
		t.Errorf("top 2 = %v", top)
	}
}

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// However many processors count, the sum is the same.
func TestParallel(t *testing.T) {
	var text bytes.Buffer
	if _, err := corpus.WriteNDJSON(&text, corpus.Demo, 1, 5000); err != nil {
		t.Fatal(err)
	}
	chosen := func(e event.Event) bool { l, _ := e.Level(); return l >= slog.LevelInfo }
	one, many := New("x"), NewParallel("x", chosen)
	for line := range bytes.Lines(text.Bytes()) {
		e := event.Lazy(bytes.TrimSpace(line))
		if chosen(e) {
			one.Add(e)
		}
		many.Add(e)
	}
	want, err := json.Marshal(one)
	if err != nil {
		t.Fatal(err)
	}
	got, err := json.Marshal(many.Sum())
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if one.Chosen == 0 || one.Chosen == 5000 {
		t.Errorf("%d of 5000 chosen", one.Chosen)
	}
}

func BenchmarkAdd(b *testing.B) {
	var text bytes.Buffer
	if _, err := corpus.WriteNDJSON(&text, corpus.Demo, 1, 5000); err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(text.Len()))
	for b.Loop() {
		p := NewParallel("x", func(event.Event) bool { return true })
		for line := range bytes.Lines(text.Bytes()) {
			p.Add(event.Lazy(line[:len(line)-1]))
		}
		p.Sum()
	}
}
