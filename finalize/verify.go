package finalize

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/tracehandler/tracehandler/format"
	"github.com/tracehandler/tracehandler/internal/vfs"
	"github.com/tracehandler/tracehandler/naming"
	"github.com/tracehandler/tracehandler/reader"
)

// Verify reads all of the file at path, a trace or a partial, and reports what is in it: events, frames, what is torn, what
// is damaged and where, and which lines are no events. It changes nothing and takes no lock. The error is a failure to
// read, or an *UnsupportedError; what is wrong with the content is in the report.
//
// It reads the file twice: frame by frame, as recovery does, and line by line, as a reader does.
func Verify(path string, o *Options) (Report, error) {
	opts := o.orDefault()
	rep := Report{Path: path}
	if strings.HasSuffix(path, naming.PartialSuffix) {
		rep.Partial = path
	}
	f, err := opts.FS.OpenFile(path, os.O_RDONLY, 0)
	if err != nil {
		return rep, fmt.Errorf("finalize: %w", err)
	}
	defer f.Close()
	head, err := readHead(f)
	if err != nil {
		return rep, err
	}
	if format.Detect(head) == format.ArchiveMagic {
		return rep, verifyArchive(f, &rep)
	}
	if err := survey(f, &rep); err != nil {
		return rep, err
	}
	return rep, checkLines(f, &rep)
}

// survey fills in what the frames of f say.
func survey(f vfs.File, rep *Report) error {
	info, err := f.Stat()
	if err != nil {
		return fmt.Errorf("finalize: %w", err)
	}
	if !info.Mode().IsRegular() {
		return fmt.Errorf("finalize: %s is not a regular file", rep.Path)
	}
	rep.Size = info.Size()
	if rep.Format, err = identify(f, rep.Path); err != nil {
		return err
	}
	s := &scan{r: newWindow(f, rep.Size), deep: true, rep: rep}
	defer s.close()
	if err := s.run(0); err != nil {
		return fmt.Errorf("finalize: read %s: %w", rep.Path, err)
	}
	if s.torn == nil {
		return nil
	}
	if rep.Format == format.Plain {
		whole, err := wholeObject(s)
		if whole {
			rep.Events++
			rep.Text += rep.TornBytes
			rep.TornBytes, rep.SalvagedEvents = 0, 1
		}
		return err
	}
	w := &salvager{}
	if err := s.salvageTo(w); err != nil {
		return err
	}
	rep.SalvagedEvents = w.events
	if s.r.err != nil {
		return fmt.Errorf("finalize: read %s: %w", rep.Path, s.r.err)
	}
	return nil
}

// checkLines fills in which lines are no events. The line that is torn at the end of a plain file is not one of them.
func checkLines(f vfs.File, rep *Report) error {
	r, err := reader.New(io.NewSectionReader(f, 0, rep.Size), &reader.Options{Name: rep.Path})
	if err != nil {
		return fmt.Errorf("finalize: %w", err)
	}
	defer r.Close()
	for _, err := range r.Events() {
		var bad *reader.LineError
		switch {
		case err == nil:
		case errors.As(err, &bad):
			if rep.Format == format.Plain && bad.Offset >= rep.Text {
				continue
			}
			rep.BadLinesCount++
			if len(rep.BadLines) < MaxListed {
				rep.BadLines = append(rep.BadLines, BadLine{Line: bad.Line, Offset: bad.Offset, Err: bad})
			}
		case !reader.IsReport(err):
			return fmt.Errorf("finalize: %w", err)
		}
	}
	return nil
}
