package finalize

import "errors"

var errUnbuilt = errors.New("finalize: not built yet")

// Recover completes the partial at path, or each partial in the directory path.
func Recover(path string, o *Options) ([]Report, error) { return nil, errUnbuilt }

// Verify reads all of the file at path.
func Verify(path string, o *Options) (Report, error) { return Report{}, errUnbuilt }
