package bench

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"strings"
	"testing"
	"time"
)

// TestTables makes every table once, as fast as can be: the figures mean nothing.
func TestTables(t *testing.T) {
	var buf bytes.Buffer
	out := &Output{W: &buf}
	dir := t.TempDir()
	out.Environment()
	Handle(out, 2)
	Parallel(out, 2)
	if err := Destinations(out, dir, 2); err != nil {
		t.Fatal(err)
	}
	Compressors(out, 2)
	if err := Latency(out, dir, 2, 20*time.Millisecond); err != nil {
		t.Fatal(err)
	}
	if err := Memory(out, dir); err != nil {
		t.Fatal(err)
	}
	if err := Read(out, dir, 20_000, 1); err != nil {
		t.Fatal(err)
	}
	out.Bars()
	text := buf.String()
	if n := strings.Count(text, "\n### "); n < 11 {
		t.Errorf("%d tables", n)
	}
	columns := 0
	for line := range strings.Lines(text) {
		if !strings.HasPrefix(line, "|") {
			columns = 0
			continue
		}
		n := strings.Count(strings.ReplaceAll(line, `\|`, ""), "|")
		if columns != 0 && n != columns {
			t.Errorf("%d columns, not %d: %s", n, columns, line)
		}
		columns = n
	}
	t.Log("\n" + text)
}

// TestPeers checks that each peer writes what it is compared for: one line of JSON with all ten attributes.
func TestPeers(t *testing.T) {
	for _, p := range Peers {
		var buf bytes.Buffer
		h := p.New(&buf, false)
		logTen(slog.New(h))
		closeHandler(h)
		var m map[string]any
		if err := json.Unmarshal(buf.Bytes(), &m); err != nil {
			t.Errorf("%s: %v: %s", p.Name, err, buf.Bytes())
		}
		for _, a := range ten() {
			if _, ok := m[a.Key]; !ok {
				t.Errorf("%s: no %s in %s", p.Name, a.Key, buf.Bytes())
			}
		}
		if _, ok := m["time"]; !ok {
			t.Errorf("%s: no time in %s", p.Name, buf.Bytes())
		}
		buf.Reset()
		slog.New(p.New(&buf, false)).Debug("not logged")
		if buf.Len() > 0 {
			t.Errorf("%s: debug is logged", p.Name)
		}
	}
}
