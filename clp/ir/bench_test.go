package ir

import (
	"bytes"
	"fmt"
	"io"
	"testing"
)

var benchMessage = []byte(" INFO [worker-3] request 8f14e45f-ceea-467f took 12.50 ms, user=alice status 200 bytes 48213 path /usr/lib/x86_64 retry 0\n")

func benchEvent(b *Builder, i int64) {
	b.Reset()
	b.Open("timestamp")
	b.Int("unix_millisecs", 1700000000000+i)
	b.Int("utc_offset_secs", 3600)
	b.Close()
	b.Open("level")
	b.String("name", "INFO")
	b.Int("num", 0)
	b.Close()
	b.User()
	b.String("message", "request done, worker 3")
	b.String("method", "GET")
	b.String("path", "/api/v1/items")
	b.Int("status", 200)
	b.Int("bytes", 48213+i)
	b.Float("seconds", 0.0125)
	b.Bool("cached", false)
	b.Open("user")
	b.String("name", "alice")
	b.Int("id", 1234567)
	b.Close()
	b.String("trace", "8f14e45fceea467f9f2a3b1c5d6e7f80")
}

func TestAllocations(t *testing.T) {
	enc := NewEncoder(FourByte, Limits{})
	text := NewTextEncoder(FourByte, 0)
	var b Builder
	var packed, dst []byte
	var i int64
	if n := testing.AllocsPerRun(1000, func() {
		i++
		benchEvent(&b, i)
		packed, _ = b.AppendTo(packed[:0])
		dst, _ = enc.AppendPacked(dst[:0], packed)
		dst, _ = text.Append(dst[:0], i, benchMessage)
	}); n != 0 {
		t.Errorf("writing: %v allocations an event", n)
	}
	for _, stream := range [][]byte{benchKV(t, 2000, Output{}), benchText(t, 2000)} {
		r, err := NewReader(bytes.NewReader(stream), nil)
		check(t, err)
		if n := testing.AllocsPerRun(1500, func() {
			e, err := r.Next()
			check(t, err)
			if r.IsText() {
				dst, err = e.AppendMessage(dst[:0])
			} else {
				dst, err = e.AppendJSON(dst[:0])
			}
			check(t, err)
		}); n != 0 {
			t.Errorf("reading, text %v: %v allocations an event", r.IsText(), n)
		}
	}
}

func benchKV(t testing.TB, n int, out Output) []byte {
	var stream bytes.Buffer
	w, err := NewKVWriter(&stream, &KVOptions{Output: out})
	check(t, err)
	var b Builder
	for i := range n {
		benchEvent(&b, int64(i))
		check(t, w.Write(&b))
	}
	check(t, w.Close())
	return stream.Bytes()
}

func benchText(t testing.TB, n int) []byte {
	var stream bytes.Buffer
	w, err := NewTextWriter(&stream, nil)
	check(t, err)
	for i := range n {
		check(t, w.Write(int64(i), benchMessage))
	}
	check(t, w.Close())
	return stream.Bytes()
}

func BenchmarkTextEncode(b *testing.B) {
	for _, width := range []Width{FourByte, EightByte} {
		b.Run(fmt.Sprint(width.encoding()), func(b *testing.B) {
			enc := NewTextEncoder(width, 0)
			var dst []byte
			b.SetBytes(int64(len(benchMessage)))
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				dst, _ = enc.Append(dst[:0], int64(i), benchMessage)
			}
		})
	}
}

func BenchmarkTextDecode(b *testing.B) {
	stream := benchText(b, 20_000)
	b.SetBytes(int64(20_000 * len(benchMessage)))
	b.ReportAllocs()
	var message []byte
	for b.Loop() {
		r, err := NewReader(bytes.NewReader(stream), nil)
		check(b, err)
		for e, err := range r.All() {
			if err != nil {
				b.Fatal(err)
			}
			message, _ = e.AppendMessage(message[:0])
		}
	}
}

func BenchmarkBuild(b *testing.B) {
	var ev Builder
	b.ReportAllocs()
	for i := int64(0); b.Loop(); i++ {
		benchEvent(&ev, i)
	}
}

func BenchmarkEncode(b *testing.B) {
	enc := NewEncoder(FourByte, Limits{})
	var ev Builder
	benchEvent(&ev, 1)
	packed, err := ev.AppendTo(nil)
	check(b, err)
	var dst []byte
	b.ReportAllocs()
	for b.Loop() {
		dst, _ = enc.AppendPacked(dst[:0], packed)
	}
}

func BenchmarkKVDecode(b *testing.B) {
	const n = 20_000
	stream := benchKV(b, n, Output{})
	r, err := NewReader(bytes.NewReader(stream), nil)
	check(b, err)
	var json int64
	for e, err := range r.All() {
		check(b, err)
		line, _ := e.AppendJSON(nil)
		json += int64(len(line))
	}
	for _, how := range []string{"events", "json"} {
		b.Run(how, func(b *testing.B) {
			b.SetBytes(json)
			b.ReportAllocs()
			var line []byte
			for b.Loop() {
				r, err := NewReader(bytes.NewReader(stream), nil)
				check(b, err)
				for {
					e, err := r.Next()
					if err == io.EOF {
						break
					}
					if err != nil {
						b.Fatal(err)
					}
					if how == "json" {
						line, _ = e.AppendJSON(line[:0])
					}
				}
			}
		})
	}
}
