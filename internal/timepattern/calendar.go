package timepattern

import (
	"fmt"
	"strconv"
)

// date is a time as the calendar has it: proleptic Gregorian, without leap seconds.
type date struct {
	year, month, day, weekday int64 // month and day from 1, weekday from 0 for Sunday
	hour, minute, second      int64
	ns                        int64
}

// set takes nanoseconds since 1970 and the seconds that the clock is ahead of UTC.
func (d *date) set(ns, zone int64) {
	seconds := ns / 1e9
	if d.ns = ns % 1e9; d.ns < 0 {
		d.ns += 1e9
		seconds--
	}
	d.setSeconds(seconds + zone)
}

func (d *date) setSeconds(seconds int64) {
	days, clock := seconds/86400, seconds%86400
	if clock < 0 {
		clock += 86400
		days--
	}
	d.hour, d.minute, d.second = clock/3600, clock/60%60, clock%60
	if d.weekday = (days + 4) % 7; d.weekday < 0 {
		d.weekday += 7
	}
	// Years begin in March here, so that the leap day is their last; eras have 400 of them.
	days += 719468
	era := days / 146097
	if days < 0 {
		era = (days - 146096) / 146097
	}
	day := days - era*146097
	year := (day - day/1460 + day/36524 - day/146096) / 365
	day -= 365*year + year/4 - year/100
	month := (5*day + 2) / 153
	d.day = day - (153*month+2)/5 + 1
	d.month = month + 3
	d.year = year + era*400
	if d.month > 12 {
		d.month -= 12
		d.year++
	}
}

// half returns the hour on a clock of twelve hours.
func (d *date) half() int64 { return (d.hour+11)%12 + 1 }

func (d *date) noon() string {
	if d.hour < 12 {
		return "AM"
	}
	return "PM"
}

// append prints the field that op names.
func (d *date) append(dst []byte, op *timeOp) []byte {
	switch op.spec {
	case 'Y':
		return appendPadded(dst, d.year, 4, '0')
	case 'y':
		return appendPadded(dst, d.year%100, 2, '0')
	case 'm':
		return appendPadded(dst, d.month, 2, '0')
	case 'd':
		return appendPadded(dst, d.day, 2, '0')
	case 'e':
		return appendPadded(dst, d.day, 2, ' ')
	case 'B':
		return append(dst, op.list[d.month-1]...)
	case 'A':
		return append(dst, op.list[d.weekday]...)
	case 'H':
		return appendPadded(dst, d.hour, 2, '0')
	case 'k':
		return appendPadded(dst, d.hour, 2, ' ')
	case 'I':
		return appendPadded(dst, d.half(), 2, '0')
	case 'l':
		return appendPadded(dst, d.half(), 2, ' ')
	case 'p':
		return append(dst, d.noon()...)
	case 'M':
		return appendPadded(dst, d.minute, 2, '0')
	}
	return appendPadded(dst, d.second, 2, '0') // 'S'
}

var (
	months   = [...]string{"January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November", "December"}
	weekdays = [...]string{"Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"}
)

// AppendDateString prints a time as archives before 0.5.0 have it, v milliseconds since 1970, by a pattern of theirs, like those of
// strptime and without zones; %E and %F print v itself.
func AppendDateString(dst []byte, pattern string, v int64) ([]byte, error) {
	var d date
	seconds, ms := v/1000, v%1000
	if ms < 0 {
		ms += 1000
		seconds--
	}
	d.setSeconds(seconds)
	for i := 0; i < len(pattern); i++ {
		if pattern[i] != '%' {
			dst = append(dst, pattern[i])
			continue
		}
		i++
		if i == len(pattern) {
			return dst, fmt.Errorf("%w: nothing behind the last %%", ErrTime)
		}
		switch c := pattern[i]; c {
		case '%':
			dst = append(dst, '%')
		case 'Y', 'y', 'm', 'd', 'e', 'p', 'H', 'k', 'I', 'l', 'M', 'S':
			dst = d.append(dst, &timeOp{spec: c})
		case 'B':
			dst = append(dst, months[d.month-1]...)
		case 'b':
			dst = append(dst, months[d.month-1][:3]...)
		case 'a':
			dst = append(dst, weekdays[d.weekday][:3]...)
		case '3':
			dst = appendPadded(dst, ms, 3, '0')
		case 'T':
			from := len(dst)
			dst = appendPadded(dst, ms, 3, '0')
			for len(dst) > from+1 && dst[len(dst)-1] == '0' {
				dst = dst[:len(dst)-1]
			}
		case 'E':
			dst = strconv.AppendInt(dst, v, 10)
		case 'F':
			if v < 0 && v/1e9 == 0 {
				dst = append(dst, '-')
			}
			dst = strconv.AppendInt(dst, v/1e9, 10)
			dst = append(dst, '.')
			dst = appendPadded(dst, abs(v%1e9), 9, '0')
		default:
			return dst, fmt.Errorf("%w: unknown specifier %%%c", ErrTime, c)
		}
	}
	return dst, nil
}

// ValidDate reports whether there is such a day.
func ValidDate(year, month, day int) bool {
	if month < 1 || month > 12 || day < 1 {
		return false
	}
	last := int("\x1F\x1C\x1F\x1E\x1F\x1E\x1F\x1F\x1E\x1F\x1E\x1F"[month-1])
	if month == 2 && year%4 == 0 && (year%100 != 0 || year%400 == 0) {
		last = 29
	}
	return day <= last
}

// Days returns the days from 1970-01-01 to a day.
func Days(year, month, day int64) int64 {
	if month <= 2 {
		year--
		month += 12
	}
	era := year / 400
	if year < 0 {
		era = (year - 399) / 400
	}
	inEra := year - era*400
	inYear := (153*(month-3)+2)/5 + day - 1
	return era*146097 + inEra*365 + inEra/4 - inEra/100 + inYear - 719468
}
