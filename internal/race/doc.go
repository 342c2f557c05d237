// Package race has no code but tests: many goroutines against one handler, processes killed at random instants, power cut
// at every call of the file system, disks that fill up, write short and fail, files cut at every byte and flipped at every
// byte. They hold the promises of docs/guarantees.md for every sink in one table (kinds in harness_test.go).
//
//	go test ./internal/race                   // the usual run, some twenty seconds
//	go test -race -short ./internal/race      // with the race detector and fewer trials
//	go test ./internal/race -kills 500        // kill 500 processes per sink; TRACEHANDLER_KILLS=500 does the same
//	go test ./internal/race -all -run Byte    // change every byte of a file to every value
//	go test ./internal/race -seed 42          // other random choices; a failure names its seed
//
// Every event says which worker wrote it and when, and its text follows from that, so that a lost, doubled, reordered or
// invented event is seen whatever the file looks like.
package race
