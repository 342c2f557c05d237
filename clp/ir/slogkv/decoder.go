package slogkv

import (
	"bytes"
	"log/slog"
	"strconv"
	"time"

	"github.com/tracehandler/tracehandler/clp/ir"
	"github.com/tracehandler/tracehandler/internal/jsontext"
	"github.com/tracehandler/tracehandler/internal/slogtext"
)

// Decoder turns the events of one stream into JSON lines. It is for one goroutine at a time.
type Decoder struct {
	r    *ir.Reader // nil: packed events
	ours bool       // the stream says that it follows the mapping
	line lineWriter
	auto autoReader
	text []byte

	objects [2][]byte // of a foreign stream's event, by namespace

	exact     []byte // @exact.numbers
	when      seconds
	values    builtinValues
	levelText []byte
	texts     []byte // of Build
}

// NewDecoder returns a decoder of the events that r reads, of either kind.
func NewDecoder(r *ir.Reader) *Decoder {
	d := &Decoder{r: r}
	_, d.ours = readUser(r.Metadata())
	return d
}

// AppendLine appends e as one JSON line, without the newline. Of a stream with this mapping that is the line that the
// JSON encoder of package event writes of the same record, up to the way in which strings and numbers are spelled. Of a
// text stream it is time, level (if the message has one, see ir.Event.Level) and msg, the message without the newline at
// its end.
//
// An error is an *ir.CorruptError of this event alone, and dst is as it was.
func (d *Decoder) AppendLine(dst []byte, e *ir.Event) ([]byte, error) {
	if d.r.IsText() {
		return d.appendText(dst, e)
	}
	if !d.ours {
		return d.appendForeign(dst, e)
	}
	var out []byte
	var err error
	if t := d.template(e); t != nil {
		out, err = t.append(d, dst, e)
	} else {
		out, err = d.append(dst, e.Visit)
	}
	if err != nil {
		return dst, e.Corrupt(err)
	}
	return out, nil
}

// Readable reports whether AppendLine will succeed and make a line of at most limit bytes. It costs less than AppendLine;
// it may be false though the line could be made.
func (d *Decoder) Readable(e *ir.Event, limit int) bool {
	if d.r.IsText() {
		return false
	}
	t := d.template(e)
	return t != nil && t.most(e) <= int64(limit) && e.Readable()
}

// template returns the template for e, nil if there is none.
func (d *Decoder) template(e *ir.Event) *template {
	s := e.Shape()
	if !d.ours || s == nil {
		return nil
	}
	t, ok := s.Note.(*template)
	if !ok {
		t = newTemplate(e)
		s.Note = t
	}
	return t
}

// append appends the event whose trees visit walks.
func (d *Decoder) append(dst []byte, visit func(ir.Namespace, ir.Visitor) error) ([]byte, error) {
	d.auto.reset()
	if err := visit(ir.Auto, &d.auto); err != nil {
		return dst, err
	}
	a := &d.auto
	if a.json != nil {
		return append(dst, a.json...), nil
	}
	w := &d.line
	w.reset(append(dst, '{'))
	if a.hasNum {
		w.b = a.appendBuiltins(w.b)
	}
	w.rename, w.point, w.numbers = a.hasNum, a.point, a.numbers
	if a.hasNum && a.viewer {
		w.skip = viewerLeaves
	}
	if err := visit(ir.User, w); err != nil {
		return dst, err
	}
	if len(a.rest.b) > 1 {
		w.b = append(appendComma(w.b), `"@":`...)
		w.b = append(append(w.b, a.rest.b...), '}')
	}
	return append(w.b, '}'), nil
}

func (d *Decoder) appendText(dst []byte, e *ir.Event) ([]byte, error) {
	var err error
	if d.text, err = e.AppendMessage(d.text[:0]); err != nil {
		return dst, err
	}
	dst = append(dst, `{"time":"`...)
	dst = append(appendTime(dst, e.Time(), 0, e.UTCOffset()/1000), '"')
	if l := e.Level(); l != ir.NoLevel {
		dst = append(dst, `,"level":"`...)
		dst = append(append(dst, slogNames[l]...), '"')
	}
	dst = append(dst, `,"msg":`...)
	dst = ir.AppendQuoted(dst, bytes.TrimSuffix(d.text, []byte{'\n'}))
	return append(dst, '}'), nil
}

