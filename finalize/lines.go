package finalize

import "bytes"

// maxLine is the length in bytes up to which a line is salvaged: the reader's default limit.
const maxLine = 64 << 20

// lineCounter counts the lines of the text that is written to it.
type lineCounter struct {
	n     int64 // whole lines
	bytes int64 // of text
	open  bool  // the text does not end with a newline
}

// Write implements io.Writer; it does not fail.
func (l *lineCounter) Write(p []byte) (int, error) {
	if len(p) > 0 {
		l.n += int64(bytes.Count(p, newline))
		l.bytes += int64(len(p))
		l.open = p[len(p)-1] != '\n'
	}
	return len(p), nil
}

var newline = []byte{'\n'}
