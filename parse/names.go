package parse

import (
	"crypto/sha256"
	"encoding/hex"
	"path/filepath"
	"strings"

	"github.com/tracehandler/tracehandler/parse/internal/js"
)

// mappedName returns the name, without suffix, of the output for everything that belongs to no compile frame: the base
// name of the bucket's first file without .bin.ndjson, or else without its last extension, and "_mapped".
func mappedName(first string) string {
	base := filepath.Base(first)
	if s, ok := strings.CutSuffix(base, ".bin.ndjson"); ok {
		base = s
	} else if ext := filepath.Ext(base); ext != base {
		base = strings.TrimSuffix(base, ext)
	}
	return shortened(base) + "_mapped"
}

// maxName is the length in bytes of the longest name of an output without its suffixes; file systems take 255 with them.
const maxName = 200

// shortened makes a name fit: its beginning, and what tells it from others that begin so.
func shortened(name string) string {
	if len(name) <= maxName {
		return name
	}
	sum := sha256.Sum256([]byte(name))
	return strings.ToValidUTF8(name[:maxName-17], "") + "-" + hex.EncodeToString(sum[:8])
}

// frameIDs are the numbers under which torch.compile knows a compilation, as JSON scalars; "" is unknown.
type frameIDs struct{ frame, compile, attempt, autograd string }

func scalar(v js.Value) string {
	switch v.Kind() {
	case js.String:
		return v.Str()
	case js.Number, js.True, js.False:
		return string(v.Raw())
	}
	return ""
}

// readFrameIDs takes the ids out of a compilation's pt_info. The writer calls the third one "attempt", the reference's
// parser looks for "attempt_id"; both asks for either.
func readFrameIDs(info js.Value, both bool) frameIDs {
	ids := frameIDs{scalar(info.Get("frame_id")), scalar(info.Get("frame_compile_id")), scalar(info.Get("attempt_id")), scalar(info.Get("compiled_autograd_id"))}
	if ids.attempt == "" && both {
		ids.attempt = scalar(info.Get("attempt"))
	}
	return ids
}

func (f frameIDs) known() bool { return f.frame != "" || f.compile != "" }

// fileName returns the name, without suffix, of the output for these ids. Nothing in it can lead out of a folder.
func (f frameIDs) fileName() string {
	or := func(s, other string) string {
		if s == "" {
			return other
		}
		return strings.Map(func(r rune) rune {
			switch {
			case r >= '0' && r <= '9', r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r == '-', r == '.':
				return r
			}
			return '-'
		}, s)
	}
	return shortened("f" + or(f.frame, "None") + "_fc" + or(f.compile, "None") + "_a" + or(f.attempt, "0") + "_cai" + or(f.autograd, "-"))
}
