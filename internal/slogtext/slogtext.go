// Package slogtext spells levels and times as log/slog does, without making strings of them.
package slogtext

import (
	"log/slog"
	"strconv"
	"time"
)

// AppendLevel appends the text that [slog.Level.String] returns.
func AppendLevel(dst []byte, l slog.Level) []byte {
	base, name := slog.LevelDebug, "DEBUG"
	switch {
	case l >= slog.LevelError:
		base, name = slog.LevelError, "ERROR"
	case l >= slog.LevelWarn:
		base, name = slog.LevelWarn, "WARN"
	case l >= slog.LevelInfo:
		base, name = slog.LevelInfo, "INFO"
	}
	dst = append(dst, name...)
	if d := int64(l) - int64(base); d != 0 {
		if d > 0 {
			dst = append(dst, '+')
		}
		dst = strconv.AppendInt(dst, d, 10)
	}
	return dst
}

// Clock writes times as RFC 3339 with as many digits of the second as they have. It remembers the text of one second, so
// it is quick where times are close to each other. The zero Clock is ready; it must not be copied or used concurrently.
type Clock struct {
	unix       int64
	loc        *time.Location
	head, tail []byte // parts of text: "2026-11-30T10:46:59 and Z", with their quotes
	text       [64]byte
}

// Append appends t.
func (c *Clock) Append(dst []byte, t time.Time) []byte {
	if t.Unix() != c.unix || t.Location() != c.loc {
		c.set(t)
	}
	dst = append(dst, c.head[1:]...)
	dst = AppendFraction(dst, uint32(t.Nanosecond()))
	return append(dst, c.tail[:len(c.tail)-1]...)
}

// AppendQuoted appends t as a JSON string.
func (c *Clock) AppendQuoted(dst []byte, t time.Time) []byte {
	if t.Unix() != c.unix || t.Location() != c.loc {
		c.set(t)
	}
	dst = append(dst, c.head...)
	dst = AppendFraction(dst, uint32(t.Nanosecond()))
	return append(dst, c.tail...)
}

// set makes the text of the second of t.
func (c *Clock) set(t time.Time) {
	c.unix, c.loc = t.Unix(), t.Location()
	text := append(c.text[:0], '"')
	text = t.AppendFormat(text, time.RFC3339)
	zone := len("+00:00")
	if text[len(text)-1] == 'Z' {
		zone = len("Z")
	}
	text = append(text, '"')
	c.head = text[:len(text)-1-zone]
	c.tail = text[len(c.head):]
}

// AppendFraction appends the digits of a second that [time.RFC3339Nano] has: a point and those of ns nanoseconds, without
// zeros at the end; nothing for 0.
func AppendFraction(dst []byte, ns uint32) []byte {
	if ns == 0 {
		return dst
	}
	text := [10]byte{0: '.'}
	a, b := ns/1e5, ns%1e5 // four and five digits
	copy(text[1:], pairs[a/100*2:][:2])
	copy(text[3:], pairs[a%100*2:][:2])
	copy(text[5:], pairs[b/1000*2:][:2])
	copy(text[7:], pairs[b/10%100*2:][:2])
	text[9] = '0' + byte(b%10)
	n := len(text)
	for text[n-1] == '0' {
		n--
	}
	return append(dst, text[:n]...)
}

// pairs has the two digits of each number below 100.
const pairs = "00010203040506070809" + "10111213141516171819" + "20212223242526272829" + "30313233343536373839" +
	"40414243444546474849" + "50515253545556575859" + "60616263646566676869" + "70717273747576777879" +
	"80818283848586878889" + "90919293949596979899"
