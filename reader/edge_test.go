package reader

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/tracehandler/tracehandler/clp/archive"
	"github.com/tracehandler/tracehandler/format"
)

// place is what a report says, in short.
func place(err error) string {
	switch e := err.(type) {
	case *LineError:
		return fmt.Sprintf("line %d at %d", e.Line, e.Offset)
	case *TornError:
		return fmt.Sprintf("torn at %d, %d bytes after line %d", e.Offset, e.Skipped, e.Line)
	case *DamageError:
		return fmt.Sprintf("corrupt at %d, %d bytes after line %d", e.Offset, e.Skipped, e.Line)
	}
	if errors.Is(err, archive.ErrVersion) {
		return "archive of an unknown version"
	}
	return err.Error()
}

// edge is one damaged or odd file: what the reader has to make of it. The reference implementation dies of many.
var edge = []struct {
	name   string
	events int
	errs   string
}{
	{"baseline", 2, ""},
	{"bigint_2_70", 3, ""},
	{"blank_lines", 2, ""},
	{"bom", 2, ""},
	{"clp_magic_garbage", 0, "archive of an unknown version"},
	{"cr_only", 2, ""},
	{"crlf", 2, ""},
	{"deep_nesting_2000", 3, ""},
	{"deep_nesting_900", 3, ""},
	{"dup_keys", 3, ""},
	{"empty_file", 0, ""},
	{"float_forms", 3, ""},
	{"garbage_line", 2, "line 1 at 0"},
	{"gz_then_plain_append", 4, "corrupt at 293, 0 bytes after line 2"},
	{"gzip_bad_crc_middle", 2, "corrupt at 0, 151 bytes after line 0"},
	{"gzip_members", 2, ""},
	{"gzip_named_ndjson", 2, ""},
	{"gzip_trailing_garbage", 2, "corrupt at 293, 7 bytes after line 2"},
	{"gzip_trailing_zeros", 2, ""},
	{"gzip_truncated_tail", 99, "torn at 14508, 127 bytes after line 99"},
	{"gzip_whole_file_gz", 2, ""},
	{"hash_is_int", 2, ""},
	{"hash_is_list", 3, ""},
	{"inf_1e999", 3, ""}, // a number that no float64 holds keeps its text
	{"invalid_utf8", 3, "line 3 at 321"},
	{"json_array_line", 2, "line 1 at 0"},
	{"json_null_line", 2, "line 1 at 0"},
	{"json_scalar_line", 2, "line 1 at 0"},
	{"json_string_line", 2, "line 1 at 0"},
	{"launch_arg_scalar", 4, ""},
	{"launch_args_null", 3, ""},
	{"launch_comp_meta_null", 3, ""},
	{"launch_no_comp_meta", 3, ""},
	{"lone_surrogate", 3, ""}, // decodes as U+FFFD
	{"metadata_null", 3, ""},
	{"nan_value", 2, "line 3 at 321"},
	{"no_trailing_newline", 2, ""},
	{"nul_bytes_line", 2, "line 1 at 0"},
	{"payload_missing_hash", 3, ""},
	{"payload_null", 3, ""},
	{"plain_named_bin_ndjson", 2, ""},
	{"raw_control_in_string", 2, "line 3 at 321"},
	{"stack_frame_filename_null", 3, ""},
	{"stack_null", 3, ""},
	{"truncated_json_line", 3, "line 3 at 321"},
	{"u64_max", 3, ""},
	{"unicode", 3, ""},
	{"unicode_raw", 3, ""},
	{"unknown_event_type", 4, ""},
	{"zstd_frames", 2, ""},
	{"zstd_skippable_frame_first", 2, ""},
	{"zstd_trailing_garbage", 2, "corrupt at 273, 7 bytes after line 2"},
	{"zstd_truncated_tail", 99, "torn at 13518, 117 bytes after line 99"},
	{"zstd_zst_ext", 2, ""},
}

func TestEdge(t *testing.T) {
	dirs, err := os.ReadDir("testdata/edge")
	if err != nil || len(dirs) != len(edge) {
		t.Fatal(len(dirs), err)
	}
	for _, e := range edge {
		t.Run(e.name, func(t *testing.T) {
			files, err := filepath.Glob(filepath.Join("testdata/edge", e.name, "*"))
			if err != nil || len(files) != 1 {
				t.Fatal(files, err)
			}
			data, err := os.ReadFile(files[0])
			if err != nil {
				t.Fatal(err)
			}
			for _, w := range ways {
				o := w.o
				g := read(t, w.src(data), &o)
				var errs []string
				for _, err := range g.errs {
					errs = append(errs, place(err))
				}
				if got := strings.Join(errs, "; "); len(g.events) != e.events || got != e.errs {
					t.Errorf("%s: %d events, %q; want %d, %q (%v)", w.name, len(g.events), got, e.events, e.errs, g.errs)
				}
			}
		})
	}
}

// TestWriter reads what tritonparse wrote in its three modes: the same events, one frame for each in two of them.
func TestWriter(t *testing.T) {
	files, err := filepath.Glob("testdata/writer/*/*")
	if err != nil || len(files) != 6 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		r, err := Open(file, nil)
		if err != nil {
			t.Fatal(err)
		}
		want := 2
		if strings.Contains(file, "rank_3") {
			want = 5 // also what came after Close and from the child
		}
		n := 0
		for i, e := range r.Enumerate() {
			if _, ok := e.Get("event_type"); i != n || !ok {
				t.Errorf("%s: event %d is %d, %s", file, n, i, e.Line())
			}
			n++
		}
		frames := int64(n)
		if strings.Contains(file, "none/") {
			frames = 0
		}
		if r.Err() != nil || n != want || r.Stats().Frames != frames {
			t.Errorf("%s: %d events, %+v, %v", file, n, r.Stats(), r.Err())
		}
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestGolden(t *testing.T) {
	text, err := os.ReadFile("testdata/golden/text.ndjson")
	if err != nil {
		t.Fatal(err)
	}
	want := strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
	files, err := filepath.Glob("testdata/golden/*")
	if err != nil || len(files) != 13 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			for _, w := range ways {
				o := w.o
				if strings.Contains(file, "long31") {
					g := read(t, w.src(data), &o)
					if len(g.errs) != 1 || !strings.Contains(g.errs[0].Error(), "window") {
						t.Fatalf("%s: a window of 2 GiB: %v", w.name, g.errs)
					}
					if strconv.IntSize == 32 {
						return // nor could the decoder have one that large
					}
					o.MaxWindow = 2 << 30
				}
				g := read(t, w.src(data), &o)
				if len(g.errs) > 0 || !slices.Equal(g.events, want) {
					t.Fatalf("%s: %d events, %v", w.name, len(g.events), g.errs)
				}
				var layers []format.Magic
				switch {
				case strings.Contains(file, "zstd-in-gzip"):
					layers = []format.Magic{format.GzipMagic, format.ZstdMagic}
				case strings.HasSuffix(file, ".gz"):
					layers = []format.Magic{format.GzipMagic}
				case strings.HasSuffix(file, ".zst"):
					layers = []format.Magic{format.ZstdMagic}
				}
				if got := g.r.Compression(); !slices.Equal(got, layers) {
					t.Fatalf("%s: layers %v", w.name, got)
				}
			}
		})
	}
}
