package archive

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
)

// vectorDir has golden archives, made with the reference: a small choice in the repository. allVectors names a folder with
// all of them, for the long form of the tests.
const (
	vectorDir  = "testdata/vectors"
	allVectors = "CLP_ARCHIVE_VECTORS"
)

func vectors() string {
	if dir := os.Getenv(allVectors); dir != "" {
		return dir
	}
	return vectorDir
}

type output struct {
	File string `json:"file"`
	Exit any    `json:"exit_code"`
}

type vector struct {
	Name    string `json:"name"`
	Variant string `json:"variant"`
	Archive []struct {
		File   string `json:"file"`
		Size   int64  `json:"size"`
		Counts struct{ Nodes, Schemas, Tables, Streams, Records, Var, Log, Array int }
	} `json:"archive"`
	Default output `json:"default"`
	Ordered output `json:"ordered"`
	Inputs  []string
}

func loadVectors(t testing.TB) []vector {
	t.Helper()
	var index struct{ Vectors []vector }
	data, err := os.ReadFile(filepath.Join(vectors(), "index.json"))
	check(t, err)
	check(t, json.Unmarshal(data, &index))
	return index.Vectors
}

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// readVector reads a file of the vectors, which may be compressed.
func readVector(t testing.TB, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(vectors(), name))
	check(t, err)
	if strings.HasSuffix(name, ".zst") {
		z, err := zstd.NewReader(bytes.NewReader(data))
		check(t, err)
		defer z.Close()
		data, err = io.ReadAll(z)
		check(t, err)
	}
	return data
}

func openVector(t testing.TB, name string, o *Options) *Reader {
	t.Helper()
	if strings.HasSuffix(name, ".dir") {
		r, err := OpenDir(os.DirFS(filepath.Join(vectors(), name)), o)
		check(t, err)
		return r
	}
	data := readVector(t, name)
	r, err := Open(bytes.NewReader(data), int64(len(data)), o)
	check(t, err)
	return r
}

// readLines returns all records as lines, and the error that ends them unless it is io.EOF.
func readLines(r *Reader) (lines []byte, err error) {
	for record, err := range r.All() {
		if err != nil {
			return lines, err
		}
		if lines, err = record.AppendJSON(lines); err != nil {
			return lines, err
		}
		lines = append(lines, '\n')
	}
	return lines, nil
}

// better has what this package reads where the reference cannot read its own archive.
var better = map[string]string{
	"25-empty-records+noorder":  "{}\n{}\n{\"a\":{}}\n{}\n",
	"31-nulls-only+noorder":     "{\"a\":null}\n{\"a\":null}\n{\"a\":null}\n",
	"32a-dup-same-type+default": "{\"b\":\"x\",\"a\":1}\n{\"b\":\"y\",\"a\":3}\n",
}

func TestVectors(t *testing.T) {
	archives := 0
	for _, v := range loadVectors(t) {
		if len(v.Archive) == 0 || v.Archive[0].File == "" {
			continue // only sizes are known
		}
		t.Run(v.Name+"+"+v.Variant, func(t *testing.T) {
			archives += len(v.Archive)
			for _, mode := range []struct {
				name    string
				options Options
				want    output
			}{
				{"ordered", Options{}, v.Ordered},
				{"ordered, parallel", Options{Parallel: 3}, v.Ordered},
				{"stored", Options{Stored: true}, v.Default},
				{"stored, parallel", Options{Stored: true, Parallel: 2}, v.Default},
			} {
				var got []byte
				for _, a := range v.Archive {
					r := openVector(t, a.File, &mode.options)
					lines, err := readLines(r)
					if err != nil {
						t.Errorf("%s: %v", mode.name, err)
					}
					check(t, r.Close())
					got = append(got, lines...)
				}
				if mode.want.File == "" {
					continue
				}
				want := readVector(t, mode.want.File)
				if mode.want.Exit != 0.0 {
					lines, ok := better[v.Name+"+"+v.Variant]
					if !ok {
						t.Fatal("the reference cannot read it, and what we should is not written down")
					}
					want = []byte(lines)
					got = sorted(got)
					want = sorted(want)
				}
				if mode.options.Stored { // the reference sorts its tables without order
					got, want = sorted(got), sorted(want)
				}
				if !bytes.Equal(got, want) {
					g, w := bytes.Split(got, []byte("\n")), bytes.Split(want, []byte("\n"))
					for i := range g {
						if i >= len(w) || !bytes.Equal(g[i], w[i]) {
							t.Errorf("%s: %d lines, want %d; line %d:\n got %.300s\nwant %.300s", mode.name, len(g)-1, len(w)-1, i, g[i], bytes.Join(w[i:min(i+1, len(w))], nil))
							break
						}
					}
				}
			}
		})
	}
	if archives < 60 {
		t.Errorf("only %d archives", archives)
	}
}

func sorted(lines []byte) []byte {
	list := bytes.SplitAfter(lines, []byte("\n"))
	slices.SortFunc(list, bytes.Compare)
	return bytes.Join(list, nil)
}
