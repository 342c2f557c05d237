package archive

import "github.com/tracehandler/tracehandler/event"

// Record is one record of an archive. It is valid until the Reader's next Next, SeekRecord, SeekTime or Close.
type Record struct {
	v    *renderer
	b    *rowBatch
	row  int64
	made bool   // line and err are what AppendJSON says
	line []byte // not to be changed
	err  error
}

// Number returns the record's place in the log, from 0, or -1 if the archive does not know the order. In an [OpenSet] the
// records of all archives are counted.
func (r *Record) Number() int64 {
	t := r.b.t
	if t.order < 0 {
		return -1
	}
	return t.r.first + int64(r.b.cols[t.order].first[r.row-r.b.from])
}

// Place returns the record's table, as an index in Tables, and its row there.
func (r *Record) Place() (table int, row int64) { return r.b.t.index, r.row }

// Schema returns the ID of the record's schema: records with the same members of the same types have the same.
func (r *Record) Schema() int32 { return r.b.t.s.id }

// AppendJSON appends the record as a JSON object, without a newline. If the archive has kept how it was written, members
// have the order in which they were, and none is missing. Otherwise, or with Options.Plain, it is as the reference prints it:
// members in the order of the archive's nodes. Strings are escaped where they must be, floats and times are as
// they were spelt. Arrays are as they were in the input, which may be over several lines.
//
// A value that cannot be shown is a *CorruptError; other records are not affected. dst then has the text before it.
func (r *Record) AppendJSON(dst []byte) ([]byte, error) {
	if r.made {
		return append(dst, r.line...), r.err
	}
	return r.v.appendRecord(dst, r.b, r.row)
}

// JSON returns what AppendJSON appends. It is valid as long as the record is, and must not be changed.
func (r *Record) JSON() ([]byte, error) {
	if !r.made {
		r.line, r.err = r.v.appendRecord(r.v.whole[:0], r.b, r.row)
		r.v.whole, r.made = r.line, true
	}
	return r.line, r.err
}

// AppendAuto appends the keys that the logging library made, as opposed to those of the user: archives of key-value
// streams have them. They are an object of their own, {} if the archive has none.
func (r *Record) AppendAuto(dst []byte) ([]byte, error) {
	return r.v.appendAuto(dst, r.b, r.row)
}

// Event returns the record as an event, which stays valid.
func (r *Record) Event() (event.Event, error) {
	line, err := r.AppendJSON(nil)
	if err != nil {
		return event.Event{}, err
	}
	return event.Lazy(line), nil
}
