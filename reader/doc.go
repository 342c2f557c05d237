// Package reader reads traces back, whatever holds them: plain NDJSON, gzip, zstd, CLP streams and archives, a pipe, one
// inside the other, whole or damaged. What a file is, its first bytes say, never its name.
//
//	r, err := reader.Open("trace.ndjson.zst", nil)
//	if err != nil { … }
//	defer r.Close()
//	for e, err := range r.Events() {
//		if err != nil { // a report with file, line and offset; the next event follows
//			log.Print(err)
//			continue
//		}
//		fmt.Println(e.Message())
//	}
//
// # Damage
//
// Everything whole is delivered, and everything else is reported with its place, as one of three types. A [LineError] is
// a line that is no JSON object. A [TornError] is a file that ends too early: what a crash leaves. A [DamageError] is a
// stretch inside a file that something changed; reading goes on at the next gzip member or zstd frame that proves to be
// whole. Lines before and after a gap are never joined.
//
// A gzip member or zstd frame of up to 8 MiB of text is checked before its first line is delivered, so nothing of a
// corrupt one comes out. Of a larger one, lines are delivered as they are decoded, before its checksum is known: memory
// would not be bounded otherwise. A torn one has no checksum yet; its whole lines are delivered.
//
// Of a CLP archive, Section names what is damaged, and Lost says how many records are lost; the others come first. An archive is
// read here and there: one that comes through a pipe or out of a compressed file is copied into a temporary file first,
// which is gone after Close.
//
// # Memory
//
// A reader holds a few blocks of at most 8 MiB, one line, and at most [Options.MaxWindow] bytes of zstd history. Of a CLP
// archive, it is up to 128 MiB, and beyond that a temporary file.
package reader
