package main

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/tracehandler/tracehandler/event"
	"github.com/tracehandler/tracehandler/format"
	"github.com/tracehandler/tracehandler/naming"
)

// interrupted writes events of which the third is the last before an interrupt.
func interrupted(t *testing.T, w *writing, live bool) error {
	t.Helper()
	cmd := &cobra.Command{}
	cmd.SetOut(io.Discard)
	cmd.SetErr(io.Discard)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	events := func(yield func(event.Event, error) bool) {
		for i := range 10 {
			if i == 2 {
				cancel()
			}
			if !yield(at(i, "x"), nil) {
				return
			}
		}
	}
	_, err := w.write(ctx, cmd, format.Plain, events, live, newTroubles(cmd), func() {})
	return err
}

func TestInterruptedWriting(t *testing.T) {
	dir := t.TempDir()
	w := &writing{output: filepath.Join(dir, "out.ndjson")}
	if err := interrupted(t, w, false); !errors.Is(err, context.Canceled) {
		t.Errorf("write = %v, want it canceled", err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
	if err := interrupted(t, w, true); err != nil {
		t.Errorf("a live recording that is interrupted: %v", err)
	}
	if text, err := os.ReadFile(w.output); err != nil || strings.Count(string(text), "\n") != 3 {
		t.Errorf("recorded %q, %v; want 3 events", text, err)
	}
}

// A partial that somebody else writes, or has left, is not ours to remove.
func TestForeignPartialStays(t *testing.T) {
	w := &writing{output: filepath.Join(t.TempDir(), "out.ndjson"), overwrite: true}
	partial := w.output + naming.PartialSuffix
	if err := os.WriteFile(partial, []byte("{}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := interrupted(t, w, false); !errors.Is(err, os.ErrExist) {
		t.Errorf("write = %v, want that the partial exists", err)
	}
	if text, err := os.ReadFile(partial); err != nil || string(text) != "{}\n" {
		t.Errorf("the partial is now %q, %v", text, err)
	}
}
