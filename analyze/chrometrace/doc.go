// Package chrometrace reads and writes traces in the Chrome trace-event JSON format, as PyTorch's Kineto profiler
// writes them: gigabytes of it, in any key order, compressed or not, whole or broken.
//
//	s, err := chrometrace.Open("rank0.pt.trace.json.gz") // gzip and zstd are found by their magic bytes
//	if err != nil { … }
//	defer s.Close()
//	for s.Scan() {
//		ev := s.Event()                                  // valid until the next Scan
//		if string(ev.Category) == "kernel" { total += ev.Dur }
//	}
//	if s.Degraded() { log.Print(s.Errors()) }            // every complete event was delivered all the same
//
// The scanner finds the ends of events and of their arguments without building them: strings and nested values are
// spans of its buffer, decoded only when asked for. Times are integer nanoseconds: the format's microseconds have three
// decimals and reach 6.5e12, where a float64 no longer holds them.
//
// Damage never stops the scan as long as something follows it. A malformed element is reported with its byte offset and
// skipped; a truncated file gives every event that is complete. Accepted beyond JSON, because profilers write it: raw
// control characters and lone backslashes in strings, NaN and Infinity, invalid UTF-8 (it becomes U+FFFD when decoded),
// numbers in quotes, a byte-order mark, a bare array of events.
//
// Format: "Trace Event Format", https://docs.google.com/document/d/1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU
package chrometrace
