package chrometrace

import (
	"bytes"

	"github.com/tracehandler/tracehandler/internal/jsontext"
)

// notObject skips an element that is no object.
func (s *Scanner) notObject() {
	s.report(NotObject, s.Offset(), "", nil)
	if _, ok := s.value(); ok {
		return
	}
	// Not a value either: go on at the next comma, bracket or event.
	for s.pos++; ; s.pos++ {
		if s.pos >= s.end && !s.fill() {
			return
		}
		if c := s.buf[s.pos]; c == ',' || c == ']' || c == '{' {
			return
		}
	}
}

// malformed skips a broken event: to the end of its braces, or to the next thing that looks like an event if that comes
// first, because a cut event has swallowed its successor's braces or quotes.
func (s *Scanner) malformed(f fault) {
	s.report(Malformed, s.Offset()+int64(f.at), f.detail, nil)
	for {
		b := s.buf[s.pos:s.end]
		end := jsontext.NestedEnd(b, 0)
		next := nextEvent(b)
		if end < 0 && next < 0 && s.fill() {
			continue
		}
		switch {
		case next > 0 && (end < 0 || next < end):
			s.pos += next
		case end > 0:
			s.pos += end
		default:
			s.pos = s.end
		}
		return
	}
}

// cut handles an event that does not end: at the end of the input, or within MaxEvent bytes.
func (s *Scanner) cut() {
	at := s.Offset()
	tooLong := !s.eof
	if next := nextEvent(s.buf[s.pos:s.end]); next > 0 {
		s.report(Malformed, at, "unterminated object", nil)
		s.pos += next
		return
	}
	if tooLong {
		s.report(TooLong, at, "object exceeds 67108864 characters", nil)
		s.pos = s.end
		for s.fill() {
			if next := nextEvent(s.buf[s.pos:s.end]); next >= 0 {
				s.pos += next
				return
			}
			s.pos = max(s.pos, s.end-64)
		}
	} else {
		s.report(Truncated, at, "", nil)
	}
	s.pos = s.end
	s.state = done
}

// nextEvent finds, behind b[0], an opening brace that is followed by the key "ph", with which profilers start an event.
// It returns -1 if there is none.
func nextEvent(b []byte) int {
	key := []byte(`"ph"`)
	for from := 1; ; {
		n := bytes.Index(b[min(from, len(b)):], key)
		if n < 0 {
			return -1
		}
		at := from + n
		i := at - 1
		for i > 0 && (b[i] == ' ' || b[i] == '\n' || b[i] == '\r' || b[i] == '\t') {
			i--
		}
		if i > 0 && b[i] == '{' {
			return i
		}
		from = at + len(key)
	}
}
