package main

import (
	"fmt"
	"strconv"
	"time"

	"github.com/mattn/go-runewidth"

	"github.com/tracehandler/tracehandler/cmd/tracectl/internal/screen"
)

// shown returns a text that is not ours, the name of a file for one, as a terminal may be sent it: with everything that is
// not printable escaped.
func shown(text string) string { return screen.Text(text) }

// columns returns how many columns of a terminal text takes.
func columns(text string) int { return runewidth.StringWidth(text) }

// number writes n with commas between thousands.
func number[T int | int64](n T) string {
	digits := strconv.FormatInt(int64(n), 10)
	for i := len(digits) - 3; i > 0 && digits[i-1] != '-'; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}

// plural writes n and the word, with an s unless n is one.
func plural[T int | int64](n T, word string) string {
	if n == 1 {
		return "1 " + word
	}
	return number(n) + " " + word + "s"
}

// bytesText writes a number of bytes in the unit that suits it.
func bytesText(n int64) string {
	const units = "KMGTPE"
	if n < 1024 {
		return fmt.Sprintf("%d B", n)
	}
	v, i := float64(n)/1024, 0
	for v >= 1023.95 && i < len(units)-1 {
		v, i = v/1024, i+1
	}
	return fmt.Sprintf("%.1f %ciB", v, units[i])
}

// ratio writes how many times smaller stored is than text.
func ratio(text, stored int64) string {
	if text <= 0 || stored <= 0 {
		return "-"
	}
	return fmt.Sprintf("%.2f×", float64(text)/float64(stored))
}

// span writes a length of time with about three digits.
func span(d time.Duration) string {
	switch {
	case d < time.Microsecond:
		return d.String()
	case d < time.Millisecond:
		return d.Round(10 * time.Nanosecond).String()
	case d < time.Second:
		return d.Round(10 * time.Microsecond).String()
	case d < time.Minute:
		return d.Round(10 * time.Millisecond).String()
	}
	return d.Round(time.Second).String()
}
