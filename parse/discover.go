package parse

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tracehandler/tracehandler/naming"
	"github.com/tracehandler/tracehandler/reader"
)

// Input is one raw trace file.
type Input struct {
	Path   string
	Fields naming.Fields // what its name says
	// PreInit is set for a file without a rank that was given to a rank because a file of the same process has one:
	// kernels compiled before the process knew its rank.
	PreInit bool
}

// Bucket is the raw traces of one rank, in the order in which they are read: by host, process, path.
type Bucket struct {
	Rank  naming.Rank // NoRank: files of no rank
	Files []Input
}

// Skipped says why a file was left out.
type Skipped struct {
	Path, Reason string
}

// Inventory is what Discover found.
type Inventory struct {
	Source  string
	Buckets []Bucket // by rank, files of no rank last
	Skipped []Skipped
	Notes   []string // decisions a user should know of
}

// Selection says which ranks to parse. The zero Selection is every rank, and the files of no rank.
type Selection struct {
	one  bool
	rank naming.Rank
}

// OneRank selects one rank, or with naming.NoRank only the files of no rank.
func OneRank(r naming.Rank) Selection { return Selection{one: true, rank: r} }

// ParseSelection reads the word that a user gives for a rank: a number, or "none".
func ParseSelection(word string) (Selection, error) {
	if word == "none" {
		return OneRank(naming.NoRank), nil
	}
	n := 0
	for i, c := range []byte(word) {
		if c < '0' || c > '9' || i > 8 {
			return Selection{}, fmt.Errorf("parse: bad rank %q: want a number or none", word)
		}
		n = n*10 + int(c-'0')
	}
	if word == "" {
		return Selection{}, errors.New("parse: empty rank")
	}
	return OneRank(naming.Rank(n)), nil
}

// NoTracesError says that a source holds nothing to parse.
type NoTracesError struct {
	Source    string
	Prefix    string
	Rank      naming.Rank   // the rank asked for, if RankAsked
	RankAsked bool          //
	Available []naming.Rank // the ranks there are
	Skipped   []Skipped
}

func (e *NoTracesError) Error() string {
	if e.RankAsked && len(e.Available) > 0 {
		return fmt.Sprintf("parse: %s: rank %d not found; available ranks: %v", e.Source, e.Rank, e.Available)
	}
	s := fmt.Sprintf("parse: %s: no traces: no file name begins with %q and ends like a trace", e.Source, e.Prefix)
	for i, f := range e.Skipped {
		if i == 5 {
			return s + fmt.Sprintf("; and %d more", len(e.Skipped)-i)
		}
		s += fmt.Sprintf("; %s: %s", filepath.Base(f.Path), f.Reason)
	}
	return s
}

// suffixes are the ends of names of raw traces, behind which .gz or .zst may stand.
var suffixes = []string{".ndjson", ".clp", ".jsonl", ".json"}

// reasonToSkip returns why a name is not that of a raw trace, "" if it is.
func reasonToSkip(base, prefix string) string {
	switch {
	case !strings.HasPrefix(base, prefix):
		return "its name does not begin with " + prefix
	case strings.HasSuffix(base, naming.PartialSuffix):
		return "it is not finished (its writer is running, or left it behind: recover it first)"
	}
	for _, outer := range []string{".gz", ".zst"} {
		if t, ok := strings.CutSuffix(base, outer); ok {
			base = t
			break
		}
	}
	for _, s := range suffixes {
		if strings.HasSuffix(base, s) {
			return ""
		}
	}
	return "its name does not end like a trace"
}

