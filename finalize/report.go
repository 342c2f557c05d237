package finalize

import (
	"context"
	"fmt"

	"github.com/tracehandler/tracehandler/format"
	"github.com/tracehandler/tracehandler/internal/vfs"
)

// Options change how traces are recovered and verified. The zero value and nil are what most callers want.
type Options struct {
	// BeforePublish, if not nil, is called with the path of each complete partial before it is synced and renamed. An
	// error keeps it a partial.
	BeforePublish func(partial string) error

	// DryRun makes Recover report what it would do, and change nothing. It does not look into the journal of an interrupted
	// recovery. Verify ignores it.
	DryRun bool

	// Context, if not nil, ends Recover while it reads a partial, which then stays as it is. How the making of an archive is
	// ended stands in Archive.
	Context context.Context

	// OnProgress, if not nil, is told by Recover how far it has read a partial, in bytes of the file.
	OnProgress func(done, total int64)

	// Archive says how Recover makes archives of the format clp.
	Archive ArchiveOptions

	// FS is the file system; nil means the operating system's.
	FS vfs.FS
}

// Report says what is in a file, and what was done to it.
type Report struct {
	Path    string        // where the trace is now: its own name, or still the partial's
	Partial string        // the partial that it was, "" for a finished file
	Format  format.Format // by content

	Events int64 // lines in whole frames, BadLines included
	Text   int64 // bytes of text in whole frames
	Frames int64 // whole gzip members or zstd frames, 0 for plain
	Size   int64 // bytes of the file, as it is now

	TornBytes      int64 // bytes of the file behind the last whole frame or line, as a crash leaves them; recovery cuts them
	SalvagedEvents int64 // whole events found in the torn bytes; recovery keeps them in a frame of their own

	// Damage is what is corrupt inside the file, at most MaxListed entries. Recovery keeps it, readers skip it.
	Damage      []Damage
	DamageBytes int64 // in all stretches, also those not listed

	// BadLines are the lines that are no events, at most MaxListed entries; only Verify looks.
	BadLines      []BadLine
	BadLinesCount int64

	// Archives are the paths of all archives that were made of the partial, if it took more than one. Path is the last.
	Archives []string
	// Kept is where a damaged journal is now that its events are in an archive, as far as they could be read.
	Kept string

	Published bool // the partial became the trace at Path
	Removed   bool // the partial held no event and was removed
}

// MaxListed is the number of entries that a Report lists of one kind.
const MaxListed = 1000

// OK reports whether the file is whole: nothing torn, no damage, no bad line.
func (r *Report) OK() bool {
	return r.TornBytes == 0 && len(r.Damage) == 0 && r.BadLinesCount == 0
}

// Damage is a stretch of a file that cannot be read.
type Damage struct {
	Offset int64 // of the first byte, in the file as it is stored
	Size   int64 // bytes, as stored; 0 if whole frames hold a damaged stream, which Offset then is the end of
	Err    error // what is wrong
}

func (d Damage) String() string {
	return fmt.Sprintf("offset %d: %d bytes damaged: %v", d.Offset, d.Size, d.Err)
}

// BadLine is a line that is no event.
type BadLine struct {
	Line   int64 // number, from 1
	Offset int64 // of its first byte in the uncompressed text
	Err    error // a *reader.LineError, which names path and place
}

func (b BadLine) String() string {
	return fmt.Sprintf("line %d (offset %d): %v", b.Line, b.Offset, b.Err)
}

func (r *Report) damaged(off, size int64, err error) {
	r.DamageBytes += size
	if len(r.Damage) < MaxListed {
		r.Damage = append(r.Damage, Damage{Offset: off, Size: size, Err: err})
	}
}
