package archive

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/klauspost/compress/zstd"
)

// section is a part of an archive: a range of a file, or a file of a directory archive.
type section struct {
	name string
	src  io.ReaderAt
	off  int64 // in src
	size int64

	damage error // why none of it is to be read
}

// part returns the range of s from off on that is size bytes long.
func (s section) part(off, size int64) section {
	s.off += off
	s.size = size
	return s
}

// input reads the decompressed bytes of a section, whose numbers are little-endian. The first error stays: all reads
// behind it return zeros, so that a caller may read some fields and look at err once, before it uses a length.
type input struct {
	decoder *zstd.Decoder
	section string
	stream  int
	src     io.Reader  // decoder, or nil if the section has no bytes
	disk    *source    // what decoder reads; nil if src is
	count   *byteCount // of the section that is opened next, or nil
	window  int64      // what a frame may ask for
	clean   bool       // the input ended behind a whole frame
	err     error

	ahead    []byte // buffer of disk
	buf      []byte
	pos, end int
	base     int64 // offset of buf[0]
}

const inputBuffer = 32 << 10

// inputs are the inputs of a reader that are not in use.
type inputs struct {
	window int64
	mu     sync.Mutex
	free   []*input
}

// get returns an input, which is to be put back.
func (l *inputs) get() (*input, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if n := len(l.free); n > 0 {
		in := l.free[n-1]
		l.free = l.free[:n-1]
		return in, nil
	}
	d, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(uint64(l.window)))
	if err != nil {
		return nil, err
	}
	return &input{decoder: d, window: l.window}, nil
}

func (l *inputs) put(in *input) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.free = append(l.free, in)
}

func (l *inputs) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, in := range l.free {
		in.decoder.Close()
	}
	l.free = nil
}

// open makes in read s. One input reads one section at a time.
func (in *input) open(s section, stream int) {
	in.section, in.stream = s.name, stream
	in.err, in.src, in.clean, in.pos, in.end, in.base = nil, nil, false, 0, 0, 0
	count := in.count
	in.disk, in.count = nil, nil
	if in.buf == nil {
		in.buf = make([]byte, inputBuffer)
	}
	if s.damage != nil {
		in.fail(0, s.damage, "")
		return
	}
	if s.size <= 0 {
		return // an empty section has no frame
	}
	if n := min(s.size, sourceBuffer); int64(len(in.ahead)) < n {
		in.ahead = make([]byte, n)
	}
	in.disk = &source{r: io.NewSectionReader(s.src, s.off, s.size), count: count, buf: in.ahead}
	if err := in.decoder.Reset(in.disk); err != nil {
		in.fail(0, fmt.Errorf("archive: decompress: %w", err), "")
		return
	}
	in.src = in.decoder
}

// source remembers why it could not be read: a decoder may say that its input ended instead. It reads ahead, because decoders
// read little at a time: a block, and the three bytes before it.
type source struct {
	r     io.Reader
	count *byteCount // of what was read, or nil
	ahead []byte     // what was read and not asked for yet
	buf   []byte
	err   error
}

// sourceBuffer is how much is read at a time.
const sourceBuffer = 128 << 10

// Read implements io.Reader.
func (s *source) Read(p []byte) (int, error) {
	if len(s.ahead) == 0 {
		if len(p) >= len(s.buf) {
			return s.read(p)
		}
		n, err := s.read(s.buf)
		if n == 0 {
			return 0, err
		}
		s.ahead = s.buf[:n] // an error comes again
	}
	n := copy(p, s.ahead)
	s.ahead = s.ahead[n:]
	return n, nil
}

func (s *source) read(p []byte) (int, error) {
	n, err := s.r.Read(p)
	s.count.add(int64(n), 0)
	if err != nil && err != io.EOF {
		s.err = err
	}
	return n, err
}

// offset returns how many bytes were taken so far.
func (in *input) offset() int64 { return in.base + int64(in.pos) }

func (in *input) fail(offset int64, err error, detail string, args ...any) {
	if in.err == nil {
		e := corrupt(in.section, offset, err, detail, args...)
		e.Stream = in.stream
		in.err = e
	}
}

// fill makes at least n bytes available, n ≤ inputBuffer.
func (in *input) fill(n int) bool {
	if in.end-in.pos >= n {
		return true
	}
	if in.err != nil {
		return false
	}
	copy(in.buf, in.buf[in.pos:in.end])
	in.base += int64(in.pos)
	in.end -= in.pos
	in.pos = 0
	for in.end < n {
		m, err := in.read(in.buf[in.end:])
		in.end += m
		if err != nil {
			in.readFailed(err)
			return in.end >= n
		}
	}
	return true
}

