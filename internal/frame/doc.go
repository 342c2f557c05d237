// Package frame turns blocks of a trace into frames and finds them again, also in a damaged file.
//
// A frame is the unit of compression that can be decoded by itself: a gzip member (RFC 1952) or a zstd frame
// (RFC 8878). One block of whole lines becomes one whole frame:
//
//	enc, err := frame.NewEncoder(format.Zstd, 0)
//	if err == nil {
//		buf, err = enc.AppendFrame(buf[:0], block) // one checksummed frame
//	}
//
// NextZstd walks the frames of a zstd file by their headers alone; a torn end (*TornError) is told apart from damage
// (*CorruptError). FindZstd and FindGzip look for the next frame after damage. ParseHeader, IndexZstd and IndexGzip are
// what these decide by, for readers that have a stream and not a file. AppendSeekTable and ReadSeekTable write and read
// the index of the "zstd seekable format", version 0.1.0, which is a skippable frame at the end of a file and is never
// needed to read it:
//
//	[zstd frame] [zstd frame] … [skippable frame: size of each frame, footer]
package frame
