package reader

import (
	"fmt"
	"io"
	"math"

	"github.com/tracehandler/tracehandler/event"
	"github.com/tracehandler/tracehandler/format"
)

// fetcher reads the blocks of one layer. It is used by one goroutine.
type fetcher interface {
	// fetch fills b with what comes next. The error is io.EOF at the end or a failure to read; both are final.
	fetch(b *block) error
	// decode completes b: afterwards b.text is there. It is safe for concurrent use on different blocks.
	decode(b *block)
	// restart makes the next fetch begin at a frame that decode found to be bad.
	restart(f *failure)
	close()
}

// newFetcher returns the fetcher for a layer that begins with m.
func newFetcher(in *input, m format.Magic, o *Options) fetcher {
	switch m {
	case format.GzipMagic:
		return newGzipFetcher(in)
	case format.ZstdMagic:
		return newZstdFetcher(in, o)
	}
	return &textFetcher{in: in, until: math.MaxInt64}
}

// textFetcher reads text that is not compressed, up to an offset.
type textFetcher struct {
	in    *input
	until int64
}

func (t *textFetcher) fetch(b *block) error {
	room := min(blockTarget, t.until-t.in.offset())
	if room <= 0 {
		return io.EOF
	}
	b.text = grow(b.text, int(room))
	n, err := t.in.Read(b.text[:room])
	b.text = b.text[:n]
	if n > 0 {
		return nil
	}
	return err
}

func (t *textFetcher) decode(*block)    {}
func (t *textFetcher) restart(*failure) {}
func (t *textFetcher) close()           {}

// grow returns b with room for n more bytes.
func grow(b []byte, n int) []byte {
	if cap(b)-len(b) >= n {
		return b
	}
	g := make([]byte, len(b), max(len(b)+n, min(2*cap(b), len(b)+n+blockTarget)))
	copy(g, b)
	return g
}

// resync is the search for the next whole frame behind a failure.
type resync struct {
	in    *input
	width int                         // bytes that match needs
	match func([]byte) int            // position of what may be a frame's beginning, or -1
	try   func() (bool, int64, error) // reports whether a whole frame begins at the input's position, and the bytes it looked at
	until int64                       // where the search ends, 0 at the end of the input
	spent int64                       // bytes looked at in vain
}

// maxSpent is the number of bytes that trying positions may cost before resync becomes coarse: a hostile file of nothing
// but beginnings of frames would otherwise cost time in the square of its size.
const maxSpent = 64 << 20

// run moves the input to the next whole frame behind the failure f, or to the end, and reports which.
func (r *resync) run(f *failure) (found bool, err error) {
	if f.next > f.off {
		at, err := r.in.rewind(f.next)
		if err != nil {
			return false, err
		}
		if at == f.next {
			r.in.setMark()
			ok, _, err := r.try()
			if err != nil {
				return false, err
			}
			if ok {
				_, err = r.in.rewind(at)
				return true, err
			}
		}
	}
	if _, err := r.in.rewind(f.off + 1); err != nil {
		return false, err
	}
	for {
		r.in.setMark()
		ok, err := r.in.find(r.width, r.match)
		if err != nil || !ok || r.until > 0 && r.in.offset() >= r.until {
			return false, err
		}
		at := r.in.offset()
		r.in.setMark()
		ok, cost, err := r.try()
		if err != nil {
			return false, err
		}
		if ok {
			_, err = r.in.rewind(at)
			return true, err
		}
		step := int64(1)
		if r.spent += cost; r.spent > maxSpent {
			step = max(step, cost/2)
		}
		if _, err := r.in.rewind(at + step); err != nil {
			return false, err
		}
	}
}

// damage returns the report of the bytes between a failure and where reading goes on.
func damage(in *input, f *failure, to int64) error {
	return &DamageError{Path: in.path, Offset: f.off, Skipped: to - f.off, Expected: f.expected, Err: f.err}
}

func torn(in *input, f *failure, to int64) error {
	return &TornError{Path: in.path, Offset: f.off, Skipped: to - f.off, Expected: f.expected, Err: f.err}
}

// isText reports whether the bytes that head begins with are lines of events: what is appended to a compressed file
// when its writer forgets that it was compressed.
func isText(head []byte) bool {
	for i, c := range head {
		if c == '\n' {
			_, err := event.Parse(trim(head[:i]))
			return err == nil
		}
		if i == 0 && c != '{' {
			return false
		}
	}
	_, err := event.Parse(trim(head))
	return err == nil
}

var errWindow = fmt.Errorf("the zstd window is larger than Options.MaxWindow")

// appendedText reports whether what stands at a failure is text, with nothing wrong but that it is not compressed.
func appendedText(in *input, f *failure) (bool, error) {
	if f.err != nil || f.torn || f.next != 0 {
		return false, nil
	}
	if at, err := in.rewind(f.off); err != nil || at != f.off {
		return false, err
	}
	n := 64 << 10
	if in.live {
		n = 1 // and what is there besides
	}
	if _, err := in.peek(n); err != nil {
		return false, err
	}
	head := in.buffered()
	return isText(head[:min(len(head), 64<<10)]), nil
}

// onlyZeros reports whether everything from off on is zero bytes: a file that grew before a crash, whose content did
// not reach the disk. It leaves in where it was.
func onlyZeros(in *input, off int64) (bool, error) {
	was := in.offset()
	if at, err := in.rewind(off); err != nil || at != off {
		return false, err
	}
	found, err := in.find(1, func(b []byte) int {
		for i, c := range b {
			if c != 0 {
				return i
			}
		}
		return -1
	})
	if err != nil {
		return false, err
	}
	_, err = in.rewind(was)
	return !found, err
}
