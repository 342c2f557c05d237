package naming_test

import (
	"fmt"
	"os"
	"time"

	"github.com/tracehandler/tracehandler/format"
	"github.com/tracehandler/tracehandler/naming"
)

func ExampleScheme_FileName() {
	s := naming.Scheme{User: "ada", Host: "node7.example.org", PID: 4711}
	fmt.Println(s.FileName(3, format.Zstd))
	fmt.Println(s.FileName(naming.NoRank, format.Plain))
	// Output:
	// dedicated_log_triton_trace_ada_rank_3_pid_4711_host_node7_.ndjson.zst
	// dedicated_log_triton_trace_ada_rank_none_pid_4711_host_node7_.ndjson
}

func ExampleParse() {
	f := naming.Parse("dedicated_log_triton_trace_ada_rank_3_pid_4711_host_node7_.ndjson.zst")
	fmt.Println(f.User, f.Rank, f.PID, f.Host)
	// Output: ada 3 4711 node7
}

func ExampleRotatedName() {
	t := time.Date(2026, 11, 30, 10, 37, 40, 123456789, time.UTC)
	fmt.Println(naming.RotatedName("logs/trace.ndjson.zst", t, 0))
	// Output: logs/trace-20261130T103740.123456789Z.ndjson.zst
}

func ExampleParseRotated() {
	live, t, ok := naming.ParseRotated("trace-20261130T103740.123456789Z.ndjson.zst")
	fmt.Println(live, t, ok)
	// Output: trace.ndjson.zst 2026-11-30 10:37:40.123456789 +0000 UTC true
}

// The names of hosts and users come from the environment, and may be anything.
func ExampleSanitiseHost() {
	fmt.Println(naming.SanitiseHost("Node7.example.org"), naming.SanitiseHost("../../etc"))
	fmt.Println(naming.SanitiseName("ada lovelace/x", 8))
	// Output:
	// Node7 unknown
	// ada-love
}

// The rank is asked for when the first event is written: torchrun sets it before the program starts, a library later.
func ExampleEnvRank() {
	os.Setenv("RANK", "3")
	defer os.Unsetenv("RANK")
	rank := naming.EnvRank()
	fmt.Println(naming.Scheme{User: "ada", Host: "node7", PID: 4711}.FileName(rank(), format.Plain))
	// Output:
	// dedicated_log_triton_trace_ada_rank_3_pid_4711_host_node7_.ndjson
}
