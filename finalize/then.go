package finalize

import (
	"errors"
	"io"
)

// Then closes c and only then runs consume: what consume reads is complete. Consume runs also if Close failed, because
// Close of a handler returns the first error of the handler's life even where the trace is whole, and because the trace of
// a run that failed is the one that is wanted. The error joins both. A nil consume does nothing.
func Then(c io.Closer, consume func() error) error {
	err := c.Close()
	if consume == nil {
		return err
	}
	return errors.Join(err, consume())
}
