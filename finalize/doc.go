// Package finalize turns partials into traces: when a sink closes, and when its process died before it could.
//
//	reports, err := finalize.Recover("/logs", nil)        // completes what crashes left behind
//	report, err := finalize.Verify("/logs/t.ndjson.zst", nil) // reads everything: counts, damage with offsets
//	err = finalize.Then(handler, func() error {           // close first, read after
//		return consume("/logs/t.ndjson.zst")
//	})
//
// # The life of a file
//
// A trace NAME is written as NAME.partial, by one locked writer, which only appends whole frames (gzip members, zstd
// frames, lines of a plain file). So whatever happens, it is a trace with, perhaps, a torn end. Partial.Complete makes a
// trace of it:
//
//	NAME.partial ─ cut the torn end ─ seek table ─ BeforePublish ─ sync ─ rename ─▶ NAME ─ sync the directory
//
// A sink's Close calls it on the file that it has written, Recover on one that it has taken over, after looking for the
// torn end. There is no second way. A trace is never replaced by another: where NAME exists already, the partial gets a
// name that naming.RotatedName makes.
//
// # Torn and damaged
//
// Torn is what an interrupted write leaves: the file ends before its last frame or line does, or in zeros that the file
// system put where data should have come. Only that is cut, and whole events in it are kept.
//
//   - plain: what stands behind the last newline is cut, unless it is a whole JSON object. That gets its newline. Anything
//     else, a number for example, could be the beginning of something longer.
//   - gzip, zstd: the torn frame is replaced by a whole one that holds the whole lines that could be decoded, up to the
//     first that is no JSON object. Without such a line it is cut. The checksum of a torn frame went with its end: that
//     the lines are whole JSON objects is all that vouches for them.
//
// Damage is everything else: bytes that are there and wrong. Recovery reports it with its offset and leaves it alone; readers
// skip it. A damaged length in the very last frame cannot be told from a torn end, and is treated as one.
//
// Recovery may itself be killed, or the machine may crash, at any moment: running it again gives the same trace. What it
// salvages goes through a small journal, NAME.salvage.partial, that lives as long as the partial is being changed.
//
// # What is not promised
//
// A trace is as durable as the storage says. If a sync fails, the data may be gone although it can still be read; a Partial
// then refuses to be published. A recovery in a new process cannot know that, and publishes what it can read.
package finalize
