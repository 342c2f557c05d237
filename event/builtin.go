package event

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"math"
	"strconv"
	"strings"
	"time"
)

// The keys under which the time, the level and the message of an event are looked for. The first is log/slog's; the
// others are those of other loggers: zap, zerolog, logrus, Bunyan, Pino, python-json-logger, Elastic, Google Cloud.
var (
	timeKeys    = []string{slog.TimeKey, "timestamp", "@timestamp", "ts"}
	levelKeys   = []string{slog.LevelKey, "severity", "lvl", "levelname", "log.level"}
	messageKeys = []string{slog.MessageKey, "message"}
)

// Time returns when the event happened. It looks for the first of the keys time, timestamp, @timestamp and ts whose value
// is a time: RFC 3339, the same with a space for the T or without a zone (UTC), or a number since 1970 in seconds,
// milliseconds, microseconds or nanoseconds, whichever lies between the years 1973 and 5138.
func (e Event) Time() (time.Time, bool) {
	t, _, ok := e.time()
	return t, ok
}

// TimeKey returns the key of the value that Time reads.
func (e Event) TimeKey() (string, bool) {
	_, key, ok := e.time()
	return key, ok
}

// Level returns the event's level. It looks for the first of the keys level, severity, lvl, levelname and log.level whose
// value is a level: a text that [slog.Level.UnmarshalText] reads, another common name (trace is DEBUG-4; notice INFO+2;
// warning; err; critical, panic, alert, emergency and fatal ERROR+4), or a number: 10 to 60 in tens are Bunyan's and
// Pino's levels, others log/slog's.
func (e Event) Level() (slog.Level, bool) {
	l, _, ok := e.level()
	return l, ok
}

// LevelKey returns the key of the value that Level reads.
func (e Event) LevelKey() (string, bool) {
	_, key, ok := e.level()
	return key, ok
}

// Message returns the event's message: the first of the keys msg and message whose value is a string.
func (e Event) Message() (string, bool) {
	s, _, ok := e.message()
	return s, ok
}

// MessageKey returns the key of the value that Message reads.
func (e Event) MessageKey() (string, bool) {
	_, key, ok := e.message()
	return key, ok
}

func (e Event) time() (t time.Time, key string, ok bool) {
	key, ok = e.find(timeKeys, func(text []byte, v slog.Value) bool {
		if text != nil && plain(text) && t.UnmarshalText(text[1:len(text)-1]) == nil {
			return true
		}
		if text != nil {
			v = decodeValue(text)
		}
		var ok bool
		t, ok = timeOf(v)
		return ok
	})
	return t, key, ok
}

func (e Event) level() (l slog.Level, key string, ok bool) {
	key, ok = e.find(levelKeys, func(text []byte, v slog.Value) bool {
		switch string(text) {
		case `"INFO"`:
			l = slog.LevelInfo
			return true
		case `"DEBUG"`:
			l = slog.LevelDebug
			return true
		case `"WARN"`:
			l = slog.LevelWarn
			return true
		case `"ERROR"`:
			l = slog.LevelError
			return true
		}
		if text != nil {
			v = decodeValue(text)
		}
		var ok bool
		l, ok = levelOf(v)
		return ok
	})
	return l, key, ok
}

func (e Event) message() (s, key string, ok bool) {
	key, ok = e.find(messageKeys, func(text []byte, v slog.Value) bool {
		if text != nil {
			v = decodeValue(text)
		}
		if v.Kind() != slog.KindString {
			return false
		}
		s = v.String()
		return true
	})
	return s, key, ok
}

// find calls use with the values whose key is one of keys, until use returns true: with the value's text if the event is a
// line, otherwise with the value and no text. It returns the key of the last one.
func (e Event) find(keys []string, use func(text []byte, v slog.Value) bool) (string, bool) {
	e = e.told()
	for _, a := range e.attrs {
		for _, k := range keys {
			if a.Key == k && use(nil, Resolve(a.Value)) {
				return k, true
			}
		}
	}
	c, ok := e.members()
	for ok {
		var text, value []byte
		if text, ok = c.next(); !ok {
			break
		}
		key := ""
		text = decodedKey(text)
		for _, k := range keys {
			if string(text) == k {
				key = k
				break
			}
		}
		if key == "" {
			ok = c.skip()
		} else if value, ok = c.value(); ok && use(value, slog.Value{}) {
			return key, true
		}
	}
	return "", false
}

