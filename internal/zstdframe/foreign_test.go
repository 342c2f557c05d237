package zstdframe

import (
	"bytes"
	"math/rand/v2"
	"os"
	"os/exec"
	"testing"
)

// TestForeign has the program zstd, which TRACEHANDLER_ZSTD names, read frames of all kinds: another decoder than that of the other tests
// may notice other things.
func TestForeign(t *testing.T) {
	program := os.Getenv("TRACEHANDLER_ZSTD")
	if program == "" {
		t.Log("TRACEHANDLER_ZSTD names no program; the other tests read frames with klauspost/compress")
		return
	}
	r := rand.New(rand.NewPCG(1, 2))
	var words Words
	var best Best
	var plain, frames []byte
	add := func(text []byte) {
		for _, frame := range [][]byte{words.Append(nil, text), best.Append(nil, text)} {
			frames = append(append(frames, frame...), Bare(bytes.Clone(frame), len(text))...)
			plain = append(append(plain, text...), text...)
		}
	}
	noise := func(n int) []byte {
		b := make([]byte, n)
		for i := range b {
			b[i] = byte(r.Uint32())
		}
		return b
	}
	for n := range 40 {
		add(noise(n))
		add(bytes.Repeat([]byte{'x'}, n))
		add(testTexts(r, n))
	}
	for range 200 {
		add(testWords(r, r.IntN(9), 1<<r.IntN(12)))
		add(testTexts(r, 1+r.IntN(1<<r.IntN(14))))
		n := 1 + r.IntN(1<<r.IntN(12))
		add(bytes.Repeat(noise(n), 1+r.IntN(20_000/n+1)))
	}
	add(testTexts(r, 3<<20))
	add(testWords(r, 3, 200_000))
	add(bytes.Repeat([]byte{7}, 700_000))
	add(noise(300_000))
	add(manySequences())
	frames, plain = append(frames, manyFrame(manySequences())...), append(plain, manySequences()...)

	c := exec.Command(program, "-dcq")
	c.Stdin = bytes.NewReader(frames)
	var complaint bytes.Buffer
	c.Stderr = &complaint
	got, err := c.Output()
	if err != nil || !bytes.Equal(got, plain) {
		at := 0
		for at < min(len(got), len(plain)) && got[at] == plain[at] {
			at++
		}
		t.Fatalf("%v: %s; %d bytes of %d, the first that differs is %d", err, complaint.Bytes(), len(got), len(plain), at)
	}
	t.Logf("%d bytes in %d", len(plain), len(frames))
}

// manySequences is a block in which each fourth byte is noise.
func manySequences() []byte {
	r := rand.New(rand.NewPCG(7, 8))
	b := bytes.Repeat([]byte(".xyz"), maxBlock/4)
	for i := 0; i < len(b); i += 4 {
		b[i] = byte(r.Uint32())
	}
	return b
}

// manyFrame makes a frame of what manySequences returns, with as many sequences as a block can have.
func manyFrame(plain []byte) []byte {
	literals := bytes.Clone(plain[:4])
	seqs := make([]sequence, 0, len(plain)/4)
	for i := 4; i < len(plain); i += 4 {
		literals = append(literals, plain[i])
		seqs = append(seqs, sequence{1, 3, 4})
	}
	seqs[0].literals = 5
	var e blockEncoder
	d := firstDistances
	return appendSum(e.block(appendHead(nil, len(plain)), plain, literals, seqs, &d, true), plain)
}

// TestManySequences has a block with more sequences than two bytes tell.
func TestManySequences(t *testing.T) {
	plain := manySequences()
	frame := manyFrame(plain)
	if got, err := decodeZstd(t, frame); err != nil || !bytes.Equal(got, plain) {
		t.Fatal(err)
	}
	if len(frame) > len(plain)/2 {
		t.Errorf("%d bytes became %d: the block has no sequences", len(plain), len(frame))
	}
}
