package finalize

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/tracehandler/tracehandler/format"
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
	info, err := f.Stat()
	if err != nil {
		return rep, fmt.Errorf("finalize: %w", err)
	}
	rep.Size = info.Size()
	head := make([]byte, format.HeadSize)
	n, err := f.ReadAt(head, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return rep, fmt.Errorf("finalize: %w", err)
	}
	m := format.Detect(head[:n])
	var ok bool
	if rep.Format, ok = ofMagic(m); !ok {
		return rep, &UnsupportedError{Path: path, Have: m}
	}
	s := &scan{r: newWindow(f, rep.Size), deep: true, rep: &rep, lines: lines{check: true}}
	defer s.close()
	if err := s.run(0); err != nil {
		return rep, fmt.Errorf("finalize: read %s: %w", path, err)
	}
	if s.torn == nil {
		return rep, nil
	}
	if rep.Format == format.Plain {
		if ok, err := wholeObject(s); err != nil {
			return rep, err
		} else if ok {
			rep.Events++
			rep.Text += rep.TornBytes
			rep.TornBytes = 0
		}
		return rep, nil
	}
	w := &salvager{}
	s.decodeTorn(w)
	rep.SalvagedEvents = w.events
	return rep, s.r.err
}
