package repeat

import (
	"bytes"
	"compress/flate"
	"fmt"
	"io"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
)

// inflate reads blocks with the standard library; a last empty block ends them.
func inflate(t testing.TB, b []byte) []byte {
	t.Helper()
	out, err := io.ReadAll(flate.NewReader(bytes.NewReader(append(b[:len(b):len(b)], 3, 0))))
	if err != nil {
		t.Fatalf("%d bytes: %v", len(b), err)
	}
	return out
}

func table(t *Text, rows int) {
	var head, mid, tail Piece
	for i := range rows {
		t.Write(&head, []byte(`"line":{"file":"/a/long/path/to/a/file/that/repeats.py","line":`))
		t.B = strconv.AppendInt(t.B, int64(i*7%500), 10)
		t.Write(&mid, []byte(`,"column":`))
		t.B = strconv.AppendInt(t.B, int64(i%9), 10)
		if !t.Again(&tail) {
			at := len(t.B)
			t.B = append(t.B, fmt.Sprintf(`,"rest":[%d]},`, i)...)
			t.Note(&tail, at)
		}
	}
}

func TestRoundTrip(t *testing.T) {
	var e Encoder
	var all, want []byte
	for _, rows := range []int{1, 2, 10, 3000} {
		var x Text
		table(&x, rows)
		if !x.consistent() {
			t.Fatal("a reference is not true")
		}
		b := e.AppendBlock(nil, &x, 0)
		if got := inflate(t, b); !bytes.Equal(got, x.B) {
			t.Fatalf("%d rows: %d bytes, want %d", rows, len(got), len(x.B))
		}
		all, want = e.AppendBlock(all, &x, 0), append(want, x.B...)
	}
	if !bytes.Equal(inflate(t, all), want) {
		t.Error("blocks do not follow each other")
	}
	if len(want) < 10*len(all) {
		t.Errorf("%d bytes became %d", len(want), len(all))
	}
}

func TestWindow(t *testing.T) {
	var e Encoder
	for _, gap := range []int{0, 1, window - 100, window - 60, window - 59, window - 58, window, 3 * window} {
		var x Text
		var p Piece
		piece := []byte(strings.Repeat("abc", 19) + "xy")
		x.Write(&p, piece)
		x.B = append(x.B, make([]byte, gap)...)
		x.Write(&p, piece)
		if !x.Again(&p) {
			t.Error("not again")
		}
		if !x.consistent() || !bytes.Equal(inflate(t, e.AppendBlock(nil, &x, 0)), x.B) {
			t.Errorf("gap %d", gap)
		}
	}
}

// TestSkewed: counts like Fibonacci numbers ask for codes that are longer than DEFLATE allows.
func TestSkewed(t *testing.T) {
	var x Text
	a, b := 1, 1
	for c := range 26 {
		x.B = append(x.B, bytes.Repeat([]byte{byte('a' + c)}, a)...)
		a, b = b, a+b
	}
	var e Encoder
	if !bytes.Equal(inflate(t, e.AppendBlock(nil, &x, 0)), x.B) {
		t.Error("differs")
	}
}

func TestRandom(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	var e Encoder
	for range 200 {
		var x Text
		pieces := make([]Piece, 1+r.IntN(6))
		texts := make([][]byte, len(pieces))
		for i := range texts {
			texts[i] = make([]byte, r.IntN(1200))
			for j := range texts[i] {
				texts[i][j] = byte(r.IntN(1 + r.IntN(256)))
			}
		}
		for range r.IntN(100) {
			if i := r.IntN(len(pieces)); r.IntN(4) == 0 {
				like := bytes.Clone(texts[i])
				for range r.IntN(4) {
					if n := len(like); n > 0 {
						k := r.IntN(n)
						like = append(like[:k], like[min(n, k+r.IntN(3)):]...)
					}
				}
				x.Like(&pieces[i], like)
				texts[i] = like
			} else if r.IntN(2) == 0 {
				x.Write(&pieces[i], texts[i])
			} else if !x.Again(&pieces[i]) {
				x.B = append(x.B, byte(r.Uint32()))
			}
		}
		if !x.consistent() || len(x.B) > 0 && !bytes.Equal(inflate(t, e.AppendBlock(nil, &x, 0)), x.B) {
			t.Fatal("differs")
		}
	}
}

// TestAfterHead: a block refers to text that another compressor wrote before it.
func TestAfterHead(t *testing.T) {
	var x Text
	var p Piece
	line := []byte(`{"a":"some text that comes again","n":`)
	x.Like(&p, line)
	x.B = append(x.B, "1}\n"...)
	head := len(x.B)
	for i := range 5 {
		x.Like(&p, line)
		x.B = fmt.Appendf(x.B, "%d}\n", i)
	}
	var packed bytes.Buffer
	w, err := flate.NewWriter(&packed, 6)
	if err != nil {
		t.Fatal(err)
	}
	_, _ = w.Write(x.B[:head])
	_ = w.Flush()
	var e Encoder
	b := e.AppendBlock(packed.Bytes(), &x, head)
	if got := inflate(t, b); !bytes.Equal(got, x.B) {
		t.Errorf("%q", got)
	}
}

func BenchmarkAppendBlock(b *testing.B) {
	var x Text
	table(&x, 1000)
	var e Encoder
	var out []byte
	b.SetBytes(int64(len(x.B)))
	b.ReportAllocs()
	for b.Loop() {
		out = e.AppendBlock(out[:0], &x, 0)
	}
	b.ReportMetric(float64(len(x.B))/float64(len(out)), "ratio")
}
