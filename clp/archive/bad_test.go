package archive

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

type badFile struct {
	File    string `json:"file"`
	What    string `json:"what"`
	Ordered struct {
		Output string `json:"output"`
	} `json:"x_ordered"`
}

// checkTyped fails unless err is, or joins, errors of the types that damage has.
func checkTyped(t testing.TB, err error) {
	t.Helper()
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		for _, err := range joined.Unwrap() {
			checkTyped(t, err)
		}
		return
	}
	var c *CorruptError
	var l *LimitError
	if !errors.As(err, &c) && !errors.As(err, &l) {
		t.Errorf("error without a type: %v", err)
	}
}

func TestBadVectors(t *testing.T) {
	var index struct{ Files []badFile }
	data, err := os.ReadFile(filepath.Join(vectors(), "bad", "index.json"))
	check(t, err)
	check(t, json.Unmarshal(data, &index))
	var slowest time.Duration
	var largest uint64
	for _, f := range index.Files {
		t.Run(strings.TrimSuffix(filepath.Base(f.File), ".clp"), func(t *testing.T) {
			data := readVector(t, f.File)
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			start := time.Now()
			var lines []byte
			r, err := Open(bytes.NewReader(data), int64(len(data)), nil)
			if err == nil {
				lines, err = readLines(r)
				check(t, r.Close())
			}
			slowest = max(slowest, time.Since(start))
			runtime.ReadMemStats(&after)
			allocated := after.TotalAlloc - before.TotalAlloc
			largest = max(largest, allocated)
			if allocated > 64<<20 {
				t.Errorf("%d bytes allocated", allocated)
			}
			if err != nil {
				checkTyped(t, err)
			}
			t.Logf("%s | %s | %d lines, %v", f.What, f.Ordered.Output, bytes.Count(lines, []byte("\n")), err)
		})
	}
	t.Logf("%d files, slowest %v, %d bytes allocated at most", len(index.Files), slowest, largest)
}
