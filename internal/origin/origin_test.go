package origin

import (
	"log/slog"
	"reflect"
	"testing"

	"github.com/tracehandler/tracehandler/event"
)

// TestParse reads what Attrs says, and what others say.
func TestParse(t *testing.T) {
	more := []slog.Attr{slog.String("host", "h"), slog.Group("run", slog.Int64("id", 4))}
	for _, o := range []Origin{
		{Filename: "a.ndjson", Part: 1},
		{Filename: "a.ndjson", Part: 1, ID: "5f", Split: 3, Fields: more},
		{Filename: "a.ndjson", Part: 2, First: 7, ID: "5f", Stream: true},
	} {
		e := event.New(o.Attrs()...)
		if got := Parse(e); !reflect.DeepEqual(got, o) {
			t.Errorf("%+v became %+v", o, got)
		}
	}
	for line, want := range map[string]Origin{
		`{}`:                               {Part: 1},
		`{"_filename":7,"tracehandler":5}`: {Part: 1, Fields: []slog.Attr{slog.Int64("_filename", 7), slog.Int64("tracehandler", 5)}},
		`{"_filename":"x","tracehandler":{"part":"2","stream":1,"new":1}}`: {Filename: "x", Part: 1},
	} {
		if got := Parse(event.Lazy([]byte(line))); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %+v, want %+v", line, got, want)
		}
	}
}

// TestAttrs leaves out fields of a source that would be taken for those of the archive, and all but the last of equal ones.
func TestAttrs(t *testing.T) {
	o := Origin{Filename: "x", Part: 1, Fields: []slog.Attr{slog.String("a", "first"), slog.String("_filename", "y"), slog.String("tracehandler", "z"), slog.String("a", "last"), slog.Any("b", nil)}}
	if got := string(event.New(o.Attrs()...).AppendJSON(nil)); got != `{"_filename":"x","a":"last","b":null}` {
		t.Error(got)
	}
}
