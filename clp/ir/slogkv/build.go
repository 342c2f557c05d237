package slogkv

import (
	"log/slog"
	"time"

	"github.com/tracehandler/tracehandler/clp/ir"
	"github.com/tracehandler/tracehandler/internal/slogtext"
)

// Builder takes the members of a record one by one, as *archive.Row does. Members come in the order in which AppendLine has them;
// those between Open and Close are those of an object. Bytes stay valid until the reader goes to its next event.
type Builder interface {
	Open(key string)
	Close()
	Int(key string, v int64)
	Float(key string, v float64)
	Bool(key string, v bool)
	Null(key string)
	String(key string, text []byte)
	Raw(key string, text []byte)   // JSON
	Time(key string, at time.Time) // as a string in the form of RFC 3339
}

// Build gives b the members of the line that AppendLine would append, without making text of them. It reports false, and has
// given b nothing, if only AppendLine knows the line. An error is that of AppendLine; b has some members then.
func (d *Decoder) Build(b Builder, e *ir.Event) (ok bool, err error) {
	if d.r.IsText() {
		return false, nil
	}
	t := d.template(e)
	if t == nil {
		return false, nil
	}
	if err := t.build(d, b, e); err != nil {
		return true, e.Corrupt(err)
	}
	return true, nil
}

// buildStep is a part of a walk over the user-generated keys.
type buildStep struct {
	op  buildOp
	key string
}

type buildOp uint8

const (
	buildValue buildOp = iota
	buildOpen
	buildClose
)

// keyText returns a key as it is in the line.
func keyText(name []byte) string { return string([]rune(string(name))) }

func (t *template) build(d *Decoder, b Builder, e *ir.Event) error {
	d.texts = d.texts[:0]
	v, err := t.builtins(d, e)
	if err != nil {
		return err
	}
	if t.canonical {
		if v.hasTime {
			b.Time(slog.TimeKey, d.when.at(v.millis, v.nanos, v.zone))
		}
		d.levelText = slogtext.AppendLevel(d.levelText[:0], v.level)
		b.String(slog.LevelKey, d.levelText)
		if err := t.buildSource(d, b, e, v); err != nil {
			return err
		}
	}
	leaf, number, exact := nextNumber(d.exact)
	at := t.viewer
	for i := range t.steps {
		s := &t.steps[i]
		switch s.op {
		case buildOpen:
			b.Open(s.key)
			continue
		case buildClose:
			b.Close()
			continue
		}
		if at == leaf {
			b.Raw(s.key, number)
			leaf, number, exact = nextNumber(exact)
		} else if err := d.buildValue(b, e, s.key, at, v.point); err != nil {
			return err
		}
		at++
	}
	return nil
}

func (d *Decoder) buildValue(b Builder, e *ir.Event, key string, at int, point bool) error {
	switch e.KindAt(ir.User, at) {
	case ir.Null:
		b.Null(key)
	case ir.Empty:
		b.Open(key)
		b.Close()
	case ir.Int:
		b.Int(key, e.IntAt(ir.User, at))
	case ir.Bool:
		b.Bool(key, e.BoolAt(ir.User, at))
	case ir.Float:
		switch v := e.FloatAt(ir.User, at); {
		case v-v != 0:
			b.Null(key)
		case point && isWhole(v):
			b.Raw(key, d.keep(appendFloat(d.texts, v, true)))
		default:
			b.Float(key, v)
		}
	case ir.String:
		text, inBuffer := e.PlainAt(ir.User, at)
		if !inBuffer {
			all, err := e.AppendTextAt(d.texts, ir.User, at)
			if err != nil {
				return err
			}
			text = d.keep(all)
		}
		b.String(key, text)
	default:
		all, err := e.AppendJSONAt(d.texts, ir.User, at)
		if err != nil {
			return err
		}
		b.Raw(key, d.keep(all))
	}
	return nil
}

// keep makes all, which begins with d.texts, d.texts, and returns what was appended. That stays as it is until the next event.
func (d *Decoder) keep(all []byte) []byte {
	from := len(d.texts)
	d.texts = all
	return all[from:len(all):len(all)]
}

func (t *template) buildSource(d *Decoder, b Builder, e *ir.Event, v *builtinValues) error {
	if v.pathAt < 0 && v.functionAt < 0 && v.line == 0 {
		return nil
	}
	if err := t.knowSource(d, e, v); err != nil {
		return err
	}
	if len(t.source) == 0 {
		return nil
	}
	b.Open(slog.SourceKey)
	if len(t.functionText) > 0 {
		b.String("function", t.functionText)
	}
	if len(t.pathText) > 0 {
		b.String("file", t.pathText)
	}
	if v.line != 0 {
		b.Int("line", v.line)
	}
	b.Close()
	return nil
}

// at returns a time.
func (s *seconds) at(millis, nanos, zone int64) time.Time {
	t := time.UnixMilli(millis).Add(time.Duration(nanos))
	if zone == 0 {
		return t.UTC()
	}
	if s.location == nil || s.locationZone != zone {
		s.location, s.locationZone = time.FixedZone("", int(zone)), zone
	}
	return t.In(s.location)
}