// slogNames are the levels of a text event in the words of log/slog, which has no TRACE and no FATAL.
var slogNames = [...]string{ir.Trace: "DEBUG-4", ir.Debug: "DEBUG", ir.Info: "INFO", ir.Warn: "WARN", ir.Error: "ERROR", ir.Fatal: "ERROR+4"}

// autoReader takes the auto-generated keys of a stream with this mapping apart.
type autoReader struct {
	depth   int
	section string // the object at depth 1, if its keys are known

	hasTime             bool
	millis, nanos, zone int64
	hasNum              bool
	num                 slog.Level
	path, function      []byte
	line                int64
	numbers             []spelling
	point, viewer       bool
	json                []byte

	rest lineWriter // what is not known
}

func (a *autoReader) reset() {
	*a = autoReader{path: a.path[:0], function: a.function[:0], numbers: a.numbers[:0], rest: a.rest}
	a.rest.reset(append(a.rest.b[:0], '{'))
	a.rest.fullFloat = true
}

var sections = [...]string{keyTimestamp, keyLevel, keySource, keyExact}

func (a *autoReader) Open(name []byte) error {
	a.depth++
	if a.depth == 1 {
		a.section = ""
		for _, s := range sections {
			if string(name) == s {
				a.section = s
			}
		}
	}
	if a.section != "" && a.depth == 1 {
		return nil
	}
	return a.rest.Open(name)
}

func (a *autoReader) Close() error {
	a.depth--
	if a.depth == 0 && a.section != "" {
		// The keys that were not known stand in an object of their own.
		if a.rest.inside {
			a.rest.inside = false
			return a.rest.Close()
		}
		return nil
	}
	return a.rest.Close()
}

func (a *autoReader) Value(name []byte, v *ir.Value) (err error) {
	known := false
	if a.depth == 1 {
		known = true
		switch {
		case a.section == keyTimestamp && v.Kind() == ir.Int && string(name) == keyMillis:
			a.millis, a.hasTime = v.Int(), true
		case a.section == keyTimestamp && v.Kind() == ir.Int && string(name) == keyOffset:
			a.zone = v.Int()
		case a.section == keyTimestamp && v.Kind() == ir.Int && string(name) == keyNanos:
			a.nanos = v.Int()
		case a.section == keyLevel && v.Kind() == ir.String && string(name) == keyName: // keyNum says it better
		case a.section == keyLevel && v.Kind() == ir.Int && string(name) == keyNum:
			a.num, a.hasNum = slog.Level(v.Int()), true
		case a.section == keySource && v.Kind() == ir.String && string(name) == keyPath:
			a.path, err = v.AppendText(a.path)
		case a.section == keySource && v.Kind() == ir.Int && string(name) == keyLine:
			a.line = v.Int()
		case a.section == keySource && v.Kind() == ir.String && string(name) == keyFunction:
			a.function, err = v.AppendText(a.function)
		case a.section == keyExact && v.Kind() == ir.Array && string(name) == keyNumbers:
			err = a.readNumbers(v)
		case a.section == keyExact && v.Kind() == ir.Bool && string(name) == keyPoint:
			a.point = v.Bool()
		case a.section == keyExact && v.Kind() == ir.String && string(name) == keyJSON:
			if a.json, err = v.AppendText(nil); err == nil && !jsontext.Valid(a.json) {
				err = ir.ErrArray
			}
		default:
			known = false
		}
	}
	if a.depth == 0 && string(name) == keyViewer && v.Kind() == ir.Bool {
		a.viewer, known = v.Bool(), true
	}
	if known || err != nil {
		return err
	}
	if a.depth == 1 && a.section != "" && !a.rest.inside {
		a.rest.inside = true
		if err := a.rest.Open([]byte(a.section)); err != nil {
			return err
		}
	}
	return a.rest.Value(name, v)
}

