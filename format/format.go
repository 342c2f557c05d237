package format

import (
	"fmt"
	"strings"
)

// Format is the way a trace is laid out on disk. The zero value is Plain.
type Format uint8

// The formats.
const (
	Plain Format = iota // NDJSON lines
	Gzip                // NDJSON lines in gzip members
	Zstd                // NDJSON lines in zstd frames
	CLP                 // CLP single-file archive: columnar, searchable, written once
	CLPIR               // CLP IR stream: appendable
)

var words = [...]string{Plain: "plain", Gzip: "gzip", Zstd: "zstd", CLP: "clp", CLPIR: "clp-ir"}

var suffixes = [...]string{Plain: ".ndjson", Gzip: ".ndjson.gz", Zstd: ".ndjson.zst", CLP: ".clp", CLPIR: ".clp.zst"}

// All returns every format, in the order of the constants. The caller owns the slice.
func All() []Format {
	return []Format{Plain, Gzip, Zstd, CLP, CLPIR}
}

// Parse returns the format that word names. Words are matched exactly: case counts and white space is not trimmed.
// For any other word, the empty one included, the error is an *UnknownError.
func Parse(word string) (Format, error) {
	for f, w := range words {
		if w == word {
			return Format(f), nil
		}
	}
	return Plain, &UnknownError{Word: word}
}

// UnknownError is the error for a word that names no format.
type UnknownError struct {
	Word string // as it was given
}

// Error names the word and the words that would have been right.
func (e *UnknownError) Error() string {
	return fmt.Sprintf("format: unknown format %q (want one of: %s)", e.Word, strings.Join(words[:], ", "))
}

// Valid reports whether f is one of the constants.
func (f Format) Valid() bool { return int(f) < len(words) }

// String returns f's word, or "format(N)" for a value that is not one of the constants.
func (f Format) String() string {
	if !f.Valid() {
		return fmt.Sprintf("format(%d)", uint8(f))
	}
	return words[f]
}

// Suffix returns the end of the name of a file in this format, with its leading dot. It is empty for a value that is
// not one of the constants.
func (f Format) Suffix() string {
	if !f.Valid() {
		return ""
	}
	return suffixes[f]
}

// MarshalText returns f's word; the error is an *UnknownError if f is not one of the constants.
func (f Format) MarshalText() ([]byte, error) {
	if !f.Valid() {
		return nil, &UnknownError{Word: f.String()}
	}
	return []byte(words[f]), nil
}

// UnmarshalText sets f to the format that text names, by the rules of Parse. On error f is left alone.
func (f *Format) UnmarshalText(text []byte) error {
	v, err := Parse(string(text))
	if err != nil {
		return err
	}
	*f = v
	return nil
}
