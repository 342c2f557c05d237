package screen

import (
	"testing"

	"github.com/fatih/color"
)

func TestStyle(t *testing.T) {
	// Whatever the environment says, the caller has decided.
	for _, environment := range []bool{true, false} {
		color.NoColor = environment
		if got, want := NewStyle(true, color.FgRed, color.Bold).Paint("x"), "\x1b[31;1mx\x1b[0;22m"; got != want {
			t.Errorf("wanted: %q, want %q", got, want)
		}
		if got := NewStyle(false, color.FgRed).Paint("x"); got != "x" {
			t.Errorf("not wanted: %q", got)
		}
	}
}

func TestText(t *testing.T) {
	for in, want := range map[string]string{
		"":                    "",
		"plain \"text\" \\":   `plain "text" \`,
		"Zürich 日本 🦉":         "Zürich 日本 🦉",
		"\x1b[2J\a\x00\n\x7f": `\x1b[2J\a\x00\n\x7f`,
		"bad \xff utf8":       `bad \xff utf8`,
		"\u202e\u0085\u2028":  `\u202e\u0085\u2028`,
	} {
		if got := Text(in); got != want {
			t.Errorf("Text(%q) = %q, want %q", in, got, want)
		}
	}
	if got, want := string(AppendText([]byte("k="), "a \"b\"\n", true)), `k="a \"b\"\n"`; got != want {
		t.Errorf("quoted: %s, want %s", got, want)
	}
}
