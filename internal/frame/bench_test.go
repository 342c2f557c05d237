package frame_test

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/tracehandler/tracehandler/format"
	"github.com/tracehandler/tracehandler/internal/frame"
)

func BenchmarkAppendFrame(b *testing.B) {
	for _, f := range []format.Format{format.Plain, format.Gzip, format.Zstd} {
		for _, level := range map[format.Format][]int{format.Plain: {0}, format.Gzip: {1, 5, 9}, format.Zstd: {1, 2, 3, 4}}[f] {
			b.Run(fmt.Sprintf("%v/level=%d", f, level), func(b *testing.B) {
				e := encoder(b, f, level)
				block := lines(1, frame.BlockSize(f))
				dst := appendFrame(b, e, nil, block)
				b.SetBytes(int64(len(block)))
				b.ReportAllocs()
				b.ReportMetric(float64(len(block))/float64(len(dst)), "ratio")
				for b.Loop() {
					dst = appendFrame(b, e, dst[:0], block)
				}
			})
		}
	}
}

func benchFile(b *testing.B) []byte {
	e := encoder(b, format.Zstd, 0)
	var file []byte
	for i := range 16 {
		file = appendFrame(b, e, file, lines(uint64(i), frame.BlockSize(format.Zstd)))
	}
	return file
}

func BenchmarkNextZstd(b *testing.B) {
	file := benchFile(b)
	r := bytes.NewReader(file)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := frame.NextZstd(r, 0, int64(len(file))); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkFindZstd(b *testing.B) {
	file := benchFile(b)
	file = file[:len(file)/16*15]
	copy(file, "xxxx")
	clear(file[4:])
	b.SetBytes(int64(len(file)))
	for b.Loop() {
		if _, ok, err := frame.FindZstd(bytes.NewReader(file), 0, int64(len(file))); ok || err != nil {
			b.Fatal(ok, err)
		}
	}
}

func BenchmarkAppendZstd(b *testing.B) {
	block := lines(1, frame.BlockSize(format.Zstd))
	one := appendFrame(b, encoder(b, format.Zstd, 0), nil, block)
	var d frame.Decoder
	var dst []byte
	b.SetBytes(int64(len(block)))
	b.ReportAllocs()
	for b.Loop() {
		var err error
		if dst, err = d.AppendZstd(dst[:0], one, 1<<20); err != nil {
			b.Fatal(err)
		}
	}
}
