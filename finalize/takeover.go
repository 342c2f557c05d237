package finalize

import (
	"bytes"
	"fmt"
	"io"

	"github.com/tracehandler/tracehandler/event"
	"github.com/tracehandler/tracehandler/format"
	"github.com/tracehandler/tracehandler/internal/frame"
)

// resume brings a partial or a trace that is there already into the state in which events can be appended: it ends at a
// clean boundary, without a seek table, and not inside a line.
func (p *Partial) resume() error {
	s, err := p.takeOver(false, func() error { return expect(p.f, p.Name(), p.report.Format) })
	if err != nil {
		return err
	}
	defer s.close()
	if p.report.Format == format.CLP {
		if err := p.dropTemporaries(); err != nil {
			return err
		}
	}
	if isStream(p.report.Format) {
		return s.continuable(p.path)
	}
	if p.report.Format == format.Plain || s.last.Size == 0 {
		return nil
	}
	open := s.lines.open
	if p.report.Format == format.Zstd { // its frames were not read
		var l lineCounter
		if s.decodeZstd(&l, s.last.Offset, s.last.Size) != nil {
			return s.r.err // a damaged frame is the reader's business
		}
		open = l.open
	}
	if !open {
		return nil
	}
	enc, err := frame.NewEncoder(p.report.Format, 0)
	if err != nil {
		return err
	}
	b, err := enc.AppendFrame(nil, newline)
	if err != nil {
		return err
	}
	return p.Append(b, 1, 0, 1)
}

// takeOver reads what somebody else has written and cuts or closes its torn tail. detect knows or finds out the format.
// With deep everything is decoded, counted and checked; otherwise only what is needed to find the end. The caller closes
// the scan.
func (p *Partial) takeOver(deep bool, detect func() error) (*scan, error) {
	info, err := p.f.Stat()
	if err != nil {
		return nil, fmt.Errorf("finalize: %w", err)
	}
	size := info.Size()
	redone, err := p.redo(size)
	if err != nil {
		return nil, err
	}
	if redone != nil {
		size = redone.boundary + redone.length
	}
	if err := detect(); err != nil {
		return nil, err
	}
	s := &scan{r: newWindow(p.f, size), deep: deep, rep: &p.report, table: p.table}
	if err := p.settle(s); err != nil {
		s.close()
		return nil, err
	}
	// Damage that a torn tail stood behind ends the file now, and may turn out to be torn itself.
	for deep && p.report.TornBytes > 0 && s.bad == p.size && p.size > 0 && !isStream(p.report.Format) {
		s.close()
		if s, err = p.settleAgain(); err != nil {
			return nil, err
		}
	}
	if redone != nil {
		p.report.TornBytes += redone.torn
		p.report.SalvagedEvents += redone.events
	}
	return s, nil
}

// settleAgain scans what settling has left, and adds what it cuts or saves to the report.
func (p *Partial) settleAgain() (*scan, error) {
	before := p.report
	p.report = Report{Path: before.Path, Partial: before.Partial, Format: before.Format}
	if p.table != nil {
		p.table = &table{off: p.table.off}
	}
	s := &scan{r: newWindow(p.f, p.size), deep: true, rep: &p.report, table: p.table}
	if err := p.settle(s); err != nil {
		s.close()
		return nil, err
	}
	more := p.report.TornBytes
	p.report.TornBytes += before.TornBytes
	p.report.SalvagedEvents += before.SalvagedEvents
	if more == 0 {
		s.bad = 0 // it is damage
	}
	return s, nil
}

// settle scans the file and makes it end where the scan says.
func (p *Partial) settle(s *scan) error {
	from, err := p.start(s)
	if err != nil {
		return err
	}
	if err := s.run(from); err != nil {
		return fmt.Errorf("finalize: read %s: %w", p.Name(), err)
	}
	if s.torn != nil {
		if err := p.repair(s); err != nil {
			return err
		}
	} else {
		p.size = s.end
		p.dirty = true // the seek table, and where the file's offset stands
		if !s.deep {   // to be appended to: find out before anything is changed
			if err := s.continuable(p.path); err != nil {
				return err
			}
		}
	}
	p.report.Size = p.size
	return p.clean()
}

// start returns the offset from which the file has to be scanned. A gzip file that is only to be appended to need not be
// decoded from its beginning: any whole member near its end will do.
func (p *Partial) start(s *scan) (int64, error) {
	if s.deep || p.report.Format != format.Gzip || s.r.size <= tailSize {
		return 0, nil
	}
	from := s.r.size - tailSize
	for {
		off, ok, err := frame.FindGzip(s.r, from, s.r.size)
		if err != nil || !ok {
			return 0, err
		}
		_, err = s.gz.member(s.r, off, s.r.size, io.Discard)
		if s.r.err != nil {
			return 0, fmt.Errorf("finalize: read %s: %w", p.Name(), s.r.err)
		}
		if err == nil {
			return off, nil
		}
		from = off + 1
	}
}

// tailSize is the number of bytes at the end of a gzip file that certainly hold a whole member of ours.
const tailSize = 4 << 20

// repair deals with the torn tail.
func (p *Partial) repair(s *scan) error {
	torn := s.r.size - s.end
	p.size, p.dirty = s.end, true
	if p.report.Format == format.Plain {
		whole, err := wholeObject(s)
		if err != nil {
			return err
		}
		if !whole {
			return nil
		}
		p.size, p.dirty = s.r.size, true
		if err := p.clean(); err != nil {
			return err
		}
		if err := p.Append(newline, 1, 1, torn+1); err != nil {
			return err
		}
		p.report.TornBytes, p.report.SalvagedEvents = 0, 1
		return nil
	}
	j, err := p.salvage(s)
	if err != nil || j == nil {
		return err
	}
	// The journal has replaced the torn tail by frames; go on with them.
	s.r = newWindow(p.f, p.size)
	s.torn = nil
	if err := s.run(j.boundary); err != nil {
		return fmt.Errorf("finalize: read %s: %w", p.Name(), err)
	}
	p.report.TornBytes, p.report.SalvagedEvents = torn, j.events
	return nil
}

// wholeObject reports whether the torn line at the end of a plain file is a JSON object. Such a line lacks only its
// newline: a number at the end of a line could be cut short unnoticed, an object cannot.
func wholeObject(s *scan) (bool, error) {
	n := s.r.size - s.end
	if n > maxLine {
		return false, nil
	}
	line := make([]byte, n)
	if _, err := s.r.ReadAt(line, s.end); err != nil {
		return false, fmt.Errorf("finalize: %w", err)
	}
	line = bytes.TrimRight(line, " \t\r\v\f") // what readers take for white space
	if len(line) == 0 || line[len(line)-1] != '}' {
		return false, nil
	}
	_, err := event.Parse(line)
	return err == nil, nil
}

// learn takes the format that the file holds.
func (p *Partial) learn() error {
	f, err := identify(p.f, p.Name())
	if err != nil {
		return err
	}
	p.report.Format = f
	if f == format.Zstd || f == format.CLPIR {
		p.table = &table{}
	}
	return nil
}
