package finalize

import (
	"bytes"
	"fmt"

	"github.com/tracehandler/tracehandler/event"
)

// maxLine is the length in bytes up to which a line is checked or salvaged; the reader's default limit.
const maxLine = 64 << 20

// lineCounter counts the lines of a text that is written to it, and checks them if asked to.
type lineCounter struct {
	check bool
	n     int64 // whole lines
	bytes int64 // of text
	open  bool  // the text does not end with a newline

	carry []byte // start of the line that the next Write goes on with, if check
	long  bool   // that line is longer than maxLine
	bad   []BadLine
	badN  int64
}

// Write implements io.Writer; it does not fail.
func (l *lineCounter) Write(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	if !l.check {
		l.n += int64(bytes.Count(p, newline))
	} else {
		l.split(p)
	}
	l.bytes += int64(len(p))
	l.open = p[len(p)-1] != '\n'
	return len(p), nil
}

var newline = []byte{'\n'}

func (l *lineCounter) split(p []byte) {
	at := l.bytes - int64(len(l.carry))
	if l.long {
		at = l.bytes // near enough: the line began more than maxLine before
	}
	for {
		i := bytes.IndexByte(p, '\n')
		if i < 0 {
			l.keep(p)
			return
		}
		line := p[:i]
		if len(l.carry) > 0 || l.long {
			l.keep(line)
			line = l.carry
		}
		l.n++
		l.checkLine(line, at)
		at += int64(len(line)) + 1
		l.carry, l.long = l.carry[:0], false
		p = p[i+1:]
	}
}

func (l *lineCounter) keep(p []byte) {
	if l.long || len(l.carry)+len(p) > maxLine {
		l.long = true
		l.carry = l.carry[:0]
		return
	}
	l.carry = append(l.carry, p...)
}

func (l *lineCounter) checkLine(line []byte, at int64) {
	var err error
	if l.long {
		err = fmt.Errorf("finalize: longer than %d bytes", maxLine)
	} else if len(bytes.TrimRight(line, " \t\r")) > 0 {
		_, err = event.Parse(line)
	}
	if err == nil {
		return
	}
	l.badN++
	if len(l.bad) < MaxListed {
		l.bad = append(l.bad, BadLine{Line: l.n, Offset: at, Err: err})
	}
}

// end checks a last line without newline.
func (l *lineCounter) end() {
	if l.check && l.open {
		l.n++
		l.checkLine(l.carry, l.bytes-int64(len(l.carry)))
	}
}

// mark is a state of a lineCounter to go back to.
type mark struct {
	n, bytes, badN int64
	open           bool
	bad            int
}

func (l *lineCounter) mark() mark { return mark{l.n, l.bytes, l.badN, l.open, len(l.bad)} }

// reset goes back to m, forgetting the text of a frame that turned out to be damaged. A line that began before the
// damage is given up.
func (l *lineCounter) reset(m mark) {
	l.n, l.bytes, l.badN, l.open, l.bad = m.n, m.bytes, m.badN, m.open, l.bad[:m.bad]
	l.carry, l.long = l.carry[:0], false
}
