package slogkv

import (
	"bytes"
	"log/slog"
	"strconv"
	"time"

	"github.com/tracehandler/tracehandler/clp/ir"
	"github.com/tracehandler/tracehandler/event"
	"github.com/tracehandler/tracehandler/internal/jsontext"
	"github.com/tracehandler/tracehandler/internal/slogtext"
)

// template is the line of all events of one shape, with holes for the values. It is made for streams with this mapping
// and events without @exact.json.
type template struct {
	roles     []role   // of the auto-generated values
	canonical bool     // the event is that of a record
	viewer    int      // user-generated values that are left out
	parts     [][]byte // what stands before each user-generated value
	tail      []byte   // and behind the last
	fixed     int      // bytes of parts and tail
	steps     []buildStep

	// The source of the event before as it stands in the stream, and its text.
	path, function         []byte
	line                   int64
	sourceKnown            bool
	source                 []byte
	pathText, functionText []byte
}

// role is what an auto-generated value is for.
type role uint8

const (
	roleNone role = iota
	roleMillis
	roleOffset
	roleNanos
	roleNum
	rolePath
	roleLine
	roleFunction
	roleNumbers
	rolePoint
)

var roles = map[string]map[string]struct {
	role role
	kind ir.Kind
}{
	keyTimestamp: {keyMillis: {roleMillis, ir.Int}, keyOffset: {roleOffset, ir.Int}, keyNanos: {roleNanos, ir.Int}},
	keyLevel:     {keyNum: {roleNum, ir.Int}},
	keyExact:     {keyNumbers: {roleNumbers, ir.Array}, keyPoint: {rolePoint, ir.Bool}},
	keySource:    {keyPath: {rolePath, ir.String}, keyLine: {roleLine, ir.Int}, keyFunction: {roleFunction, ir.String}},
}

// newTemplate returns the template of events like e, nil if there is none.
func newTemplate(e *ir.Event) *template {
	t := &template{}
	a := autoRoles{t: t}
	if e.Visit(ir.Auto, &a) != nil || a.odd {
		return nil
	}
	u := partWriter{t: t, first: true}
	if a.viewer && t.canonical {
		t.viewer = viewerLeaves
	}
	if e.Visit(ir.User, &u) != nil {
		return nil
	}
	t.tail = append(u.part, '}')
	for _, part := range t.parts {
		t.fixed += len(part)
	}
	t.fixed += len(t.tail)
	return t
}

// most returns a bound of the length of the line of e. A byte of a string becomes six at most, two bytes of an integer
// five, nine of a float 25; a time and a level, 80; a source stands in the auto-generated values.
func (t *template) most(e *ir.Event) int64 { return int64(t.fixed) + 12*e.Size() + 160 }

// autoRoles is a visitor that finds the roles of values.
type autoRoles struct {
	t       *template
	section string
	depth   int
	odd     bool
	viewer  bool
}

func (a *autoRoles) Open(name []byte) error {
	if a.depth++; a.depth == 1 {
		a.section = string(name)
	}
	return nil
}

func (a *autoRoles) Close() error {
	a.depth--
	return nil
}

func (a *autoRoles) Value(name []byte, v *ir.Value) error {
	r := roleNone
	if a.depth == 1 {
		if known := roles[a.section][string(name)]; known.kind == v.Kind() {
			r = known.role
		}
	}
	a.odd = a.odd || a.section == keyExact && r == roleNone
	a.viewer = a.viewer || a.depth == 0 && string(name) == keyViewer && v.Kind() == ir.Bool
	a.t.roles = append(a.t.roles, r)
	a.t.canonical = a.t.canonical || r == roleNum
	return nil
}

// partWriter is a visitor that writes all but the values.
type partWriter struct {
	t     *template
	part  []byte
	first bool // in its object
	seen  int  // values
}

func (w *partWriter) key(name []byte) {
	if !w.first {
		w.part = append(w.part, ',')
	}
	w.part = append(ir.AppendQuoted(w.part, name), ':')
}

