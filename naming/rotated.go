package naming

import (
	"path/filepath"
	"strings"
	"time"
)

// stampLayout is UTC in the basic format of ISO 8601, so that names sort by time and hold no ":".
const (
	stampLayout = "20060102T150405.000000000Z"
	stampSize   = len("-") + len(stampLayout)
)

// RotatedName returns the path under which the file at path is kept after it was rotated at t. A time stamp in UTC is
// put before the suffix, which stays, so that tools still know the file:
//
//	trace.ndjson.zst → trace-20261130T103740.123456789Z.ndjson.zst
//
// Names of one trace sort by time, before the live name. If the name is taken, call again with n one higher (first 0):
// n nanoseconds are added to t, which keeps the order. Times outside the years 0 to 9999 are moved to the nearer end.
func RotatedName(path string, t time.Time, n int) string {
	t = t.UTC().Add(time.Duration(n))
	if t.Year() < 0 {
		t = time.Date(0, 1, 1, 0, 0, 0, n, time.UTC)
	} else if t.Year() > 9999 {
		t = time.Date(9999, 12, 31, 23, 59, 59, n, time.UTC)
	}
	dir, base := filepath.Split(path)
	stem, suffix := splitSuffix(base)
	return dir + stem + t.Format("-"+stampLayout) + suffix
}

// ParseRotated reads a name made by RotatedName, without its directory: the name of the live file and the time. ok is
// false, and live is base, for any other name.
func ParseRotated(base string) (live string, t time.Time, ok bool) {
	for end := len(base); ; {
		i := strings.LastIndexByte(base[:end], '-')
		if i <= 0 {
			return base, time.Time{}, false
		}
		if len(base)-i >= stampSize {
			stem, stamp, suffix := base[:i], base[i:i+stampSize], base[i+stampSize:]
			t, err := time.Parse("-"+stampLayout, stamp)
			// A comma parses too, and a stamp within a longer name is not the one that RotatedName put there.
			if err == nil && t.Format("-"+stampLayout) == stamp {
				if s, x := splitSuffix(stem + suffix); s == stem && x == suffix {
					return stem + suffix, t, true
				}
			}
		}
		end = i
	}
}

// splitSuffix cuts a base name before its suffix: an extension, then perhaps .gz or .zst, then perhaps ".partial". The
// stem is not empty unless base is.
func splitSuffix(base string) (stem, suffix string) {
	stem = strings.TrimSuffix(base, PartialSuffix)
	for _, s := range [...]string{".gz", ".zst"} {
		if t, ok := strings.CutSuffix(stem, s); ok {
			stem = t
			break
		}
	}
	if t, ok := strings.CutSuffix(stem, ".bin.ndjson"); ok {
		stem = t
	} else if i := strings.LastIndexByte(stem, '.'); i >= 0 {
		stem = stem[:i]
	}
	if stem == "" {
		return base, ""
	}
	return stem, base[len(stem):]
}
