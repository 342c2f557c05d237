package slogtext

import (
	"fmt"
	"log/slog"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"
)

func TestAppendLevel(t *testing.T) {
	levels := []slog.Level{math.MinInt, math.MinInt + 3, math.MaxInt, math.MaxInt32}
	for l := slog.Level(-20); l < 20; l++ {
		levels = append(levels, l)
	}
	for _, l := range levels {
		if got := AppendLevel([]byte("x"), l); string(got) != "x"+l.String() {
			t.Errorf("%s, want x%s", got, l)
		}
	}
}

func TestAppendFraction(t *testing.T) {
	for _, ns := range []int{0, 1, 9, 10, 100, 12345, 99999, 100000, 100001, 123456789, 120000000, 500000000, 999999999, 1000010, 10} {
		want := strings.TrimSuffix(strings.TrimPrefix(time.Unix(0, int64(ns)).UTC().Format(time.RFC3339Nano), "1970-01-01T00:00:00"), "Z")
		if got := AppendFraction([]byte("x"), uint32(ns)); string(got) != "x"+want {
			t.Errorf("%d: %s, want x%s", ns, got, want)
		}
	}
}

// TestClock writes times of different seconds, zones and years in turn.
func TestClock(t *testing.T) {
	zone := time.FixedZone("", -5*3600-1800)
	at := time.Date(2026, 11, 30, 10, 46, 59, 0, time.UTC)
	var times []time.Time
	for _, base := range []time.Time{at, at.In(zone), at.In(time.FixedZone("", 3600)), {}, time.Unix(0, 0).UTC(), time.Unix(0, 0).In(zone), time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(-1, 1, 1, 0, 0, 0, 0, zone)} {
		for _, d := range []time.Duration{0, 1, 250 * time.Millisecond, time.Second, time.Second - 1} {
			times = append(times, base.Add(d))
		}
	}
	var c Clock
	for i := range times {
		for _, at := range []time.Time{times[i], times[i], times[i*7%len(times)]} {
			want := at.Format(time.RFC3339Nano)
			if got := c.Append([]byte("x"), at); string(got) != "x"+want {
				t.Errorf("%s, want x%s", got, want)
			}
			if got := c.AppendQuoted([]byte("x"), at); string(got) != `x"`+want+`"` {
				t.Errorf("%s, want x%q", got, want)
			}
		}
	}
}

// TestClockSteps compares with the time package, second after second with one clock.
func TestClockSteps(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	zones := []*time.Location{time.UTC, time.Local, time.FixedZone("a", 3600), time.FixedZone("b", -12345), time.FixedZone("c", 60)}
	var c Clock
	at := time.Date(2026, 11, 30, 10, 46, 59, 0, time.UTC)
	for range 20_000 {
		at = at.Add(time.Duration(rnd.Int64N(3e8)) / time.Duration(math.Pow(10, float64(rnd.IntN(9)))))
		if rnd.IntN(10) == 0 {
			at = at.Truncate(time.Duration(math.Pow(10, float64(rnd.IntN(10)))))
		}
		if rnd.IntN(10) == 0 {
			at = at.In(zones[rnd.IntN(len(zones))])
		}
		want := at.Format(`"` + time.RFC3339Nano + `"`)
		if got := string(c.AppendQuoted(nil, at)); got != want {
			t.Fatalf("got %s, want %s", got, want)
		}
	}
}

func Example() {
	b := AppendLevel(nil, slog.LevelInfo+2)
	b = AppendFraction(append(b, " 10:46:59"...), 250_000_000)
	fmt.Printf("%s\n", b)
	// Output: INFO+2 10:46:59.25
}
