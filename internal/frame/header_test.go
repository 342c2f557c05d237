package frame_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/tracehandler/tracehandler/internal/frame"
)

// FuzzParseHeader compares with the decoder's own reading of a header.
func FuzzParseHeader(f *testing.F) {
	for descriptor := range 256 {
		f.Add(append([]byte{0x28, 0xb5, 0x2f, 0xfd, byte(descriptor)}, bytes.Repeat([]byte{0x0b, 0x80, 0x01, 0x00}, 5)...))
	}
	f.Add([]byte("\x5e\x2a\x4d\x18\x10\x00\x00\x80tail"))
	f.Add([]byte("\x5e\x2a\x4d\x18\x10"))
	f.Add([]byte("\x28\xb5\x2f\xfe\x00\x00\x00\x00"))
	f.Fuzz(func(t *testing.T, b []byte) {
		h, err := frame.ParseHeader(b)
		if errors.Is(err, frame.ErrNoFrame) == frame.IsZstd(b) {
			t.Fatalf("% x: %v, and IsZstd says %v", b, err, frame.IsZstd(b))
		}
		if err == nil && h.Size > len(b) || h.Size > frame.MaxHeader {
			t.Fatalf("% x: %+v", b, h)
		}
		var std zstd.Header
		long := append(bytes.Clone(b), make([]byte, 32)...) // the decoder also wants the first block's header
		if stdErr := std.Decode(long); err == nil && stdErr == nil {
			content, window := int64(-1), int64(std.WindowSize)
			if std.Skippable {
				content = int64(std.SkippableSize)
			} else if std.HasFCS {
				content = int64(std.FrameContentSize)
			}
			if std.SingleSegment {
				window = content // it may be small
			}
			if want := (frame.Header{Size: std.HeaderSize, Content: content, Window: window, Checksum: std.HasCheckSum, Skippable: std.Skippable}); h != want {
				t.Fatalf("% x: %+v, want %+v", b, h, want)
			}
		} else if err == nil && len(b) >= h.Size+frame.BlockHeader {
			if _, berr := h.Block(b[h.Size:]); berr == nil && !h.Skippable {
				t.Fatalf("% x: %+v, but the decoder says %v", b, h, stdErr)
			}
		}
	})
}

// TestParseHeaderCut: each beginning of a header is torn, not wrong.
func TestParseHeaderCut(t *testing.T) {
	for _, head := range []string{"\x28\xb5\x2f\xfd\xc4\x58\x01\x02\x03\x04\x05\x06\x07\x00", "\x50\x2a\x4d\x18\x10\x00\x00\x00"} {
		for n := range len(head) {
			if h, err := frame.ParseHeader([]byte(head[:n])); err != io.ErrUnexpectedEOF {
				t.Errorf("%d bytes of % x: %+v, %v", n, head, h, err)
			}
		}
		if h, err := frame.ParseHeader([]byte(head)); err != nil || h.Size != len(head) {
			t.Errorf("% x: %+v, %v", head, h, err)
		}
	}
}

func TestIndex(t *testing.T) {
	for _, c := range []struct {
		text       string
		zstd, gzip int
	}{
		{"", -1, -1}, {"\x28\xb5\x2f\xfd", 0, -1}, {"\x28\xb5\x2f", -1, -1}, {"x\x28\x28\xb5\x2f\xfd", 2, -1}, {"\x2a\x4d\x18", -1, -1}, {"\x4f\x2a\x4d\x18\x5f\x2a\x4d\x18", 4, -1},
		{"\x51\x2a\x4d\x18\x28\xb5\x2f\xfd", 0, -1}, {"\x28\xb5\x2f\xfd\x51\x2a\x4d\x18", 0, -1}, {"\x1f\x8b\x08", -1, -1}, {"\x1f\x8b\x08\x00", -1, 0}, {"\x1f\x8b\x08\xe0\x1f\x8b\x08\x1f", -1, 4}, {"\x1f\x1f\x8b\x08\x08", -1, 1},
	} {
		if z, g := frame.IndexZstd([]byte(c.text)), frame.IndexGzip([]byte(c.text)); z != c.zstd || g != c.gzip {
			t.Errorf("% x: %d, %d; want %d, %d", c.text, z, g, c.zstd, c.gzip)
		}
	}
}

// The header of a frame, and those of its blocks.
func ExampleParseHeader() {
	w, _ := zstd.NewWriter(nil)
	b := w.EncodeAll(bytes.Repeat([]byte("abc"), 100), nil)
	h, err := frame.ParseHeader(b)
	if err != nil {
		fmt.Println(err)
		return
	}
	block, err := h.Block(b[h.Size:])
	fmt.Println(h.Content, h.Checksum, block.Most, block.Last, err)
	// Output: 300 true 1024 true <nil>
}
