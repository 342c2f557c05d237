package sink

import (
	"fmt"
	"time"

	"github.com/tracehandler/tracehandler/clp/kql"
	"github.com/tracehandler/tracehandler/format"
	"github.com/tracehandler/tracehandler/internal/frame"
	"github.com/tracehandler/tracehandler/internal/vfs"
)

// The waits that hold where Options leaves them zero.
const (
	DefaultPatience  = 30 * time.Second
	DefaultCloseWait = 2 * time.Second
)

// Blocks of plain text, in bytes. They are larger than a write needs to be, since each costs a wake-up of the helper.
const (
	plainBlock    = 256 << 10
	maxPlainBlock = 8 << 20
)

// Options configure a sink. The zero value writes plain NDJSON, never rotates, and continues a file that exists.
type Options struct {
	// Format is the format of the trace. A Writer sink takes all of them but CLP.
	Format format.Format

	// Level is the effort of compression. Zero is the format's default, which for zstd and clp-ir is the fastest. gzip takes
	// 1 to 9, zstd and clp-ir 1 (fastest) to 4 (smallest), clp 1 to 19, as zstd(1) does.
	Level int

	// BlockSize is the number of bytes of text that are compressed into one frame and written at once. Zero is the
	// default: 256 KiB for plain (at most 8 MiB), 1 MiB for gzip, 256 KiB for zstd and 416 KiB for clp-ir, which are also
	// their maximum. An event that is larger makes a block of its own. The events of clp-ir wait with all their keys; the
	// stream they become is shorter, and its frames are of 256 KiB at most.
	BlockSize int

	// PerRecord makes each event a frame of its own, as tritonparse does. It costs about four times the bytes and
	// three to five times the CPU, and such a zstd trace gets no seek table.
	PerRecord bool

	// Rotation says when a file is finished and the next one begun, and which finished ones are kept.
	Rotation Rotation

	// Exists says what to do if the file exists when the first event comes.
	Exists Exists

	// BeforePublish, if not nil, is called with the path of each complete partial before it is synced and gets its final
	// name; for the format CLP, of the complete archive. An error keeps it a partial. It runs in a goroutine of the sink and
	// must not use the sink.
	BeforePublish func(partial string) error

	// Patience bounds the time that a call waits for the disk without any sign of progress. After it, Append drops the
	// event and the other calls fail, both with an error that wraps ErrStalled, until the disk moves again. Zero means
	// DefaultPatience.
	Patience time.Duration

	// CloseWait bounds the time that Close goes on trying to write accepted events while writing fails. Zero means
	// DefaultCloseWait; a negative value means one attempt.
	CloseWait time.Duration

	// ViewerKeys adds time and level to the events of a clp-ir trace once more, where the YScope log viewer looks for them
	// if its settings were never touched. Reading back, they are gone again.
	ViewerKeys bool

	// TimeKey is the key that has the time of events, for an archive (format CLP): in the syntax of a query, such as ts or at.start.
	// Empty means "time"; another one is for a handler whose ReplaceAttr renames it.
	TimeKey string

	// ArchiveInBackground has an archive (format CLP) made while the program runs, in a goroutine of its own that reads what
	// was written, so that little is left to do for Close. It takes as much CPU as it would at the end, and up to
	// ArchiveMemory bytes meanwhile. If it fails, Close makes the archive from its beginning.
	ArchiveInBackground bool

	// ArchiveMemory is about what making an archive may hold, in bytes; zero means 256 MiB. A trace that needs more becomes
	// several archives: see the package comment.
	ArchiveMemory int64

	// OnProgress, if not nil, is told how far Close is with making archives: bytes of journals that are archived, and how
	// many there are. See finalize.ArchiveOptions. It is called by a goroutine of the sink, one call at a time, while the
	// owner waits in Close, and must not use the sink.
	OnProgress func(done, total int64)

	// FS is the file system; nil means the operating system's.
	FS vfs.FS

	// Clock is the time; nil means the system's.
	Clock Clock
}

// Exists says what a sink does with a trace, or the partial of a dead writer, that is there already.
type Exists uint8

