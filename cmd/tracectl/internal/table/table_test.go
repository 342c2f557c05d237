package table

import (
	"strings"
	"testing"
)

func TestWrite(t *testing.T) {
	tab := New("file", "events>", "note")
	tab.Row("a.ndjson", "12")
	tab.Row("東京", "7", "\x1b[2J\n")
	tab.Row("Žižkov", "123456789", "ok")
	var out strings.Builder
	if err := tab.Write(&out, false); err != nil {
		t.Fatal(err)
	}
	want := "file         events  note\na.ndjson         12\n東京              7  \\x1b[2J\\n\nŽižkov    123456789  ok\n"
	if out.String() != want {
		t.Errorf("got:\n%swant:\n%s", out.String(), want)
	}
	out.Reset()
	if err := tab.Write(&out, true); err != nil || !strings.HasPrefix(out.String(), "\x1b[2mfile         events  note\x1b[22m\n") {
		t.Errorf("%v: %q", err, out.String())
	}
	out.Reset()
	if err := New("alone").Write(&out, false); err != nil || out.String() != "alone\n" {
		t.Errorf("%v: %q", err, out.String())
	}
}
