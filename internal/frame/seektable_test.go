package frame_test

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/tracehandler/tracehandler/format"
	"github.com/tracehandler/tracehandler/internal/frame"
)

// TestSeekTableGolden compares a small file with the one that was checked with the zstd command.
func TestSeekTableGolden(t *testing.T) {
	e := encoder(t, format.Zstd, 0)
	var file []byte
	for _, s := range []string{"{\"n\":1}\n", strings.Repeat("{\"n\":2}\n", 50), "{\"n\":3}\n"} {
		file = appendFrame(t, e, file, []byte(s))
	}
	frames, err := walk(file)
	if err != nil {
		t.Fatal(err)
	}
	file = frame.AppendSeekTable(file, frames)
	const golden = "testdata/golden.zst"
	if *update {
		if err := os.WriteFile(golden, file, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(file, want) {
		t.Errorf("got\n%s\nwant\n%s", hex.Dump(file), hex.Dump(want))
	}
	if got := decodeAll(t, format.Zstd, file); len(got) != 52*8 {
		t.Errorf("decodes to %d bytes", len(got))
	}
}

// TestSeekTableBytes checks the layout against the published format, byte by byte.
func TestSeekTableBytes(t *testing.T) {
	got := frame.AppendSeekTable([]byte("head"), []frame.Info{
		{Offset: 0, Size: 0x11, ContentSize: 0x222},
		{Offset: 0x11, Size: 0x33333333, ContentSize: 0xffffffff},
	})
	want := "head" +
		"\x5e\x2a\x4d\x18" + "\x19\x00\x00\x00" +
		"\x11\x00\x00\x00" + "\x22\x02\x00\x00" +
		"\x33\x33\x33\x33" + "\xff\xff\xff\xff" +
		"\x02\x00\x00\x00" + "\x00" + "\xb1\xea\x92\x8f"
	if string(got) != want {
		t.Errorf("got\n%s\nwant\n%s", hex.Dump(got), hex.Dump([]byte(want)))
	}
}

func TestSeekTableImpossible(t *testing.T) {
	for name, frames := range map[string][]frame.Info{
		"none":            nil,
		"gap":             {{Offset: 0, Size: 10}, {Offset: 11, Size: 10}},
		"not from 0":      {{Offset: 10, Size: 10}},
		"unknown content": {{Offset: 0, Size: 10, ContentSize: -1}},
		"large":           {{Offset: 0, Size: math.MaxUint32 + 1}},
		"large content":   {{Offset: 0, Size: 10, ContentSize: math.MaxUint32 + 1}},
		"too many":        make([]frame.Info, frame.MaxSeekFrames+1),
	} {
		if got := frame.AppendSeekTable(nil, frames); len(got) != 0 {
			t.Errorf("%s: a table of %d bytes", name, len(got))
		}
	}
}

func TestReadSeekTable(t *testing.T) {
	e := encoder(t, format.Zstd, 0)
	var file []byte
	for i := range 40 {
		file = appendFrame(t, e, file, lines(uint64(i), 1+i*500))
	}
	// Closed, opened again, closed again: the first table is in the middle.
	frames, _ := walk(file)
	file = frame.AppendSeekTable(file, frames)
	file = appendFrame(t, e, file, lines(1, 100))
	frames, _ = walk(file)
	file = frame.AppendSeekTable(file, frames)
	got, err := frame.ReadSeekTable(bytes.NewReader(file), int64(len(file)))
	if err != nil || len(got) != 42 {
		t.Fatalf("%d frames, %v", len(got), err)
	}
	for i, f := range frames {
		f.Skippable, f.Checksum = false, false
		if got[i] != f {
			t.Errorf("frame %d: %+v, want %+v", i, got[i], f)
		}
	}
	// With checksums, as other programs write it.
	n := len(frames)
	sums := file[:frames[n-1].End()]
	sums = append(bytes.Clone(sums), "\x5e\x2a\x4d\x18"...)
	sums = binary.LittleEndian.AppendUint32(sums, uint32(n*12+9))
	for _, f := range frames {
		sums = binary.LittleEndian.AppendUint32(sums, uint32(f.Size))
		sums = binary.LittleEndian.AppendUint32(sums, uint32(f.ContentSize))
		sums = append(sums, "sums"...)
	}
	sums = binary.LittleEndian.AppendUint32(sums, uint32(n))
	sums = append(sums, "\x80\xb1\xea\x92\x8f"...)
	if with, err := frame.ReadSeekTable(bytes.NewReader(sums), int64(len(sums))); err != nil || fmt.Sprint(with) != fmt.Sprint(got) {
		t.Errorf("with checksums: %d frames, %v", len(with), err)
	}
}

func TestReadSeekTableErrors(t *testing.T) {
	file := appendFrame(t, encoder(t, format.Zstd, 0), nil, lines(1, 1000))
	for n := range file {
		if _, err := frame.ReadSeekTable(bytes.NewReader(file[:n]), int64(n)); !errors.Is(err, frame.ErrNoSeekTable) {
			t.Fatalf("prefix of %d bytes without a table: %v", n, err)
		}
	}
	frames, _ := walk(file)
	file = frame.AppendSeekTable(file, frames)
	end := len(file)
	for name, damage := range map[string]func([]byte) []byte{
		"byte in front":  func(b []byte) []byte { return append([]byte("x"), b...) },
		"frame size":     func(b []byte) []byte { b[end-17]++; return b },
		"table magic":    func(b []byte) []byte { b[end-25]++; return b },
		"table size":     func(b []byte) []byte { b[end-21]++; return b },
		"count":          func(b []byte) []byte { b[end-9]++; return b },
		"huge count":     func(b []byte) []byte { b[end-6] = 0xff; return b },
		"count too many": func(b []byte) []byte { b[end-8] = 0xff; return b },
		"reserved":       func(b []byte) []byte { b[end-5] = 0x40; return b },
		"count 0":        func(b []byte) []byte { b[end-9] = 0; return b },
	} {
		bad := damage(bytes.Clone(file))
		_, err := frame.ReadSeekTable(bytes.NewReader(bad), int64(len(bad)))
		var corrupt *frame.CorruptError
		if !errors.As(err, &corrupt) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func FuzzReadSeekTable(f *testing.F) {
	one := appendFrame(f, encoder(f, format.Zstd, 0), nil, []byte("hello\n"))
	frames, _ := walk(one)
	f.Add(frame.AppendSeekTable(one, frames))
	f.Add([]byte("\x5e\x2a\x4d\x18\x09\x00\x00\x00\x00\x00\x00\x00\x00\xb1\xea\x92\x8f"))
	f.Fuzz(func(t *testing.T, file []byte) {
		frames, err := frame.ReadSeekTable(bytes.NewReader(file), int64(len(file)))
		var end int64
		for _, f := range frames {
			if f.Offset != end || f.Size < 8 {
				t.Fatalf("%+v after %d", f, end)
			}
			end = f.End()
		}
		if end > int64(len(file)) || err != nil && frames != nil {
			t.Fatalf("%d frames of %d bytes in a file of %d, %v", len(frames), end, len(file), err)
		}
		var corrupt *frame.CorruptError
		if err != nil && !errors.Is(err, frame.ErrNoSeekTable) && !errors.As(err, &corrupt) {
			t.Fatal(err)
		}
	})
}
