package parse

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/tracehandler/tracehandler/parse/internal/js"
)

// Compiled is a compilation of a trace, raw or parsed, ready to be compared.
type Compiled struct {
	Index    int // among the compilations of its file, from 0
	Line     int64
	Hash     string
	Name     string
	Metadata map[string]string // JSON texts
	Source   string            // the kernel in Python
	Stages   map[string]string // code by stage: ttir, ptx, …
	Python   map[int]map[string]int
	Tensors  map[string]TensorValues // of the kernel's first launch in the file, by argument
	// Event is the whole record.
	Event []byte
}

// Compilations reads the compilations of a trace, those made up for launches left out.
func Compilations(path string) ([]Compiled, []Problem, error) {
	var list []Compiled
	tensors := firstTensors{}
	problems, err := eachRecord(path, func(line int64, root js.Value) error {
		if root.Get("event_type").Is("launch") {
			tensors.add(root)
		}
		if !root.Get("event_type").Is("compilation") || root.Get("is_fake").Kind() == js.True {
			return nil
		}
		p := root.Get("payload")
		m := p.Get("metadata")
		c := Compiled{Index: len(list), Line: line, Name: m.Get("name").Str(), Source: p.Get("python_source").Get("code").Str(),
			Metadata: map[string]string{}, Stages: map[string]string{}, Python: map[int]map[string]int{}, Event: bytes.Clone(root.Raw())}
		c.Hash, _ = kernelHash(m.Get("hash"))
		for f := range m.Each() {
			c.Metadata[f.Key()] = string(f.AppendCanonical(nil, nil))
		}
		for f := range p.Get("file_content").Each() {
			name := f.Key()
			if i := strings.LastIndexByte(name, '.'); i >= 0 {
				c.Stages[name[i+1:]] = f.Str()
			}
		}
		for l := range p.Get("source_mappings").Get("python").Each() {
			n, err := strconv.Atoi(l.Key())
			if err != nil {
				continue
			}
			c.Python[n] = map[string]int{}
			for s := range l.Each() {
				c.Python[n][strings.TrimSuffix(s.Key(), "_lines")] = s.Len()
			}
		}
		list = append(list, c)
		return nil
	})
	for i := range list {
		list[i].Tensors = tensors[list[i].Hash]
	}
	return list, problems, err
}

// Difference is how two compilations differ, level by level. It is the JSON object of a compilation_diff event.
type Difference struct {
	Type     string                `json:"event_type"` // compilation_diff
	A        Side                  `json:"a"`
	B        Side                  `json:"b"`
	Match    string                `json:"match,omitempty"` // how the two were paired
	Metadata map[string][2]any     `json:"metadata"`        // values that differ; null where there is none
	Source   SourceDifference      `json:"python_source"`
	Stages   map[string]StageStats `json:"ir_stats"`
	Lines    []LineDifference      `json:"by_python_line"` // source lines that became a different amount of code
	// Tensors compares the tensors that the kernels were launched with, by argument; nil if CompareTensors was not called.
	Tensors map[string]TensorDifference `json:"tensors,omitempty"`
}

// Side names one of two compilations.
type Side struct {
	Hash  string `json:"hash"`
	Name  string `json:"name"`
	Index int    `json:"index"`
}

// SourceDifference compares the kernels' sources.
type SourceDifference struct {
	Equal      bool     `json:"equal"`
	Similarity float64  `json:"similarity"` // shared lines of all lines, 0 to 1
	Removed    []string `json:"removed,omitempty"`
	Added      []string `json:"added,omitempty"`
}

// StageStats compares the code of one stage.
type StageStats struct {
	Lines [2]int            `json:"lines"`
	Ops   map[string][2]int `json:"ops,omitempty"` // operations whose number differs
}

// LineDifference compares what became of one source line.
type LineDifference struct {
	Line   int               `json:"line"`
	Stages map[string][2]int `json:"stages"` // lines of code in each stage that differs
}

// Same reports whether no level differs.
func (d *Difference) Same() bool {
	for _, s := range d.Stages {
		if s.Lines[0] != s.Lines[1] || len(s.Ops) > 0 {
			return false
		}
	}
	for _, t := range d.Tensors {
		if t.Differs() {
			return false
		}
	}
	return len(d.Metadata) == 0 && d.Source.Equal && len(d.Lines) == 0
}

// Compare compares two compilations.
func Compare(a, b *Compiled) *Difference {
	d := &Difference{Type: "compilation_diff", A: Side{a.Hash, a.Name, a.Index}, B: Side{b.Hash, b.Name, b.Index},
		Metadata: map[string][2]any{}, Stages: map[string]StageStats{}, Lines: []LineDifference{}}
	for k := range union(a.Metadata, b.Metadata) {
		if av, bv := a.Metadata[k], b.Metadata[k]; av != bv {
			d.Metadata[k] = [2]any{rawOrNull(av), rawOrNull(bv)}
		}
	}
	d.Source = compareSources(a.Source, b.Source)
	for k := range union(a.Stages, b.Stages) {
		s := StageStats{Lines: [2]int{countLines(a.Stages[k]), countLines(b.Stages[k])}}
		ao, bo := countOps(a.Stages[k]), countOps(b.Stages[k])
		for op := range union(ao, bo) {
			if ao[op] != bo[op] {
				if s.Ops == nil {
					s.Ops = map[string][2]int{}
				}
				s.Ops[op] = [2]int{ao[op], bo[op]}
			}
		}
		d.Stages[k] = s
	}
	for n := range union(a.Python, b.Python) {
		l := LineDifference{n, map[string][2]int{}}
		for s := range union(a.Python[n], b.Python[n]) {
			if av, bv := a.Python[n][s], b.Python[n][s]; av != bv {
				l.Stages[s] = [2]int{av, bv}
			}
		}
		if len(l.Stages) > 0 {
			d.Lines = append(d.Lines, l)
		}
	}
	slices.SortFunc(d.Lines, func(x, y LineDifference) int { return cmp.Compare(x.Line, y.Line) })
	return d
}

