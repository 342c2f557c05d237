package main

import (
	"errors"
	"math"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tracehandler/tracehandler/reader"
)

// bytesFlag is a number of bytes, with or without a unit.
type bytesFlag struct{ n int }

var byteUnits = []struct {
	name string
	size float64
}{{"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30}, {"K", 1 << 10}, {"M", 1 << 20}, {"G", 1 << 30}, {"B", 1}}

func (b *bytesFlag) Set(text string) error {
	number, unit := text, 1.0
	for _, u := range byteUnits {
		if rest, ok := strings.CutSuffix(text, u.name); ok {
			number, unit = strings.TrimSpace(rest), u.size
			break
		}
	}
	f, err := strconv.ParseFloat(number, 64)
	if f *= unit; err != nil || !(f >= 1 && f <= math.MaxInt32) {
		return errors.New("want a number of bytes from 1 to 2 GiB, such as 100000, 64KiB or 1GiB")
	}
	b.n = int(f)
	return nil
}

func (b *bytesFlag) String() string { return bytesText(int64(b.n)) }

func (b *bytesFlag) Type() string { return "size" }

// readerOptions are what the flags of all commands say about reading.
func readerOptions(cmd *cobra.Command) reader.Options {
	var o reader.Options
	if f := cmd.Flag("max-line"); f != nil {
		o.MaxLine = f.Value.(*bytesFlag).n
	}
	return o
}
