package frame_test

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"testing"

	"github.com/tracehandler/tracehandler/format"
	"github.com/tracehandler/tracehandler/internal/frame"
)

// TestResync: after damage anywhere, a reader that goes on at the next magic gets every frame that is not damaged.
func TestResync(t *testing.T) {
	e := encoder(t, format.Zstd, 0)
	var file []byte
	var starts []int
	for i := range 12 {
		starts = append(starts, len(file))
		file = appendFrame(t, e, file, lines(uint64(i), 100+i*7919))
	}
	starts = append(starts, len(file))
	rng := rand.New(rand.NewPCG(1, 2))
	for trial := range 300 {
		bad := bytes.Clone(file)
		at := rng.IntN(len(bad) - 64)
		for i := range 1 + rng.IntN(64) {
			bad[at+i] ^= byte(1 + rng.IntN(255))
		}
		got := readableFrames(t, bad)
		for i := range starts[:len(starts)-1] {
			whole := bytes.Equal(bad[starts[i]:starts[i+1]], file[starts[i]:starts[i+1]])
			if whole && !got[int64(starts[i])] {
				t.Fatalf("trial %d: damage at %d hides the whole frame at %d", trial, at, starts[i])
			}
		}
	}
}

// readableFrames returns the offsets of frames that decode, going on after damage.
func readableFrames(t *testing.T, file []byte) map[int64]bool {
	t.Helper()
	r, size := bytes.NewReader(file), int64(len(file))
	got := map[int64]bool{}
	var d frame.Decoder
	for off := int64(0); ; {
		info, err := frame.NextZstd(r, off, size)
		if err == io.EOF {
			return got
		}
		if err == nil {
			if _, err = d.AppendZstd(nil, file[off:info.End()], 1<<20); err == nil {
				got[off] = true
				off = info.End()
				continue
			}
		}
		next, ok, err := frame.FindZstd(r, off+1, size)
		if err != nil {
			t.Fatal(err)
		}
		if !ok {
			return got
		}
		off = next
	}
}

func TestFindZstd(t *testing.T) {
	one := appendFrame(t, encoder(t, format.Zstd, 0), nil, []byte("hello\n"))
	skip := []byte("\x51\x2a\x4d\x18\x02\x00\x00\x00ab")
	pad := bytes.Repeat([]byte("."), 64<<10-2) // the next magic lies across two reads
	join := func(parts ...[]byte) []byte { return bytes.Join(parts, nil) }
	tests := []struct {
		name string
		file []byte
		want int // -1: none
	}{
		{"nothing", nil, -1},
		{"text", []byte("hello, world"), -1},
		{"at once", one, 0},
		{"later", join([]byte("..."), one), 3},
		{"across reads", join(pad, one), len(pad)},
		{"skippable before the end", join([]byte("x"), skip), 1},
		{"skippable before a frame", join([]byte("x"), skip, one), 1},
		{"skippable before text is none", join([]byte("x"), skip, []byte("abcd"), one), 1 + len(skip) + 4},
		{"skippable beyond the end is none", join([]byte("x\x50\x2a\x4d\x18\xff\xff\xff\x7f"), one), 9},
		{"a magic that is none", join([]byte("\x28\xb5\x2f\xfd\xff\xff\xff\xff"), one), 8},
		{"torn at the end", join([]byte("xx"), one[:len(one)-1]), 2},
		{"torn, then whole", join([]byte("\x28\xb5\x2f\xfd\x00\x58\x00\xff\x0f"), one), 9},
		{"magic alone at the end", []byte("....\x28\xb5\x2f\xfd"), 4},
	}
	for _, tt := range tests {
		off, ok, err := frame.FindZstd(bytes.NewReader(tt.file), 0, int64(len(tt.file)))
		if err != nil || ok != (tt.want >= 0) || ok && off != int64(tt.want) {
			t.Errorf("%s: %d, %v, %v; want %d", tt.name, off, ok, err, tt.want)
		}
	}
}

