package frame_test

import (
	"bytes"
	"fmt"
	"io"

	"github.com/tracehandler/tracehandler/format"
	"github.com/tracehandler/tracehandler/internal/frame"
)

// Two frames, walked by their headers, the second one decoded alone.
func Example() {
	enc, err := frame.NewEncoder(format.Zstd, 0)
	if err != nil {
		panic(err)
	}
	var file []byte
	for _, block := range []string{"{\"n\":1}\n", "{\"n\":2}\n{\"n\":3}\n"} {
		if file, err = enc.AppendFrame(file, []byte(block)); err != nil {
			panic(err)
		}
	}

	var frames []frame.Info
	r, size := bytes.NewReader(file), int64(len(file))
	for off := int64(0); ; {
		info, err := frame.NextZstd(r, off, size)
		if err == io.EOF {
			break
		}
		if err != nil {
			panic(err)
		}
		fmt.Println("frame of", info.ContentSize, "bytes")
		frames = append(frames, info)
		off = info.End()
	}

	var dec frame.Decoder
	last := frames[1]
	text, err := dec.AppendZstd(nil, file[last.Offset:last.End()], 1<<20)
	fmt.Printf("%s%v\n", text, err)
	// Output:
	// frame of 8 bytes
	// frame of 16 bytes
	// {"n":2}
	// {"n":3}
	// <nil>
}