func (w *partWriter) Open(name []byte) error {
	if w.seen < w.t.viewer {
		return nil
	}
	w.key(name)
	w.t.steps = append(w.t.steps, buildStep{buildOpen, keyText(name)})
	w.part = append(w.part, '{')
	w.first = true
	return nil
}

func (w *partWriter) Close() error {
	if w.seen <= w.t.viewer && w.t.viewer > 0 {
		return nil
	}
	w.t.steps = append(w.t.steps, buildStep{op: buildClose})
	w.part = append(w.part, '}')
	w.first = false
	return nil
}

func (w *partWriter) Value(name []byte, _ *ir.Value) error {
	if w.seen++; w.seen <= w.t.viewer {
		return nil
	}
	if w.t.canonical && len(w.t.parts) == 0 {
		name = []byte(slog.MessageKey)
	}
	w.key(name)
	w.t.steps = append(w.t.steps, buildStep{buildValue, keyText(name)})
	w.t.parts = append(w.t.parts, w.part)
	w.part, w.first = nil, false
	return nil
}

// builtinValues is what the auto-generated values of an event say.
type builtinValues struct {
	millis, nanos, zone, line int64
	level                     slog.Level
	path, function            []byte // as they stand in the stream
	pathAt, functionAt        int    // -1 if there is none
	hasTime, point            bool
}

// builtins takes what the auto-generated values of e say, and makes d.exact the numbers that are kept as text.
func (t *template) builtins(d *Decoder, e *ir.Event) (*builtinValues, error) {
	v := &d.values
	*v = builtinValues{pathAt: -1, functionAt: -1}
	var err error
	d.exact = d.exact[:0]
	for i, r := range t.roles {
		if r == roleNone || !t.canonical && r < roleNumbers {
			continue
		}
		switch r {
		case roleMillis:
			v.millis, v.hasTime = e.IntAt(ir.Auto, i), true
		case roleOffset:
			v.zone = e.IntAt(ir.Auto, i)
		case roleNanos:
			v.nanos = e.IntAt(ir.Auto, i)
		case roleNum:
			v.level = slog.Level(e.IntAt(ir.Auto, i))
		case rolePath:
			v.path = e.EncodedAt(ir.Auto, i)
			v.pathAt = i
		case roleLine:
			v.line = e.IntAt(ir.Auto, i)
		case roleFunction:
			v.function = e.EncodedAt(ir.Auto, i)
			v.functionAt = i
		case roleNumbers:
			d.exact, err = e.AppendTextAt(d.exact, ir.Auto, i)
		case rolePoint:
			v.point = e.BoolAt(ir.Auto, i)
		}
		if err != nil {
			return nil, err
		}
	}
	return v, nil
}

// append appends the line of e.
func (t *template) append(d *Decoder, dst []byte, e *ir.Event) ([]byte, error) {
	v, err := t.builtins(d, e)
	if err != nil {
		return dst, err
	}
	dst = append(dst, '{')
	if t.canonical {
		if v.hasTime {
			dst = append(dst, `"time":"`...)
			dst = append(append(d.when.append(dst, v.millis, v.nanos, v.zone), '"'), ',')
		}
		dst = append(slogtext.AppendLevel(append(dst, `"level":"`...), v.level), '"')
		if v.pathAt >= 0 || v.functionAt >= 0 || v.line != 0 {
			if err = t.knowSource(d, e, v); err != nil {
				return dst, err
			}
			dst = append(dst, t.source...)
		}
		if len(t.parts) > 0 {
			dst = append(dst, ',')
		}
	}
	if len(d.exact) == 0 {
		float := appendBare
		if v.point {
			float = appendPoint
		}
		if dst, err = e.AppendLeaves(dst, ir.User, t.viewer, t.parts, float); err != nil {
			return dst, err
		}
		return append(dst, t.tail...), nil
	}
	leaf, number, exact := nextNumber(d.exact)
	for i, part := range t.parts {
		dst = append(dst, part...)
		at := i + t.viewer
		switch kind := e.KindAt(ir.User, at); {
		case at == leaf:
			dst = append(dst, number...)
			leaf, number, exact = nextNumber(exact)
		case kind == ir.Int:
			dst = strconv.AppendInt(dst, e.IntAt(ir.User, at), 10)
		case kind == ir.Float:
			dst = appendFloat(dst, e.FloatAt(ir.User, at), v.point)
		default:
			if dst, err = e.AppendJSONAt(dst, ir.User, at); err != nil {
				return dst, err
			}
		}
	}
	return append(dst, t.tail...), nil
}

