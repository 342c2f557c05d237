package parse

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"os"
	"testing"

	"github.com/klauspost/compress/gzip"

	"github.com/tracehandler/tracehandler/internal/vfs/crashfs"
	"github.com/tracehandler/tracehandler/naming"
)

// FuzzRecords parses any lines: nothing panics, and what is written is JSON.
func FuzzRecords(f *testing.F) {
	f.Add([]byte(edgeCompile + "\n" + edgeLaunch))
	f.Add([]byte(edgeLaunch + "\n" + edgeCompile + "\n" + edgeLaunch))
	f.Add([]byte(`{"event_type":"compilation","payload":{"metadata":{"hash":"h","backend_name":"hip","num_warps":4},"pt_info":{"frame_id":0},"python_source":{"file_path":"/u/k.py","start_line":1,"code":"a\nb"},"file_content":{"k.ttir":"scf.for {\n%1 = tt.load %x : tensor<4x!tt.ptr<f16>> loc(#loc1)\n}\n#loc1 = loc(\"/u/k.py\":2:1)","k.ttgir":"\"ttg.num-warps\" = 8","k.amdgcn":"; -- Begin function\n.loc 1 2 3 ; k.py:2:3\n; -- End function"}}}`))
	f.Add([]byte(`{"event_type":"autotune","stack":[{"filename":"a","line":1,"name":"f"},{"filename":"triton/runtime/autotuner.py","name":"run"}]}`))
	set, err := (&Options{}).check("")
	if err != nil {
		f.Fatal(err)
	}
	p, err := newPacker(set.format, 0)
	if err != nil {
		f.Fatal(err)
	}
	var z gzip.Reader
	f.Fuzz(func(t *testing.T, text []byte) {
		fsys := crashfs.New() // in memory: no disk to wait for
		s := newSpill(fsys, "spill", p, 4<<10, 64<<10)
		defer s.Close()
		var rep RankReport
		r := newRanker(set, Bucket{Rank: naming.NoRank, Files: []Input{{Path: "x.ndjson"}}}, s, &rep)
		for i, line := range bytes.Split(text, []byte{'\n'}) {
			if err := r.record("x", int64(i), line); err != nil {
				t.Fatal(err)
			}
		}
		files, err := r.write(context.Background(), ".")
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range files {
			in, err := fsys.OpenFile(f.Path, os.O_RDONLY, 0)
			if err != nil {
				t.Fatal(err)
			}
			if err := z.Reset(in); err != nil {
				t.Fatal(err)
			}
			out, err := io.ReadAll(&z)
			in.Close()
			if err != nil {
				t.Fatal(err)
			}
			for _, line := range bytes.Split(bytes.TrimSuffix(out, []byte{'\n'}), []byte{'\n'}) {
				if !json.Valid(line) {
					t.Fatalf("not JSON: %.500q", line)
				}
			}
		}
	})
}
