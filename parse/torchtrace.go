package parse

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/tracehandler/tracehandler/parse/internal/js"
)

// torchMap attributes kernels to compile frames by the source file that inductor wrote them to. It is read from torch's
// own structured logs, in which "inductor_output_code" records carry the generated code with comment lines
// "# kernel path: FILE". It is read-only once built.
type torchMap map[string]frameIDs

const kernelPath = "# kernel path: "

// readTorchTraces reads the torch logs (*dedicated_log_torch_trace_*.log) of a folder in name order. Later entries win.
// Logs that nobody asked for, because they lie beside the traces, are left out if they cannot be read.
func readTorchTraces(dir string, asked bool) (torchMap, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		if !asked {
			return nil, nil
		}
		return nil, fmt.Errorf("parse: torch trace folder: %w", err)
	}
	m := torchMap{}
	for _, e := range entries {
		if !strings.Contains(e.Name(), "dedicated_log_torch_trace_") || !strings.HasSuffix(e.Name(), ".log") {
			continue
		}
		path := filepath.Join(dir, e.Name())
		if st, err := os.Stat(path); err == nil && !st.Mode().IsRegular() {
			continue // a pipe would be waited for
		}
		if err := m.read(path); err != nil && asked {
			return nil, fmt.Errorf("parse: torch trace: %w", err)
		}
	}
	return m, nil
}

func (m torchMap) read(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	r := bufio.NewReaderSize(f, 64<<10)
	var doc js.Doc
	var ids frameIDs
	inCode := false
	for {
		line, err := readShort(r)
		if payload, ok := bytes.CutPrefix(line, []byte("\t")); ok {
			if p, ok := bytes.CutPrefix(payload, []byte(kernelPath)); inCode && ok {
				if p := strings.TrimSpace(string(p)); p != "" {
					m[p] = ids
				}
			}
		} else if len(line) > 0 {
			inCode = false
			if _, rec, ok := bytes.Cut(line, []byte("] ")); ok && bytes.Contains(rec, []byte("inductor_output_code")) && doc.Parse(bytes.TrimSpace(rec)) == nil {
				if root := doc.Root(); root.Get("inductor_output_code").Exists() {
					inCode, ids = true, readFrameIDs(root, true)
				}
			}
		}
		if err != nil {
			if errors.Is(err, io.EOF) {
				return nil
			}
			return err
		}
	}
}

// readShort returns the next line without its end. Lines beyond a megabyte are cut: nothing looked for is that long.
func readShort(r *bufio.Reader) ([]byte, error) {
	var line []byte
	for {
		part, err := r.ReadSlice('\n')
		if len(line) < 1<<20 {
			line = append(line, part...)
		}
		if err != bufio.ErrBufferFull {
			return bytes.TrimRight(line, "\r\n"), err
		}
	}
}

// find returns the ids of the frame that a compilation without pt_info belongs to.
func (m torchMap) find(payload, stack js.Value) (frameIDs, bool) {
	if len(m) == 0 {
		return frameIDs{}, false
	}
	if ids, ok := m[payload.Get("python_source").Get("file_path").Str()]; ok {
		return ids, true
	}
	for f := range stack.Each() {
		name := f.Get("filename").Str()
		if strings.Contains(name, "torchinductor") && strings.HasSuffix(name, ".py") {
			if ids, ok := m[name]; ok {
				return ids, true
			}
		}
	}
	return frameIDs{}, false
}
