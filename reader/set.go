package reader

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/tracehandler/tracehandler/clp/archive"
	"github.com/tracehandler/tracehandler/clp/kql"
	"github.com/tracehandler/tracehandler/format"
	"github.com/tracehandler/tracehandler/internal/origin"
	"github.com/tracehandler/tracehandler/internal/vfs"
	"github.com/tracehandler/tracehandler/naming"
)

// A trace that does not fit into one CLP archive is a set of them: files of one directory whose names are the trace's and
// those of its rotated files, see naming.RotatedName. Each says in its range index which trace it is a part of:
//
//	"_archive_creator_id": "5f0c…", "tracehandler": {"part": 2, "first": 1000000}
//
// The ID is the same in all parts, part counts from 1, which need not be said, and first is the number of events in the parts before it. Opening a
// part reads those before it, too: the file that has the trace's own name is the last one, and reads as all of it.

// membership is what an archive says of the set that it is a part of.
type membership struct {
	path    string
	journal string
	part    int64
	first   int64
}

// membershipOf reads what an archive says; part is 0 if it says nothing.
func membershipOf(path string, r *archive.Reader) membership {
	from, ok := origin.Of(r)
	if !ok {
		return membership{path: path}
	}
	return membership{path, from.ID, from.Part, from.First}
}

// Parts returns the other files that Open reads when it opens path, in the order in which they are read: of a CLP archive that
// is a part of a set, the parts before it.
func Parts(path string) ([]string, error) {
	m, err := membershipOfFile(path)
	if err != nil {
		return nil, err
	}
	before, err := partsBefore(m)
	var paths []string
	for _, p := range before {
		paths = append(paths, p.path)
	}
	return paths, err
}

