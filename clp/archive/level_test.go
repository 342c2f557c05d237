package archive

import (
	"fmt"
	"testing"
)

// TestBestLevel writes an archive with an index at the level at which time does not matter: it has the same records, and is smaller.
func TestBestLevel(t *testing.T) {
	var lines [][]byte
	for i := range blockRows + 5000 {
		lines = append(lines, fmt.Appendf(nil, `{"n":%d,"msg":"value %d of %d","id":"%x"}`, i*7%1000, i%301, i%7, int64(i)*2654435761%100_000))
	}
	usual, best := write(t, lines, nil), write(t, lines, &WriterOptions{Level: bestLevel})
	want, _, err := digest(usual, nil)
	check(t, err)
	if r := openBytes(t, best, nil); r.index() == nil {
		t.Fatal(r.indexErr)
	}
	if sum, n, err := digest(best, nil); err != nil || sum != want || n != len(lines) {
		t.Fatalf("%d records of %d, others: %v, %v", n, len(lines), sum != want, err)
	}
	if len(best) > len(usual)*98/100 {
		t.Errorf("%d bytes, %d at the usual level", len(best), len(usual))
	}
}
