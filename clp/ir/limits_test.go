package ir

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/bits"
	"runtime"
	"strings"
	"testing"
)

func TestLimits(t *testing.T) {
	var b Builder
	b.User()
	for i := range 20 {
		b.Int(fmt.Sprint("k", i), 1)
	}
	b.String("s", strings.Repeat("x", 1000))
	var deep Builder
	for range 20 {
		deep.Open("d")
	}
	deep.Int("x", 1)
	for range 20 {
		deep.Close()
	}
	stream := kvStream(t, nil, &b, &deep)
	tests := []struct {
		what   string
		limits Limits
		write  *Builder
	}{
		{"keys", Limits{Keys: 10}, &b},
		{"levels of nesting", Limits{Depth: 10}, &deep},
		{"bytes of an event", Limits{Event: 500}, &b},
	}
	for _, tt := range tests {
		r, err := NewReader(bytes.NewReader(stream), &ReaderOptions{Limits: tt.limits})
		check(t, err)
		for err == nil {
			_, err = r.Next()
		}
		if le := (*LimitError)(nil); !errors.As(err, &le) || le.What != tt.what {
			t.Errorf("%s: reader: %v", tt.what, err)
		}
		enc := NewEncoder(FourByte, tt.limits)
		_, err = enc.Append(nil, tt.write)
		if le := (*LimitError)(nil); !errors.As(err, &le) || le.What != tt.what || enc.Keys() != 0 {
			t.Errorf("%s: encoder: %v, %d keys", tt.what, err, enc.Keys())
		}
	}
}

// TestHugeClaims feeds lengths that the input does not back.
func TestHugeClaims(t *testing.T) {
	text, err := AppendPreamble(nil, FourByte, &Metadata{Version: VersionText})
	check(t, err)
	kv, err := AppendPreamble(nil, FourByte, &Metadata{Version: VersionKV})
	check(t, err)
	var b Builder
	b.User()
	b.String("s", "")
	kv, err = NewEncoder(FourByte, Limits{}).Append(kv, &b)
	check(t, err)
	tests := map[string][]byte{
		"logtype":    append(bytes.Clone(text), tagLogtype32, 0x7F, 0xFF, 0xFF, 0xFF),
		"dictionary": append(bytes.Clone(text), tagDict32, 0x7F, 0xFF, 0xFF, 0xFF),
		"string":     append(bytes.Clone(kv), tagID8, 1, tagString32, 0xFF, 0xFF, 0xFF, 0xFF),
		"key":        append(bytes.Clone(kv), byte(nodeInt), tagParent8, 0, tagString32, 0xFF, 0xFF, 0xFF, 0xFF),
		"16 MiB":     append(bytes.Clone(text), tagLogtype32, 0x01, 0, 0, 0),
	}
	for name, data := range tests {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		r, err := NewReader(bytes.NewReader(data), nil)
		check(t, err)
		for err == nil {
			_, err = r.Next()
		}
		runtime.ReadMemStats(&after)
		var le *LimitError
		if !errors.Is(err, io.ErrUnexpectedEOF) && !errors.As(err, &le) {
			t.Errorf("%s: %v", name, err)
		}
		if n := after.TotalAlloc - before.TotalAlloc; n > 1<<20 {
			t.Errorf("%s: allocated %d bytes", name, n)
		}
	}
}

// TestHostileMemory reads the streams that cost a reader most: nothing but keys, and one event that uses them all.
func TestHostileMemory(t *testing.T) {
	enc := NewEncoder(FourByte, Limits{})
	stream, err := AppendPreamble(nil, FourByte, &Metadata{Version: VersionKV})
	check(t, err)
	var ids []byte
	n := Limits{}.withDefaults().Keys
	for i := range n {
		key := fmt.Appendf(nil, "%x", i)
		if _, err := enc.key(enc.user, 0, 0, key, nodeInt); err != nil {
			t.Fatal(err)
		}
		ids = appendID(ids, tagID8, int32(i+1))
	}
	stream = append(append(stream, enc.inserts...), ids...)
	for range n {
		stream = append(stream, tagInt8, 1)
	}
	stream = append(stream, tagEnd)
	enc, ids = nil, nil
	src := &sampler{src: bytes.NewReader(stream)}
	src.sample()
	base := src.peak
	r, err := NewReader(src, nil)
	check(t, err)
	_, err = r.Next()
	check(t, err)
	src.sample()
	got, bar := src.peak-base, 2*uint64(len(stream))+16<<20
	t.Logf("%d keys in %d bytes: %d bytes of memory", r.Keys(), len(stream), got)
	if got > bar {
		t.Errorf("%d bytes of memory, at most %d", got, bar)
	}
	runtime.KeepAlive(r)
}

