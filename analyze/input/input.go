// Package input decides which files of a directory are the traces to analyse. There is one rule:
//
//	sel, err := input.Discover("profiles/")
//	for _, f := range sel.Traces { fmt.Println(f.Path) }     // the workload, all ranks of it
//	for _, f := range sel.Captures { fmt.Println(f.Path) }   // sidecars recorded while graphs were captured
//
// A merged trace stands for the ranks it was merged from. Files that some tool derived from another (splits, phases) are
// taken only if nothing else is there, capture sidecars never. Ranks are read from the traces' own metadata, when they
// are loaded; the rank in a file's name, if it has one, only sorts.
package input

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Class is what a file is, by its name and place.
type Class uint8

const (
	Merged Class = iota
	Ordinary
	Derived // split off another trace
	Capture // recorded while a graph was captured
)

func (c Class) String() string { return [...]string{"merged", "ordinary", "derived", "capture"}[c] }

// File is a candidate.
type File struct {
	Path     string
	Size     int64
	Class    Class
	NameRank int // -1 if the name has none
}

// Selection is what Discover found.
type Selection struct {
	Root     string
	Traces   []File // to analyse, by rank in the name, then by name
	Captures []File
	Others   []File // left out: derived, or replaced by a merged trace
}

// ErrNoTraces means that a directory holds no trace; ErrCaptureOnly that it holds capture sidecars only.
var (
	ErrNoTraces    = errors.New("input: no trace files")
	ErrCaptureOnly = errors.New("input: only capture sidecars, no workload trace")
)

var suffixes = []string{".json", ".json.gz", ".json.zst", ".trace"}

// Discover finds the traces at path: the file itself, or those of a directory, recursively.
func Discover(path string) (Selection, error) {
	fi, err := os.Stat(path)
	if err != nil {
		return Selection{}, fmt.Errorf("input: %w", err)
	}
	if !fi.IsDir() {
		return Selection{Root: filepath.Dir(path), Traces: []File{{Path: path, Size: fi.Size(), Class: Ordinary, NameRank: nameRank(path)}}}, nil
	}
	sel := Selection{Root: path}
	var files []File
	err = filepath.WalkDir(path, func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !isTraceName(d.Name()) {
			return err
		}
		fi, err := os.Stat(p) // follows links
		if err != nil || !fi.Mode().IsRegular() {
			return nil
		}
		files = append(files, File{Path: p, Size: fi.Size(), Class: Classify(p, path), NameRank: nameRank(p)})
		return nil
	})
	if err != nil {
		return sel, fmt.Errorf("input: %w", err)
	}
	slices.SortFunc(files, func(a, b File) int {
		return cmp.Or(cmp.Compare(a.NameRank, b.NameRank), cmp.Compare(a.Path, b.Path))
	})
	byClass := map[Class][]File{}
	for _, f := range files {
		byClass[f.Class] = append(byClass[f.Class], f)
	}
	sel.Captures = byClass[Capture]
	for _, c := range []Class{Merged, Ordinary, Derived} {
		if sel.Traces == nil {
			sel.Traces = byClass[c]
		} else {
			sel.Others = append(sel.Others, byClass[c]...)
		}
	}
	switch {
	case sel.Traces != nil:
		return sel, nil
	case sel.Captures != nil:
		return sel, fmt.Errorf("%w: %s", ErrCaptureOnly, path)
	}
	return sel, fmt.Errorf("%w: %s", ErrNoTraces, path)
}

// isTraceName also takes what no trace is called, such as execution_details.json, out.
func isTraceName(name string) bool {
	name = strings.ToLower(name)
	switch name {
	case "execution_details.json", "kernel_candidates.json", "summary.json", "kernel_roofline.json", "trace_input_manifest.json":
		return false
	}
	return !strings.HasPrefix(name, ".") && !strings.HasSuffix(name, ".expected.json") && name != "expected.json" &&
		slices.ContainsFunc(suffixes, func(s string) bool { return strings.HasSuffix(name, s) })
}

// Classify tells what a trace file is. root bounds the directories that count; "" counts all.
func Classify(path, root string) Class {
	base := strings.ToLower(filepath.Base(path))
	switch {
	case IsCapture(path, root):
		return Capture
	case derived.MatchString(base) || slices.Contains(components(path, root), "trace_split"):
		return Derived
	case strings.HasPrefix(base, "merged-") || strings.HasPrefix(base, "merged_"):
		return Merged
	}
	return Ordinary
}

var (
	derived     = regexp.MustCompile(`trace_annotation_iteration_\d|_steady_state_|_phase_\w+\.`)
	captureName = regexp.MustCompile(`^bs_\d`)
	rankName    = regexp.MustCompile(`rank[_-]?(\d+)|tp[-_]?(\d+)`)
)

// IsCapture reports whether a file was recorded while graphs were captured: it is called bs_<digits>… or …graph_capture…,
// or lies, below root, in a directory called capture_traces or graph_capture….
func IsCapture(path, root string) bool {
	base := strings.ToLower(filepath.Base(filepath.ToSlash(path)))
	if captureName.MatchString(base) || strings.Contains(base, "graph_capture") {
		return true
	}
	for _, dir := range components(path, root) {
		if dir == "capture_traces" || strings.HasPrefix(dir, "graph_capture") {
			return true
		}
	}
	return false
}

// components are the directories of path below root, lower-case.
func components(path, root string) []string {
	if root != "" {
		rel, err := filepath.Rel(root, path)
		if err == nil && !strings.HasPrefix(rel, "..") {
			path = rel
		}
	}
	parts := strings.Split(strings.ToLower(filepath.ToSlash(path)), "/")
	return parts[:len(parts)-1]
}

func nameRank(path string) int {
	m := rankName.FindStringSubmatch(strings.ToLower(filepath.Base(path)))
	if m == nil {
		return -1
	}
	n, err := strconv.Atoi(m[1] + m[2])
	if err != nil {
		return -1
	}
	return n
}
