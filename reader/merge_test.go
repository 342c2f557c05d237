package reader

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

// timed returns the text of events that happened at the given seconds; -1 is an event without a time.
func timed(name string, seconds ...int) string {
	var b strings.Builder
	for i, s := range seconds {
		if s < 0 {
			fmt.Fprintf(&b, `{"msg":"%s%d"}`+"\n", name, i)
			continue
		}
		at := time.Date(2026, 1, 1, 0, 0, s, 0, time.UTC).Format(time.RFC3339)
		fmt.Fprintf(&b, `{"time":%q,"msg":"%s%d"}`+"\n", at, name, i)
	}
	return b.String()
}

func merged(t *testing.T, o *Options, texts ...string) (msgs, errs []string) {
	t.Helper()
	var readers []*Reader
	for i, text := range texts {
		v := Options{}
		if o != nil {
			v = *o
		}
		v.Name = fmt.Sprintf("file%d", i)
		r, err := New(strings.NewReader(text), &v)
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		readers = append(readers, r)
	}
	for e, err := range Merge(readers...) {
		if err != nil {
			errs = append(errs, err.Error())
			continue
		}
		m, _ := e.Message()
		msgs = append(msgs, m)
	}
	return msgs, errs
}

func TestMerge(t *testing.T) {
	for _, c := range []struct {
		name  string
		texts []string
		want  string
	}{
		{"none", nil, ""},
		{"one", []string{timed("a", 3, 1, 2)}, "a0 a1 a2"},
		{"two", []string{timed("a", 1, 3, 5), timed("b", 2, 4, 6)}, "a0 b0 a1 b1 a2 b2"},
		{"same time", []string{timed("a", 1, 1), timed("b", 1, 1), timed("c", 0, 1)}, "c0 a0 a1 b0 b1 c1"},
		{"empty", []string{"", timed("b", 1), ""}, "b0"},
		{"without time", []string{timed("a", 1, -1, 4), timed("b", 2, -1, 3)}, "a0 a1 b0 b1 b2 a2"},
		{"without time first", []string{timed("a", 5), timed("b", -1, 6)}, "b0 a0 b1"},
		{"not in order", []string{timed("a", 4, 1, 5), timed("b", 2, 3, 6)}, "b0 b1 a0 a1 a2 b2"},
	} {
		msgs, errs := merged(t, nil, c.texts...)
		if got := strings.Join(msgs, " "); got != c.want || len(errs) > 0 {
			t.Errorf("%s: got %q, %v; want %q", c.name, got, errs, c.want)
		}
	}
}

func TestMergeErrors(t *testing.T) {
	a, b := timed("a", 1, 3)+"bad\n"+timed("A", 5), timed("b", 2, 4)
	msgs, errs := merged(t, nil, a, b)
	if strings.Join(msgs, " ") != "a0 b0 a1 b1 A0" || len(errs) != 1 || !strings.Contains(errs[0], "file0: line 3") {
		t.Errorf("%q, %q", msgs, errs)
	}
	msgs, errs = merged(t, &Options{OnBad: Stop}, a, b)
	if strings.Join(msgs, " ") != "a0 b0 a1 b1" || len(errs) != 1 {
		t.Errorf("stop: %q, %q", msgs, errs)
	}
}

// TestMergeLarge merges files that are read in parallel, and is broken off once.
func TestMergeLarge(t *testing.T) {
	const files, each = 5, 4000
	var readers []*Reader
	for f := range files {
		var text []byte
		for i := range each {
			text = fmt.Appendf(text, `{"time":%q,"n":%d}`+"\n", time.UnixMilli(int64(i*files+f)).UTC().Format(time.RFC3339Nano), i*files+f)
		}
		r, err := New(strings.NewReader(string(zstdFrame(t, text))), &Options{Parallel: 10})
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		readers = append(readers, r)
	}
	var got []int64
	for range 2 {
		for e, err := range Merge(readers...) {
			if err != nil {
				t.Fatal(err)
			}
			n, _ := e.Get("n")
			if got = append(got, n.Int64()); len(got) == 7777 {
				break
			}
		}
	}
	// An event that a broken merge holds of each other file is gone with it; order is kept all the same.
	if len(got) < files*each-files || !slices.IsSorted(got) {
		t.Fatalf("%d events, sorted: %v", len(got), slices.IsSorted(got))
	}
}