func (a *autoReader) readNumbers(v *ir.Value) error {
	text, err := v.AppendText(nil)
	if err != nil {
		return err
	}
	for leaf, number, rest := nextNumber(text); leaf >= 0; leaf, number, rest = nextNumber(rest) {
		a.numbers = append(a.numbers, spelling{leaf, string(number)})
	}
	return nil
}

// appendBuiltins appends time, level and source, each if it is there.
func (a *autoReader) appendBuiltins(dst []byte) []byte {
	if a.hasTime {
		dst = append(dst, `"time":"`...)
		dst = append(appendTime(dst, a.millis, a.nanos, a.zone), '"')
	}
	dst = append(appendComma(dst), `"level":"`...)
	dst = append(slogtext.AppendLevel(dst, a.num), '"')
	if len(a.path) == 0 && len(a.function) == 0 && a.line == 0 {
		return dst
	}
	return appendSource(appendComma(dst), a.path, a.function, a.line)
}

// appendSource appends the member source, with the fields that are known.
func appendSource(dst, path, function []byte, line int64) []byte {
	dst = append(dst, `"source":{`...)
	if len(function) > 0 {
		dst = append(dst, `"function":`...)
		dst = ir.AppendQuoted(dst, function)
	}
	if len(path) > 0 {
		dst = append(appendComma(dst), `"file":`...)
		dst = ir.AppendQuoted(dst, path)
	}
	if line != 0 {
		dst = append(appendComma(dst), `"line":`...)
		dst = strconv.AppendInt(dst, line, 10)
	}
	return append(dst, '}')
}

// appendTime appends a time as RFC 3339 with as many digits of the second as it has.
func appendTime(dst []byte, millis, nanos, zone int64) []byte {
	t := time.UnixMilli(millis).Add(time.Duration(nanos))
	if zone == 0 {
		t = t.UTC()
	} else {
		t = t.In(time.FixedZone("", int(zone)))
	}
	return t.AppendFormat(dst, time.RFC3339Nano)
}

func appendComma(dst []byte) []byte {
	if dst[len(dst)-1] != '{' {
		dst = append(dst, ',')
	}
	return dst
}

// lineWriter is a visitor that appends members to the object that b ends in.
type lineWriter struct {
	b         []byte
	rename    bool // the first value is the message
	point     bool // floats without a fraction get ".0"
	fullFloat bool // floats are as other readers show them
	inside    bool // for autoReader
	numbers   []spelling
	leaf      int
	skip      int // values that are left out
}

func (w *lineWriter) reset(b []byte) { *w = lineWriter{b: b} }

func (w *lineWriter) Open(name []byte) error {
	if w.leaf < w.skip {
		return nil
	}
	w.b = append(ir.AppendQuoted(appendComma(w.b), name), ':', '{')
	return nil
}

func (w *lineWriter) Close() error {
	if w.leaf <= w.skip && w.skip > 0 {
		return nil
	}
	w.b = append(w.b, '}')
	return nil
}

func (w *lineWriter) Value(name []byte, v *ir.Value) error {
	if w.leaf < w.skip {
		w.leaf++
		return nil
	}
	if w.rename && w.leaf == w.skip {
		w.b = append(appendComma(w.b), `"msg":`...)
	} else {
		w.b = append(ir.AppendQuoted(appendComma(w.b), name), ':')
	}
	leaf := w.leaf
	w.leaf++
	if len(w.numbers) > 0 && w.numbers[0].leaf == leaf {
		w.b = append(w.b, w.numbers[0].text...)
		w.numbers = w.numbers[1:]
		return nil
	}
	var err error
	if v.Kind() == ir.Float && !w.fullFloat {
		w.b = appendFloat(w.b, v.Float(), w.point)
		return nil
	}
	w.b, err = v.AppendJSON(w.b)
	return err
}
