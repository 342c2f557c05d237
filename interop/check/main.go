// Command check compares this module's CLP IR streams with what clp-ffi-js, the reference decoder, makes of them.
//
//	cd interop && npm ci
//	go run ./check                     # random events and corpora written here, decoded there
//	go run ./check -events 1000000     # more of them
//	go run ./check ../clp/ir/testdata/vectors/*.clp*   # streams of anybody: both decoders must agree
//
// It prints a line for each stream, and exits with 1 at the first difference.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
)

func main() {
	events := flag.Int("events", 50_000, "random key-value events to compare, and a tenth as many text events")
	seed := flag.Uint64("seed", 1, "of the random events")
	script := flag.String("decode", "decode.mjs", "the script that decodes a file with clp-ffi-js")
	flag.Parse()
	if err := run(*script, *events, *seed, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "check:", err)
		os.Exit(1)
	}
}

// perStream bounds the events of a stream: the decoder holds all of it in memory.
const perStream = 100_000

func run(script string, events int, seed uint64, files []string) error {
	dir, err := os.MkdirTemp("", "interop")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	for _, file := range files {
		if err := agree(script, dir, file); err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
	}
	if len(files) > 0 {
		return nil
	}
	file := filepath.Join(dir, "stream.clp.zst")
	for _, c := range append(corpora(), randomStreams(events, seed)...) {
		want, err := c.write(file)
		if err != nil {
			return fmt.Errorf("%s: writing: %w", c.name, err)
		}
		n, err := compare(script, file, want)
		if err != nil {
			return fmt.Errorf("%s: event %d: %w", c.name, n, err)
		}
		info, err := os.Stat(file)
		if err != nil {
			return err
		}
		fmt.Printf("%-24s %9d events %11d bytes  equal\n", c.name, n, info.Size())
	}
	return nil
}
