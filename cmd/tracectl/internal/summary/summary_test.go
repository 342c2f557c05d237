package summary

import (
	"encoding/json"
	"log/slog"
	"testing"
	"time"

	"github.com/tracehandler/tracehandler/event"
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
