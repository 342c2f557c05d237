package chrometrace

import (
	"bytes"
	"errors"
	"io"
	"math"

	"github.com/tracehandler/tracehandler/internal/jsontext"
)

// Limits of a scan. They bound memory on hostile input; real events are below 100 KiB.
const (
	MaxEvent    = 64 << 20 // bytes of one event or one metadata value
	MaxErrors   = 100      // errors kept; ErrorCount counts them all
	initialSize = 256 << 10
)

// Metadata holds the raw JSON values of the top-level members other than traceEvents, complete after the last Scan.
type Metadata map[string][]byte

// Scanner delivers the events of one trace. It is not safe for concurrent use.
type Scanner struct {
	// SkipFunc, if not nil, is asked as soon as an event's phase and category are known, once an event. If it returns true
	// the event is counted but not delivered, and passed over several times faster. It is not asked for events without
	// either. Set it before the first Scan.
	SkipFunc func(phase byte, category []byte) bool

	r      io.Reader
	close  func() error
	buf    []byte // buf[pos:end] is unread input
	pos    int
	end    int
	base   int64 // offset of buf[0] in the uncompressed text
	eof    bool
	state  state
	bare   bool // the events stand in a bare array
	ev     Event
	events int64
	found  bool // a traceEvents array was seen
	meta   Metadata
	errs   []*Error
	nErrs  int
	bad    bool
	heads  heads
	asked  bool // SkipFunc was asked about the event at hand
	skip   bool // and this was its answer
}

type state uint8

const (
	atStart state = iota
	inObject
	inEvents
	done
)

// NewScanner reads the uncompressed text r. The scanner reads ahead and never closes r. See Open for files.
func NewScanner(r io.Reader) *Scanner {
	return &Scanner{r: r, buf: make([]byte, initialSize), meta: Metadata{}}
}

// Event is the event that the last successful Scan found. It is valid, with all its slices, until the next Scan.
func (s *Scanner) Event() *Event { return &s.ev }

// Events counts the events delivered.
func (s *Scanner) Events() int64 { return s.events }

// Offset is the number of uncompressed bytes consumed: a measure of progress.
func (s *Scanner) Offset() int64 { return s.base + int64(s.pos) }

// Metadata is what stood beside traceEvents. Members after the array are there only once Scan has returned false.
func (s *Scanner) Metadata() Metadata { return s.meta }

// Errors are the faults found so far, at most MaxErrors of them.
func (s *Scanner) Errors() []*Error { return s.errs }

// ErrorCount is the number of faults found so far.
func (s *Scanner) ErrorCount() int { return s.nErrs }

// Degraded reports whether events may be missing: the input was damaged, truncated, or no trace at all.
func (s *Scanner) Degraded() bool { return s.bad }

// Close releases what Open acquired. It is idempotent and does nothing for a NewScanner.
func (s *Scanner) Close() error {
	if s.close == nil {
		return nil
	}
	f := s.close
	s.close = nil
	return f()
}

// Scan moves to the next event and reports whether there is one. Faults on the way are added to Errors.
func (s *Scanner) Scan() bool {
	for {
		switch s.state {
		case atStart:
			s.start()
		case inObject:
			s.member()
		case inEvents:
			if s.element() {
				return true
			}
		case done:
			return false
		}
	}
}

func (s *Scanner) report(k Kind, at int64, detail string, err error) {
	s.nErrs++
	if k != Time {
		s.bad = true
	}
	if len(s.errs) < MaxErrors {
		s.errs = append(s.errs, &Error{Kind: k, Offset: at, Events: s.events, Detail: detail, Err: err})
	}
}

// fill reads more input behind what is unread, moving or growing the buffer. It returns false at the end of the input
// and when the unread part has reached MaxEvent.
func (s *Scanner) fill() bool {
	if s.eof {
		return false
	}
	if s.pos > 0 {
		copy(s.buf, s.buf[s.pos:s.end])
		s.base += int64(s.pos)
		s.end -= s.pos
		s.pos = 0
	}
	if s.end == len(s.buf) {
		if len(s.buf) >= MaxEvent {
			return false
		}
		grown := make([]byte, 2*len(s.buf))
		copy(grown, s.buf[:s.end])
		s.buf = grown
	}
	for range 100 {
		n, err := s.r.Read(s.buf[s.end:])
		s.end += n
		if err != nil {
			s.eof = true
			if !errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
				s.report(Input, s.base+int64(s.end), "", err)
			}
			return n > 0
		}
		if n > 0 {
			return true
		}
	}
	s.eof = true
	s.report(Input, s.base+int64(s.end), "", io.ErrNoProgress)
	return false
}