// membershipOfFile reads what the file at path says, if it is an archive.
func membershipOfFile(path string) (membership, error) {
	none := membership{path: path}
	f, err := vfs.OS.OpenFile(path, os.O_RDONLY, 0)
	if err != nil {
		return none, fmt.Errorf("reader: %w", err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return none, fmt.Errorf("reader: %w", err)
	}
	var head [format.HeadSize]byte
	if n, _ := f.ReadAt(head[:], 0); !info.Mode().IsRegular() || format.Detect(head[:n]) != format.ArchiveMagic {
		return none, nil
	}
	r, err := archive.Open(f, info.Size(), nil)
	if err != nil {
		return none, nil // who reads it will say so
	}
	defer r.Close()
	return membershipOf(path, r), nil
}

// partsBefore finds the parts of m's set before it, in their order.
func partsBefore(m membership) ([]membership, error) {
	if m.part < 2 {
		return nil, nil
	}
	dir, base := filepath.Split(m.path)
	live, _, _ := naming.ParseRotated(base)
	entries, err := os.ReadDir(filepath.Clean(dir + "."))
	if err != nil {
		return nil, fmt.Errorf("reader: %w", err)
	}
	var list []membership
	for _, e := range entries {
		if name, _, _ := naming.ParseRotated(e.Name()); name != live || e.Name() == base || !e.Type().IsRegular() {
			continue
		}
		other, err := membershipOfFile(dir + e.Name())
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		if other.journal == m.journal && other.part < m.part {
			list = append(list, other)
		}
	}
	slices.SortFunc(list, func(a, b membership) int { return int(min(max(a.part-b.part, -1), 1)) })
	return slices.CompactFunc(list, func(a, b membership) bool { return a.part == b.part }), nil
}

// joinParts makes the source of an archive one of its whole set, if it is a part of one and not the first.
func (r *Reader) joinParts(path string) error {
	last, ok := r.src.(*archiveSource)
	if !ok || last.r == nil || len(r.layers) > 0 {
		return nil
	}
	m := membershipOf(path, last.r)
	before, err := partsBefore(m)
	if err != nil {
		return err
	}
	if m.part > 1 {
		r.src = &setSource{o: r.o, last: last, parts: append(before, m), path: r.path}
	}
	return nil
}

// setSource delivers the parts of a set one after the other.
type setSource struct {
	o     Options
	path  string
	parts []membership // the last is that of last
	last  *archiveSource
	query *kql.Query
	names []string // see Project; nil if all is wanted

	upcoming int            // the part that comes next
	current  *archiveSource // being read
	file     *os.File       // of it, unless it is last
	done     Stats          // of the parts before
	scanned  archive.ScanStats
	total    int64 // events that should have been in them
}

func (s *setSource) begin(bool, int) {}
func (s *setSource) end()            {}
func (s *setSource) kind() Kind      { return CLPArchive }

func (s *setSource) stats() Stats {
	st := s.done
	if s.current != nil {
		st.add(s.current.stats())
	}
	return st
}

func (s *setSource) scanStats() (archive.ScanStats, bool) {
	sum := s.scanned
	if s.current != nil {
		if scan, ok := s.current.scanStats(); ok {
			sum.Add(&scan)
		}
	}
	return sum, s.query != nil
}

func (st *Stats) add(other Stats) {
	st.Lines += other.Lines
	st.Events += other.Events
	st.Bad += other.Bad
	st.Blank += other.Blank
	st.Text += other.Text
	st.Stored += other.Stored
	st.Frames += other.Frames
	st.Damage += other.Damage
	st.Skipped += other.Skipped
}

func (s *setSource) close() error {
	err := s.leave()
	if s.last != nil {
		err = errors.Join(err, s.last.close())
		s.last = nil
	}
	return err
}

// leave is done with the part that is being read.
func (s *setSource) leave() error {
	if s.current == nil {
		return nil
	}
	s.done.add(s.current.stats())
	if scan, ok := s.current.scanStats(); ok {
		s.scanned.Add(&scan)
	}
	s.total += s.current.records
	var err error
	if s.current == s.last {
		s.last = nil
	}
	err = s.current.close()
	if s.file != nil {
		err = errors.Join(err, s.file.Close())
	}
	s.current, s.file = nil, nil
	return err
}

// enter opens the next part. A part that is missing is reported.
func (s *setSource) enter() error {
	p := s.parts[s.upcoming]
	if missing := p.first - s.total; missing > 0 {
		s.total = p.first
		s.done.Damage++
		return &DamageError{
			Path: s.path, Line: s.done.Lines, Section: "set", Lost: missing, Expected: "all parts of a set of CLP archives",
			Err: fmt.Errorf("the part before %s is missing", filepath.Base(p.path)),
		}
	}
	s.upcoming++
	if s.upcoming == len(s.parts) {
		s.current = s.last
	} else {
		f, err := os.Open(p.path)
		if err != nil {
			return fmt.Errorf("reader: %w", err)
		}
		src, err := openArchive(newInput(p.path, f), &s.o)
		if err != nil {
			return errors.Join(err, f.Close())
		}
		s.current, s.file = src.(*archiveSource), f
	}
	if s.query != nil {
		s.current.choose(s.query)
	}
	if s.names != nil {
		s.current.project(s.names)
	}
	return nil
}

// next implements source.
func (s *setSource) next(rec *record) error {
	for {
		if s.current == nil {
			if s.upcoming == len(s.parts) {
				return io.EOF
			}
			if err := s.enter(); err != nil {
				return err
			}
		}
		err := s.current.next(rec)
		switch {
		case err == nil:
			rec.line.Number += s.before()
			rec.line.Offset += s.done.Text
			return nil
		case err != io.EOF:
			return err
		}
		if err := s.leave(); err != nil {
			return err
		}
	}
}

// before returns how many records the parts before the current one have.
func (s *setSource) before() int64 {
	if s.query != nil {
		return s.total
	}
	return s.done.Lines
}

// choose implements selecting.
func (s *setSource) choose(q *kql.Query) { s.query = q }

// wantTail implements tailing: the last part has the last events, if it has so many.
func (s *setSource) wantTail(n int64) {
	if s.last == nil || s.last.records < n || s.query != nil || s.upcoming > 0 || s.current != nil {
		return
	}
	s.upcoming = len(s.parts) - 1
	s.total = s.parts[s.upcoming].first
	s.done.Lines = s.total
	s.last.wantTail(n)
}

// project implements projecting.
func (s *setSource) project(names []string) { s.names = names }

// inform implements informed.
func (s *setSource) inform(in *kql.Input, auto, metadata bool) bool {
	return s.current == nil || s.current.inform(in, auto, metadata)
}
