package archive

import (
	"fmt"

	"github.com/tracehandler/tracehandler/internal/timepattern"
)

// TimePatterns returns the spellings of the times in the archive: literal bytes, and specifiers with a backslash.
func (r *Reader) TimePatterns() []string {
	var list []string
	for _, p := range r.box.meta.patterns {
		list = append(list, p)
	}
	return list
}

// AppendTime appends nanoseconds since 1970 in a spelling of an archive, as JSON: a string with its quotes, or a number.
func AppendTime(dst []byte, pattern string, ns int64) ([]byte, error) {
	p, err := timepattern.Parse(pattern)
	if err != nil {
		return dst, err
	}
	if dst, err = p.Append(dst, ns); err != nil {
		return dst, fmt.Errorf("%w: %w", ErrTimestamp, err)
	}
	return dst, nil
}
