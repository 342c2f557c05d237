package slogkv

import (
	"bytes"
	"iter"
	"strconv"

	"github.com/tracehandler/tracehandler/clp/ir"
	"github.com/tracehandler/tracehandler/internal/jsontext"
)

// Foreign reports whether the stream is a key-value stream that does not follow this mapping: another library has written it.
func (d *Decoder) Foreign() bool { return d.r != nil && !d.ours && !d.r.IsText() }

// Objects returns the two objects of a foreign stream's event that AppendLine made a line of last: what the user said, and what the
// logging library made. They are valid until the next one.
func (d *Decoder) Objects() (user, auto []byte) { return d.objects[ir.User], d.objects[ir.Auto] }

// appendForeign appends the line of an event of a foreign stream.
func (d *Decoder) appendForeign(dst []byte, e *ir.Event) ([]byte, error) {
	for _, n := range []ir.Namespace{ir.Auto, ir.User} {
		var err error
		if d.objects[n], err = e.AppendObject(d.objects[n][:0], n); err != nil {
			return dst, err
		}
	}
	return AppendForeign(dst, d.objects[ir.User], d.objects[ir.Auto]), nil
}

// AppendForeign appends the line of an event of a foreign stream, which AppendLine makes, of its two objects: what the user said, and
// what the logging library made. Both are JSON objects, as ir.Event.AppendObject and archive.Record have them. If one of them is not,
// because an archive is damaged, the line is user.
func AppendForeign(dst, user, auto []byte) []byte {
	user, auto = bytes.TrimSpace(user), bytes.TrimSpace(auto)
	if len(user) < 2 || user[0] != '{' || user[len(user)-1] != '}' || len(auto) == 0 || auto[0] != '{' || !jsontext.Valid(auto) {
		return append(dst, user...)
	}
	var f foreign
	f.read(auto)
	dst = f.appendBuiltins(append(dst, '{'))
	if members := bytes.TrimSpace(user[1 : len(user)-1]); len(members) > 0 {
		dst = append(appendComma(dst), members...)
	}
	if len(f.rest) > 0 {
		dst = append(appendComma(dst), `"@":{`...)
		dst = append(append(dst, f.rest...), '}')
	}
	return append(dst, '}')
}

// ForeignKeys are the outermost keys that AppendForeign makes of what the logging library made.
var ForeignKeys = []string{"time", "level", "source", "@"}

// ForeignTexts are the keys of such a line that have the text of a key which the logging library made, if that is a text and not
// empty: pairs of paths.
var ForeignTexts = [][2][]string{
	{{"level"}, {keyLevel, keyName}},
	{{"source", "file"}, {keySource, keyPath}},
	{{"source", "function"}, {keySource, keyFunction}},
}

// foreign is what the keys that a logging library made say of an event.
type foreign struct {
	hasTime              bool
	millis, zone, line   int64
	name, path, function []byte
	rest                 []byte // members that are something else
}

// read takes an object of such keys apart.
func (f *foreign) read(auto []byte) {
	for key, value := range members(auto) {
		section := string(jsontext.AppendText(nil, key[1:len(key)-1]))
		if value[0] != '{' || section != keyTimestamp && section != keyLevel && section != keySource {
			f.rest = appendMember(f.rest, key, value)
			continue
		}
		var rest []byte
		some := false
		for k, v := range members(value) {
			some = true
			if !f.builtin(section, string(jsontext.AppendText(nil, k[1:len(k)-1])), v) {
				rest = appendMember(rest, k, v)
			}
		}
		if len(rest) > 0 || !some {
			f.rest = append(appendMember(f.rest, key, append([]byte{'{'}, rest...)), '}')
		}
	}
}

// builtin takes a value if it is one of those that are known.
func (f *foreign) builtin(section, key string, value []byte) bool {
	var integer *int64
	var text *[]byte
	switch section + "." + key {
	case keyTimestamp + "." + keyMillis:
		integer = &f.millis
	case keyTimestamp + "." + keyOffset:
		integer = &f.zone
	case keySource + "." + keyLine:
		integer = &f.line
	case keyLevel + "." + keyName:
		text = &f.name
	case keySource + "." + keyPath:
		text = &f.path
	case keySource + "." + keyFunction:
		text = &f.function
	}
	switch {
	case text != nil && value[0] == '"':
		*text = jsontext.AppendText(nil, value[1:len(value)-1])
		return true
	case integer != nil:
		v, err := strconv.ParseInt(string(value), 10, 64)
		if err == nil {
			*integer = v
			f.hasTime = f.hasTime || integer == &f.millis
		}
		return err == nil
	}
	return false
}

// appendBuiltins appends time, level and source, each if it is there.
func (f *foreign) appendBuiltins(dst []byte) []byte {
	if f.hasTime {
		dst = append(dst, `"time":"`...)
		dst = append(appendTime(dst, f.millis, 0, f.zone), '"')
	}
	if len(f.name) > 0 {
		dst = append(appendComma(dst), `"level":`...)
		dst = ir.AppendQuoted(dst, f.name)
	}
	if len(f.path)+len(f.function) == 0 && f.line == 0 {
		return dst
	}
	return appendSource(appendComma(dst), f.path, f.function, f.line)
}

// members iterates over the members of an object: keys with their quotes, and values.
func members(object []byte) iter.Seq2[[]byte, []byte] {
	return func(yield func(key, value []byte) bool) {
		i := jsontext.SkipSpace(object, jsontext.SkipSpace(object, 0)+1)
		for object[i] != '}' {
			if object[i] == ',' {
				i = jsontext.SkipSpace(object, i+1)
			}
			end := jsontext.StringEnd(object, i+1)
			key := object[i:end]
			i = jsontext.SkipSpace(object, jsontext.SkipSpace(object, end)+1)
			if end = jsontext.ValueEnd(object, i); !yield(key, object[i:end]) {
				return
			}
			i = jsontext.SkipSpace(object, end)
		}
	}
}

// appendMember appends a member to others.
func appendMember(dst, key, value []byte) []byte {
	if len(dst) > 0 {
		dst = append(dst, ',')
	}
	return append(append(append(dst, key...), ':'), value...)
}
