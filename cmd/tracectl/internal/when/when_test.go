package when

import (
	"errors"
	"testing"
	"time"
)

func TestParse(t *testing.T) {
	zone := time.FixedZone("CET", 3600)
	now := time.Date(2026, 11, 30, 10, 30, 15, 500, zone)
	for text, want := range map[string]string{
		"2026-11-29T08:09:10.123456789Z": "2026-11-29T08:09:10.123456789Z",
		"2026-11-29T08:09:10+02:00":      "2026-11-29T06:09:10Z",
		"2026-11-29t08:09:10Z":           "2026-11-29T08:09:10Z",
		"2026-11-29 08:09:10Z":           "2026-11-29T08:09:10Z",
		"2026-11-29T08:09Z":              "2026-11-29T08:09:00Z",
		"2026-11-29T08:09:10":            "2026-11-29T07:09:10Z",
		"2026-11-29 08:09:10.5":          "2026-11-29T07:09:10.5Z",
		"2026-11-29 08:09":               "2026-11-29T07:09:00Z",
		"2026-11-29":                     "2026-11-28T23:00:00Z",
		"15:04":                          "2026-11-30T14:04:00Z",
		"15:04:05.25":                    "2026-11-30T14:04:05.25Z",
		"now":                            "2026-11-30T09:30:15.0000005Z",
		"today":                          "2026-11-29T23:00:00Z",
		"Yesterday":                      "2026-11-28T23:00:00Z",
		"-3h":                            "2026-11-30T06:30:15.0000005Z",
		"10m":                            "2026-11-30T09:20:15.0000005Z",
		"1d12h":                          "2026-11-28T21:30:15.0000005Z",
		"2w":                             "2026-11-16T09:30:15.0000005Z",
		"1w1d1h":                         "2026-11-22T08:30:15.0000005Z",
		"0.5d":                           "2026-11-29T21:30:15.0000005Z",
		"@1764515045":                    "2025-11-30T15:04:05Z",
		"@1764515045.25":                 "2025-11-30T15:04:05.25Z",
		"@-0.5":                          "1969-12-31T23:59:59.5Z",
	} {
		got, err := Parse(text, now, zone)
		if err != nil || got.UTC().Format(time.RFC3339Nano) != want {
			t.Errorf("Parse(%q) = %v, %v; want %s", text, got.UTC().Format(time.RFC3339Nano), err, want)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	for _, text := range []string{"", "soon", "3", "--3h", "3h-2m", "+3h", "2026-13-01", "2026-02-30", "25:00", "2026-11-29T", "@", "@x", "@1.1234567890",
		"1d1w", "9e99d", "NaNd", "-1d-1h", "2026-11-29T08:09:10.%fZ", "99999999w"} {
		got, err := Parse(text, time.Now(), time.UTC)
		var e *Error
		if !errors.As(err, &e) {
			t.Errorf("Parse(%q) = %v, %v; want an *Error", text, got, err)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"-3h", "@1.5", "1w2d3h", "2026-11-29 08:09", "15:04"} {
		f.Add(s)
	}
	now := time.Date(2026, 11, 30, 10, 30, 15, 500, time.UTC)
	f.Fuzz(func(t *testing.T, s string) {
		if got, err := Parse(s, now, time.UTC); err != nil && !got.IsZero() {
			t.Errorf("Parse(%q) = %v and %v", s, got, err)
		}
	})
}
