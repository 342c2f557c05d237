package ir

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"
)

func TestReopen(t *testing.T) {
	for _, zstd := range []bool{false, true} {
		for _, kind := range []string{"kv", "text"} {
			t.Run(fmt.Sprintf("%s zstd %v", kind, zstd), func(t *testing.T) { testReopen(t, kind == "text", zstd) })
		}
	}
}

// testReopen cuts a stream at many places, opens it again, goes on, and reads all.
func testReopen(t *testing.T, text, zstd bool) {
	out := Output{Zstd: zstd, FrameSize: 400}
	write := func(kv *KVWriter, tw *TextWriter, i int) error {
		if text {
			return tw.Write(int64(1000+i*i), fmt.Appendf(nil, " INFO event %d took %d.5 ms\n", i, i))
		}
		var b Builder
		b.Int("n", int64(i))
		b.User()
		b.String(fmt.Sprint("key", i%7), fmt.Sprintf("event %d took %d.5 ms", i, i))
		return kv.Write(&b)
	}
	var stream bytes.Buffer
	var kv *KVWriter
	var tw *TextWriter
	var err error
	if text {
		tw, err = NewTextWriter(&stream, &TextOptions{Output: out, Reference: 1000})
	} else {
		kv, err = NewKVWriter(&stream, &KVOptions{Output: out})
	}
	check(t, err)
	for i := range 60 {
		check(t, write(kv, tw, i))
	}
	if text {
		check(t, tw.Close())
	} else {
		check(t, kv.Close())
	}
	whole, end := dump(t, bytes.NewReader(stream.Bytes()))
	check(t, end)
	name := filepath.Join(t.TempDir(), "stream")
	opened := 0
	for cut := 1; cut <= stream.Len(); cut++ {
		if cut%19 != 0 && cut < stream.Len()-20 {
			continue
		}
		before, endBefore := dump(t, bytes.NewReader(stream.Bytes()[:cut]))
		check(t, os.WriteFile(name, stream.Bytes()[:cut], 0o600))
		f, err := os.OpenFile(name, os.O_RDWR, 0)
		check(t, err)
		var info Reopened
		if text {
			tw, info, err = ReopenText(f, &TextOptions{Output: out})
		} else {
			kv, info, err = ReopenKV(f, &KVOptions{Output: out})
		}
		if before == nil { // cut in the preamble
			if !errors.Is(err, io.ErrUnexpectedEOF) {
				t.Fatalf("cut at %d: %v", cut, err)
			}
			check(t, f.Close())
			continue
		}
		if err != nil || info.Ended != (endBefore == nil) || int(info.Events) != len(before)-1 {
			t.Fatalf("cut at %d: %+v, %v; %d events, %v", cut, info, err, len(before)-1, endBefore)
		}
		opened++
		for i := info.Events; i < 60; i++ {
			check(t, write(kv, tw, int(i)))
		}
		if text {
			check(t, tw.Close())
		} else {
			check(t, kv.Close())
		}
		check(t, f.Close())
		got, end := dump(t, bytes.NewReader(readFile(t, name)))
		check(t, end)
		if len(got) != len(whole) {
			t.Fatalf("cut at %d: %d events, want %d", cut, len(got)-1, len(whole)-1)
		}
		for i := range got {
			if !bytes.Equal(got[i], whole[i]) {
				t.Fatalf("cut at %d: line %d: %s, want %s", cut, i, got[i], whole[i])
			}
		}
	}
	if opened < 20 {
		t.Errorf("only %d cuts were opened again", opened)
	}
	f, err := os.Open(name)
	check(t, err)
	defer f.Close()
	if text {
		_, _, err = ReopenKV(f, nil)
	} else {
		_, _, err = ReopenText(f, nil)
	}
	if err != ErrKind {
		t.Errorf("the other kind: %v", err)
	}
}

func TestReopenGolden(t *testing.T) {
	// Streams whose frames were cut by others: inside the magic, inside events, with skippable and empty frames.
	for _, name := range []string{"22-kv4-frames.clp.zst", "23-kv4-truncated.clp.zst"} {
		data := readFile(t, filepath.Join(vectorDir, name))
		before, _ := dump(t, bytes.NewReader(data))
		path := filepath.Join(t.TempDir(), name)
		check(t, os.WriteFile(path, data, 0o600))
		f, err := os.OpenFile(path, os.O_RDWR, 0)
		check(t, err)
		w, _, err := ReopenKV(f, nil)
		check(t, err)
		var b Builder
		b.User()
		b.String("added", "one more")
		check(t, w.Write(&b))
		check(t, w.Close())
		check(t, f.Close())
		after, end := dump(t, bytes.NewReader(readFile(t, path)))
		check(t, end)
		if len(after) != len(before)+1 {
			t.Fatalf("%s: %d events after %d", name, len(after)-1, len(before)-1)
		}
		for i := range before[1:] {
			if !bytes.Equal(before[1+i], after[1+i]) {
				t.Errorf("%s: event %d changed", name, i)
			}
		}
	}
}