// plain reports whether text is a string without escapes.
func plain(text []byte) bool { return text[0] == '"' && bytes.IndexByte(text, '\\') < 0 }

func timeOf(v slog.Value) (time.Time, bool) {
	switch v.Kind() {
	case slog.KindTime:
		return v.Time(), true
	case slog.KindString:
		return parseTime(v.String())
	case slog.KindInt64:
		return sinceEpoch(v.Int64(), 0)
	case slog.KindFloat64:
		return sinceEpochFloat(v.Float64())
	case slog.KindAny:
		if n, ok := v.Any().(json.Number); ok { // 1.7e9
			if f, err := n.Float64(); err == nil {
				return sinceEpochFloat(f)
			}
		}
	}
	return time.Time{}, false
}

func parseTime(s string) (time.Time, bool) {
	if len(s) < len("2006-01-02T15:04:05") {
		return time.Time{}, false
	}
	for _, layout := range [...]string{time.RFC3339, "2006-01-02T15:04:05", "2006-01-02 15:04:05Z07:00", "2006-01-02 15:04:05", "2006-01-02T15:04:05Z0700"} {
		if t, err := time.Parse(layout, s); err == nil {
			return t, true
		}
	}
	return time.Time{}, false
}

// sinceEpoch returns the time n+part units after 1970. The unit follows from the size: 1e11 seconds are the year 5138,
// and 1e11 milliseconds are in 1973.
func sinceEpoch(n int64, part float64) (time.Time, bool) {
	unit := time.Second
	for limit := int64(1e11); unit > 1 && (n >= limit || n <= -limit); limit *= 1000 {
		unit /= 1000
	}
	per := int64(time.Second / unit)
	ns := n%per*int64(unit) + int64(math.Round(part*float64(unit)))
	return time.Unix(n/per, ns).UTC(), true
}

func sinceEpochFloat(f float64) (time.Time, bool) {
	whole, part := math.Modf(f)
	if math.Abs(whole) >= 1<<63 {
		return time.Time{}, false
	}
	return sinceEpoch(int64(whole), part)
}

// levels are the names of levels that log/slog does not know.
var levels = map[string]slog.Level{
	"trace": slog.LevelDebug - 4, "notice": slog.LevelInfo + 2, "warning": slog.LevelWarn, "err": slog.LevelError,
	"critical": slog.LevelError + 4, "crit": slog.LevelError + 4, "fatal": slog.LevelError + 4, "panic": slog.LevelError + 4,
	"dpanic": slog.LevelError + 4, "alert": slog.LevelError + 4, "emergency": slog.LevelError + 4, "emerg": slog.LevelError + 4,
}

func levelOf(v slog.Value) (slog.Level, bool) {
	switch v.Kind() {
	case slog.KindString:
		return parseLevel(v.String())
	case slog.KindInt64:
		n := v.Int64()
		if n >= 10 && n <= 60 && n%10 == 0 { // 10 trace, 20 debug, 30 info, 40 warn, 50 error, 60 fatal
			return slog.Level(n/10*4 - 12), true
		}
		if n == int64(slog.Level(n)) {
			return slog.Level(n), true
		}
	case slog.KindAny:
		l, ok := v.Any().(slog.Level)
		return l, ok
	}
	return 0, false
}

func parseLevel(s string) (slog.Level, bool) {
	name, offset := s, ""
	if i := strings.IndexAny(s, "+-"); i > 0 {
		name, offset = s[:i], s[i:]
	}
	var l slog.Level
	if known, ok := levels[strings.ToLower(name)]; ok {
		l = known
	} else if l.UnmarshalText([]byte(name)) != nil {
		return 0, false
	}
	if offset != "" {
		n, err := strconv.Atoi(offset)
		if err != nil {
			return 0, false
		}
		l += slog.Level(n)
	}
	return l, true
}
