package ir

import (
	"bytes"
	"errors"
	"io"
	"math"
	"os"
	"path/filepath"
	"testing"
)

// FuzzReader reads arbitrary bytes: no panic, an error of a known type, and whole events written again and read again
// are the same.
func FuzzReader(f *testing.F) {
	for _, dir := range []string{vectorDir, filepath.Join(vectorDir, "bad")} {
		files, err := filepath.Glob(filepath.Join(dir, "*.clp*"))
		if err != nil {
			f.Fatal(err)
		}
		for _, file := range files {
			if data := readFile(f, file); len(data) < 8000 {
				f.Add(data)
			}
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := NewReader(bytes.NewReader(data), &ReaderOptions{Limits: Limits{Event: 1 << 20}, MaxWindow: 8 << 20})
		if err != nil {
			checkError(t, err)
			return
		}
		defer r.Close()
		var line []byte
		for {
			e, err := r.Next()
			if err == io.EOF {
				break
			}
			if err != nil {
				checkError(t, err)
				break
			}
			if r.IsText() {
				line, err = e.AppendMessage(line[:0])
				e.Level()
			} else {
				line, err = e.AppendJSON(line[:0])
				if err == nil {
					parse(t, line)
				}
			}
			if err != nil {
				checkError(t, err)
			}
		}
	})
}

func checkError(t *testing.T, err error) {
	t.Helper()
	var (
		corrupt    *CorruptError
		incomplete *IncompleteError
		limit      *LimitError
	)
	if !errors.As(err, &corrupt) && !errors.As(err, &incomplete) && !errors.As(err, &limit) {
		t.Fatalf("error without a type: %v", err)
	}
}

// FuzzRoundTrip writes two events of any values and reads them again, raw and in zstd.
func FuzzRoundTrip(f *testing.F) {
	f.Add("key", "two words 12.50", int64(-7), 2.5, true, int64(1700000000000))
	f.Add("", "", int64(1)<<40, 0.1, false, int64(-1))
	f.Add("a\x00b", "user=\\ 世界 \x11", int64(128), math.Copysign(0, -1), false, int64(1)<<62)
	f.Fuzz(func(t *testing.T, key, text string, i int64, x float64, zstd bool, ms int64) {
		for _, width := range []Width{FourByte, EightByte} {
			var b Builder
			lay := func() {
				b.Reset()
				b.Int(key, i)
				b.User()
				b.String(key, text)
				b.Open(key + "'")
				b.Float(key, x)
				b.Bool(key+"2", zstd)
				b.Array(key+"3", []byte("[1, 2]"))
				b.Close()
			}
			var kv bytes.Buffer
			w, err := NewKVWriter(&kv, &KVOptions{Width: width, AnyBytes: true, Output: Output{Zstd: zstd}})
			check(t, err)
			for range 2 {
				lay()
				check(t, w.Write(&b))
			}
			check(t, w.Close())
			r, err := NewReader(&kv, nil)
			check(t, err)
			for range 2 {
				e, err := r.Next()
				check(t, err)
				if v, ok := e.Lookup(Auto, key); !ok || v.Int() != i {
					t.Fatalf("%q: integer %d read as %v", key, i, v.Int())
				}
				v, _ := e.Lookup(User, key)
				if got, err := v.AppendText(nil); err != nil || string(got) != text {
					t.Fatalf("%q read as %q, %v", text, got, err)
				}
				v, ok := e.Lookup(User, key+"'", key)
				if got := v.Float(); !ok || got != x && x == x {
					t.Fatalf("%v read as %v", x, got)
				}
			}
			if _, err := r.Next(); err != io.EOF {
				t.Fatal(err)
			}
			r.Close()

			var stream bytes.Buffer
			tw, err := NewTextWriter(&stream, &TextOptions{Width: width, AnyBytes: true, Output: Output{Zstd: zstd}})
			check(t, err)
			check(t, tw.Write(ms, []byte(text)))
			if err := tw.Write(i, []byte(key)); err != nil && err != ErrTimestamp {
				t.Fatal(err)
			}
			check(t, tw.Close())
			r, err = NewReader(&stream, nil)
			check(t, err)
			e, err := r.Next()
			check(t, err)
			if got, err := e.AppendMessage(nil); err != nil || string(got) != text || e.Time() != ms {
				t.Fatalf("%d %q read as %d %q, %v", ms, text, e.Time(), got, err)
			}
			r.Close()
		}
	})
}

// FuzzReopen opens arbitrary bytes again: either it is refused, or what is written then can be read.
func FuzzReopen(f *testing.F) {
	for _, name := range []string{"10-kv4-scalars.clp", "22-kv4-frames.clp.zst", "23-kv4-truncated.clp.zst", "11-kv4-nested.clp"} {
		f.Add(readFile(f, filepath.Join(vectorDir, name)))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		name := filepath.Join(t.TempDir(), "stream")
		check(t, os.WriteFile(name, data, 0o600))
		file, err := os.OpenFile(name, os.O_RDWR, 0)
		check(t, err)
		defer file.Close()
		w, info, err := ReopenKV(file, &KVOptions{Limits: Limits{Event: 1 << 20}})
		if err != nil {
			return
		}
		var b Builder
		b.User()
		b.Int("added", 1)
		check(t, w.Write(&b))
		check(t, w.Close())
		got, err := os.ReadFile(name)
		check(t, err)
		r, err := NewReader(bytes.NewReader(got), nil)
		check(t, err)
		defer r.Close()
		for {
			if _, err = r.Next(); err != nil {
				break
			}
		}
		if err != io.EOF || r.Number() != info.Events+1 {
			t.Fatalf("%d events after %d, %v", r.Number(), info.Events, err)
		}
	})
}
