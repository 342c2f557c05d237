package frame_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"github.com/tracehandler/tracehandler/format"
	"github.com/tracehandler/tracehandler/internal/frame"
)

var update = flag.Bool("update", false, "write the golden files anew")

// lines returns n bytes that look like a trace, the same for the same seed.
func lines(seed uint64, n int) []byte {
	r := rand.New(rand.NewPCG(seed, 0))
	var b []byte
	for len(b) < n {
		b = fmt.Appendf(b, `{"time":"2026-11-30T10:37:40.%09dZ","level":"INFO","msg":"request served","trace_id":"%016x%016x","n":%d}`+"\n",
			r.IntN(1e9), r.Uint64(), r.Uint64(), r.IntN(1000))
	}
	return b[:n]
}

func noise(seed uint64, n int) []byte {
	r := rand.New(rand.NewPCG(seed, 1))
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	return b
}

var blocks = map[string][]byte{
	"one byte":        []byte("x"),
	"one line":        []byte(`{"msg":"hi"}` + "\n"),
	"255":             lines(1, 255),
	"256":             lines(1, 256),
	"1 KiB":           lines(1, 1<<10),
	"one block":       lines(2, 128<<10),
	"target":          lines(3, 256<<10),
	"target and one":  lines(3, 256<<10+1),
	"huge":            lines(4, 700<<10),
	"noise":           noise(5, 200<<10),
	"huge noise":      noise(6, 300<<10),
	"huge repetition": bytes.Repeat([]byte("ab"), 300<<10),
}

