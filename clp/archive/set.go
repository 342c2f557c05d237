package archive

import (
	"errors"
	"fmt"
	"io"
	"iter"
)

// Set is several archives, one behind the other, that are read as one log: such as the parts of one that became too large.
// The records of all are numbered through. One archive is open at a time. A Set is not safe for concurrent use.
type Set struct {
	open   func(i int) (*Reader, error)
	count  int
	starts []int64 // numbers of the first records of the archives that are known, and of what comes behind them

	r      *Reader // nil if none is open
	at     int     // which
	damage []error
	err    error
}

// OpenSet returns the set of count archives, which open opens: it is called with 0, 1, … as they are needed, and again after
// a seek. The set closes the readers; what else open opened is the caller's, who may close it when the set is closed.
func OpenSet(count int, open func(i int) (*Reader, error)) *Set {
	return &Set{open: open, count: count, starts: []int64{0}, at: -1}
}

// use makes archive i the open one.
func (s *Set) use(i int) error {
	if s.r != nil && s.at == i {
		return nil
	}
	s.shut()
	r, err := s.open(i)
	if err != nil {
		return fmt.Errorf("archive: part %d of %d: %w", i+1, s.count, err)
	}
	s.r, s.at = r, i
	if i == len(s.starts)-1 {
		s.starts = append(s.starts, s.starts[i]+r.Len())
	}
	r.first = s.starts[i]
	return nil
}

func (s *Set) shut() {
	if s.r != nil {
		s.r.Close()
		s.r = nil
	}
}

// Next returns the next record, as [Reader.Next] does. Damage of one archive is reported behind the last record of all,
// and so is an archive that cannot be opened.
func (s *Set) Next() (*Record, error) {
	for {
		if s.err != nil {
			return nil, s.err
		}
		if s.r == nil {
			if s.at+1 >= s.count {
				s.err = s.ended()
				continue
			}
			if err := s.use(s.at + 1); err != nil {
				s.pass(s.at+1, err)
				continue
			}
		}
		record, err := s.r.Next()
		var limit *LimitError
		switch {
		case err == nil:
			return record, nil
		case errors.As(err, &limit):
			s.err = err
		case err != io.EOF:
			s.damage = append(s.damage, fmt.Errorf("archive: part %d of %d: %w", s.at+1, s.count, err))
		}
		s.shut()
	}
}

// pass goes on behind an archive that cannot be opened; its records are not counted.
func (s *Set) pass(i int, err error) {
	s.damage = append(s.damage, err)
	s.at = i
	if i == len(s.starts)-1 {
		s.starts = append(s.starts, s.starts[i])
	}
}

func (s *Set) ended() error {
	switch len(s.damage) {
	case 0:
		return io.EOF
	case 1:
		return s.damage[0]
	}
	return errors.Join(s.damage...)
}

// All returns the records that Next would return. The iteration ends with the first error, which it yields.
func (s *Set) All() iter.Seq2[*Record, error] {
	return func(yield func(*Record, error) bool) {
		for {
			record, err := s.Next()
			if err == io.EOF || !yield(record, err) || err != nil {
				return
			}
		}
	}
}

// Len returns the number of records of all archives. Those that were not open yet are opened for that; the next record is
// the first one afterwards.
func (s *Set) Len() (int64, error) {
	if s.err == ErrClosed {
		return 0, ErrClosed
	}
	for i := len(s.starts) - 1; i < s.count; i++ {
		if err := s.use(i); err != nil {
			return 0, err
		}
	}
	s.begin(0)
	return s.starts[s.count], nil
}

// begin has the records come from archive i on.
func (s *Set) begin(i int) {
	s.shut()
	s.at, s.err, s.damage = i-1, nil, nil
}

// SeekRecord has Next return the first record whose number is record or more. Archives before it whose number of records is
// not known yet are opened for that.
func (s *Set) SeekRecord(record int64) error {
	if s.err == ErrClosed {
		return ErrClosed
	}
	for i := range s.count {
		if i+1 < len(s.starts) && s.starts[i+1] <= record {
			continue
		}
		if err := s.use(i); err != nil {
			return err
		}
		if s.starts[i+1] <= record {
			continue
		}
		s.err, s.damage = nil, nil
		return s.r.SeekRecord(record)
	}
	s.begin(s.count)
	return nil
}

// SeekTime has Next return the first record of all whose time is ns, nanoseconds since 1970, or later; see
// [Reader.SeekTime]. Archives that end before are opened, but not decompressed.
func (s *Set) SeekTime(ns int64) error {
	if s.err == ErrClosed {
		return ErrClosed
	}
	timed := false
	for i := range s.count {
		if err := s.use(i); err != nil {
			return err
		}
		if _, end, ok := s.r.TimeRange(); !ok || end < ns {
			timed = timed || ok
			continue
		}
		timed = true
		s.err, s.damage = nil, nil
		if err := s.r.SeekTime(ns); err != nil || len(s.r.seq.queue) > 0 {
			return err
		}
	}
	if !timed {
		return ErrNoTime
	}
	s.begin(s.count)
	return nil
}

// Close closes the archive that is open.
func (s *Set) Close() error {
	s.shut()
	s.err = ErrClosed
	return nil
}
