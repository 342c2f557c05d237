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
