package slogkv

import (
	"log/slog"
	"strconv"
	"time"

	"github.com/tracehandler/tracehandler/event"
	"github.com/tracehandler/tracehandler/internal/jsontext"
)

// AppendEvent implements event.Encoder. It appends one packed event that says the same as ev.
func (e *Encoder) AppendEvent(b *event.Buffer, ev event.Event) {
	l := newLayout(nil)
	defer l.free()
	line := ev.Line()
	if line == nil || !jsontext.Valid(line) {
		line = ev.AppendJSON(nil)
	}
	l.exact.line = exactLine(line)
	lay := func() {
		i := jsontext.SkipSpace(line, 0)
		if i == len(line) || line[i] != '{' { // an event that is no object: Lazy had something else
			l.exactKeys()
			l.b.User()
			return
		}
		rest, ok := e.head(l, line, i)
		if !ok {
			t, okT := ev.Time()
			level, okL := ev.Level()
			if okT && okL {
				l.viewerKeys(t, level)
			}
			l.exactKeys()
			l.b.User()
			l.members(line, i)
			return
		}
		l.jsonAt(keyMessage, line, rest)
		l.membersFrom(line, jsontext.ValueEnd(line, rest))
	}
	lay()
	for l.again() {
		lay()
	}
	b.B = l.finish(b.B)
}

// head adds all keys before the message of a line that starts as the line of a record does, and returns where the value of
// msg starts. Otherwise it adds nothing.
func (e *Encoder) head(l *layout, line []byte, i int) (msg int, ok bool) {
	var b builtins
	key, at := firstMember(line, i)
	if key == slog.TimeKey {
		text := line[at:jsontext.ValueEnd(line, at)]
		if b.t, ok = parseTime(text); !ok {
			return 0, false
		}
		key, at = nextMember(line, jsontext.ValueEnd(line, at))
	}
	if key != slog.LevelKey {
		return 0, false
	}
	if b.l, ok = parseLevel(line[at:jsontext.ValueEnd(line, at)]); !ok {
		return 0, false
	}
	key, at = nextMember(line, jsontext.ValueEnd(line, at))
	if key == slog.SourceKey {
		if b.src, ok = parseSource(line, at); !ok {
			return 0, false
		}
		key, at = nextMember(line, jsontext.ValueEnd(line, at))
	}
	if key != slog.MessageKey || line[at] != '"' {
		return 0, false
	}
	l.builtins(b.t, b.l, b.site())
	e.user(l, b.t, b.l)
	return at, true
}

// firstMember returns the first member of the object at line[i], nextMember the one behind the value that ends at i: the
// key, and where the value starts. Without one, the key is empty.
func firstMember(line []byte, i int) (key string, value int) {
	if i = jsontext.SkipSpace(line, i+1); line[i] == '}' {
		return "", i
	}
	return member(line, i)
}

func nextMember(line []byte, i int) (key string, value int) {
	if i = jsontext.SkipSpace(line, i); line[i] == '}' {
		return "", i
	}
	return member(line, jsontext.SkipSpace(line, i+1))
}

// parseTime reads a time that comes out as the same text again.
func parseTime(text []byte) (t time.Time, ok bool) {
	if len(text) < 2 || text[0] != '"' {
		return t, false
	}
	s := string(text[1 : len(text)-1])
	t, err := time.Parse(time.RFC3339Nano, s)
	if err != nil || t.IsZero() {
		return t, false
	}
	_, offset := t.Zone()
	return t, string(appendTime(nil, t.UnixMilli(), int64(t.Nanosecond()%1e6), int64(offset))) == s
}

// parseLevel reads a level that comes out as the same text again.
func parseLevel(text []byte) (l slog.Level, ok bool) {
	if len(text) < 2 || text[0] != '"' {
		return 0, false
	}
	text = text[1 : len(text)-1]
	for _, l := range []slog.Level{slog.LevelInfo, slog.LevelDebug, slog.LevelWarn, slog.LevelError} {
		if l.String() == string(text) {
			return l, true
		}
	}
	err := l.UnmarshalText(text)
	return l, err == nil && l.String() == string(text)
}

// parseSource reads a source whose members are those of slog.Source, in their order and not empty.
func parseSource(line []byte, i int) (*slog.Source, bool) {
	if line[i] != '{' {
		return nil, false
	}
	end := jsontext.ValueEnd(line, i)
	var src slog.Source
	key, at := firstMember(line, i)
	text := func() (s string, ok bool) {
		stop := jsontext.ValueEnd(line, at)
		if line[at] != '"' || stop-at == 2 {
			return "", false
		}
		s = string(jsontext.AppendText(nil, line[at+1:stop-1]))
		key, at = nextMember(line, stop)
		return s, true
	}
	var ok bool
	if key == "function" {
		if src.Function, ok = text(); !ok {
			return nil, false
		}
	}
	if key == "file" {
		if src.File, ok = text(); !ok {
			return nil, false
		}
	}
	if key == "line" {
		stop := jsontext.ValueEnd(line, at)
		n, err := strconv.Atoi(string(line[at:stop]))
		if err != nil || n == 0 || strconv.Itoa(n) != string(line[at:stop]) {
			return nil, false
		}
		src.Line = n
		key, at = nextMember(line, stop)
	}
	return &src, at == end-1 && src != slog.Source{}
}
