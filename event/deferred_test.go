package event

import (
	"bytes"
	"encoding/json"
	"slices"
	"sync"
	"testing"
)

func TestDeferred(t *testing.T) {
	line := []byte(`{"time":"2026-01-02T03:04:05Z","level":"WARN","msg":"hello","g":{"n":1.50}}`)
	made := 0
	d := NewDeferred(func(dst []byte) []byte { made++; return append(dst, line...) })
	want, err := Parse(line)
	if err != nil {
		t.Fatal(err)
	}
	d.Next()
	e := d.Next()
	if made != 0 {
		t.Error("a line that nobody asked for was made")
	}
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			if v, ok := e.Get("g", "n"); !ok || v.String() != "1.50" {
				t.Errorf("Get: %v, %v", v, ok)
			}
		})
	}
	wg.Wait()
	attrs, err := e.Attrs()
	wantAttrs, _ := want.Attrs()
	if err != nil || len(attrs) != len(wantAttrs) {
		t.Errorf("Attrs: %v, %v", attrs, err)
	}
	if n := len(slices.Collect(e.All())); n != len(wantAttrs) {
		t.Errorf("All: %d attributes", n)
	}
	if l, ok := e.Level(); !ok || l.String() != "WARN" {
		t.Errorf("Level: %v, %v", l, ok)
	}
	inside, err := json.Marshal(map[string]any{"e": e})
	if err != nil || !bytes.Contains(inside, line) {
		t.Errorf("as a value: %s, %v", inside, err)
	}
	if !bytes.Equal(e.Line(), line) || e.String() != string(line) || !Equal(e, want) || !Equal(want, e) {
		t.Errorf("%s", e)
	}
	if made != 1 {
		t.Errorf("the line was made %d times", made)
	}
	kept := e.Clone()
	line = []byte(`{"msg":"next"}`)
	if next := d.Next(); string(next.Line()) != `{"msg":"next"}` || !Equal(kept, want) {
		t.Errorf("%s, %s", next, kept)
	}
}
