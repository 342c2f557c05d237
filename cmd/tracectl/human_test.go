package main

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/tracehandler/tracehandler/format"
)

func TestHuman(t *testing.T) {
	for got, want := range map[string]string{
		number(0): "0", number(999): "999", number(1000): "1,000", number(-1234567): "-1,234,567", number(-123): "-123", number(int64(1) << 40): "1,099,511,627,776",
		plural(1, "event"): "1 event", plural(0, "event"): "0 events", plural(2000, "event"): "2,000 events",
		bytesText(0): "0 B", bytesText(1023): "1023 B", bytesText(1024): "1.0 KiB", bytesText(1<<20 - 1): "1.0 MiB", bytesText(5 << 40): "5.0 TiB", bytesText(1<<63 - 1): "8.0 EiB",
		ratio(100, 50): "2.00×", ratio(0, 5): "-", ratio(5, 0): "-",
		span(0): "0s", span(123): "123ns", span(1234567): "1.23ms", span(61 * time.Second): "1m1s", span(1234 * time.Millisecond): "1.23s",
	} {
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestBeside(t *testing.T) {
	for src, want := range map[string]string{
		"app.ndjson":         "app.ndjson.zst",
		"d/app.ndjson.gz":    "d/app.ndjson.zst",
		"app.clp":            "app.ndjson.zst",
		"app.clp.zst":        "app.ndjson.zst",
		"x_host_.bin.ndjson": "x_host_.ndjson.zst",
		"app.log":            "app.log.ndjson.zst",
		"app.log.gz":         "app.log.ndjson.zst",
		"app":                "app.ndjson.zst",
		".ndjson":            ".ndjson.ndjson.zst",
		"d/.ndjson.gz":       "d/.ndjson.gz.ndjson.zst",
	} {
		if got := beside(src, format.Zstd); got != want {
			t.Errorf("beside(%q) = %q, want %q", src, got, want)
		}
	}
}

func TestHumane(t *testing.T) {
	err := fmt.Errorf("convert: a to b: %w", fmt.Errorf("reader: b: line 3: %w", errors.New("event: offset 2: no: reader: at all")))
	if got, want := humane(err), "a to b: b: line 3: offset 2: no: at all"; got != want {
		t.Errorf("humane = %q, want %q", got, want)
	}
}
