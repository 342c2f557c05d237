// Package sink keeps encoded events: in a file, in a directory with one file per rank, or in any io.Writer; as plain
// NDJSON, gzip members, zstd frames, CLP IR streams or CLP archives.
//
//	s := sink.File("trace.ndjson.zst", sink.Options{Format: format.Zstd})
//	defer s.Close()                           // trace.ndjson.zst.partial becomes trace.ndjson.zst
//	err := s.Append([]byte(`{"msg":"hi"}`+"\n")) // an error means: this event was dropped
//	err = s.Flush()                           // survives the process
//	err = s.Sync()                            // survives the machine
//
// Most programs do not call a sink: a handler.Handler owns it.
//
// # Ownership
//
// A sink has one owner. The owner calls Append, Flush, StartFlush, Sync, Rotate and Close under one lock; Err and Stats may be
// called by anybody at any time. Append copies its argument. A Writer sink owns its writer until Close returns and does
// not close it. A file belongs to one sink: it is locked, and a second sink on it, in this process or another, gets a
// *LockedError from Append.
//
// # What happens to an event
//
// Append copies it into the block that is being filled. A full block goes to the sink's helper goroutine, which makes a
// frame of it and writes that with one call. There are three blocks: one is being filled while two are on their way. If
// the helper is slower than the events come, Append waits for a block, as long as there is progress.
//
// The helper exists from the first event to Close. A program that does not close a sink keeps that goroutine.
//
// # What the errors mean
//
//   - Append: this one event was dropped; earlier and later ones are not affected. A *DropError wraps the cause.
//   - Flush, Sync, Rotate: it is not certain that what the method stands for was done. Nothing was dropped: the events are
//     kept and tried again.
//   - Close: a *LostError counts accepted events that could not be written. Any other error means that all of them are in
//     the file but that it may not have its final name; it can be completed with finalize.Recover.
//   - Err: writing fails at the moment. It becomes nil again by itself when writing works.
//
// A block that cannot be written stays, and the file is cut back to the end of the last whole frame, so that it never has a
// torn frame in the middle. The helper tries again, after 10 ms at first and 5 s at last, and at each Flush. Meanwhile
// Append accepts events as long as there is room, and then drops them at once. A file that cannot be opened is tried again
// in the same way, at the events that come. When the disk works again, everything
// accepted is in the file, once, whole and in order.
//
// # What survives
//
//   - the death of the process: whatever a Flush returned nil for. What was not flushed can be lost, at most three blocks
//     of text: 3 × Options.BlockSize bytes, plus one event that is larger than a block.
//   - the death of the machine: whatever a Sync returned nil for, or a Close.
//   - a failed sync: nothing is promised for the file from then on, since operating systems forget what they could not write;
//     Sync and Close go on returning the error, and Close leaves a partial.
//
// # Files
//
// A trace NAME is written as NAME.partial, made at the first event with mode 0600 (directories 0700), never through a
// symbolic link. Close and Rotate give it its name with finalize's one function for that, the same that recovery uses. A
// sink without events makes no file, and a file without content is removed.
//
// The partial of a CLP archive (format clp) is its journal, a CLP IR stream, of which Close makes the archive. That takes time:
// CloseContext bounds it, and leaves the journal. A journal that is rotated is renamed, and archived by a goroutine of its own,
// which ends with Close. Where Options.ArchiveMemory is not enough for one archive there are several; the last has the
// trace's name, those before it have names that naming.RotatedName makes and that sort before it. An archive that exists is
// never continued: it gets such a name, too, when the next one is complete, unless that replaces it.
//
// If NAME.partial exists and its writer is dead, or NAME exists, the sink continues it (see Options.Exists): at a clean
// boundary, after the torn tail was cut or closed, which Stats counts. A file of another format is a *FormatError.
package sink
