package archive

import (
	"bytes"
	"testing"

	"github.com/tracehandler/tracehandler/internal/corpus"
)

// corpusArchives has the archives of corpusArchive, which benchmarks share.
var corpusArchives = map[corpus.Kind][]byte{}

// corpusArchive is an archive of n events of a corpus, as the writer makes it by default.
func corpusArchive(t testing.TB, kind corpus.Kind, n int) []byte {
	t.Helper()
	if data := corpusArchives[kind]; data != nil {
		return data
	}
	var lines, out bytes.Buffer
	_, err := corpus.WriteNDJSON(&lines, kind, 1, n)
	check(t, err)
	w, err := NewWriter(&out, &WriterOptions{TimeKey: []string{"time"}})
	check(t, err)
	for line := range bytes.Lines(lines.Bytes()) {
		check(t, w.Write(line))
	}
	check(t, w.Close())
	corpusArchives[kind] = out.Bytes()
	return out.Bytes()
}

// BenchmarkOrdered reads archives of the corpora in the order of the log: -cpu says on how many cores. The rate is of
// NDJSON.
func BenchmarkOrdered(b *testing.B) {
	for _, kind := range corpus.Kinds() {
		b.Run(string(kind), func(b *testing.B) { benchmarkRead(b, corpusArchive(b, kind, 200_000), Options{}) })
	}
}
