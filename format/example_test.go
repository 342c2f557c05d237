package format_test

import (
	"encoding/json"
	"fmt"

	"github.com/tracehandler/tracehandler/format"
)

func ExampleParse() {
	f, err := format.Parse("zstd")
	fmt.Println("trace"+f.Suffix(), err)
	_, err = format.Parse("zip")
	fmt.Println(err)
	// Output:
	// trace.ndjson.zst <nil>
	// format: unknown format "zip" (want one of: plain, gzip, zstd, clp, clp-ir)
}

func ExampleDetect() {
	fmt.Println(format.Detect([]byte("\x1f\x8b\x08\x00")))
	fmt.Println(format.Detect([]byte(`{"msg":"hello"}`)))
	// Output:
	// gzip
	// text
}

// A format is a word in flags, configuration files and JSON.
func ExampleFormat_UnmarshalText() {
	var config struct{ Trace format.Format }
	if err := json.Unmarshal([]byte(`{"Trace": "gzip"}`), &config); err != nil {
		fmt.Println(err)
	}
	word, err := config.Trace.MarshalText()
	fmt.Println(string(word), err, config.Trace.Suffix(), config.Trace.Valid())
	for _, f := range format.All() {
		fmt.Print(f, " ")
	}
	fmt.Println()
	// Output:
	// gzip <nil> .ndjson.gz true
	// plain gzip zstd clp clp-ir
}
