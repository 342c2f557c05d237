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
	format  format.Format
	repeats bool // a repeat.Text is packed by what it knows of itself
	fl      *flate.Writer
	zs      *zstd.Encoder
	buf     bytes.Buffer
}

// gzipDefault is the level that is used if none is asked for.
const gzipDefault = flate.BestSpeed

// searchLevel is the gzip level from which on the compressor's search finds shorter forms than a repeat.Text knows of.
const searchLevel = 6

// mostLevel is the highest level of compression of each format: gzip's, those of klauspost/compress for zstd, zstd's own
// for archives.
var mostLevel = map[format.Format]int{format.Gzip: 9, format.Zstd: 4, format.CLPIR: 4, format.CLP: 19}

func checkLevel(f format.Format, level int) error {
	most := mostLevel[f]
	if level >= 0 && level <= most {
		return nil
	}
	if most == 0 {
		return fmt.Errorf("parse: format %s has no compression level %d", f, level)
	}
	return fmt.Errorf("parse: %s compression level %d: want 1 to %d, or 0 for the default", f, level, most)
}

// newPacker makes a packer for a level that checkLevel allows; 0 is the default.
func newPacker(f format.Format, level int) (*packer, error) {
	p := &packer{format: f}
	var err error
	switch f {
	case format.Plain:
	case format.Gzip:
		if level == 0 {
			level = gzipDefault
		}
		p.repeats = level < searchLevel
		p.fl, err = flate.NewWriter(io.Discard, level)
	case format.CLP, format.CLPIR: // compressed here only until the events are encoded
		p.zs, err = newZstd(0)
	case format.Zstd:
		p.zs, err = newZstd(level)
	default:
		return nil, fmt.Errorf("parse: cannot write format %s", f)
	}
	return p, err
}

func newZstd(level int) (*zstd.Encoder, error) {
	return zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithEncoderLevel(zstd.EncoderLevel(max(1, level))), zstd.WithWindowSize(1<<20))
}

func (p *packer) compresses() bool { return p.format != format.Plain }

// appendBlock appends the compressed form of raw: a zstd frame, or a part of a DEFLATE stream (RFC 1951) that ends at a
// byte boundary and does not look back beyond its own beginning.
func (p *packer) appendBlock(dst, raw []byte) []byte {
	switch p.format {
	case format.Zstd, format.CLP, format.CLPIR:
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

// appendShort is appendBlock for a text of a few bytes, which is not worth a search: in gzip, a stored block (RFC 1951
// §3.2.4).
func (p *packer) appendShort(dst, raw []byte) []byte {
	if n := len(raw); p.format == format.Gzip && n <= 64 {
		return append(append(dst, 0, byte(n), 0, ^byte(n), 0xff), raw...)
	}
	return p.appendBlock(dst, raw)
}

// crc32Combine returns the CRC-32 of two texts put together from the CRC of each and the length in bytes of the second.
// A CRC is a polynomial over GF(2) modulo the generator; appending n bytes multiplies it by x^(8n), which is made from
// the squares x^1, x^2, x^4, …, as in zlib's crc32_combine.
func crc32Combine(a, b uint32, n int64) uint32 {
	p := uint32(1) << 31 // x^0, with the bits in reverse order
	for k := 3; n > 0; k, n = k+1, n>>1 {
		if n&1 != 0 {
			p = multiply(crcSquares[k%32], p)
		}
	}
	return multiply(p, a) ^ b
}

// crcSquares holds x^(2^k) modulo the generator. The order of x divides 2^32-1, so the powers repeat after 32.
var crcSquares = func() (t [32]uint32) {
	t[0] = 1 << 30 // x^1
	for k := 1; k < len(t); k++ {
		t[k] = multiply(t[k-1], t[k-1])
	}
	return t
}()

// multiply returns a·b modulo the generator of CRC-32.
func multiply(a, b uint32) (p uint32) {
	for m := uint32(1) << 31; a != 0; m >>= 1 {
		if a&m != 0 {
			p ^= b
			a &^= m
		}
		carry := b & 1
		b >>= 1
		b ^= crc32.IEEE & -carry
	}
	return p
}
