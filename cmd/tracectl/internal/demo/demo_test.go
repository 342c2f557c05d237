package demo

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/tracehandler/tracehandler/format"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestRun(t *testing.T) {
	for _, f := range Formats {
		t.Run(f.String(), func(t *testing.T) {
			told := 0
			r, err := Run(t.Context(), Options{Dir: t.TempDir(), Format: f, Events: 3001, Workers: 4, Seed: 7, Progress: func(n int) { told += n }})
			if err != nil {
				t.Fatal(err)
			}
			if r.Compared != 3001 || r.Stored == 0 || r.P50 <= 0 || r.P99 < r.P50 || r.Wrote <= 0 || r.Read <= 0 {
				t.Errorf("%+v", r)
			}
			if told <= 2*3001-batchSize || told > 2*3001 {
				t.Errorf("progress of %d events, want nearly %d", told, 2*3001)
			}
		})
	}
}

// The comparison must be able to fail.
func TestCompareFindsDifferences(t *testing.T) {
	o := Options{Dir: t.TempDir(), Format: format.Plain, Events: 200, Workers: 2, Seed: 7}
	r, err := Run(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(r.Path)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.SplitAfter(string(whole), "\n")
	for name, text := range map[string]string{
		"one digit":     strings.Replace(string(whole), `"seq":42,`, `"seq":43,`, 1),
		"one missing":   strings.Join(lines[1:], ""),
		"one doubled":   lines[0] + string(whole),
		"one too many":  string(whole) + lines[len(lines)-2],
		"exchanged":     strings.Join(append([]string{lines[0]}, reversed(lines[1:len(lines)-1])...), ""),
		"one foreign":   string(whole) + `{"msg":"who?"}` + "\n",
		"one key moved": strings.Replace(string(whole), `"worker":0,"seq":0`, `"seq":0,"worker":0`, 1),
		"a secret":      strings.Replace(string(whole), "[hidden]", "open", 1),
	} {
		t.Run(name, func(t *testing.T) {
			if text == string(whole) {
				t.Fatal("nothing was changed")
			}
			if err := os.WriteFile(r.Path, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			if err := compare(t.Context(), o, &Result{Path: r.Path}); err == nil {
				t.Error("compared equal")
			}
		})
	}
}

func reversed(s []string) []string {
	out := make([]string, 0, len(s))
	for i := len(s) - 1; i >= 0; i-- {
		out = append(out, s[i])
	}
	return out
}

func TestInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	o := Options{Dir: t.TempDir(), Format: format.Plain, Events: 1000, Workers: 2}
	if _, err := Run(ctx, o); !errors.Is(err, context.Canceled) {
		t.Errorf("Run = %v, want it canceled", err)
	}
	if left, err := os.ReadDir(o.Dir); err != nil || len(left) > 0 {
		t.Errorf("left %v, %v", left, err)
	}
}
