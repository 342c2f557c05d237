// Package origin says in the range index of a CLP archive where its records come from: what the reference says there, and more if
// there is more to say.
//
//	{"_filename":"app.ndjson","_archive_creator_id":"5f0c…","_file_split_number":1,"tracehandler":{"part":2,"first":1000000}}
package origin

import (
	"log/slog"
	"slices"

	"github.com/tracehandler/tracehandler/clp/archive"
	"github.com/tracehandler/tracehandler/event"
)

// Origin is what is said.
type Origin struct {
	Filename string      // of the source
	Split    int         // how many archives before this one have records of the source
	Fields   []slog.Attr // what the source says of itself

	ID     string // of the set of archives that this one is a part of, different from those of all others; empty if it is alone
	Part   int64  // from 1
	First  int64  // number of records in the parts before
	Stream bool   // the source is a key-value stream of another library: package slogkv says what its events are
}

// Keys that the reference has, and ours.
const (
	keyFilename = "_filename"
	keyID       = "_archive_creator_id"
	keySplit    = "_file_split_number"
	keyOurs     = "tracehandler"
)

// Attrs returns the fields of a range.
func (o *Origin) Attrs() []slog.Attr {
	var ours []slog.Attr
	if o.Part > 1 {
		ours = append(ours, slog.Int64("part", o.Part), slog.Int64("first", o.First))
	}
	if o.Stream {
		ours = append(ours, slog.Bool("stream", true))
	}
	list := []slog.Attr{slog.String(keyFilename, o.Filename)}
	if o.ID != "" {
		list = append(list, slog.String(keyID, o.ID), slog.Int(keySplit, o.Split))
	}
	if len(ours) > 0 {
		list = append(list, slog.Attr{Key: keyOurs, Value: slog.GroupValue(ours...)})
	}
	known := len(list)
	for _, a := range slices.Backward(o.Fields) { // of equal keys, the last one counts in JSON
		if a.Key != keyOurs && !slices.ContainsFunc(list, func(b slog.Attr) bool { return a.Key == b.Key }) {
			list = append(list, a)
		}
	}
	slices.Reverse(list[known:])
	return list
}

// Of returns what an archive says of its set. It is false if it says nothing.
func Of(r *archive.Reader) (o Origin, ok bool) {
	for _, where := range r.Ranges() {
		o = Parse(where.Fields)
	}
	return o, o.ID != "" && o.Part >= 1 && o.First >= 0
}

// Parse reads the fields of a range: of any, also if this module has not written them.
func Parse(fields event.Event) Origin {
	o := Origin{Part: 1}
	attrs, _ := fields.Attrs() // they are no text that could be wrong
	for _, a := range attrs {
		switch kind := a.Value.Kind(); {
		case a.Key == keyFilename && kind == slog.KindString:
			o.Filename = a.Value.String()
		case a.Key == keyID && kind == slog.KindString:
			o.ID = a.Value.String()
		case a.Key == keySplit && kind == slog.KindInt64:
			o.Split = int(a.Value.Int64())
		case a.Key == keyOurs && kind == slog.KindGroup:
			o.ours(a.Value.Group())
		default:
			o.Fields = append(o.Fields, a)
		}
	}
	return o
}

// ours reads what only this module says.
func (o *Origin) ours(attrs []slog.Attr) {
	for _, a := range attrs {
		switch kind := a.Value.Kind(); {
		case a.Key == "part" && kind == slog.KindInt64:
			o.Part = a.Value.Int64()
		case a.Key == "first" && kind == slog.KindInt64:
			o.First = a.Value.Int64()
		case a.Key == "stream" && kind == slog.KindBool:
			o.Stream = a.Value.Bool()
		}
	}
}
