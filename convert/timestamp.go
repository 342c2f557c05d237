package convert

import "time"

// leadingTime reads the time that a line of a text log begins with, after white space or one opening bracket perhaps, and
// returns where the text behind it starts (behind the closing bracket, if there was one). It knows
//
//	2026-11-30T10:46:59.123456Z    ISO 8601 and RFC 3339, also with a space for the T, a comma for the point, without a
//	2026-11-30 10:46:59,123 +0100  fraction or a zone (UTC then), and zones with or without colon
//	2026/11/30 10:46:59.123456     package log
func leadingTime(line []byte) (t time.Time, end int, ok bool) {
	s := scanner{b: line}
	for s.byte(' ') || s.byte('\t') {
	}
	bracket := s.byte('[')
	year, ok1 := s.digits(4)
	sep := byte('-')
	if ok1 && s.byte('/') {
		sep = '/'
	} else if !ok1 || !s.byte('-') {
		return t, 0, false
	}
	month, ok1 := s.digits(2)
	ok2 := s.byte(sep)
	day, ok3 := s.digits(2)
	if !ok1 || !ok2 || !ok3 || !s.byte('T') && !s.byte(' ') {
		return t, 0, false
	}
	hour, ok1 := s.digits(2)
	ok2 = s.byte(':')
	minute, ok3 := s.digits(2)
	ok4 := s.byte(':')
	second, ok5 := s.digits(2)
	if !ok1 || !ok2 || !ok3 || !ok4 || !ok5 {
		return t, 0, false
	}
	nanos := s.fraction()
	zone := s.zone()
	if bracket && !s.byte(']') {
		return t, 0, false
	}
	t = time.Date(year, time.Month(month), day, hour, minute, second, nanos, time.UTC)
	if t.Month() != time.Month(month) || t.Day() != day || hour > 23 || minute > 59 || second > 60 {
		return t, 0, false
	}
	return t.Add(-zone), s.i, true
}

// scanner reads from the front of a line.
type scanner struct {
	b []byte
	i int
}

func (s *scanner) byte(c byte) bool {
	if s.i == len(s.b) || s.b[s.i] != c {
		return false
	}
	s.i++
	return true
}

// digits reads a number of n digits that no further digit follows.
func (s *scanner) digits(n int) (v int, ok bool) {
	i := s.i
	for ; i < len(s.b) && s.b[i]-'0' <= 9; i++ {
		v = v*10 + int(s.b[i]-'0')
		if i-s.i == n {
			return 0, false
		}
	}
	if i-s.i != n {
		return 0, false
	}
	s.i = i
	return v, true
}

// fraction reads a point or comma and digits, and returns nanoseconds; 0 if there is none.
func (s *scanner) fraction() (nanos int) {
	i := s.i + 1
	if i >= len(s.b) || s.b[s.i] != '.' && s.b[s.i] != ',' || s.b[i]-'0' > 9 {
		return 0
	}
	for unit := 100_000_000; i < len(s.b) && s.b[i]-'0' <= 9; i++ {
		nanos += int(s.b[i]-'0') * unit
		unit /= 10
	}
	s.i = i
	return nanos
}

// zone reads Z, or a sign and hours and minutes, also behind a space; without one it reads nothing.
func (s *scanner) zone() time.Duration {
	start := s.i
	if s.byte('Z') {
		return 0
	}
	s.byte(' ')
	sign := time.Duration(1)
	if s.byte('-') {
		sign = -1
	} else if !s.byte('+') {
		s.i = start
		return 0
	}
	if v, ok := s.digits(4); ok {
		return sign * (time.Duration(v/100)*time.Hour + time.Duration(v%100)*time.Minute)
	}
	hour, ok1 := s.digits(2)
	ok2 := s.byte(':')
	minute, ok3 := s.digits(2)
	if !ok1 || !ok2 || !ok3 {
		s.i = start
		return 0
	}
	return sign * (time.Duration(hour)*time.Hour + time.Duration(minute)*time.Minute)
}