// knowSource makes t.source the text of the source of e, with a comma before it; empty if nothing is known of it. That of
// the event before is mostly the same.
func (t *template) knowSource(d *Decoder, e *ir.Event, v *builtinValues) (err error) {
	if v.line == t.line && bytes.Equal(v.path, t.path) && bytes.Equal(v.function, t.function) && t.sourceKnown {
		return nil
	}
	t.sourceKnown = false
	path, function := t.pathText[:0], t.functionText[:0]
	if v.pathAt >= 0 {
		path, err = e.AppendTextAt(path, ir.Auto, v.pathAt)
	}
	if v.functionAt >= 0 && err == nil {
		function, err = e.AppendTextAt(function, ir.Auto, v.functionAt)
	}
	if err != nil {
		return err
	}
	t.pathText, t.functionText = path, function
	t.path, t.function, t.line = append(t.path[:0], v.path...), append(t.function[:0], v.function...), v.line
	t.source, t.sourceKnown = t.source[:0], true
	if len(path) > 0 || len(function) > 0 || v.line != 0 {
		t.source = appendSource(append(t.source, ','), path, function, v.line)
	}
	return nil
}

// nextNumber returns the first pair of @exact.numbers, and what follows it. It stops, with the leaf -1, at what no encoder
// with this mapping writes.
func nextNumber(list []byte) (leaf int, number, rest []byte) {
	i := 1 // behind the bracket or comma
	for ; i < len(list) && list[i]-'0' <= 9 && i < 12; i++ {
		leaf = leaf*10 + int(list[i]-'0')
	}
	if i == 1 || i+1 >= len(list) || list[i] != ',' || list[i+1] != '"' {
		return -1, nil, nil
	}
	list = list[i+2:]
	end := bytes.IndexByte(list, '"')
	if end <= 0 || !jsontext.IsNumber(list[:end]) {
		return -1, nil, nil
	}
	return leaf, list[:end], list[end+1:]
}

// appendFloat appends a float of an event with this mapping; if point, one without a fraction gets ".0". NaN and
// infinities, which the mapping writes as strings, are null as for all readers.
func appendFloat(dst []byte, f float64, point bool) []byte {
	if f-f != 0 {
		return append(dst, "null"...)
	}
	dst = event.AppendFloat(dst, f)
	if point && isWhole(f) {
		dst = append(dst, '.', '0')
	}
	return dst
}

func appendBare(dst []byte, f float64) []byte  { return appendFloat(dst, f, false) }
func appendPoint(dst []byte, f float64) []byte { return appendFloat(dst, f, true) }

// seconds remembers the text of one second.
type seconds struct {
	valid      bool
	unix, zone int64
	head, tail []byte

	location     *time.Location // of locationZone
	locationZone int64
}

// append appends a time as RFC 3339 with as many digits of the second as it has.
func (s *seconds) append(dst []byte, millis, nanos, zone int64) []byte {
	unix, ms := millis/1000, millis%1000
	if ms < 0 {
		unix, ms = unix-1, ms+1000
	}
	if nanos < 0 || nanos >= 1e6 {
		return appendTime(dst, millis, nanos, zone)
	}
	if !s.valid || unix != s.unix || zone != s.zone {
		t := time.Unix(unix, 0).UTC()
		if zone != 0 {
			t = t.In(time.FixedZone("", int(zone)))
		}
		text := t.AppendFormat(s.head[:0], time.RFC3339)
		tail := len("+00:00")
		if text[len(text)-1] == 'Z' {
			tail = len("Z")
		}
		s.tail = append(s.tail[:0], text[len(text)-tail:]...)
		s.head, s.unix, s.zone, s.valid = text[:len(text)-tail], unix, zone, true
	}
	dst = append(dst, s.head...)
	return append(slogtext.AppendFraction(dst, uint32(ms*1e6+nanos)), s.tail...)
}
