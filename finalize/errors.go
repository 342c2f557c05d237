package finalize

import (
	"fmt"

	"github.com/tracehandler/tracehandler/format"
)

// LockedError says that another live writer holds the partial at Path.
type LockedError struct {
	Path string
}

func (e *LockedError) Error() string {
	return fmt.Sprintf("finalize: %s is being written by another process or sink", e.Path)
}

// ExistsError says that a file is in the way.
type ExistsError struct {
	Path string
}

func (e *ExistsError) Error() string { return fmt.Sprintf("finalize: %s exists", e.Path) }

// FormatError says that the file at Path does not hold the format that was asked for.
type FormatError struct {
	Path string
	Want format.Format
	Have format.Magic

	Journal bool // the file is the journal of a CLP archive, which Recover makes
}

func (e *FormatError) Error() string {
	if e.Journal {
		return fmt.Sprintf("finalize: %s: holds the journal of a CLP archive, want %s", e.Path, e.Want)
	}
	return fmt.Sprintf("finalize: %s: holds %s, want %s", e.Path, e.Have, e.Want)
}

// UnsupportedError says that the file at Path is of a kind that cannot be recovered or verified. It was not touched. Have is
// format.Text if the content is neither text nor anything known.
type UnsupportedError struct {
	Path string
	Have format.Magic
}

func (e *UnsupportedError) Error() string {
	if e.Have == format.Text {
		return fmt.Sprintf("finalize: %s: holds neither text nor a known format", e.Path)
	}
	return fmt.Sprintf("finalize: %s: %s is not supported", e.Path, e.Have)
}
