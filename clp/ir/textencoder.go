package ir

import (
	"bytes"
	"encoding/binary"
	"unicode/utf8"
)

// TextEncoder turns events into the bytes of one text stream. It keeps the time of the last event, and nothing of the
// bytes: they are appended to what the caller gives. A TextEncoder is for one goroutine at a time.
type TextEncoder struct {
	// AnyBytes keeps bytes in messages that readers in a browser do not show: those that are not UTF-8 (else
	// U+FFFD) and NUL (else U+FFFD; clp-ffi-js ends the message there).
	AnyBytes bool

	width Width
	last  int64
	text  textEncoder
	clean []byte
}

// NewTextEncoder starts a stream, or goes on with one: last is the time of the event before, or the reference
// timestamp of the stream if there is none. It matters to four-byte streams only.
func NewTextEncoder(width Width, last int64) *TextEncoder {
	return &TextEncoder{width: width, last: last, text: textEncoder{width: width.encoding()}}
}

// Append appends an event: a time in ms since 1970 UTC and a message. By convention a message starts with a space and
// the level, and ends with a newline: " INFO started\n". The error is ErrTimestamp, and nothing is appended then.
func (e *TextEncoder) Append(dst []byte, ms int64, message []byte) ([]byte, error) {
	delta := ms - e.last
	if e.width == FourByte && (ms < e.last) != (delta < 0) {
		return dst, ErrTimestamp
	}
	if !e.AnyBytes && !isClean(message) {
		e.clean = e.clean[:0]
		for _, r := range string(message) { // a byte that is not UTF-8 is U+FFFD here
			if r == 0 {
				r = utf8.RuneError
			}
			e.clean = utf8.AppendRune(e.clean, r)
		}
		message = e.clean
	}
	dst = appendText(&e.text, dst, message)
	e.last = ms
	if e.width == EightByte {
		return binary.BigEndian.AppendUint64(append(dst, tagTime), uint64(ms)), nil
	}
	return appendInteger(dst, tagDelta8, delta), nil
}

func isClean(message []byte) bool {
	return bytes.IndexByte(message, 0) < 0 && utf8.Valid(message)
}

// AppendUTCOffset says that the events from here on come from a place this many ms east of UTC. Readers of the
// reference differ in what they make of it (clp-ffi-go takes it for damage), so leave it out unless it is needed.
func (e *TextEncoder) AppendUTCOffset(dst []byte, ms int64) []byte {
	return binary.BigEndian.AppendUint64(append(dst, tagUTCOffset), uint64(ms))
}
