//go:build !linux

package parse

import "errors"

// exchange is not available; names change places in two steps.
func exchange(a, b string) error { return errors.ErrUnsupported }
