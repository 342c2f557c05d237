// Command tracectl reads, converts, checks and recovers traces.
//
//	tracectl cat -l warn --since -1h app.ndjson.zst   # what went wrong in the last hour
//	tracectl stat traces/                             # what is in there
//	tracectl convert --to zstd app.ndjson             # the same lines, smaller
//	tracectl recover traces/                          # finish what a crash left
//
// What a file holds is told from its content, never from its name. The exit code is 0 if all went well, 1 if nothing matched, and 2
// if the command was used wrongly, a file is damaged, or something could not be read or written.
package main

import (
	"os"
	_ "time/tzdata" // --tz knows zones also where the system has none: on Windows, in an empty container
)

func main() {
	os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}
