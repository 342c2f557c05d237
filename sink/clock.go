package sink

import "time"

// Clock is the time as a sink sees it, so that tests need not wait.
type Clock interface {
	Now() time.Time

	// After returns a channel that gets one value when d has passed, and a function that frees its resources.
	After(d time.Duration) (c <-chan time.Time, stop func())
}

type systemClock struct{}

func (systemClock) Now() time.Time { return time.Now() }

func (systemClock) After(d time.Duration) (<-chan time.Time, func()) {
	t := time.NewTimer(d)
	return t.C, func() { t.Stop() }
}

// alarm rings once at a time that may change. The zero value is off.
type alarm struct {
	c    <-chan time.Time
	at   time.Time
	free func()
}

// set makes the alarm ring at the given time, or not at all.
func (a *alarm) set(c Clock, at time.Time, on bool) {
	if on && a.c != nil && at.Equal(a.at) {
		return
	}
	a.stop()
	if on {
		a.at = at
		a.c, a.free = c.After(at.Sub(c.Now()))
	}
}

func (a *alarm) stop() {
	if a.c != nil {
		a.free()
		a.c, a.free = nil, nil
	}
}
