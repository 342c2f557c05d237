package reader

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/tracehandler/tracehandler/clp/archive"
	"github.com/tracehandler/tracehandler/clp/kql"
	"github.com/tracehandler/tracehandler/event"
)

// archiveAround asks an archive, and reads what is around the records found with an archive.Reader of its own, which goes to them.
type archiveAround struct {
	around
	r       *Reader
	s       *archiveSource
	c       *archive.Reader // of neighbors; nil before the first
	scratch *scratch        // of c
	shown   shown           // buffers of neighbors
	last    int64           // number of the record that c returned last
	said    map[int64]bool  // records that cannot be shown, and were reported
	torn    bool            // damage of c was reported
	over    bool            // nothing more is wanted

	// earlier returns up to n events of what comes before the first record, and whether others are left out; nil if nothing does.
	earlier func(n int) (list []event.Event, gap bool)
}

const (
	// neighborMemory is what reading neighbors may take.
	neighborMemory = 32 << 20

	// seekDistance is how many records are read over rather than left out: to go elsewhere, a frame of each column is decompressed.
	seekDistance = 32768
)

// seekable reports whether neighbors can be looked for.
func (s *archiveSource) seekable() bool {
	return s.r != nil && !s.ended && s.query == nil && s.r.Stats().Index && s.r.Info().Ordered
}

// again opens the archive once more.
func (s *archiveSource) again(scratch *scratch) (*archive.Reader, error) {
	o := &archive.Options{Scratch: scratch, Parallel: 1, Memory: neighborMemory}
	if s.src == nil {
		return archive.OpenDir(os.DirFS(s.dir), o)
	}
	return archive.Open(s.src, s.size, o)
}

func (a *archiveAround) close() {
	if a.c != nil {
		a.s.near = a.c.ScanStats().Spent
		_ = a.c.Close() // nothing was written
	}
	_ = a.scratch.close()
}

// run goes from one record that was found to the next.
func (a *archiveAround) run(q *kql.Query) {
	a.r.Select(q)
	if !a.r.begin(true, a.r.o.Parallel) {
		a.yield(Neighbor{}, a.r.final)
		return
	}
	defer a.r.end()
	for !a.enough() {
		e, number, ok := a.next()
		if !ok {
			break
		}
		if a.reach(number); a.over || !a.hit(e) {
			return
		}
	}
	if a.after > 0 && a.open() {
		a.behind(1<<63 - 1)
	}
}

// open opens the archive once more, for neighbors. It reports whether it is open.
func (a *archiveAround) open() bool {
	if a.c != nil {
		return true
	}
	var err error
	if a.c, err = a.s.again(a.scratch); err == nil && a.s.names != nil {
		err = kql.Project(a.c, a.s.names...)
	}
	if err != nil {
		a.fail(err)
	}
	return err == nil
}

// next returns the next event that is found, and its number; ok is false if there is none.
func (a *archiveAround) next() (e event.Event, number int64, ok bool) {
	for !a.over {
		err := a.r.next()
		switch {
		case err == io.EOF:
			return e, 0, false
		case err != nil:
			var line *LineError
			if errors.As(err, &line) {
				a.said[line.Line-1] = true
			}
			a.over = !a.yield(Neighbor{}, err) || a.r.final != nil
		case a.keeps(a.r.rec.ev):
			return a.r.rec.ev, a.s.record.Number(), true
		}
	}
	return e, 0, false
}

// reach takes what is between the last event that was delivered and the next one that was found.
func (a *archiveAround) reach(number int64) {
	if a.o.Before+a.o.After == 0 {
		if number == 0 {
			a.prepend()
		}
		a.gap, a.last = a.gap || number > a.last+1, number
		return
	}
	if !a.open() {
		return
	}
	if a.behind(number); a.over || a.last >= number {
		return
	}
	low := a.last // the last one that was delivered or left out
	for distance := int64(a.o.Before); !a.over; distance *= 8 {
		from := max(number-distance, low+1)
		if from > a.last+seekDistance || from <= a.last {
			if err := a.c.SeekRecord(from); err != nil {
				a.fail(err)
				return
			}
		}
		a.gap = a.gap || from > low+1
		a.before = a.before[:0]
		for a.last = from - 1; ; {
			e, n, ok := a.neighbor(from, number)
			if !ok || n >= number {
				break
			}
			if n >= from {
				a.hold(e)
			}
		}
		if len(a.before) == a.o.Before || from == low+1 || number-from > 1<<40 { // otherwise the numbers are not those of all records
			if from == 0 {
				a.prepend()
			}
			return
		}
	}
}

// prepend takes what comes before the first record, of which all that comes before the one that was found is delivered.
func (a *archiveAround) prepend() {
	if a.earlier != nil {
		list, gap := a.earlier(a.o.Before - len(a.before))
		a.before, a.gap = append(list, a.before...), a.gap || gap
	}
}

// behind delivers the events behind the last one that was found, up to the next one.
func (a *archiveAround) behind(number int64) {
	for a.after > 0 && !a.over && a.c != nil && a.last < number-1 {
		e, n, ok := a.neighbor(a.last+1, number)
		if !ok || n >= number {
			return
		}
		a.after--
		a.over = !a.deliver(e, false)
	}
}

// neighbor returns the next record and its number; its event only if the number is in [from, to). Those that cannot be shown are
// reported. ok is false behind the last one.
func (a *archiveAround) neighbor(from, to int64) (e event.Event, number int64, ok bool) {
	for !a.over {
		record, err := a.c.Next()
		if err == io.EOF {
			return e, 0, false
		}
		if err != nil {
			a.damaged(err)
			return e, 0, false
		}
		number = record.Number()
		a.last = max(a.last, number)
		if number < from || number >= to {
			return e, number, true
		}
		line, err := a.s.show(record, &a.shown)
		if err == nil {
			return event.Lazy(line), number, true
		}
		if !a.said[number] {
			a.said[number] = true
			a.over = !a.yield(Neighbor{}, &LineError{Path: a.s.path, Line: number + 1, Expected: "a record that can be shown", Err: err})
		}
	}
	return e, 0, false
}

// damaged reports damage that was met among neighbors, once.
func (a *archiveAround) damaged(err error) {
	reports := a.s.damage(err)
	if len(reports) == 0 {
		a.fail(err)
		return
	}
	for _, report := range reports {
		a.over = a.over || !a.torn && !a.yield(Neighbor{}, report)
	}
	a.torn = true
}

// fail ends the iteration.
func (a *archiveAround) fail(err error) {
	a.over = true
	a.yield(Neighbor{}, fmt.Errorf("reader: %s: %w", a.s.path, err))
}
