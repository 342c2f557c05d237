package finalize

import (
	"fmt"
	"os"
	"strings"

	"github.com/tracehandler/tracehandler/format"
	"github.com/tracehandler/tracehandler/internal/vfs"
	"github.com/tracehandler/tracehandler/naming"
)

// Verify reads all of the file at path, a trace or a partial, and reports what is in it: events, frames, what is torn, what
// is damaged and where, and which lines are no JSON objects. It changes nothing and takes no lock. The error is a failure
// to read, or an *UnsupportedError; what is wrong with the content is in the report.
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
	err = survey(f, &rep, true)
	return rep, err
}

// survey fills in the report by reading all of f, and checks each line if asked to.
func survey(f vfs.File, rep *Report, check bool) error {
	info, err := f.Stat()
	if err != nil {
		return fmt.Errorf("finalize: %w", err)
	}
	rep.Size = info.Size()
	head, err := readHead(f)
	if err != nil {
		return err
	}
	m := format.Detect(head)
	var ok bool
	if rep.Format, ok = ofMagic(m); !ok {
		return &UnsupportedError{Path: rep.Path, Have: m}
	}
	s := &scan{r: newWindow(f, rep.Size), deep: true, rep: rep, lines: lineCounter{check: check}}
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
	s.decodeTorn(w)
	rep.SalvagedEvents = w.events
	if s.r.err != nil {
		return fmt.Errorf("finalize: read %s: %w", rep.Path, s.r.err)
	}
	return nil
}