func encoder(t testing.TB, f format.Format, level int) frame.Encoder {
	t.Helper()
	e, err := frame.NewEncoder(f, level)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func appendFrame(t testing.TB, e frame.Encoder, dst, block []byte) []byte {
	t.Helper()
	out, err := e.AppendFrame(dst, block)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestRoundTrip(t *testing.T) {
	for f, levels := range map[format.Format]int{format.Plain: 0, format.Gzip: 9, format.Zstd: 4} {
		for level := range levels + 1 {
			e := encoder(t, f, level)
			var file, want []byte
			for name, block := range blocks {
				n := len(file)
				file = appendFrame(t, e, file, block)
				want = append(want, block...)
				if got := appendFrame(t, e, []byte("head"), block); string(got) != "head"+string(file[n:]) {
					t.Errorf("%v %d %s: the same block gives other bytes", f, level, name)
				}
			}
			if got := appendFrame(t, e, file, nil); len(got) != len(file) {
				t.Errorf("%v %d: an empty block adds %d bytes", f, level, len(got)-len(file))
			}
			if got := decodeAll(t, f, file); !bytes.Equal(got, want) {
				t.Errorf("%v %d: read %d bytes, wrote %d", f, level, len(got), len(want))
			}
		}
	}
}

// decodeAll reads a whole file as any other program would.
func decodeAll(t *testing.T, f format.Format, file []byte) []byte {
	t.Helper()
	var r io.Reader = bytes.NewReader(file)
	var err error
	switch f {
	case format.Gzip:
		r, err = gzip.NewReader(r)
	case format.Zstd:
		var z *zstd.Decoder
		z, err = zstd.NewReader(r)
		r = z
		if err == nil {
			defer z.Close()
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	got, err := io.ReadAll(r)
	if err != nil {
		t.Fatalf("%v: %v", f, err)
	}
	return got
}

func TestNewEncoderErrors(t *testing.T) {
	for _, tt := range []struct {
		f     format.Format
		level int
	}{{format.Plain, 1}, {format.Gzip, 10}, {format.Gzip, -1}, {format.Zstd, 5}, {format.Zstd, -3}} {
		_, err := frame.NewEncoder(tt.f, tt.level)
		var level *frame.LevelError
		if !errors.As(err, &level) || level.Format != tt.f || level.Level != tt.level {
			t.Errorf("NewEncoder(%v, %d): %v", tt.f, tt.level, err)
		}
	}
	for _, f := range []format.Format{format.CLP, format.CLPIR, 99} {
		if _, err := frame.NewEncoder(f, 0); err == nil {
			t.Errorf("NewEncoder(%v, 0): no error", f)
		}
	}
}

func TestEncoderAllocs(t *testing.T) {
	for _, f := range []format.Format{format.Plain, format.Gzip, format.Zstd} {
		e := encoder(t, f, 0)
		block := lines(1, frame.BlockSize(f))
		dst := appendFrame(t, e, nil, block)
		if n := testing.AllocsPerRun(5, func() { dst = appendFrame(t, e, dst[:0], block) }); n != 0 {
			t.Errorf("%v: %v allocations for a block", f, n)
		}
	}
}

// walk returns the frames of file, and the first error other than io.EOF.
func walk(file []byte) (frames []frame.Info, err error) {
	r := bytes.NewReader(file)
	for off := int64(0); ; {
		info, err := frame.NextZstd(r, off, int64(len(file)))
		if err == io.EOF {
			return frames, nil
		}
		if err != nil {
			return frames, err
		}
		frames = append(frames, info)
		off = info.End()
	}
}

func TestNextZstd(t *testing.T) {
	for level := range 5 {
		e := encoder(t, format.Zstd, level)
		var file []byte
		var want []frame.Info
		for _, block := range blocks {
			n := len(file)
			file = appendFrame(t, e, file, block)
			want = append(want, frame.Info{Offset: int64(n), Size: int64(len(file) - n), ContentSize: int64(len(block)), Checksum: true})
		}
		got, err := walk(file)
		if fmt.Sprint(got) != fmt.Sprint(want) || err != nil {
			t.Errorf("level %d:\n got %v, %v\nwant %v", level, got, err, want)
		}
		checkWindows(t, file, got)
	}
}

// checkWindows: a decoder that is allowed 256 KiB of window reads every frame.
func checkWindows(t *testing.T, file []byte, frames []frame.Info) {
	t.Helper()
	for _, f := range frames {
		var h zstd.Header
		if err := h.Decode(file[f.Offset:]); err != nil {
			t.Fatal(err)
		}
		if h.WindowSize > 256<<10 || !h.HasFCS || h.FrameContentSize != uint64(f.ContentSize) || !h.HasCheckSum {
			t.Errorf("frame %+v has header %+v", f, h)
		}
	}
}

func TestForeign(t *testing.T) {
	file, err := os.ReadFile("testdata/foreign.zst")
	if err != nil {
		t.Fatal(err)
	}
	want := []frame.Info{
		{Offset: 0, Size: 23454, ContentSize: -1, Checksum: true},
		{Offset: 23454, Size: 49, ContentSize: 40},
		{Offset: 23503, Size: 13, ContentSize: 0, Skippable: true},
		{Offset: 23516, Size: 13, ContentSize: 0, Checksum: true},
		{Offset: 23529, Size: 61922, ContentSize: -1, Checksum: true},
	}
	got, err := walk(file)
	if fmt.Sprint(got) != fmt.Sprint(want) || err != nil {
		t.Errorf("got %v, %v\nwant %v", got, err, want)
	}
	var d frame.Decoder
	var content []byte
	for _, f := range got {
		if content, err = d.AppendZstd(content, file[f.Offset:f.End()], 1<<20); err != nil {
			t.Errorf("%+v: %v", f, err)
		}
	}
	if !bytes.Equal(content, decodeAll(t, format.Zstd, file)) {
		t.Errorf("AppendZstd and the stream decoder differ")
	}
}

// TestEveryPrefix: a file cut anywhere gives the whole frames before the cut, then a TornError with the right offsets.
func TestEveryPrefix(t *testing.T) {
	e := encoder(t, format.Zstd, 0)
	var file []byte
	ends := []int{0}
	for _, block := range [][]byte{lines(1, 300), lines(2, 900), noise(3, 100), []byte("x\n")} {
		file = appendFrame(t, e, file, block)
		ends = append(ends, len(file))
	}
	frames, _ := walk(file)
	file = frame.AppendSeekTable(file, frames)
	ends = append(ends, len(file))
	for n := range len(file) + 1 {
		whole := 0
		for whole+1 < len(ends) && ends[whole+1] <= n {
			whole++
		}
		got, err := walk(file[:n])
		if len(got) != whole {
			t.Fatalf("prefix of %d bytes: %d frames, want %d", n, len(got), whole)
		}
		var torn *frame.TornError
		switch {
		case n == ends[whole]:
			if err != nil {
				t.Errorf("prefix of %d bytes: %v", n, err)
			}
		case !errors.As(err, &torn) || torn.Offset != int64(ends[whole]) || torn.End != int64(n):
			t.Errorf("prefix of %d bytes: %v", n, err)
		}
	}
}

// TestEveryByte: a flipped byte never changes the content: the frame with it does not decode.
func TestEveryByte(t *testing.T) {
	for name, block := range map[string][]byte{"text": lines(1, 600), "noise": noise(1, 50), "one byte": []byte("x")} {
		file := appendFrame(t, encoder(t, format.Zstd, 0), nil, block)
		var d frame.Decoder
		for i := range file {
			for _, flip := range []byte{0x01, 0x04, 0x08, 0x20, 0x80, 0xff} {
				bad := bytes.Clone(file)
				bad[i] ^= flip
				got, err := d.AppendZstd([]byte("head"), bad, 1<<20)
				switch {
				case err == nil && string(got) == "head"+string(block):
					// Bits without meaning exist, such as the unused bit of the header; the content is right.
				case err == nil:
					t.Errorf("%s: byte %d ^ %#x: other content, no error", name, i, flip)
				case string(got) != "head":
					t.Errorf("%s: byte %d ^ %#x: dst is not as it was", name, i, flip)
				}
			}
		}
	}
}

// dictionaryFrame needs dictionary 7, which nobody has.
var dictionaryFrame = []byte{0x28, 0xb5, 0x2f, 0xfd, 0x21, 7, 1, 0x09, 0, 0, 'x'}

func TestDecoderErrors(t *testing.T) {
	one := appendFrame(t, encoder(t, format.Zstd, 0), nil, lines(1, 5000))
	unsized := []byte{0x28, 0xb5, 0x2f, 0xfd, 0x00, 0x58 /* 2 MiB window */}
	for range 8 {
		unsized = append(unsized, 0x02, 0x00, 0x10, 'a') // 128 KiB of one byte
	}
	unsized = append(unsized, 0x01, 0x00, 0x00)
	var d frame.Decoder
	if got, err := d.AppendZstd(nil, unsized, 1<<20); err != nil || len(got) != 1<<20 {
		t.Errorf("without content size: %d bytes, %v", len(got), err)
	}
	lying := bytes.Clone(one[:len(one)-4])
	lying[4] &^= 0x04 // no checksum

	tests := []struct {
		name  string
		frame []byte
		limit int
		want  string
	}{
		{"empty", nil, 100, "data ends at offset 0"},
		{"torn", one[:len(one)-1], 1 << 20, "data ends"},
		{"two", append(bytes.Clone(one), one...), 1 << 20, "bytes behind the frame"},
		{"text", []byte("{}\n{}\n"), 100, "no zstd frame starts here"},
		{"limit", one, 4999, "decodes to 5000 bytes, more than the allowed 4999"},
		{"limit without content size", unsized, 1<<20 - 1, "more than the allowed 1048575"},
		{"no room at all", unsized, 0, "more than the allowed 0"},
		{"dictionary", dictionaryFrame, 100, "dictionary"},
	}
	for _, tt := range tests {
		got, err := d.AppendZstd([]byte("head"), tt.frame, tt.limit)
		if string(got) != "head" || err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %d bytes, %v", tt.name, len(got), err)
		}
	}
	if got, err := d.AppendZstd(nil, lying, 1<<20); err != nil || len(got) != 5000 {
		t.Errorf("after errors the decoder is unusable: %v", err)
	}
}

// TestHugeClaims: a few bytes that claim gigabytes are refused, or cost nothing.
func TestHugeClaims(t *testing.T) {
	claim := []byte{0x28, 0xb5, 0x2f, 0xfd, 0xe0}
	claim = binary.LittleEndian.AppendUint64(claim, 1<<40)
	claim = append(claim, 0x01, 0x00, 0x00)
	var d frame.Decoder
	_, err := d.AppendZstd(nil, claim, 1<<30)
	var corrupt *frame.CorruptError
	if !errors.As(err, &corrupt) {
		t.Errorf("1 TiB of content in an empty block: %v", err)
	}
	window := []byte{0x28, 0xb5, 0x2f, 0xfd, 0x00, 0xa0 /* 1 GiB */, 0x09, 0x00, 0x00, 'x'}
	if got, err := d.AppendZstd(nil, window, 1<<10); err != nil || string(got) != "x" || cap(got) > 64<<10 {
		t.Errorf("large window, one byte: %q, %v", got, err)
	}
}

func TestNextZstdErrors(t *testing.T) {
	ok := appendFrame(t, encoder(t, format.Zstd, 0), nil, []byte("hello\n"))
	tests := []struct {
		name string
		data []byte
		at   int64
		want string
	}{
		{"text", []byte("hello"), 0, "no zstd frame"},
		{"wrong magic, short", []byte("\x28\xb4"), 0, "no zstd frame"},
		{"zeros", make([]byte, 100), 0, "no zstd frame"},
		{"reserved bit", []byte{0x28, 0xb5, 0x2f, 0xfd, 0x28, 1, 0x09, 0, 0, 'x'}, 0, "reserved bit"},
		{"reserved block", []byte{0x28, 0xb5, 0x2f, 0xfd, 0x20, 1, 0x0f, 0, 0, 'x'}, 6, "reserved block type"},
		{"block too large", []byte{0x28, 0xb5, 0x2f, 0xfd, 0x20, 1, 0x11, 0, 0, 'x', 'y'}, 6, "block of 2 bytes"},
		{"too much content", []byte{0x28, 0xb5, 0x2f, 0xfd, 0x20, 1, 0x08, 0, 0, 'x', 0x09, 0, 0, 'y'}, 14, "more than the 1 bytes"},
		{"too little content", []byte{0x28, 0xb5, 0x2f, 0xfd, 0x20, 2, 0x09, 0, 0, 'x'}, 0, "less than the 2 bytes"},
		{"absurd size", append([]byte{0x28, 0xb5, 0x2f, 0xfd, 0xe0}, bytes.Repeat([]byte{0xff}, 9)...), 0, "beyond any file"},
	}
	for _, tt := range tests {
		file := append(bytes.Clone(ok), tt.data...)
		n := int64(len(ok))
		_, err := frame.NextZstd(bytes.NewReader(file), n, int64(len(file)))
		var corrupt *frame.CorruptError
		if !errors.As(err, &corrupt) || corrupt.Offset != n || corrupt.At != n+tt.at || !strings.Contains(corrupt.Error(), tt.want) {
			t.Errorf("%s: %v", tt.name, err)
		}
	}
	for _, off := range []int64{-1, int64(len(ok)) + 1} {
		if _, err := frame.NextZstd(bytes.NewReader(ok), off, int64(len(ok))); err == nil || err == io.EOF {
			t.Errorf("offset %d: %v", off, err)
		}
	}
	// The file is shorter than the caller believes: someone cut it meanwhile.
	_, err := frame.NextZstd(bytes.NewReader(ok[:8]), 0, int64(len(ok)))
	var torn *frame.TornError
	if !errors.As(err, &torn) || torn.End != 8 {
		t.Errorf("file cut meanwhile: %v", err)
	}
}

// failingReader fails from offset bad on.
type failingReader struct {
	io.ReaderAt
	bad int64
}

var errDisk = errors.New("disk on fire")

func (f failingReader) ReadAt(p []byte, off int64) (int, error) {
	if off+int64(len(p)) > f.bad {
		return 0, errDisk
	}
	return f.ReaderAt.ReadAt(p, off)
}

func TestReadErrors(t *testing.T) {
	file := appendFrame(t, encoder(t, format.Zstd, 0), nil, noise(1, 300<<10))
	frames, _ := walk(file)
	file = frame.AppendSeekTable(file, frames)
	size := int64(len(file))
	for _, bad := range []int64{0, 1000, 130 << 10} {
		if _, err := frame.NextZstd(failingReader{bytes.NewReader(file), bad}, 0, size); !errors.Is(err, errDisk) {
			t.Errorf("NextZstd, bad from %d: %v", bad, err)
		}
	}
	r := failingReader{bytes.NewReader(file), 100}
	if _, _, err := frame.FindZstd(r, 1, size); !errors.Is(err, errDisk) {
		t.Errorf("FindZstd: %v", err)
	}
	if _, _, err := frame.FindGzip(r, 1, size); !errors.Is(err, errDisk) {
		t.Errorf("FindGzip: %v", err)
	}
	for _, bad := range []int64{0, size - 3} {
		if _, err := frame.ReadSeekTable(failingReader{bytes.NewReader(file), bad}, size); !errors.Is(err, errDisk) {
			t.Errorf("ReadSeekTable: %v", err)
		}
	}
	if _, err := frame.ReadSeekTable(bytes.NewReader(file), size+5); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("ReadSeekTable of a file cut meanwhile: %v", err)
	}
}
