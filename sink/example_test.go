package sink_test

import (
	"errors"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/tracehandler/tracehandler/format"
	"github.com/tracehandler/tracehandler/naming"
	"github.com/tracehandler/tracehandler/sink"
)

func temp() string {
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		log.Fatal(err)
	}
	return dir
}

func list(dir string) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		log.Fatal(err)
	}
	for _, e := range entries {
		fmt.Println(e.Name())
	}
}

// A file has its name only when it is complete.
func ExampleFile() {
	dir := temp()
	defer os.RemoveAll(dir)
	s := sink.File(filepath.Join(dir, "trace.ndjson.zst"), sink.Options{Format: format.Zstd})
	if err := s.Append([]byte(`{"msg":"hello"}` + "\n")); err != nil {
		log.Fatal(err)
	}
	list(dir)
	if err := s.Close(); err != nil {
		log.Fatal(err)
	}
	list(dir)
	// Output:
	// trace.ndjson.zst.partial
	// trace.ndjson.zst
}

// Two processes never share a file.
func ExampleLockedError() {
	dir := temp()
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "trace.ndjson")
	first, second := sink.File(path, sink.Options{}), sink.File(path, sink.Options{})
	defer first.Close()
	defer second.Close()
	fmt.Println(first.Append([]byte("{}\n")))

	var locked *sink.LockedError
	if errors.As(second.Append([]byte("{}\n")), &locked) {
		fmt.Println(filepath.Base(locked.Path), "is taken")
	}
	// Output:
	// <nil>
	// trace.ndjson.partial is taken
}

// Each rank of a distributed job has its own file.
func ExampleDir() {
	dir := temp()
	defer os.RemoveAll(dir)
	rank := naming.NoRank
	scheme := naming.Scheme{User: "ada", Host: "node1", PID: 42, Rank: func() naming.Rank { return rank }}
	s := sink.Dir(dir, scheme, sink.Options{})
	for _, rank = range []naming.Rank{naming.NoRank, 3} {
		if err := s.Append([]byte(`{"msg":"hello"}` + "\n")); err != nil {
			log.Fatal(err)
		}
	}
	if err := s.Close(); err != nil {
		log.Fatal(err)
	}
	list(dir)
	// Output:
	// dedicated_log_triton_trace_ada_rank_3_pid_42_host_node1_.ndjson
	// dedicated_log_triton_trace_ada_rank_none_pid_42_host_node1_.ndjson
}

// The newest two files are kept beside the current one.
func ExampleRotation() {
	dir := temp()
	defer os.RemoveAll(dir)
	s := sink.File(filepath.Join(dir, "trace.ndjson"), sink.Options{Rotation: sink.Rotation{Keep: 2}})
	for range 5 {
		if err := s.Append([]byte(`{"msg":"hello"}` + "\n")); err != nil {
			log.Fatal(err)
		}
		if err := s.Rotate(); err != nil {
			log.Fatal(err)
		}
	}
	if err := s.Close(); err != nil {
		log.Fatal(err)
	}
	fmt.Println(s.Stats().Rotations, "rotated,", s.Stats().Removed, "removed")
	// Output: 5 rotated, 3 removed
}

// A stream has no partial and is not closed.
func ExampleWriter() {
	s := sink.Writer(os.Stdout, sink.Options{})
	if err := s.Append([]byte(`{"msg":"hello"}` + "\n")); err != nil {
		log.Fatal(err)
	}
	if err := s.Close(); err != nil {
		log.Fatal(err)
	}
	// Output: {"msg":"hello"}
}

// Options that no sink can be made of are told before there is one.
func ExampleOptions_Validate() {
	err := sink.Options{Format: format.Gzip, Level: 99}.Validate()
	var option *sink.OptionError
	fmt.Println(errors.As(err, &option), option.Option)
	// Output: true Level
}
