// Command gen writes traces for measurements:
//
//	go run ./parse/internal/traces/gen -out DIR -bytes 400000000 -ranks 1 -procs 1 EXAMPLE.ndjson…
package main

import (
	"flag"
	"fmt"
	"log"
	"os"

	"github.com/tracehandler/tracehandler/parse/internal/traces"
)

func main() {
	var o traces.Options
	out := flag.String("out", "", "folder to write to")
	flag.Int64Var(&o.Seed, "seed", 1, "seed")
	flag.Int64Var(&o.Bytes, "bytes", 50e6, "uncompressed bytes")
	flag.IntVar(&o.Ranks, "ranks", 4, "ranks")
	flag.IntVar(&o.Procs, "procs", 2, "processes of each rank")
	flag.StringVar(&o.Compress, "compress", "", "gzip or zstd")
	flag.BoolVar(&o.CompileOnly, "compile-only", false, "no launches")
	flag.BoolVar(&o.FreshPtr, "fresh-pointers", false, "other pointers in every record")
	flag.BoolVar(&o.FreshCode, "fresh-code", false, "other kernel names, and so other code, in every repetition")
	flag.Parse()
	examples, err := traces.Read(flag.Args()...)
	if err != nil {
		log.Fatal(err)
	}
	if err := os.MkdirAll(*out, 0o700); err != nil {
		log.Fatal(err)
	}
	size, n, err := traces.Write(*out, examples, o)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%d bytes in %d records\n", size, n)
}
