package naming_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tracehandler/tracehandler/naming"
)

var stampTime = time.Date(2026, 11, 30, 10, 37, 40, 123456789, time.UTC)

const stamp = "-20261130T103740.123456789Z"

func TestRotatedName(t *testing.T) {
	tests := []struct{ path, want string }{
		{"trace.ndjson.zst", "trace" + stamp + ".ndjson.zst"},
		{"trace.ndjson.gz", "trace" + stamp + ".ndjson.gz"},
		{"trace.ndjson", "trace" + stamp + ".ndjson"},
		{"trace.bin.ndjson", "trace" + stamp + ".bin.ndjson"},
		{"trace.ndjson.partial", "trace" + stamp + ".ndjson.partial"},
		{"my.app.log", "my.app" + stamp + ".log"},
		{"trace", "trace" + stamp},
		{".ndjson", ".ndjson" + stamp},
		{".hidden.zst", ".hidden.zst" + stamp},
		{"a-b.c-d", "a-b" + stamp + ".c-d"},
		{"trace" + stamp + ".ndjson", "trace" + stamp + stamp + ".ndjson"},
		{"trace" + stamp, "trace-20261130T103740" + stamp + ".123456789Z"},
	}
	for _, tt := range tests {
		got := naming.RotatedName(filepath.Join("some.dir", tt.path), stampTime, 0)
		if want := filepath.Join("some.dir", tt.want); got != want {
			t.Errorf("RotatedName(%q)\n got %q\nwant %q", tt.path, got, want)
		}
		live, at, ok := naming.ParseRotated(tt.want)
		if !ok || live != tt.path || !at.Equal(stampTime) {
			t.Errorf("ParseRotated(%q) = %q, %v, %v", tt.want, live, at, ok)
		}
	}
}

func TestParseRotatedOthers(t *testing.T) {
	for _, base := range []string{
		"", "-", "trace.ndjson", "trace-2026.ndjson",
		"trace-20261130T103740,123456789Z.ndjson",
		"trace-20261330T103740.123456789Z.ndjson",
		"trace-20261130T103740.123456789Zx.ndjson",
		stamp + ".ndjson",
	} {
		if live, at, ok := naming.ParseRotated(base); ok || live != base || !at.IsZero() {
			t.Errorf("ParseRotated(%q) = %q, %v, %v", base, live, at, ok)
		}
	}
}

// TestRotatedOrder: names sort by time, a second file of the same instant comes later, the live file last.
func TestRotatedOrder(t *testing.T) {
	const live = "trace.ndjson.zst"
	var names []string
	for _, at := range []time.Time{
		time.Date(-5, 1, 1, 0, 0, 0, 0, time.UTC),
		stampTime.Add(-time.Hour),
		stampTime,
		stampTime.In(time.FixedZone("", -11*3600)).Add(time.Second),
		time.Date(12026, 1, 1, 0, 0, 0, 0, time.UTC),
	} {
		for n := range 12 {
			names = append(names, naming.RotatedName(live, at, n))
		}
	}
	names = append(names, live)
	if !slices.IsSorted(names) {
		t.Errorf("not sorted: %q", names)
	}
	if n := len(slices.Compact(slices.Clone(names))); n != len(names) {
		t.Errorf("%d names of %d differ", n, len(names))
	}
	if last := names[len(names)-2]; len(last) != len(live)+len(stamp) {
		t.Errorf("year 12026 gives %q", last)
	}
}

func FuzzRotated(f *testing.F) {
	f.Add("trace.ndjson.zst", int64(0), 0)
	f.Add("x"+stamp+".partial", int64(-1), 3)
	f.Add("..", int64(1<<62), 1)
	f.Fuzz(func(t *testing.T, base string, ns int64, n int) {
		if base == "" || strings.ContainsAny(base, "/\\:") || n < 0 || n > 1000 {
			t.Skip()
		}
		name := naming.RotatedName(base, time.Unix(0, ns), n)
		live, at, ok := naming.ParseRotated(name)
		if !ok || live != base || at.UnixNano() != ns+int64(n) {
			t.Errorf("RotatedName(%q, %d, %d) = %q, read as %q, %v, %v", base, ns, n, name, live, at, ok)
		}
		if live, _, ok := naming.ParseRotated(base); ok && naming.Parse(base) != naming.Parse(live) {
			t.Errorf("Parse(%q) is not that of the live name %q", base, live)
		}
	})
}