// sampler looks at the memory in use before each read.
type sampler struct {
	src  io.Reader
	peak uint64
}

func (s *sampler) sample() {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	s.peak = max(s.peak, m.HeapAlloc)
}

func (s *sampler) Read(p []byte) (int, error) {
	s.sample()
	return s.src.Read(p)
}

// TestWindow gives the reader frames that ask for more memory than they are worth: short ones that become 32 MiB of zeros
// behind the end of the stream. Only one that looks back further than it may is refused.
func TestWindow(t *testing.T) {
	stream := kvStream(t, nil)
	for _, c := range []struct {
		window, max int
		back        int // how far a match in the last block looks back, if not 0
		refused     bool
	}{{8 << 20, 0, 0, false}, {9 << 20, 0, 0, false}, {128 << 20, 0, 0, false}, {0, 0, 0, false},
		{128 << 20, 0, 7 << 20, false}, {128 << 20, 0, 9 << 20, true}, {16 << 20, 16 << 20, 9 << 20, false}} {
		file := zstdFrame(c.window, stream, 256, c.back)
		src := &sampler{src: bytes.NewReader(file)}
		src.sample()
		base := src.peak
		r, err := NewReader(src, &ReaderOptions{MaxWindow: c.max})
		if err == nil {
			if _, err = r.Next(); err == io.EOF { // the stream ends before the frame does
				if _, err = io.Copy(io.Discard, r.src); err == nil {
					err = io.EOF
				} else {
					err = r.readError(err)
				}
			}
		}
		src.sample()
		var limit *LimitError
		if c.refused && (!errors.As(err, &limit) || !strings.Contains(err.Error(), "ReaderOptions.MaxWindow")) || !c.refused && err != io.EOF {
			t.Errorf("a window of %d MiB, %d bytes back: %v", c.window>>20, c.back, err)
		}
		if got, bar := src.peak-base, 2*uint64(len(file))+16<<20; c.max == 0 && got > bar {
			t.Errorf("a window of %d MiB: %d bytes of memory, at most %d", c.window>>20, got, bar)
		}
		if r != nil {
			r.Close()
		}
	}
}

// zstdFrame returns a frame with a raw block and blocks of 128 KiB of zeros (RFC 8878 §3.1.1). Window 0 means that its window
// is its content. If back is not 0, a block with a match follows.
func zstdFrame(window int, text []byte, zeros, back int) []byte {
	f := []byte{0x28, 0xB5, 0x2F, 0xFD, 0}
	if window > 0 {
		e := bits.Len(uint(window)) - 1
		f = append(f, byte((e-10)<<3|(window-1<<e)>>(e-3)))
	} else {
		f[4] = 2<<6 | 1<<5 // four bytes of content size, single segment
		f = binary.LittleEndian.AppendUint32(f, uint32(len(text)+zeros<<17))
	}
	block := func(last, kind, size int) {
		v := last | kind<<1 | size<<3
		f = append(f, byte(v), byte(v>>8), byte(v>>16))
	}
	block(0, 0, len(text))
	f = append(f, text...)
	for i := range zeros {
		last := 0
		if i == zeros-1 && back == 0 {
			last = 1
		}
		block(last, 1, 128<<10)
		f = append(f, 0)
	}
	if back > 0 {
		// No literals; one sequence, its three codes RLE: literal length 0, offset code n with n bits, match length 3.
		n := bits.Len(uint(back+3)) - 1
		code := []byte{0, 1, 1<<6 | 1<<4 | 1<<2, 0, byte(n), 0}
		stream := uint64(back+3) - 1<<n | 1<<n // the bits, and the one that ends them
		for ; stream > 0; stream >>= 8 {
			code = append(code, byte(stream))
		}
		block(1, 2, len(code))
		f = append(f, code...)
	}
	return f
}
