package archive

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/tracehandler/tracehandler/internal/timepattern"
)

// TestTimePatterns has a time for each pattern that the reference knows, and some that none fits.
func TestTimePatterns(t *testing.T) {
	for raw, want := range map[string]string{
		`"2026-01-02T03:04:05.678Z"`:            `"\Y-\m-\dT\H:\M:\S.\3Z"`,
		`"1677-09-21T00:12:44Z"`:                `"\Y-\m-\dT\H:\M:\SZ"`,
		`"2262-04-11T23:47:16.854775807Z"`:      `"\Y-\m-\dT\H:\M:\S.\9Z"`,
		`"2026/01/02 03:04:05,678901 +02:00"`:   `"\Y/\m/\d \H:\M:\S,\6 \z{+02:00}"`,
		`"2026-01-02T03:04:05.678901234UTC-05"`: `"\Y-\m-\dT\H:\M:\S.\9UTC\z{-05}"`,
		`"2026-01-02 03:04:05 EST"`:             `"\Y-\m-\d \H:\M:\S \o{EST,-0500}"`,
		`"2026-01-02T03:04:05.12"`:              `"\Y-\m-\dT\H:\M:\S.\T"`,
		`"2026-01-02T23:59:60Z"`:                `"\Y-\m-\dT\H:\M:\JZ"`,
		`"2026-01-02T03:04:05"`:                 `"\Y-\m-\dT\H:\M:\S"`,
		`"[2026-01-02 03:04:05.1]"`:             `"[\Y-\m-\d \H:\M:\S.\T]"`,
		`"[2026-01-02 03:04:05]"`:               `"[\Y-\m-\d \H:\M:\S]"`,
		`"[2026-01-02 03:04:05"`:                `"[\Y-\m-\d \H:\M:\S"`,
		`"<<<2026-01-02 03:04:05:678"`:          `"<<<\Y-\m-\d \H:\M:\S:\3"`,
		`"02 Jan 2026 03:04:05,678"`:            `"\d \B{Jan,Feb,Mar,Apr,May,Jun,Jul,Aug,Sep,Oct,Nov,Dec} \Y \H:\M:\S,\3"`,
		`"[20260102-03:04:05]"`:                 `"[\Y\m\d-\H:\M:\S]"`,
		`"26/01/02 03:04:05"`:                   `"\y/\m/\d \H:\M:\S"`,
		`"260102  3:04:05"`:                     `"\y\m\d \k:\M:\S"`,
		`"Jan 02, 2026  3:04:05 PM"`:            `"\B{Jan,Feb,Mar,Apr,May,Jun,Jul,Aug,Sep,Oct,Nov,Dec} \d, \Y \l:\M:\S \p"`,
		`"Jan 02, 2026 03:04:05 AM"`:            `"\B{Jan,Feb,Mar,Apr,May,Jun,Jul,Aug,Sep,Oct,Nov,Dec} \d, \Y \I:\M:\S \p"`,
		`"January 02, 2026 03:04"`:              `"\B{January,February,March,April,May,June,July,August,September,October,November,December} \d, \Y \H:\M"`,
		`"[02/Jan/2026:03:04:05"`:               `"[\d/\B{Jan,Feb,Mar,Apr,May,Jun,Jul,Aug,Sep,Oct,Nov,Dec}/\Y:\H:\M:\S"`,
		`"Fri Jan  2 03:04:05 2026"`:            `"\A{Sun,Mon,Tue,Wed,Thu,Fri,Sat} \B{Jan,Feb,Mar,Apr,May,Jun,Jul,Aug,Sep,Oct,Nov,Dec} \e \H:\M:\S \Y"`,
		`"Jan 02 03:04:05"`:                     `"\B{Jan,Feb,Mar,Apr,May,Jun,Jul,Aug,Sep,Oct,Nov,Dec} \d \H:\M:\S"`,
		`"Jan 02 03:04:05 +0100"`:               `"\B{Jan,Feb,Mar,Apr,May,Jun,Jul,Aug,Sep,Oct,Nov,Dec} \d \H:\M:\S \z{+0100}"`,
		`"01-02 03:04:05.678"`:                  `"\m-\d \H:\M:\S.\3"`,
		`"Fri, 02 Jan 2026 03:04:05 GMT"`:       `"\A{Sun,Mon,Tue,Wed,Thu,Fri,Sat}, \d \B{Jan,Feb,Mar,Apr,May,Jun,Jul,Aug,Sep,Oct,Nov,Dec} \Y \H:\M:\S GMT"`,
		`" 2 Jan 26 03:04 PST"`:                 `"\e \B{Jan,Feb,Mar,Apr,May,Jun,Jul,Aug,Sep,Oct,Nov,Dec} \y \H:\M \o{PST,-0800}"`,
		`"1767323045"`:                          `"\E"`,
		`"1767323045678"`:                       `"\L"`,
		`"1767323045.25"`:                       `"\E.\T"`,
		`1767323045`:                            `\E`,
		`-1767323045678`:                        `\L`,
		`1767323045678901`:                      `\C`,
		`1767323045678901234`:                   `\N`,
		`1767323045.678`:                        `\E.\3`,

		`"2262-04-11T23:47:16.854775808Z"`: "", `"1677-09-21T00:12:43Z"`: "",
		`"2026-01-02"`: "", `"20260102T030405Z"`: "", `"2026-02-30T03:04:05Z"`: "", `"Thu Jan  2 03:04:05 2026"`: "", `"2026-1-2T03:04:05Z"`: "",
		`"2026-01-02T03:04:05.10Z"`: "", `"9999-01-02T03:04:05Z"`: "", `"2026-01-02T03:04:05 XYZ"`: "", `"2026-01-02T24:04:05Z"`: "", `""`: "", `"x"`: "",
		`"2026-01-02T03:04:05.Z"`: "", `"2026-01-02T03:04:05.1234567891Z"`: "", `"\u0032026-01-02T03:04:05Z"`: "",
		`10000000000`: "", `1e9`: "", `-0.5`: "", `1.1234567891`: "", `-0`: "", `1767323045.10`: "",
	} {
		for range 2 { // the second time, the pattern is known
			tm := times{ids: map[string]uint64{}}
			for range 2 {
				make := tm.number
				if raw[0] == '"' {
					make = tm.string
				}
				l, ok := make([]byte(raw))
				if ok != (want != "") {
					t.Errorf("%s: %v", raw, ok)
					continue
				}
				if ok && tm.spelling[l.second] != want {
					t.Errorf("%s: %s, want %s", raw, tm.spelling[l.second], want)
				}
			}
		}
	}
}

// TestTimesAgree holds times of the usual spellings against package time.
func TestTimesAgree(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 8))
	tm := times{ids: map[string]uint64{}}
	layouts := []string{time.RFC3339Nano, "2006-01-02T15:04:05.000Z07:00", "2006-01-02 15:04:05.000000-07:00", "2006/01/02 15:04:05,000000000", time.RFC3339}
	for range 20_000 {
		at := time.Unix(random.Int64N(2*8_000_000_000)-8_000_000_000, random.Int64N(1e9)).In(time.FixedZone("", 900*(random.IntN(100)-50)))
		layout := layouts[random.IntN(len(layouts))]
		text := at.Format(layout)
		want, err := time.Parse(layout, text)
		check(t, err)
		l, ok := tm.string([]byte(`"` + text + `"`))
		if !ok || int64(l.bits) != want.UnixNano() {
			t.Fatalf("%s: %d, %v, want %d", text, int64(l.bits), ok, want.UnixNano())
		}
		p, err := timepattern.Parse(tm.spelling[l.second])
		check(t, err)
		if got, err := p.Append(nil, int64(l.bits)); err != nil || string(got) != fmt.Sprintf("%q", text) {
			t.Fatalf("%s printed as %s, %v", text, got, err)
		}
	}
}
