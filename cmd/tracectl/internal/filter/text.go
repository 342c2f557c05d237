package filter

import (
	"encoding/json"
	"log/slog"
	"strconv"
	"time"

	"github.com/tracehandler/tracehandler/event"
)

// Text returns a value as a condition sees it: strings without quotes, numbers as they are written, null, and the JSON
// text of objects and arrays.
func Text(v slog.Value) string {
	switch v.Kind() {
	case slog.KindString:
		return v.String()
	case slog.KindInt64:
		return strconv.FormatInt(v.Int64(), 10)
	case slog.KindUint64:
		return strconv.FormatUint(v.Uint64(), 10)
	case slog.KindBool:
		return strconv.FormatBool(v.Bool())
	case slog.KindFloat64:
		return strconv.FormatFloat(v.Float64(), 'g', -1, 64)
	case slog.KindDuration:
		return strconv.FormatInt(int64(v.Duration()), 10)
	case slog.KindTime:
		return v.Time().Format(time.RFC3339Nano)
	case slog.KindAny:
		switch a := v.Any().(type) {
		case nil:
			return "null"
		case json.Number:
			return string(a)
		}
	}
	return string(AppendJSON(nil, v))
}

// AppendJSON appends the value as JSON.
func AppendJSON(dst []byte, v slog.Value) []byte {
	const key = "v"
	obj := event.New(slog.Attr{Key: key, Value: v}).AppendJSON(nil)
	const open = len(`{"v":`)
	if len(obj) <= open { // an empty group is left out by encoders
		return append(dst, "{}"...)
	}
	return append(dst, obj[open:len(obj)-1]...)
}