// Discover finds the raw traces of a file or folder and sorts them into ranks.
//
// In a folder, regular files count whose names begin with the prefix, and CLP archives that are folders; other folders
// inside are not entered. A single file is taken whatever its name. A file without a rank whose host and process are those of a ranked file joins that rank,
// unless noPreInit is set or the files without a rank are what is asked for. If one rank is asked for and not there, but
// files of no rank are, those are taken, and a note says so. Source: trace-workflow rules of tritonparse (its
// parse/common.py), described in docs/parse.md.
func Discover(source, prefix string, sel Selection, noPreInit bool) (*Inventory, error) {
	if prefix == "" {
		prefix = naming.DefaultPrefix
	}
	inv := &Inventory{Source: source}
	st, err := os.Stat(source)
	if err != nil {
		return nil, fmt.Errorf("parse: source: %w", err)
	}
	var files []Input
	if st.IsDir() && !isArchive(source) {
		files, err = inv.list(source, prefix)
		if err != nil {
			return nil, err
		}
	} else if !st.IsDir() && !st.Mode().IsRegular() {
		return nil, fmt.Errorf("parse: %s: neither a folder nor a regular file", source)
	} else {
		files = []Input{{Path: source, Fields: naming.Parse(filepath.Base(source))}}
	}
	inv.group(files, sel, noPreInit)
	if len(inv.Buckets) == 0 {
		e := &NoTracesError{Source: source, Prefix: prefix, Rank: sel.rank, RankAsked: sel.one, Skipped: inv.Skipped}
		for _, f := range files {
			if f.Fields.Rank != naming.NoRank && !slices.Contains(e.Available, f.Fields.Rank) {
				e.Available = append(e.Available, f.Fields.Rank)
			}
		}
		slices.Sort(e.Available)
		return nil, e
	}
	return inv, nil
}

// isArchive reports whether a folder is a CLP archive that was not packed into one file.
func isArchive(dir string) bool {
	r, err := reader.Open(dir, nil)
	if err != nil {
		return false
	}
	r.Close()
	return true
}

func (inv *Inventory) list(dir, prefix string) ([]Input, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("parse: source: %w", err)
	}
	var files []Input
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		st, err := os.Stat(path)
		folder := err == nil && st.IsDir()
		reason := reasonToSkip(e.Name(), prefix)
		if folder && (reason != "" || !isArchive(path)) {
			continue
		}
		if reason == "" && err != nil {
			reason = err.Error()
		} else if reason == "" && !folder && !st.Mode().IsRegular() {
			reason = "it is not a regular file"
		}
		if reason != "" {
			inv.Skipped = append(inv.Skipped, Skipped{path, reason})
			continue
		}
		files = append(files, Input{Path: path, Fields: naming.Parse(e.Name())})
	}
	return files, nil
}

// group fills the buckets. Files are sorted by name on entry, as os.ReadDir gives them.
func (inv *Inventory) group(files []Input, sel Selection, noPreInit bool) {
	type process struct {
		host string
		pid  int
	}
	ranked := map[naming.Rank][]Input{}
	owner := map[process]naming.Rank{}
	var loose []Input
	for _, f := range files {
		r := f.Fields.Rank
		if r == naming.NoRank {
			loose = append(loose, f)
			continue
		}
		ranked[r] = append(ranked[r], f)
		if f.Fields.PID < 0 {
			continue
		}
		p := process{f.Fields.Host, f.Fields.PID}
		if have, ok := owner[p]; !ok {
			owner[p] = r
		} else if have != r {
			inv.Notes = append(inv.Notes, fmt.Sprintf("process %d on host %q has files of ranks %d and %d; its files of no rank go to rank %d", p.pid, p.host, have, r, have))
		}
	}
	if !noPreInit && !(sel.one && sel.rank == naming.NoRank) {
		rest := loose[:0]
		for _, f := range loose {
			if r, ok := owner[process{f.Fields.Host, f.Fields.PID}]; ok && f.Fields.PID >= 0 {
				f.PreInit = true
				ranked[r] = append(ranked[r], f)
			} else {
				rest = append(rest, f)
			}
		}
		loose = rest
	}
	if !sel.one || sel.rank != naming.NoRank {
		for r, fs := range ranked {
			if !sel.one || sel.rank == r {
				inv.Buckets = append(inv.Buckets, Bucket{r, fs})
			}
		}
		slices.SortFunc(inv.Buckets, func(a, b Bucket) int { return cmp.Compare(a.Rank, b.Rank) })
	}
	if len(loose) > 0 && (!sel.one || sel.rank == naming.NoRank || len(inv.Buckets) == 0) {
		if sel.one && sel.rank != naming.NoRank {
			inv.Notes = append(inv.Notes, fmt.Sprintf("no file of rank %d; the files of no rank are parsed instead", sel.rank))
		}
		inv.Buckets = append(inv.Buckets, Bucket{naming.NoRank, loose})
	}
	for _, b := range inv.Buckets {
		slices.SortStableFunc(b.Files, func(a, b Input) int {
			return cmp.Or(cmp.Compare(a.Fields.Host, b.Fields.Host), cmp.Compare(a.Fields.PID, b.Fields.PID), cmp.Compare(a.Path, b.Path))
		})
	}
}
