package timepattern

import (
	"errors"
	"math"
	"testing"
	"time"
)

func TestPattern(t *testing.T) {
	const at = 1704164645_678901234 // 2024-01-02T03:04:05.678901234Z, a Tuesday
	const names = `\B{Jan,Feb,Mar,Apr,May,Jun,Jul,Aug,Sep,Oct,Nov,Dec}`
	const days = `\A{Sun,Mon,Tue,Wed,Thu,Fri,Sat}`
	tests := []struct {
		pattern string
		ns      int64
		want    string
	}{
		{`"\Y-\m-\dT\H:\M:\S.\3Z"`, at, `"2024-01-02T03:04:05.678Z"`},
		{`"\Y-\m-\d \H:\M:\S,\6"`, at, `"2024-01-02 03:04:05,678901"`},
		{`"\Y/\m/\d \H:\M:\S.\9\z{+05:30}"`, at, `"2024/01/02 08:34:05.678901234+05:30"`},
		{`"\Y-\m-\dT\H:\M:\S.\T\z{-0800}"`, at - 1234, `"2024-01-01T19:04:05.6789-0800"`},
		{"\"\\Y\\z{\u221208}\"", 0, "\"1969\u221208\""},
		{`"\y` + names + `\e \k \l \p ` + days + `"`, at, `"24Jan 2  3  3 AM Tue"`},
		{`"\d \I:\M:\J \p"`, at + 12*3600e9, `"02 03:04:60 PM"`},
		{`"\I\p"`, -3600e9, `"11PM"`},
		{`"\I\p"`, 0, `"12AM"`},
		{`"\H\o{PST,-0800}"`, 0, `"16PST"`},
		{`"\\\Y"`, 0, `"\\1970"`},
		{`\E`, -1, `0`},
		{`\E`, at, `1704164645`},
		{`\E.\3`, -1_500_000_000, `-1.500`},
		{`\E.\T`, at, `1704164645.678901234`},
		{`\L`, at, `1704164645678`},
		{`\C`, at, `1704164645678901`},
		{`\N`, math.MinInt64, `-9223372036854775808`},
		{`"\L.\?"`, 0, ``},
		{`"\E"`, at, `"1704164645"`},
		{`"\Y-\m-\d"`, math.MinInt64, `"1677-09-21"`},
		{`"\Y-\m-\d"`, math.MaxInt64, `"2262-04-11"`},
		{`"\S.\9"`, -1, `"59.999999999"`},
		{`\E.\T`, 5e9, ``},
		// What no archive should have.
		{`\Y`, 0, ``},
		{`x`, 0, ``},
		{``, 0, ``},
		{`"\Y\Y"`, 0, ``},
		{`"\Y\E"`, 0, ``},
		{`"\I"`, 0, ``},
		{`"\p"`, 0, ``},
		{`"\z{+1}"`, 0, ``},
		{`"\z"`, 0, ``},
		{`"\z{+01"`, 0, ``},
		{`"\o{X}"`, 0, ``},
		{`"\B{a,b}"`, 0, ``},
		{`"\B{a",b}"`, 0, ``},
		{`"\z{+01}\o{X,+02}"`, 0, ``},
		{`"a"b"`, 0, ``},
		{"\"a\nb\"", 0, ``},
		{`"\Q"`, 0, ``},
		{`"\Z"`, 0, ``},
		{`"\`, 0, ``},
	}
	for _, tt := range tests {
		p, err := Parse(tt.pattern)
		var got []byte
		if err == nil {
			got, err = p.Append(nil, tt.ns)
		}
		if tt.want == "" {
			if err == nil {
				t.Errorf("%s: got %s, want an error", tt.pattern, got)
			}
			continue
		}
		if err != nil || string(got) != tt.want {
			t.Errorf("%s of %d: got %s, %v, want %s", tt.pattern, tt.ns, got, err, tt.want)
		}
	}
}

// TestDate compares the calendar with that of package time, around the days where calendars go wrong.
func TestDate(t *testing.T) {
	for year := 1600; year <= 2500; year += 1 {
		for _, day := range []string{"01-01", "02-28", "03-01", "12-31"} {
			at, err := time.Parse("2006-01-02", time.Date(year, 1, 1, 0, 0, 0, 0, time.UTC).Format("2006-")+day)
			if err != nil {
				t.Fatal(err)
			}
			at = at.Add(24*time.Hour - time.Second)
			var d date
			d.setSeconds(at.Unix())
			got := time.Date(int(d.year), time.Month(d.month), int(d.day), int(d.hour), int(d.minute), int(d.second), 0, time.UTC)
			if !got.Equal(at) || time.Weekday(d.weekday) != at.Weekday() {
				t.Fatalf("%v: got %v, weekday %d", at, got, d.weekday)
			}
		}
	}
}

func TestDateString(t *testing.T) {
	const at = 1704207845_670 // 2024-01-02T15:04:05.670Z
	tests := []struct {
		pattern string
		ms      int64
		want    string
	}{
		{"%Y-%m-%dT%H:%M:%S.%3Z", at, "2024-01-02T15:04:05.670Z"},
		{"%y/%m/%d %H:%M:%S,%T", at, "24/01/02 15:04:05,67"},
		{"%a %b %e %k:%M %Y", at, "Tue Jan  2 15:04 2024"},
		{"%B %d %I:%M:%S %p", at, "January 02 03:04:05 PM"},
		{"%E", -5, "-5"},
		{"%F", 1_500_000_000, "1.500000000"},
		{"%F", -500_000_000, "-0.500000000"},
		{"\"%%\\", 0, `"%\`},
		{"%3", -1, "999"},
		{"%T", 0, "0"},
	}
	for _, tt := range tests {
		if got, err := AppendDateString(nil, tt.pattern, tt.ms); err != nil || string(got) != tt.want {
			t.Errorf("%s of %d: got %s, %v, want %s", tt.pattern, tt.ms, got, err, tt.want)
		}
	}
	for _, pattern := range []string{"%", "%Q"} {
		if _, err := AppendDateString(nil, pattern, 0); !errors.Is(err, ErrTime) {
			t.Errorf("%s: %v", pattern, err)
		}
	}
}