// peek skips white space and returns the next byte, or false at the end of the input.
func (s *Scanner) peek() (byte, bool) {
	for {
		s.pos = jsontext.SkipIndent(s.buf[:s.end], s.pos)
		if s.pos < s.end {
			return s.buf[s.pos], true
		}
		if !s.fill() {
			return 0, false
		}
	}
}

func (s *Scanner) start() {
	for s.end < 3 && s.fill() {
	}
	if bytes.HasPrefix(s.buf[:s.end], []byte("\xef\xbb\xbf")) {
		s.pos = 3
	}
	c, ok := s.peek()
	switch {
	case ok && c == '{':
		s.pos++
		s.state = inObject
	case ok && c == '[':
		s.pos++
		s.bare, s.found = true, true
		s.state = inEvents
	default:
		s.search()
	}
}

// member reads one member of the top-level object, or its end.
func (s *Scanner) member() {
	c, ok := s.peek()
	if ok && c == ',' {
		s.pos++
		c, ok = s.peek()
	}
	if ok && c == '}' || !ok && s.found {
		s.finish()
		return
	}
	if !ok || c != '"' {
		s.lost()
		return
	}
	key, ok := s.value()
	if !ok {
		s.lost()
		return
	}
	name := String(key[1 : len(key)-1])
	if c, ok = s.peek(); !ok || c != ':' {
		s.lost()
		return
	}
	s.pos++
	c, ok = s.peek()
	if name == "traceEvents" {
		s.enter(c, ok)
		return
	}
	value, ok := s.value()
	if !ok {
		s.lost()
		return
	}
	if len(s.meta) < 4096 {
		s.meta[name] = bytes.Clone(value)
	}
}

// enter begins the traceEvents array, whose first byte is c.
func (s *Scanner) enter(c byte, ok bool) {
	s.found = true
	if !ok || c != '[' {
		detail := NotArray
		s.report(detail, s.Offset(), "", nil)
		s.state = done
		return
	}
	s.pos++
	s.state = inEvents
}

// value returns the span of the value at the current position and moves behind it.
func (s *Scanner) value() ([]byte, bool) {
	for {
		end := valueEnd(s.buf[:s.end], s.pos)
		if end >= 0 {
			v := s.buf[s.pos:end]
			s.pos = end
			return v, true
		}
		if ^end != s.end || !s.fill() {
			return nil, false
		}
	}
}

// lost handles a top level that is not JSON: before the array, look for it by its key; after it, nothing was lost.
func (s *Scanner) lost() {
	if s.found {
		s.finish()
		return
	}
	s.search()
}

// search looks for the key "traceEvents" wherever it stands, as in a file with a damaged head.
func (s *Scanner) search() {
	key := []byte(`"traceEvents"`)
	for {
		if n := bytes.Index(s.buf[s.pos:s.end], key); n >= 0 {
			s.pos += n + len(key)
			if c, ok := s.peek(); ok && c == ':' {
				s.pos++
				c, ok = s.peek()
				s.enter(c, ok)
				return
			}
			continue
		}
		if s.end-s.pos > len(key) {
			s.pos = s.end - len(key)
		}
		if !s.fill() {
			s.finish()
			return
		}
	}
}

func (s *Scanner) finish() {
	if !s.found {
		s.report(NotFound, 0, "", nil)
	}
	s.state = done
}

// element reads one element of the array of events; true if it is an event.
func (s *Scanner) element() bool {
	c, ok := s.peek()
	for ok && c == ',' {
		s.pos++
		c, ok = s.peek()
	}
	if !ok {
		s.report(Unterminated, s.Offset(), "", nil)
		s.state = done
		return false
	}
	if c == ']' {
		s.pos++
		if s.state = inObject; s.bare {
			s.state = done
		}
		return false
	}
	if c != '{' {
		s.notObject()
		return false
	}
	for {
		n, f := s.parseEvent(s.buf[s.pos:s.end])
		if f.detail != "" {
			s.asked = false
			s.malformed(f)
			return false
		}
		if n > 0 {
			s.ev.Offset = s.Offset()
			s.pos += n
			s.events++
			skipped := s.asked && s.skip
			s.asked = false
			if skipped {
				return false
			}
			s.check()
			return true
		}
		if !s.fill() {
			s.asked = false
			s.cut()
			return false
		}
	}
}

// check reports times that cannot be. A negative duration becomes 0, so that no sum ever shrinks.
func (s *Scanner) check() {
	switch {
	case s.ev.Phase == 'X' && s.ev.Has&HasTS == 0:
		s.report(Time, s.ev.Offset, "no ts", nil)
	case s.ev.Has&HugeDur != 0:
		s.report(Time, s.ev.Offset, "dur does not fit 64-bit nanoseconds", nil)
		s.ev.Dur = math.MaxInt64
	case s.ev.Dur < 0:
		s.report(Time, s.ev.Offset, "negative dur counted as 0", nil)
		s.ev.Dur = 0
	}
}
