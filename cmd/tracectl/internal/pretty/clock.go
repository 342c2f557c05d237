package pretty

import (
	"fmt"
	"time"
)

// Clock is a way to write the time of an event.
type Clock uint8

const (
	DateTime  Clock = iota // 2026-11-30 10:37:40.123456
	TimeOfDay              // 10:37:40.123456
	RFC3339                // 2026-11-30T10:37:40.123456789+01:00
	Delta                  // +1.234ms, since the event before
	NoClock                // nothing
)

var clockWords = []string{"datetime", "time", "rfc3339", "delta", "none"}

// Set reads a clock by its name: datetime, time, rfc3339, delta, none.
func (c *Clock) Set(word string) error {
	for i, w := range clockWords {
		if w == word {
			*c = Clock(i)
			return nil
		}
	}
	return fmt.Errorf("unknown clock %q: want datetime, time, rfc3339, delta or none", word)
}

// String returns the clock's name.
func (c *Clock) String() string { return clockWords[*c] }

// Type names the kind of value in a command's help.
func (c *Clock) Type() string { return "clock" }

func (p *Printer) clock(t time.Time) {
	t = t.In(p.o.Zone)
	p.space(1)
	switch p.o.Clock {
	case DateTime:
		p.begin(p.styles.dim)
		p.dst = t.AppendFormat(p.dst, "2006-01-02 15:04:05.000000")
		p.end(p.styles.dim)
	case TimeOfDay:
		p.begin(p.styles.dim)
		p.dst = t.AppendFormat(p.dst, "15:04:05.000000")
		p.end(p.styles.dim)
	case RFC3339:
		p.begin(p.styles.dim)
		p.dst = t.AppendFormat(p.dst, "2006-01-02T15:04:05.000000000Z07:00")
		p.end(p.styles.dim)
	case Delta:
		text := "0"
		if p.begun {
			text = delta(t.Sub(p.last))
		}
		p.last, p.begun = t, true
		p.style(p.styles.dim, fmt.Sprintf("%10s", text))
	}
}

// delta writes a difference in at most ten columns, for all that is shorter than a day.
func delta(d time.Duration) string {
	sign := "+"
	if d < 0 {
		sign, d = "-", -d
	}
	switch {
	case d < time.Millisecond:
		return fmt.Sprintf("%s%.3fµs", sign, float64(d)/1e3)
	case d < time.Second:
		return fmt.Sprintf("%s%.3fms", sign, float64(d)/1e6)
	case d < time.Minute:
		return fmt.Sprintf("%s%.3fs", sign, d.Seconds())
	}
	return sign + d.Round(time.Second).String()
}
