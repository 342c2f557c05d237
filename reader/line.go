package reader

import (
	"bytes"
	"errors"
	"unicode/utf8"

	"github.com/tracehandler/tracehandler/event"
	"github.com/tracehandler/tracehandler/internal/jsontext"
)

// parseLine reads one line as an event. valid says that its UTF-8 needs no look.
func parseLine(line []byte, k Kind, valid bool) (event.Event, badLine, lineKind) {
	t := trim(line)
	if len(t) == 0 {
		return event.Event{}, badLine{}, blankLine
	}
	ev, err := event.Parse(t)
	if err != nil && k == PrefixedLines {
		if p := prefixLen(t); p > 0 {
			if e, perr := event.Parse(t[p:]); perr == nil {
				ev, err = e, nil
			}
		}
	}
	if err == nil && (valid || utf8.Valid(t)) {
		return ev, badLine{}, eventLine
	}
	bad := badLine{err: err, expected: "one JSON object", ev: ev, fixed: err == nil}
	var syntax *event.SyntaxError
	switch {
	case err == nil:
		bad.expected = "valid UTF-8"
		bad.column = jsontext.ValidPrefix(t)
	case errors.As(err, &syntax):
		bad.column = syntax.Offset
	}
	bad.column += cap(line) - cap(t) // both end where the capacity ends
	return event.Event{}, bad, badLineKind
}

// kindOf decides the kind of a trace by its first line that is an event, with or without a prefix.
func kindOf(b *block) (k Kind, known bool) {
	for _, l := range b.lines[:min(len(b.lines), 256)] {
		t := trim(bytes.TrimPrefix(b.text[l.start:l.end], byteOrderMark))
		if len(t) == 0 {
			continue
		}
		if _, err := event.Parse(t); err == nil {
			return JSONLines, true
		}
		if p := prefixLen(t); p > 0 {
			if _, err := event.Parse(t[p:]); err == nil {
				return PrefixedLines, true
			}
		}
	}
	return JSONLines, len(b.lines) >= 256
}

var byteOrderMark = []byte("\xef\xbb\xbf")

// trim removes the white space at both ends that Python's str.strip removes: what the reference reader does before it
// decodes a line.
func trim(line []byte) []byte {
	if n := len(line); n > 0 && line[0] == '{' && line[n-1] == '}' {
		return line
	}
	for {
		t := bytes.Trim(bytes.TrimSpace(line), "\x1c\x1d\x1e\x1f")
		if len(t) == len(line) {
			return t
		}
		line = t
	}
}

// prefixLen returns the length of the text before the JSON object in a line such as
//
//	I1130 10:00:00.000000 123 file.go:7] {"msg":"started"}
//
// or 0 if there is none. The object begins at the first "{" that is followed by a key or "}".
func prefixLen(line []byte) int {
	if len(line) == 0 || line[len(line)-1] != '}' {
		return 0
	}
	for at := 0; ; at++ {
		i := bytes.IndexByte(line[at:], '{')
		if i < 0 {
			return 0
		}
		at += i
		if rest := bytes.TrimLeft(line[at+1:], " \t"); len(rest) > 0 && (rest[0] == '"' || rest[0] == '}') {
			return at
		}
	}
}
