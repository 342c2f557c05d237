// Package convert copies a trace into another format, line by line and byte for byte.
//
//	rep, err := convert.File(ctx, "trace.ndjson.gz", "trace.ndjson.zst", format.Zstd, nil)
//	if err != nil { … } // and there is no trace.ndjson.zst
//	fmt.Println(rep.Lines, "lines,", rep.SrcSize, "bytes, now", rep.DstSize)
//
// The source may be whatever package reader reads: its content decides, not its name. Lines that are no events are
// copied too. Memory does not grow with the trace. The copy is read back and compared before it gets its name.
package convert
