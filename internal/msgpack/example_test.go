package msgpack_test

import (
	"fmt"
	"log/slog"

	"github.com/tracehandler/tracehandler/internal/msgpack"
)

func Example() {
	b, err := msgpack.AppendMap(nil, []slog.Attr{slog.String("_filename", "app.ndjson"), slog.Int("part", 2)})
	if err != nil {
		panic(err)
	}
	v, err := msgpack.Decode(b)
	fmt.Printf("%q\n%v %v\n", b, v, err)
	// Output:
	// "\x82\xa9_filename\xaaapp.ndjson\xa4part\x02"
	// [_filename=app.ndjson part=2] <nil>
}
