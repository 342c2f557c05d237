package zstdframe_test

import (
	"bytes"
	"encoding/binary"
	"fmt"

	"github.com/klauspost/compress/zstd"

	"github.com/tracehandler/tracehandler/internal/zstdframe"
)

// decode returns what a frame holds.
func decode(frame []byte) []byte {
	d, err := zstd.NewReader(nil)
	if err != nil {
		panic(err)
	}
	defer d.Close()
	plain, err := d.DecodeAll(frame, nil)
	if err != nil {
		panic(err)
	}
	return plain
}

func ExampleWords() {
	var column []byte
	for i := range uint64(1000) {
		column = binary.LittleEndian.AppendUint64(column, 1_700_000_000_000+1000*i)
	}
	var words zstdframe.Words
	frame := words.Append(nil, column)
	fmt.Println(bytes.Equal(decode(frame), column), len(frame) < len(column)/3)
	// Output: true true
}

func ExampleBest() {
	text := bytes.Repeat([]byte("a log line, and "), 20)
	var best zstdframe.Best
	frame := best.Append(nil, text)
	fmt.Println(bytes.Equal(decode(frame), text), len(frame))
	// Output: true 37
}

func ExampleBare() {
	text := bytes.Repeat([]byte("a log line, and "), 20)
	var best zstdframe.Best
	frame := best.Append(nil, text)
	whole := len(frame)
	frame = zstdframe.Bare(frame, len(text))
	fmt.Println(bytes.Equal(decode(frame), text), whole-len(frame))
	// Output: true 5
}