func rawOrNull(s string) any {
	if s == "" {
		return nil
	}
	return json.RawMessage(s)
}

func union[K comparable, V any](a, b map[K]V) map[K]struct{} {
	u := map[K]struct{}{}
	for k := range a {
		u[k] = struct{}{}
	}
	for k := range b {
		u[k] = struct{}{}
	}
	return u
}

func countLines(s string) int {
	if s == "" {
		return 0
	}
	return strings.Count(strings.TrimSuffix(s, "\n"), "\n") + 1
}

// operation finds the name of the operation on a line: "%0 = tt.load", "scf.for", "ld.param.u64", "s_load_dwordx2".
var operation = regexp.MustCompile(`(?m)^\s*(?:%[\w:#]+(?:, ?%[\w:#]+)* = |@!?%?\w+ )?(?:/\*[0-9a-f]+\*/\s*)?"?([a-zA-Z_][\w]*(?:\.[\w.]+)?)`)

func countOps(text string) map[string]int {
	ops := map[string]int{}
	for _, m := range operation.FindAllStringSubmatch(text, -1) {
		ops[m[1]]++
	}
	return ops
}

// alike is the similarity from which on two sources are taken for versions of one.
const alike = 0.75

// maybeAlike reports whether two sources of so many lines can be alike at all.
func maybeAlike(a, b int) bool { return 2*float64(min(a, b)) >= alike*float64(a+b) }

// compareSources compares line by line, by a longest common subsequence. Sources beyond 4,000 lines are only compared
// for equality.
func compareSources(a, b string) SourceDifference {
	if a == b {
		return SourceDifference{Equal: true, Similarity: 1}
	}
	al, bl := strings.Split(a, "\n"), strings.Split(b, "\n")
	if len(al) > 4000 || len(bl) > 4000 {
		return SourceDifference{}
	}
	table := make([][]int32, len(al)+1)
	for i := range table {
		table[i] = make([]int32, len(bl)+1)
	}
	for i := len(al) - 1; i >= 0; i-- {
		for j := len(bl) - 1; j >= 0; j-- {
			if al[i] == bl[j] {
				table[i][j] = table[i+1][j+1] + 1
			} else {
				table[i][j] = max(table[i+1][j], table[i][j+1])
			}
		}
	}
	d := SourceDifference{Similarity: 2 * float64(table[0][0]) / float64(len(al)+len(bl))}
	i, j := 0, 0
	for i < len(al) || j < len(bl) {
		switch {
		case i < len(al) && j < len(bl) && al[i] == bl[j]:
			i, j = i+1, j+1
		case j >= len(bl) || i < len(al) && table[i+1][j] >= table[i][j+1]:
			d.Removed = append(d.Removed, al[i])
			i++
		default:
			d.Added = append(d.Added, bl[j])
			j++
		}
	}
	return d
}

// Pair pairs the compilations of two traces: those of the same hash, then of the same name and configuration, of the same
// name, of a similar source, of a similar name. What is left over is in neither pair.
func Pair(as, bs []Compiled) (pairs []*Difference, onlyA, onlyB []int) {
	usedA, usedB := map[int]bool{}, map[int]bool{}
	config := func(c *Compiled) string {
		var s strings.Builder
		for _, k := range configNames {
			fmt.Fprintf(&s, "%s|", c.Metadata[k])
		}
		return s.String()
	}
	for _, step := range []struct {
		name string
		fits func(a, b *Compiled) bool
	}{
		{"hash", func(a, b *Compiled) bool { return a.Hash != "" && a.Hash == b.Hash }},
		{"name and configuration", func(a, b *Compiled) bool { return a.Name != "" && a.Name == b.Name && config(a) == config(b) }},
		{"name", func(a, b *Compiled) bool { return a.Name != "" && a.Name == b.Name }},
		{"source", func(a, b *Compiled) bool {
			return a.Source != "" && b.Source != "" && maybeAlike(countLines(a.Source), countLines(b.Source)) && compareSources(a.Source, b.Source).Similarity >= alike
		}},
		{"similar name", func(a, b *Compiled) bool {
			longest := max(len(a.Name), len(b.Name))
			return longest > 0 && longest <= longName && float64(editDistance(a.Name, b.Name)) <= 0.3*float64(longest)
		}},
	} {
		for i := range as {
			for j := range bs {
				if !usedA[i] && !usedB[j] && step.fits(&as[i], &bs[j]) {
					usedA[i], usedB[j] = true, true
					d := Compare(&as[i], &bs[j])
					d.Match = step.name
					pairs = append(pairs, d)
				}
			}
		}
	}
	for i := range as {
		if !usedA[i] {
			onlyA = append(onlyA, i)
		}
	}
	for j := range bs {
		if !usedB[j] {
			onlyB = append(onlyB, j)
		}
	}
	return pairs, onlyA, onlyB
}
