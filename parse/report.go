package parse

import (
	"fmt"
	"maps"
	"slices"

	"github.com/tracehandler/tracehandler/naming"
	"github.com/tracehandler/tracehandler/parse/internal/js"
)

// Report says what a parse read, wrote and left out.
type Report struct {
	Source  string
	Out     string
	List    string // path of log_file_list.json
	Ranks   []RankReport
	Skipped []Skipped
	Notes   []string
	Bytes   int64 // of all files written
}

// RankReport is the part of a Report for one rank.
type RankReport struct {
	Rank  naming.Rank
	Files []FileReport // written
	Read  []string     // paths read, in order

	Lines         int64 // lines read that are not blank
	Text          int64 // bytes of them
	Compilations  int64 // written
	Duplicates    int64 // compilations of a kernel that was there already, dropped
	NoHash        int64 // compilations that do not say which kernel, dropped
	Launches      int64 // read
	NoKernel      int64 // launches that do not say of which kernel, dropped
	Fakes         int64 // compilations made up for kernels that were only launched
	Autotune      int64 // autotune records
	AutotuneLoose int64 // of them, those whose stack shows no autotuner, dropped
	Analyses      int64 // autotuning analyses written
	Other         map[string]int64
	Problems      int64 // bad lines and damage; the first ones are in Details
	Details       []Problem
	Warnings      map[string]int64 // what is odd about kernels' artifacts, and in how many kernels
}

// FileReport is one file written.
type FileReport struct {
	Path   string           // within the output folder
	Size   int64            // bytes, as stored
	Events map[string]int64 // by event_type
}

// Problem is something that could not be read, or not understood.
type Problem struct {
	Path string
	Line int64 // 0 if it concerns no line
	Msg  string
}

func (p Problem) String() string {
	if p.Line > 0 {
		return fmt.Sprintf("%s:%d: %s", p.Path, p.Line, p.Msg)
	}
	return p.Path + ": " + p.Msg
}

// maxDetails bounds the problems that a report spells out for one rank.
const maxDetails = 100

func (r *RankReport) problem(p Problem) {
	r.Problems++
	if len(r.Details) < maxDetails {
		r.Details = append(r.Details, p)
	}
}

// details returns the problems spelt out, and how many more there are.
func (r *RankReport) details(path string) []Problem {
	if more := r.Problems - int64(len(r.Details)); more > 0 {
		return append(r.Details, Problem{Path: path, Msg: fmt.Sprintf("%d more problems", more)})
	}
	return r.Details
}

func (r *RankReport) bad(path string, line int64, msg string) {
	r.problem(Problem{path, line, "skipped: " + msg})
}

// warn notes what is odd about a kernel's artifacts.
func (r *RankReport) warn(warnings []string) {
	for _, w := range warnings {
		if r.Warnings == nil {
			r.Warnings = map[string]int64{}
		}
		r.Warnings[w]++
	}
}

// maxOther bounds the kinds of unknown records that are counted apart.
const maxOther = 50

// other counts a record that is none of those that are parsed.
func (r *RankReport) other(kind js.Value) {
	name := kind.Str()
	if name == "" {
		name = "(no event_type)"
	}
	if len(name) > 100 {
		name = name[:100]
	}
	if r.Other == nil {
		r.Other = map[string]int64{}
	}
	if _, ok := r.Other[name]; !ok && len(r.Other) >= maxOther {
		name = "(others)"
	}
	r.Other[name]++
}

// Events adds up the events written, by event_type.
func (r *Report) Events() map[string]int64 {
	all := map[string]int64{}
	for _, rank := range r.Ranks {
		for _, f := range rank.Files {
			for k, n := range f.Events {
				all[k] += n
			}
		}
	}
	return all
}

// Files lists the paths of the files written, within the output folder, log_file_list.json last.
func (r *Report) Files() []string {
	var paths []string
	for _, rank := range r.Ranks {
		for _, f := range rank.Files {
			paths = append(paths, f.Path)
		}
	}
	return append(paths, listName)
}

// sortedKeys returns the keys of counts in order.
func sortedKeys(m map[string]int64) []string { return slices.Sorted(maps.Keys(m)) }

// Dropped describes what was read and not written, and why.
func (r *RankReport) Dropped() []string {
	var out []string
	add := func(n int64, one, many, what string) {
		if n == 1 {
			out = append(out, fmt.Sprintf("1 %s %s", one, what))
		} else if n > 1 {
			out = append(out, fmt.Sprintf("%d %s %s", n, many, what))
		}
	}
	add(r.Duplicates, "compilation", "compilations", "of a kernel that was compiled before (the first one counts)")
	add(r.NoHash, "compilation", "compilations", "without a hash")
	add(r.NoKernel, "launch", "launches", "without a kernel (no compilation_metadata.hash)")
	add(r.AutotuneLoose, "autotune record", "autotune records", "without an autotuner in the stack")
	for _, k := range sortedKeys(r.Other) {
		add(r.Other[k], "record", "records", "of unknown type "+k)
	}
	return out
}
