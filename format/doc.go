// Package format names the formats of a trace file and tells them apart by content.
//
// A format has one word, used in flags, environment variables and errors, and one file suffix:
//
//	word     suffix        content
//	plain    .ndjson       one JSON object per line (NDJSON)
//	gzip     .ndjson.gz    the same lines in gzip members (RFC 1952)
//	zstd     .ndjson.zst   the same lines in zstd frames (RFC 8878)
//	clp      .clp          a CLP single-file archive
//	clp-ir   .clp.zst      a CLP IR stream inside zstd frames
//
// A writer chooses a format by its word:
//
//	f, err := format.Parse("zstd") // an unknown word is an *UnknownError, never a default
//	name := "trace" + f.Suffix()   // trace.ndjson.zst
//
// A reader never trusts a name. It looks at the first bytes:
//
//	switch format.Detect(head) { // head: up to HeadSize bytes
//	case format.ZstdMagic: …
//	}
package format