func TestFindGzip(t *testing.T) {
	one := appendFrame(t, encoder(t, format.Gzip, 0), nil, []byte("hello\n"))
	pad := bytes.Repeat([]byte("."), 64<<10-2)
	for _, tt := range []struct {
		name string
		file []byte
		want int
	}{
		{"nothing", nil, -1},
		{"text", bytes.Repeat([]byte("\x1f\x8b."), 10), -1},
		{"at once", one, 0},
		{"later", append([]byte("\x1f\x8b\x08\xff......."), one...), 11},
		{"across reads", append(bytes.Clone(pad), one...), len(pad)},
		{"header too short", []byte("...\x1f\x8b\x08\x00\x00\x00\x00\x00\x00"), -1},
	} {
		off, ok, err := frame.FindGzip(bytes.NewReader(tt.file), 0, int64(len(tt.file)))
		if err != nil || ok != (tt.want >= 0) || ok && off != int64(tt.want) {
			t.Errorf("%s: %d, %v, %v; want %d", tt.name, off, ok, err, tt.want)
		}
	}
}

func TestFindFrom(t *testing.T) {
	one := appendFrame(t, encoder(t, format.Zstd, 0), nil, []byte("hello\n"))
	file := append(bytes.Clone(one), one...)
	size := int64(len(file))
	for from, want := range map[int64]int64{0: 0, 1: int64(len(one)), int64(len(one)): int64(len(one))} {
		if off, ok, err := frame.FindZstd(bytes.NewReader(file), from, size); off != want || !ok || err != nil {
			t.Errorf("from %d: %d, %v, %v", from, off, ok, err)
		}
	}
	for _, from := range []int64{int64(len(one)) + 1, size, size + 100} {
		if _, ok, err := frame.FindZstd(bytes.NewReader(file), from, size); ok || err != nil {
			t.Errorf("from %d: %v, %v", from, ok, err)
		}
	}
}

func FuzzNextZstd(f *testing.F) {
	e := encoder(f, format.Zstd, 0)
	one := appendFrame(f, e, nil, []byte("hello\n"))
	f.Add(one)
	f.Add(append(bytes.Clone(one), "\x51\x2a\x4d\x18\x02\x00\x00\x00ab"...))
	f.Add(appendFrame(f, e, one, bytes.Repeat([]byte("hello\n"), 100)))
	f.Add(dictionaryFrame)
	f.Fuzz(func(t *testing.T, file []byte) {
		r, size := bytes.NewReader(file), int64(len(file))
		info, err := frame.NextZstd(r, 0, size)
		var torn *frame.TornError
		var corrupt *frame.CorruptError
		switch {
		case err == nil:
			if info.Size < 8 || info.End() > size || info.Offset != 0 || info.ContentSize < -1 {
				t.Fatalf("%+v in %d bytes", info, size)
			}
		case err == io.EOF && size == 0, errors.As(err, &torn) && torn.End == size:
		case errors.As(err, &corrupt) && corrupt.At >= 0 && corrupt.At <= size+128<<10:
		default:
			t.Fatalf("%v", err)
		}
		if off, ok, err := frame.FindZstd(r, 0, size); err != nil || ok && (off < 0 || off >= size) {
			t.Fatalf("FindZstd: %d, %v, %v", off, ok, err)
		} else if ok && len(walkFrom(file, off)) == 0 && info.Size > 0 {
			t.Fatalf("FindZstd prefers offset %d to the frame at 0", off)
		}
		frame.FindGzip(r, 0, size)
	})
}

func walkFrom(file []byte, off int64) []frame.Info {
	frames, _ := walk(file[off:])
	return frames
}

func FuzzAppendZstd(f *testing.F) {
	e := encoder(f, format.Zstd, 0)
	f.Add(appendFrame(f, e, nil, []byte("hello\n")))
	f.Add(appendFrame(f, e, nil, lines(1, 2000)))
	f.Add(appendFrame(f, e, nil, noise(1, 50)))
	f.Add(dictionaryFrame)
	var d frame.Decoder
	f.Fuzz(func(t *testing.T, data []byte) {
		const limit = 1 << 20
		out, err := d.AppendZstd([]byte("head"), data, limit)
		if len(out) > limit+4 || string(out[:4]) != "head" || err != nil && len(out) != 4 {
			t.Fatalf("%d bytes, %v", len(out), err)
		}
		if len(out) > 4 {
			back, err := d.AppendZstd(nil, appendFrame(t, e, nil, out[4:]), limit)
			if err != nil || !bytes.Equal(back, out[4:]) {
				t.Fatalf("content does not survive: %v", err)
			}
		}
	})
}
