package parse

import (
	"bytes"
	"fmt"
	"hash/crc32"
	"io"

	"github.com/klauspost/compress/flate"
	"github.com/klauspost/compress/zstd"

	"github.com/tracehandler/tracehandler/format"
)

// packer compresses blocks of lines so that the blocks of a file can be put together in any order. It is not safe for
// concurrent use.
type packer struct {
	format format.Format
	fl     *flate.Writer
	zs     *zstd.Encoder
	buf    bytes.Buffer
}

// Compression levels: the fastest of each kind. Parsed traces repeat themselves so much that the slower levels cost
// several times the CPU and win little.
const gzipLevel = flate.BestSpeed

func newPacker(f format.Format) (*packer, error) {
	p := &packer{format: f}
	var err error
	switch f {
	case format.Plain:
	case format.Gzip:
		p.fl, err = flate.NewWriter(io.Discard, gzipLevel)
	case format.Zstd:
		p.zs, err = zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithWindowSize(1<<20))
	default:
		return nil, fmt.Errorf("parse: cannot write format %s", f)
	}
	return p, err
}

func (p *packer) compresses() bool { return p.format != format.Plain }

// appendBlock appends the compressed form of raw: a zstd frame, or a part of a DEFLATE stream (RFC 1951) that ends at a
// byte boundary and does not look back beyond its own beginning.
func (p *packer) appendBlock(dst, raw []byte) []byte {
	switch p.format {
	case format.Zstd:
		return p.zs.EncodeAll(raw, dst)
	case format.Gzip:
		p.buf.Reset()
		p.fl.Reset(&p.buf)
		_, _ = p.fl.Write(raw) // a bytes.Buffer takes everything
		_ = p.fl.Flush()
		return append(dst, p.buf.Bytes()...)
	}
	return append(dst, raw...)
}

// crc32Combine returns the CRC-32 of two texts put together from the CRC of each and the length of the second. Appending
// n zero bytes to a text is a linear map of its CRC over GF(2); the map is built by squaring, as in zlib's crc32_combine.
func crc32Combine(a, b uint32, n int64) uint32 {
	if n == 0 {
		return a
	}
	var m, sq [32]uint32
	m[0] = crc32.IEEE // one zero bit
	for i := 1; i < 32; i++ {
		m[i] = 1 << (i - 1)
	}
	square := func(dst, src *[32]uint32) {
		for i := range dst {
			dst[i] = times(src, src[i])
		}
	}
	square(&sq, &m) // two bits
	square(&m, &sq) // four bits
	for {
		square(&sq, &m) // the first time: eight bits, one byte
		if n&1 != 0 {
			a = times(&sq, a)
		}
		if n >>= 1; n == 0 {
			return a ^ b
		}
		m = sq
	}
}

func times(m *[32]uint32, v uint32) (sum uint32) {
	for i := 0; v != 0; i++ {
		if v&1 != 0 {
			sum ^= m[i]
		}
		v >>= 1
	}
	return sum
}
