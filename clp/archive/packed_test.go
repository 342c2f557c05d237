package archive

import (
	"bytes"
	"encoding/binary"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
)

// packable is a page of what archives hold: columns that begin anywhere, and floats, texts, and random bytes between them.
func packable(rnd *rand.Rand, size int) []byte {
	b := make([]byte, rnd.IntN(9))
	for len(b) < size {
		step, v := rnd.Uint64()>>(1+rnd.IntN(63)), rnd.Uint64()>>rnd.IntN(64)
		for kind := rnd.IntN(12); len(b) < size && rnd.IntN(1500) > 0; {
			switch kind {
			case 0:
				b = append(b, byte(rnd.Uint32()))
			case 1:
				b = append(b, strings.Repeat("text ", rnd.IntN(4))...)
			case 2:
				b = binary.LittleEndian.AppendUint64(b, math.Float64bits(rnd.Float64()))
			case 3, 4, 5:
				b = binary.LittleEndian.AppendUint64(b, v+step*rnd.Uint64N(8))
			case 6, 7, 8:
				v += step
				b = binary.LittleEndian.AppendUint64(b, v)
			default:
				b = binary.LittleEndian.AppendUint64(b, uint64(rnd.Int64N(1<<20)-1<<19))
			}
		}
	}
	return b[:size]
}

func TestPackWords(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	packed, whole := 0, 0
	for range 2000 {
		plain := packable(rnd, rnd.IntN(3*segmentBytes))
		head := []byte("kept")
		always := appendPacked(head, plain)
		if got, err := unpackWords(nil, always[len(head):], len(plain)); err != nil || !bytes.Equal(got, plain) || len(always) > len(plain)/64*65+100 {
			t.Fatalf("%d bytes, packed into %d in any case, come back as %d, %v", len(plain), len(always), len(got), err)
		}
		from := rnd.IntN(len(plain) + 1)
		to := min(from+1+rnd.IntN(len(plain)+1), len(plain))
		part, begin, err := unpackPart([]byte("kept"), always[len(head):], len(plain), from, to)
		if from < to && (err != nil || begin > from || len(part)-4 < to-begin || !bytes.Equal(part[4:][from-begin:to-begin], plain[from:to]) || len(part) > to-from+2*8*runWords+20) {
			t.Fatalf("bytes %d to %d come back as %d from %d on, %v", from, to, len(part), begin, err)
		}
		b, ok := packWords(head, plain)
		if !ok {
			if !bytes.Equal(b, head) {
				t.Fatalf("a page that is not packed leaves %d bytes", len(b))
			}
			whole++
			continue
		}
		packed++
		got, err := unpackWords(nil, b[len(head):], len(plain))
		if err != nil || !bytes.Equal(got, plain) || !bytes.HasPrefix(b, head) {
			t.Fatalf("%d bytes come back as %d, %v", len(plain), len(got), err)
		}
		if len(b) > len(plain)/4*3+200 {
			t.Fatalf("%d bytes are packed into %d", len(plain), len(b))
		}
	}
	if packed < 500 || whole < 100 {
		t.Errorf("%d pages were packed, %d were not: the test tests little", packed, whole)
	}
	for _, edge := range []uint64{0, 1, math.MaxInt64, 1 << 63, math.MaxUint64} {
		plain := bytes.Repeat(binary.LittleEndian.AppendUint64(make([]byte, 64), edge), 60)
		if got, err := unpackWords(nil, appendPacked(nil, plain), len(plain)); err != nil || !bytes.Equal(got, plain) {
			t.Errorf("%x: %v", edge, err)
		}
	}
}

// TestUnpackDamage has what was packed changed in a scratch file: an error or wrong bytes, no more of them than there should be.
func TestUnpackDamage(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 4))
	failed := 0
	for range 300 {
		plain := packable(rnd, 2*segmentBytes)
		b, ok := packWords(nil, plain)
		if !ok {
			continue
		}
		for range 30 {
			bad := bytes.Clone(b)
			if rnd.IntN(2) == 0 {
				bad = bad[:rnd.IntN(len(bad))]
			}
			for range rnd.IntN(4) {
				if len(bad) > 0 {
					bad[rnd.IntN(len(bad))] ^= byte(1 << rnd.IntN(8))
				}
			}
			got, err := unpackWords(nil, bad, len(plain))
			if err != nil {
				failed++
			}
			if len(got) > len(plain) || err == nil && len(got) != len(plain) {
				t.Fatalf("%d bytes, %v", len(got), err)
			}
		}
	}
	if failed == 0 {
		t.Error("no damage was found; the test tests nothing")
	}
}

// BenchmarkPack packs and unpacks pages of integers as a pool with a Scratch does, and as one without does.
func BenchmarkPack(b *testing.B) {
	rnd := rand.New(rand.NewPCG(1, 2))
	var plain []byte
	for i := range pageSize / 8 {
		plain = binary.LittleEndian.AppendUint64(plain, uint64(i*5<<24)+rnd.Uint64N(20))
	}
	p := &pool{}
	_, err := p.compress(nil, plain)
	check(b, err)
	defer p.close()
	run := func(name string, pack func([]byte) []byte, unpack func(dst, packed []byte) ([]byte, error)) {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(plain)))
			var packed, out []byte
			for b.Loop() {
				packed = pack(packed[:0])
				if out, err = unpack(out[:0], packed); err != nil || len(out) != len(plain) {
					b.Fatal(len(out), err)
				}
			}
			b.ReportMetric(float64(len(plain))/float64(len(packed)), "times_smaller")
		})
	}
	run("words", func(dst []byte) []byte { dst, _ = packWords(dst, plain); return dst },
		func(dst, packed []byte) ([]byte, error) { return unpackWords(dst, packed, len(plain)) })
	run("zstd", func(dst []byte) []byte { dst, _ = p.compress(dst, plain); return dst },
		func(dst, packed []byte) ([]byte, error) { return p.dec.DecodeAll(packed, dst) })
}