// What a sink can do with a file that exists. An existing file of another format is a *FormatError, unless it is replaced.
const (
	Append   Exists = iota // continue it, at a clean boundary
	Fail                   // refuse to write: an *ExistsError
	Truncate               // begin anew; the old trace stays until Close replaces it
)

// Rotation says when a sink begins a new file, and which of the finished ones it removes. The zero value does neither.
//
// A finished file gets the name that naming.RotatedName makes of its own name and the time. It is complete then, nothing
// compresses it a second time. Only files whose names naming.ParseRotated traces back to this very trace are removed.
type Rotation struct {
	MaxSize int64         // bytes on disk that a file may have; a single larger frame gets a file of its own
	MaxAge  time.Duration // time from the opening of a file to its end, also if no further event comes

	Keep      int           // number of finished files that are kept
	KeepFor   time.Duration // age, by the time in its name, at which a finished file is removed
	KeepBytes int64         // bytes on disk that the finished files together may have
}

// OptionError says what is wrong with the options. It comes from Append, Flush, Sync, Rotate and Close.
type OptionError struct {
	Option string
	Msg    string
}

func (e *OptionError) Error() string { return fmt.Sprintf("sink: option %s: %s", e.Option, e.Msg) }

// Validate returns an *OptionError if no sink can be made of the options. The constructors do not ask: their sinks return
// the same error from every call.
func (o Options) Validate() error {
	_, _, err := o.resolve()
	return err
}

// resolve fills in the defaults and makes the encoder.
func (o Options) resolve() (Options, frame.Encoder, error) {
	switch o.Format {
	case format.Plain, format.Gzip, format.Zstd, format.CLP, format.CLPIR:
	default:
		return o, nil, &OptionError{"Format", fmt.Sprintf("%v cannot be written by this sink", o.Format)}
	}
	size := frame.BlockSize(framesOf(o.Format))
	if o.Format == format.CLPIR {
		size = frame.BlockSize(o.Format)
	}
	most := size
	if o.Format == format.Plain {
		size, most = plainBlock, maxPlainBlock
	}
	switch {
	case o.BlockSize < 0 || o.BlockSize > most:
		return o, nil, &OptionError{"BlockSize", fmt.Sprintf("%d is not in 0..%d", o.BlockSize, most)}
	case o.Exists > Truncate:
		return o, nil, &OptionError{"Exists", fmt.Sprintf("unknown value %d", o.Exists)}
	case o.Patience < 0:
		return o, nil, &OptionError{"Patience", fmt.Sprintf("%v is negative", o.Patience)}
	case o.ArchiveMemory < 0:
		return o, nil, &OptionError{"ArchiveMemory", fmt.Sprintf("%d is negative", o.ArchiveMemory)}
	case o.Format == format.CLP && (o.Level < 0 || o.Level > 19):
		return o, nil, &OptionError{"Level", fmt.Sprintf("%d is not in 0..19", o.Level)}
	}
	if o.TimeKey != "" {
		if _, err := kql.Path(o.TimeKey); err != nil {
			return o, nil, &OptionError{"TimeKey", err.Error()}
		}
	}
	if r := o.Rotation; r.MaxSize < 0 || r.MaxAge < 0 || r.Keep < 0 || r.KeepFor < 0 || r.KeepBytes < 0 {
		return o, nil, &OptionError{"Rotation", "negative limit"}
	}
	level := o.Level
	if o.Format == format.CLP {
		level = 0 // the journal is read once
	}
	enc, err := frame.NewEncoder(framesOf(o.Format), level)
	if err != nil {
		return o, nil, &OptionError{"Level", err.Error()}
	}
	if o.BlockSize == 0 {
		o.BlockSize = size
	}
	if o.Patience == 0 {
		o.Patience = DefaultPatience
	}
	if o.CloseWait == 0 {
		o.CloseWait = DefaultCloseWait
	}
	if o.FS == nil {
		o.FS = vfs.OS
	}
	if o.Clock == nil {
		o.Clock = systemClock{}
	}
	return o, enc, nil
}
