package reader

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/tracehandler/tracehandler/clp/ir/slogkv"
	"github.com/tracehandler/tracehandler/clp/kql"
	"github.com/tracehandler/tracehandler/internal/origin"
	"github.com/tracehandler/tracehandler/naming"
)

// partOf returns an archive of lines that is a part of a set.
func partOf(t testing.TB, id string, part int, first int64, lines ...string) []byte {
	from := origin.Origin{ID: id, Part: int64(part), First: first}
	return archiveWith(t, from.Attrs(), lines...)
}

func put(t testing.TB, path string, data []byte) {
	t.Helper()
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestSet(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "trace.clp")
	now := time.Now()
	events, _ := testEvents(300)
	one, two := naming.RotatedName(path, now, 0), naming.RotatedName(path, now, 1)
	put(t, one, partOf(t, "aa", 1, 0, events[:100]...))
	put(t, two, partOf(t, "aa", 2, 100, events[100:200]...))
	put(t, path, partOf(t, "aa", 3, 200, events[200:]...))
	put(t, naming.RotatedName(path, now, -5), partOf(t, "bb", 1, 0, `{"of":"another"}`))
	put(t, filepath.Join(dir, "other.clp"), partOf(t, "aa", 1, 0, `{"of":"another name"}`))

	read := func(path string) ([]string, []error, Stats) {
		r, err := Open(path, nil)
		if err != nil {
			t.Fatal(err)
		}
		n, text := int64(0), int64(0)
		var lines []string
		var errs []error
		for l, err := range r.Lines() {
			if err != nil {
				errs = append(errs, err)
				continue
			}
			if n++; l.Number != n || l.Offset != text {
				t.Errorf("line %d at %d, want %d at %d", l.Number, l.Offset, n, text)
			}
			text += int64(len(l.Raw)) + 1
			lines = append(lines, string(l.Raw))
		}
		if r.TimeKey() != "" && r.TimeKey() != "time" || r.Kind() != CLPArchive {
			t.Error(r.TimeKey(), r.Kind())
		}
		if err := r.Close(); err != nil {
			t.Error(err)
		}
		return lines, errs, r.Stats()
	}
	for path, want := range map[string][]string{path: events, two: events[:200], one: events[:100]} {
		got, errs, st := read(path)
		if !slices.Equal(got, want) || len(errs) > 0 || st.Lines != int64(len(want)) || st.Events != st.Lines || st.Stored == 0 {
			t.Errorf("%s: %d events, %v, %+v", path, len(got), errs, st)
		}
	}
	parts, err := Parts(path)
	if err != nil || !slices.Equal(parts, []string{one, two}) {
		t.Errorf("%v %v", parts, err)
	}
	for _, name := range []string{one, filepath.Join(dir, "other.clp"), "set.go"} {
		if parts, err := Parts(name); err != nil || parts != nil {
			t.Errorf("%s: %v %v", name, parts, err)
		}
	}

	// A query is asked of all parts; an iteration can be taken up.
	r, err := Open(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	q, err := kql.Parse("n: (0 22500 62500)", nil) // squares of 0, 150 and 250
	if err != nil {
		t.Fatal(err)
	}
	r.Select(q)
	var numbers []int64
	for len(numbers) < 3 {
		for l := range r.Lines() {
			numbers = append(numbers, l.Number)
			break
		}
	}
	if !slices.Equal(numbers, []int64{1, 151, 251}) {
		t.Errorf("found %v", numbers)
	}
	r.Close()

	// A part that is missing is told.
	if err := os.Remove(two); err != nil {
		t.Fatal(err)
	}
	got, errs, _ := read(path)
	var d *DamageError
	if want := slices.Concat(events[:100], events[200:]); !slices.Equal(got, want) || len(errs) != 1 || !errors.As(errs[0], &d) || d.Lost != 100 {
		t.Errorf("%d events, %v", len(got), errs)
	}
}

// journalOf returns the journal of an archive.
func journalOf(t testing.TB, id string, lines ...string) []byte {
	return streamWith(t, func(w *slogkv.Writer) ([]byte, error) { return w.AppendJournalPreamble(nil, slogkv.Journal{ID: id}) }, lines...)
}

// TestFollowArchive follows journals that become archives.
func TestFollowArchive(t *testing.T) {
	f := follow(t, FollowOptions{})
	live := f.path
	journal := func(name, id string, lines ...string) {
		put(t, name+".tmp", journalOf(t, id, lines...))
		rename(t, name+".tmp", name)
	}
	lines := func(from, n int) (l []string) {
		for i := range n {
			l = append(l, fmt.Sprintf(`{"n":%d}`, from+i))
		}
		return l
	}
	archived := func(name, id string, lines ...string) {
		put(t, name+".tmp", partOf(t, id, 1, 0, lines...))
		rename(t, name+".tmp", name)
	}

	journal(live+naming.PartialSuffix, "aa", lines(0, 3)...)
	f.want(lines(0, 3)...)
	// Its archive takes its place.
	archived(live, "aa", lines(0, 3)...)
	remove(t, live+naming.PartialSuffix)
	f.settle()
	// The next trace begins; it is set apart with what was not read yet, another follows it at once, and a third.
	journal(live+naming.PartialSuffix, "bb", lines(10, 2)...)
	f.want(lines(10, 2)...)
	now := time.Now()
	apart := naming.RotatedName(live, now, 0)
	rename(t, live+naming.PartialSuffix, apart+naming.PartialSuffix)
	archived(naming.RotatedName(live, now, 1), "cc", lines(20, 2)...)
	journal(live+naming.PartialSuffix, "dd", lines(30, 2)...)
	f.want(slices.Concat(lines(20, 2), lines(30, 2))...)
	archived(apart, "bb", lines(10, 2)...)
	remove(t, apart+naming.PartialSuffix)
	f.settle()
}

func rename(t testing.TB, from, to string) {
	t.Helper()
	if err := os.Rename(from, to); err != nil {
		t.Fatal(err)
	}
}

func remove(t testing.TB, path string) {
	t.Helper()
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
}
