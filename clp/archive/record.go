package archive

import (
	"errors"

	"github.com/tracehandler/tracehandler/event"
)

// Record is one record of an archive. It is valid until the Reader's next Next.
type Record struct {
	table *tableReader
	row   int64
}

// Number returns the record's place in the log, from 0, or -1 if the archive does not know the order.
func (r *Record) Number() int64 {
	if r.table.order < 0 {
		return -1
	}
	return int64(r.table.cols[r.table.order].values[r.row-r.table.from])
}

// Schema returns the ID of the record's schema: records with the same members of the same types have the same.
func (r *Record) Schema() int32 { return r.table.r.schemas.list[r.table.t.schema].id }

// AppendJSON appends the record as a JSON object, without a newline, as the reference prints it: members in the order in
// which the archive first saw them, strings escaped where they must be, floats and times as they were spelt. Arrays are
// as they were in the input, which may be over several lines.
//
// A value that cannot be shown is a *CorruptError; other records are not affected. dst then has the text before it.
func (r *Record) AppendJSON(dst []byte) ([]byte, error) {
	return r.append(dst, r.table.layout)
}

// AppendAuto appends the keys that the logging library made, as opposed to those of the user: archives of key-value
// streams have them. They are an object of their own, {} if the archive has none.
func (r *Record) AppendAuto(dst []byte) ([]byte, error) {
	if r.table.auto == nil {
		return append(dst, "{}"...), nil
	}
	return r.append(dst, r.table.auto)
}

func (r *Record) append(dst []byte, l *layout) ([]byte, error) {
	dst, err := r.table.appendRow(dst, r.row, l)
	if err != nil {
		var limit *LimitError
		if errors.As(err, &limit) {
			return dst, limit
		}
		return dst, &CorruptError{
			Section: sectionData, Stream: int(r.table.t.stream), Offset: r.table.t.from, Record: r.row, Schema: r.Schema(), Err: err,
		}
	}
	return dst, nil
}

// Event returns the record as an event, which stays valid.
func (r *Record) Event() (event.Event, error) {
	line, err := r.AppendJSON(nil)
	if err != nil {
		return event.Event{}, err
	}
	return event.Lazy(line), nil
}