func (in *input) read(p []byte) (int, error) {
	if in.src == nil {
		return 0, io.EOF
	}
	return in.src.Read(p)
}

// readFailed notes why no more bytes come.
func (in *input) readFailed(err error) {
	at := in.base + int64(in.end)
	if in.disk != nil && in.disk.err != nil {
		err = in.disk.err
	}
	in.clean = err == io.EOF
	switch {
	case err == io.EOF, errors.Is(err, io.ErrUnexpectedEOF):
		in.fail(at, ErrShort, "")
	case errors.Is(err, zstd.ErrWindowSizeExceeded):
		if in.err == nil {
			in.err = &LimitError{What: "bytes of a zstd window", Limit: in.window}
		}
	default:
		in.fail(at, fmt.Errorf("archive: decompress: %w", err), "")
	}
}

func (in *input) take(n int) []byte {
	if !in.fill(n) {
		in.pos = in.end
		return zeros[:n]
	}
	b := in.buf[in.pos : in.pos+n]
	in.pos += n
	return b
}

var zeros [8]byte

func (in *input) u8() uint8   { return in.take(1)[0] }
func (in *input) u32() uint32 { return binary.LittleEndian.Uint32(in.take(4)) }
func (in *input) u64() uint64 { return binary.LittleEndian.Uint64(in.take(8)) }
func (in *input) i32() int32  { return int32(in.u32()) }

// text appends a string, u64 length and bytes, to dst, which grows as the bytes come. limit is what it may be long.
func (in *input) text(dst []byte, limit int64) []byte {
	at := in.offset()
	n := in.u64()
	if in.err != nil {
		return dst
	}
	if n > uint64(limit) {
		in.fail(at, ErrLength, "a string of %d bytes", n)
		return dst
	}
	for left := int(n); left > 0; {
		if !in.fill(1) {
			return dst
		}
		m := min(left, in.end-in.pos)
		dst = append(dst, in.buf[in.pos:in.pos+m]...)
		in.pos += m
		left -= m
	}
	return dst
}

// entriesChunk is how much is decompressed at a time.
const entriesChunk = 256 << 10

// entries reads count strings, u64 length and bytes each, and calls f for runs of whole ones, which are valid during the call, and
// the number of the first of each. limit is what one may be long; what is allocated grows as the bytes come.
func (in *input) entries(count uint64, limit int64, f func(first uint64, plain []byte) error) error {
	buf := make([]byte, 0, entriesChunk)
	for first := uint64(0); first < count; {
		if len(buf) == cap(buf) {
			buf = append(make([]byte, 0, 2*cap(buf)), buf...)
		}
		n := in.full(buf[len(buf):cap(buf)])
		buf = buf[:len(buf)+n]
		end, entries := 0, uint64(0)
		var wrong error
		for len(buf)-end >= 8 && first+entries < count {
			n := binary.LittleEndian.Uint64(buf[end:])
			if n > uint64(limit) {
				wrong = corrupt(in.section, in.offset()-int64(len(buf)-end), ErrLength, "a string of %d bytes", n)
				break
			}
			if int(n) > len(buf)-end-8 {
				break
			}
			end += 8 + int(n)
			entries++
		}
		if entries > 0 {
			if err := f(first, buf[:end]); err != nil {
				return err
			}
		}
		if wrong != nil {
			return wrong
		}
		first += entries
		buf = append(buf[:0], buf[end:]...)
		switch {
		case first < count && in.err != nil:
			return in.err
		case first < count:
		case len(buf) > 0 && (in.err == nil || in.clean): // see finish
			in.err = nil
			in.fail(in.offset()-int64(len(buf)), ErrTrailing, "")
		case in.clean:
			in.err = nil
		}
	}
	return nil
}

// full reads len(p) bytes, or fewer and sets err.
func (in *input) full(p []byte) int {
	n := copy(p, in.buf[in.pos:in.end])
	in.pos += n
	for n < len(p) && in.err == nil {
		m, err := in.read(p[n:])
		n += m
		in.base += int64(m) // buf is empty here
		if err != nil {
			if n < len(p) {
				in.readFailed(err)
			}
			break
		}
	}
	return n
}

// finish checks that nothing follows.
func (in *input) finish() error {
	if in.err == nil {
		at := in.offset()
		if in.fill(1) {
			in.fail(at, ErrTrailing, "")
		} else if in.clean {
			in.err = nil
		}
	}
	return in.err
}
