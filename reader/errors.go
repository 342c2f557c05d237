package reader

import (
	"errors"
	"fmt"
)

// LineError reports one line that is no event. The lines around it are not affected.
type LineError struct {
	Path     string
	Line     int64  // number of the line, from 1
	Offset   int64  // of the line's first byte in the uncompressed text
	Column   int    // bytes before the error in the line
	Expected string // what should have been there
	Err      error  // the cause, often an *event.SyntaxError; may be nil
}

func (e *LineError) Error() string {
	s := fmt.Sprintf("reader: %s: line %d (offset %d): expected %s", e.Path, e.Line, e.Offset, e.Expected)
	if e.Err != nil {
		s += ": " + e.Err.Error()
	}
	return s
}

// Unwrap returns the cause.
func (e *LineError) Unwrap() error { return e.Err }

// DamageError reports bytes inside a file that cannot be read: something changed them. What stands before and, if the
// iteration goes on, what stands behind is whole.
type DamageError struct {
	Path     string
	Offset   int64  // of the first byte skipped, in the file as it is stored; of an archive's section, in its uncompressed bytes
	Skipped  int64  // bytes skipped, as stored
	Cut      int64  // bytes of text before Offset that begin a line which the damage tore off; not delivered
	Line     int64  // number of the last line before the damage
	Expected string // what should have been at Offset
	Section  string // of a CLP archive, such as "/var.dict": what is damaged; empty for everything else. Err has the place in it
	Lost     int64  // records of the archive that were not delivered; Line counts those that were
	Err      error  // the cause; may be nil
}

func (e *DamageError) Error() string {
	if e.Section != "" {
		return archiveDamage(e.Path, "corrupt", e.Err, e.Lost, e.Line)
	}
	s := fmt.Sprintf("reader: %s: offset %d: corrupt: expected %s; %d bytes skipped after line %d", e.Path, e.Offset, e.Expected, e.Skipped, e.Line)
	if e.Err != nil {
		s += ": " + e.Err.Error()
	}
	return s
}

// Unwrap returns the cause.
func (e *DamageError) Unwrap() error { return e.Err }

// TornError reports that a file ends too early, as a crash of its writer leaves it: inside a gzip member or zstd frame,
// or inside a line. Every whole line before the end has been delivered.
type TornError struct {
	Path     string
	Offset   int64  // where the incomplete member, frame or line begins, in the file as it is stored
	Skipped  int64  // bytes from there to the end that are in no line delivered (of a frame: all its bytes)
	Line     int64  // number of the last whole line
	Expected string // what is incomplete
	Section  string // of a CLP archive: what the end cut; empty for everything else
	Lost     int64  // records of the archive that were not delivered; Line counts those that were
	Err      error  // the cause; may be nil
}

func (e *TornError) Error() string {
	if e.Section != "" {
		return archiveDamage(e.Path, "torn: the file ends inside "+e.Expected, e.Err, e.Lost, e.Line)
	}
	bytes := "bytes"
	if e.Skipped == 1 {
		bytes = "byte"
	}
	s := fmt.Sprintf("reader: %s: offset %d: torn: the file ends inside %s; %d %s left over after line %d", e.Path, e.Offset, e.Expected, e.Skipped, bytes, e.Line)
	if e.Err != nil {
		s += ": " + e.Err.Error()
	}
	return s
}

// Unwrap returns the cause.
func (e *TornError) Unwrap() error { return e.Err }

// archiveDamage says what is damaged in an archive. The cause names the section and the place in it.
func archiveDamage(path, what string, cause error, lost, whole int64) string {
	s := fmt.Sprintf("reader: %s: %s: %v", path, what, cause)
	if lost > 0 {
		s += fmt.Sprintf("; %d of %d records lost", lost, lost+whole)
	}
	return s
}

// IsReport reports whether err is one that an iteration goes on after: a LineError, DamageError or TornError. Any other
// error ends the iteration.
func IsReport(err error) bool {
	var l *LineError
	var d *DamageError
	var t *TornError
	return errors.As(err, &l) || errors.As(err, &d) || errors.As(err, &t)
}
