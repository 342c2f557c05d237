package finalize

import (
	"errors"
	"fmt"
	"io"

	"github.com/tracehandler/tracehandler/clp/archive"
	"github.com/tracehandler/tracehandler/format"
	"github.com/tracehandler/tracehandler/internal/vfs"
)

// verifyArchive is Verify for a finished archive: it reads each record. Archives have no frames that can be told apart, so
// that damage is reported with the offset of the section it is in.
func verifyArchive(f vfs.File, rep *Report) error {
	info, err := f.Stat()
	if err != nil {
		return fmt.Errorf("finalize: %w", err)
	}
	rep.Format, rep.Size = format.CLP, info.Size()
	src := &failingAt{r: f}
	r, err := archive.Open(src, rep.Size, nil)
	if err != nil {
		return archiveDamage(rep, src, nil, err)
	}
	defer r.Close()
	var line []byte
	for rec, err := range r.All() {
		if err == nil {
			line, err = rec.AppendJSON(line[:0])
		}
		if err != nil {
			if err := archiveDamage(rep, src, r, err); err != nil {
				return err
			}
			continue
		}
		rep.Events++
		rep.Text += int64(len(line)) + 1
	}
	return nil
}

// archiveDamage reports what is wrong with an archive. It returns the error if it is not the archive that is to blame.
func archiveDamage(rep *Report, src *failingAt, r *archive.Reader, err error) error {
	if src.err != nil {
		err = src.err
	}
	var corrupt *archive.CorruptError
	if src.err != nil || !errors.As(err, &corrupt) {
		return fmt.Errorf("finalize: read %s: %w", rep.Path, err)
	}
	var off int64
	if r != nil {
		off = rep.Size
		sections := r.Sections()
		for i := len(sections) - 1; i >= 0; i-- {
			if off -= sections[i].Bytes; sections[i].Name == corrupt.Section {
				break
			}
		}
	}
	rep.damaged(max(off, 0), 0, err)
	return nil
}

// failingAt remembers the error of a reader, so that it is not taken for damage.
type failingAt struct {
	r   io.ReaderAt
	err error
}

func (f *failingAt) ReadAt(p []byte, off int64) (int, error) {
	n, err := f.r.ReadAt(p, off)
	if err != nil && err != io.EOF {
		f.err = err
	}
	return n, err
}
