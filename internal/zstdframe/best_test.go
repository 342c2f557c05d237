package zstdframe

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
)

// testTexts makes entries of a dictionary: words, numbers, and what came before.
func testTexts(r *rand.Rand, n int) []byte {
	var b strings.Builder
	words := strings.Fields("request took ms for user failed with status id of the cache open close retry after timeout WARN INFO")
	for b.Len() < n {
		switch r.IntN(6) {
		case 0:
			fmt.Fprintf(&b, "%d ", r.IntN(5000))
		case 1:
			fmt.Fprintf(&b, "%x ", r.Uint64())
		case 2:
			if s := b.String(); len(s) > 100 {
				at := r.IntN(len(s) - 50)
				b.WriteString(s[at : at+r.IntN(50)])
			}
		case 3:
			b.WriteString(strings.Repeat("=", r.IntN(30)))
		default:
			b.WriteString(words[r.IntN(len(words))] + " ")
		}
	}
	return []byte(b.String()[:n])
}

func TestBest(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	var e Best
	try := func(name string, plain []byte) {
		frame := e.Append([]byte("before"), plain)[6:]
		got, err := decodeZstd(t, frame)
		if err != nil || !bytes.Equal(got, plain) {
			t.Fatalf("%s, %d bytes: %v", name, len(plain), err)
		}
	}
	for kind := range 9 {
		for _, n := range []int{0, 1, 2, 3, 5, 17, 100, 129, 1000, 16384, 17_000} {
			try(fmt.Sprint("words ", kind), testWords(r, kind, n))
		}
	}
	for _, n := range []int{1, 3, 10, 100, 1023, 1024, 1025, 5000, 131_071, 131_072, 131_073, 150_000} {
		try("texts", testTexts(r, n))
		try("one byte", bytes.Repeat([]byte{'x'}, n))
		try("runs", append(bytes.Repeat([]byte("ab"), n/2), bytes.Repeat([]byte("abc"), n/3)...))
		noise := make([]byte, n)
		for i := range noise {
			noise[i] = byte(r.Uint32())
		}
		try("noise", noise)
		try("noise twice", append(noise, noise...))
	}
}

// TestBestSmaller holds the frames against those of the best that a general compressor does.
func TestBestSmaller(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	var e Best
	general, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithEncoderLevel(zstd.SpeedBestCompression))
	check(t, err)
	defer general.Close()
	for name, c := range map[string]struct {
		plain []byte
		least float64
	}{"short text": {testTexts(r, 1000), 1}, "text": {testTexts(r, 100_000), 1.03}, "words": {testWords(r, 6, 10_000), 1.01}} {
		got, other := len(e.Append(nil, c.plain)), len(general.EncodeAll(c.plain, nil))
		t.Logf("%s: %d bytes become %d, the other has %d", name, len(c.plain), got, other)
		if float64(got)*c.least > float64(other) {
			t.Errorf("%s: %d bytes, the other has %d", name, got, other)
		}
	}
}

// FuzzBest encodes any bytes.
func FuzzBest(f *testing.F) {
	r := rand.New(rand.NewPCG(5, 6))
	for kind := range 9 {
		f.Add(testWords(r, kind, 40), uint16(1))
		f.Add(testWords(r, kind, 9), uint16(500))
	}
	f.Add(testTexts(r, 1000), uint16(2))
	var e Best
	f.Fuzz(func(t *testing.T, piece []byte, times uint16) {
		plain := bytes.Repeat(piece, min(int(times), (4<<10)/(len(piece)+1)))
		got, err := decodeZstd(t, e.Append(nil, plain))
		if err != nil || !bytes.Equal(got, plain) {
			t.Fatalf("%d bytes: %v", len(plain), err)
		}
	})
}

// BenchmarkBest makes frames of texts, and has a general compressor do the same.
func BenchmarkBest(b *testing.B) {
	var e Best
	general, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithEncoderLevel(zstd.SpeedBestCompression))
	check(b, err)
	defer general.Close()
	for _, n := range []int{500, 10_000, 500_000} {
		plain := testTexts(rand.New(rand.NewPCG(3, 4)), n)
		var out []byte
		for name, encode := range map[string]func(){"best": func() { out = e.Append(out[:0], plain) }, "general": func() { out = general.EncodeAll(plain, out[:0]) }} {
			b.Run(fmt.Sprintf("bytes=%d/%s", n, name), func(b *testing.B) {
				b.SetBytes(int64(len(plain)))
				b.ReportAllocs()
				for b.Loop() {
					encode()
				}
				b.ReportMetric(float64(len(plain))/float64(len(out)), "times")
			})
		}
	}
}
