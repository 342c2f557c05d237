package main

import (
	"bufio"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/tracehandler/tracehandler/event"
)

func newWaiting(out *strings.Builder, files int, tail, head count) *waiting {
	return &waiting{p: &printer{w: bufio.NewWriter(out)}, tail: tail, head: head, history: files, caught: make([]bool, files), last: make([]time.Time, files)}
}

func at(second int, name string) event.Event {
	return event.Lazy(fmt.Appendf(nil, `{"time":"2026-11-30T10:00:%02dZ","msg":%q}`, second, name))
}

func messages(t *testing.T, out string) string {
	t.Helper()
	var all []string
	for line := range strings.Lines(out) {
		m, ok := event.Lazy([]byte(line)).Message()
		if !ok {
			t.Fatalf("printed %q", line)
		}
		all = append(all, m)
	}
	return strings.Join(all, " ")
}

func TestWaiting(t *testing.T) {
	noTime := event.Lazy([]byte(`{"msg":"behind b"}`))
	for name, c := range map[string]struct {
		tail     count
		head     count
		arrivals []arrival
		want     string
	}{
		"the last of all files": {count{3, true}, count{}, []arrival{
			{file: 0, e: at(1, "a")}, {file: 0, e: at(5, "e")}, {file: 0, e: at(6, "f")}, {file: 0, caught: true},
			{file: 1, e: at(2, "b")}, {file: 1, e: at(4, "d")}, {file: 1, caught: true}}, "d e f"},
		"what comes later is not history": {count{1, true}, count{}, []arrival{
			{file: 0, e: at(1, "a")}, {file: 0, caught: true}, {file: 1, caught: true},
			{file: 1, e: at(3, "c")}, {file: 0, e: at(2, "b")}, {file: 0, caught: true}}, "a b c"},
		"without a time": {count{}, count{}, []arrival{
			{file: 1, e: at(3, "c")}, {file: 0, e: at(2, "b")}, {file: 0, e: noTime}, {file: 0, caught: true}, {file: 1, caught: true}}, "b behind b c"},
		"no more than asked for": {count{}, count{2, true}, []arrival{
			{file: 0, e: at(1, "a")}, {file: 0, e: at(2, "b")}, {file: 0, e: at(3, "c")}, {file: 0, caught: true}, {file: 1, caught: true}}, "a b"},
		"none of history": {count{0, true}, count{}, []arrival{
			{file: 0, e: at(1, "a")}, {file: 0, caught: true}, {file: 1, caught: true}, {file: 0, e: at(2, "b")}}, "b"},
	} {
		t.Run(name, func(t *testing.T) {
			var out strings.Builder
			w := newWaiting(&out, 2, c.tail, c.head)
			for _, a := range c.arrivals {
				if err := w.take(a); err != nil {
					t.Fatal(err)
				}
			}
			if err := w.print(); err != nil {
				t.Fatal(err)
			}
			if got := messages(t, out.String()); got != c.want {
				t.Errorf("printed %q, want %q", got, c.want)
			}
		})
	}
}

// A long history must not fill the memory.
func TestWaitingIsBounded(t *testing.T) {
	var out strings.Builder
	w := newWaiting(&out, 1, count{2, true}, count{})
	for i := range 3 * crowd {
		if err := w.take(arrival{e: at(i%60, "x")}); err != nil {
			t.Fatal(err)
		}
		if len(w.events) > crowd+2*w.tail.n {
			t.Fatalf("%d events wait", len(w.events))
		}
	}
	if out.Len() > 0 {
		t.Error("history is printed before its end is known")
	}
}

func TestRing(t *testing.T) {
	for size, want := range map[int]string{0: "", 1: "e", 3: "c d e", 9: "a b c d e"} {
		r := ring{size: size}
		for i, m := range []string{"a", "b", "c", "d", "e"} {
			r.add(at(i, m))
		}
		var got []string
		for e := range r.all() {
			m, _ := e.Message()
			got = append(got, m)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("the last %d are %q, want %q", size, got, want)
		}
	}
}
