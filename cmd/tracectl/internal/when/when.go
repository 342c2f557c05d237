// Package when reads points in time as people type them.
//
//	t, err := when.Parse("-3h", time.Now(), time.Local)
//
// Understood are:
//
//	2026-11-30T15:04:05.999Z   RFC 3339; seconds and the zone may be left out, and a space may stand for the T
//	2026-11-30                 the beginning of that day
//	15:04, 15:04:05.5          that time today
//	-3h, 10m, 1d12h, 2w        that long ago, with or without the sign; units ns us ms s m h d w
//	@1764515045.25             seconds since 1970
//	now, today, yesterday      the days mean their beginnings
//
// What names no zone is in the location given.
package when

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// Error says that a text is no point in time.
type Error struct{ Text string }

func (e *Error) Error() string {
	return fmt.Sprintf("%q is no time: try 2026-11-30T15:04:05Z, 2026-11-30, 15:04, -3h or @1764515045", e.Text)
}

// zoned carry their own zone; floating are in the location that Parse is given. Fractions of seconds are accepted by
// package time wherever seconds stand.
var (
	zoned    = []string{"2006-01-02T15:04:05Z07:00", "2006-01-02T15:04Z07:00"}
	floating = []string{"2006-01-02T15:04:05", "2006-01-02T15:04", "2006-01-02"}
	clocks   = []string{"15:04:05", "15:04"}
)

// Parse returns the point in time that text names at now. The error is an [*Error].
func Parse(text string, now time.Time, loc *time.Location) (time.Time, error) {
	text = strings.TrimSpace(text)
	now = now.In(loc)
	switch strings.ToLower(text) {
	case "now":
		return now, nil
	case "today":
		return midnight(now, 0), nil
	case "yesterday":
		return midnight(now, -1), nil
	}
	if seconds, ok := strings.CutPrefix(text, "@"); ok {
		if t, ok := epoch(seconds); ok {
			return t, nil
		}
		return time.Time{}, &Error{text}
	}
	iso := text
	if len(iso) > 10 && (iso[10] == ' ' || iso[10] == 't') {
		iso = iso[:10] + "T" + iso[11:]
	}
	for _, layout := range zoned {
		if t, err := time.Parse(layout, iso); err == nil {
			return t, nil
		}
	}
	for _, layout := range floating {
		if t, err := time.ParseInLocation(layout, iso, loc); err == nil {
			return t, nil
		}
	}
	for _, layout := range clocks {
		if t, err := time.Parse(layout, text); err == nil {
			y, m, d := now.Date()
			return time.Date(y, m, d, t.Hour(), t.Minute(), t.Second(), t.Nanosecond(), loc), nil
		}
	}
	if d, ok := ago(text); ok {
		return now.Add(-d), nil
	}
	return time.Time{}, &Error{text}
}

func midnight(t time.Time, days int) time.Time {
	y, m, d := t.Date()
	return time.Date(y, m, d+days, 0, 0, 0, 0, t.Location())
}

// epoch reads seconds since 1970, as digits so that nanoseconds are exact.
func epoch(text string) (time.Time, bool) {
	whole, frac, _ := strings.Cut(text, ".")
	sec, err := strconv.ParseInt(whole, 10, 64)
	if err != nil || len(frac) > 9 || sec > math.MaxInt64/2 || sec < math.MinInt64/2 {
		return time.Time{}, false
	}
	ns, err := strconv.ParseUint((frac + "000000000")[:9], 10, 32)
	if err != nil {
		return time.Time{}, false
	}
	if strings.HasPrefix(whole, "-") {
		return time.Unix(sec, -int64(ns)).UTC(), true
	}
	return time.Unix(sec, int64(ns)).UTC(), true
}

// Length reads a length of time such as 90s, 1.5h or 1d12h. It is false if text is none.
func Length(text string) (time.Duration, bool) {
	if strings.HasPrefix(text, "-") {
		return 0, false
	}
	return ago(text)
}

// ago reads a length of time, which Go's durations cover except for days, weeks and a leading sign.
func ago(text string) (time.Duration, bool) {
	text = strings.TrimPrefix(text, "-")
	var days time.Duration
	for _, unit := range []struct {
		suffix string
		length time.Duration
	}{{"w", 7 * 24 * time.Hour}, {"d", 24 * time.Hour}} {
		number, rest, ok := strings.Cut(text, unit.suffix)
		if !ok {
			continue
		}
		n, err := strconv.ParseFloat(number, 64)
		if err != nil || !(n >= 0 && n*float64(unit.length) < math.MaxInt64/4) {
			return 0, false
		}
		days += time.Duration(n * float64(unit.length))
		if text = rest; text == "" {
			return days, true
		}
	}
	if strings.ContainsAny(text, "+-") {
		return 0, false
	}
	d, err := time.ParseDuration(text)
	if err != nil || d > math.MaxInt64/2 {
		return 0, false
	}
	return days + d, true
}
