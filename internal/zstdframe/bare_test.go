package zstdframe

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/klauspost/compress/zstd"
)

func TestBare(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	dec, err := zstd.NewReader(nil)
	check(t, err)
	defer dec.Close()
	var words Words
	var best Best
	for _, n := range []int{1, 7, 255, 256, 257, 1023, 1024, 1025, 1151, 1152, 1153, 2047, 2048, 2049, 65535, 65536, 70_000, 131_071, 131_072} {
		plain := make([]byte, n)
		for i := range plain {
			plain[i] = byte(rnd.IntN(9))
		}
		frames := map[string][]byte{"words": words.Append(nil, plain), "best": best.Append(nil, plain)}
		for _, single := range []bool{false, true} {
			for _, sum := range []bool{false, true} {
				enc, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithEncoderCRC(sum), zstd.WithSingleSegment(single))
				check(t, err)
				frames[fmt.Sprint("single segment ", single, ", checksum ", sum)] = enc.EncodeAll(plain, nil)
				check(t, enc.Close())
			}
		}
		for name, frame := range frames {
			before := len(frame)
			bare := Bare(frame, n)
			var h zstd.Header
			check(t, h.Decode(bare))
			if h.HasCheckSum || h.HasFCS || h.WindowSize < uint64(n) || h.WindowSize > max(1024, uint64(n)*9/8+1) {
				t.Fatalf("%d bytes, %s: header %+v", n, name, h)
			}
			if got, err := dec.DecodeAll(bare, nil); err != nil || !bytes.Equal(got, plain) || len(bare) > before {
				t.Fatalf("%d bytes, %s: a frame of %d bytes became one of %d: %d bytes, %v", n, name, before, len(bare), len(got), err)
			}
		}
	}
}
