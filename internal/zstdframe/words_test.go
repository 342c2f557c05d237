package zstdframe

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/klauspost/compress/zstd"
)

// testWords makes columns as there are: counters, numbers of any size, few different values, runs, times, noise.
func testWords(r *rand.Rand, kind, n int) []byte {
	var b []byte
	v := r.Uint64() >> r.IntN(64)
	for i := range n {
		switch kind {
		case 0:
			v++
		case 1:
			v = r.Uint64() >> (8 * r.IntN(8))
		case 2:
			v = uint64(r.IntN(5))
		case 3:
			if r.IntN(40) == 0 {
				v = uint64(r.IntN(70_000))
			}
		case 4:
			v = uint64(1_000_000 + r.ExpFloat64()*400_000)
		case 5:
			v = r.Uint64()
		case 6:
			v = uint64(i)<<24 | uint64(r.IntN(20))
		case 7:
			v = 7
		case 8:
			v = r.Uint64() << 40
		}
		b = binary.LittleEndian.AppendUint64(b, v)
	}
	return append(b, make([]byte, r.IntN(8))...)
}

func decodeZstd(t testing.TB, frame []byte) ([]byte, error) {
	t.Helper()
	d, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1))
	check(t, err)
	defer d.Close()
	return d.DecodeAll(frame, nil)
}

func TestWordFrame(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	var e Words
	for kind := range 9 {
		for _, n := range []int{0, 1, 2, 3, 5, 17, 100, 129, 1000, 16384, 16385, 65536} {
			plain := testWords(r, kind, n)
			frame := e.Append([]byte("before"), plain)[6:]
			got, err := decodeZstd(t, frame)
			if err != nil || !bytes.Equal(got, plain) {
				t.Errorf("kind %d, %d words: %v", kind, n, err)
			}
		}
	}
}

// TestWordFrameSmaller holds the frames against those of a general compressor, of columns that are what they are for.
func TestWordFrameSmaller(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	var e Words
	general, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1))
	check(t, err)
	defer general.Close()
	for kind, least := range map[int]float64{0: 1, 3: 1.05, 4: 1.2, 6: 1.04} {
		plain := testWords(r, kind, 65536)
		if got, other := len(e.Append(nil, plain)), len(general.EncodeAll(plain, nil)); float64(got)*least > float64(other) {
			t.Errorf("kind %d: %d bytes, the other has %d", kind, got, other)
		}
	}
}

// FuzzWordFrame encodes any bytes.
func FuzzWordFrame(f *testing.F) {
	r := rand.New(rand.NewPCG(5, 6))
	for kind := range 9 {
		f.Add(testWords(r, kind, 40), uint16(1))
		f.Add(testWords(r, kind, 9), uint16(5000))
	}
	var e Words
	f.Fuzz(func(t *testing.T, piece []byte, times uint16) {
		plain := bytes.Repeat(piece, min(int(times), (400<<10)/(len(piece)+1)))
		got, err := decodeZstd(t, e.Append(nil, plain))
		if err != nil || !bytes.Equal(got, plain) {
			t.Fatalf("%d bytes: %v", len(plain), err)
		}
	})
}

// BenchmarkWordFrame encodes a frame of a column, and has a general compressor do the same.
func BenchmarkWordFrame(b *testing.B) {
	var e Words
	general, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1))
	check(b, err)
	defer general.Close()
	for _, kind := range []int{0, 3, 4, 6} {
		plain := testWords(rand.New(rand.NewPCG(3, 4)), kind, 65536)
		var out []byte
		for name, encode := range map[string]func(){"words": func() { out = e.Append(out[:0], plain) }, "general": func() { out = general.EncodeAll(plain, out[:0]) }} {
			b.Run(fmt.Sprintf("kind=%d/%s", kind, name), func(b *testing.B) {
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

func BenchmarkWordFrameDecode(b *testing.B) {
	var e Words
	general, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1))
	check(b, err)
	defer general.Close()
	d, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1))
	check(b, err)
	defer d.Close()
	for _, kind := range []int{0, 3, 4, 6} {
		plain := testWords(rand.New(rand.NewPCG(3, 4)), kind, 65536)
		for name, frame := range map[string][]byte{"words": e.Append(nil, plain), "general": general.EncodeAll(plain, nil)} {
			b.Run(fmt.Sprintf("kind=%d/%s", kind, name), func(b *testing.B) {
				b.SetBytes(int64(len(plain)))
				var out []byte
				for b.Loop() {
					if out, err = d.DecodeAll(frame, out[:0]); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
