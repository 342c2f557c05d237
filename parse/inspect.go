package parse

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/tracehandler/tracehandler/parse/internal/js"
)

// KernelInfo is what a trace, raw or parsed, says about the kernels of one name.
type KernelInfo struct {
	Name     string
	Hashes   []string // of its compilations and launches, in order of appearance
	Compiled int      // compilations, made-up ones not counted
	Launches int64
}

// Kernels lists the kernels of one trace file by name. Launches are counted, or taken from launch_diff events where the
// launches themselves are not in the file. What cannot be read is passed over and returned as problems.
func Kernels(path string) ([]KernelInfo, []Problem, error) {
	byName := map[string]*KernelInfo{}
	diffs := map[string]int64{}
	seen := map[[2]string]bool{} // name and hash
	get := func(name string) *KernelInfo {
		k := byName[name]
		if k == nil {
			k = &KernelInfo{Name: name}
			byName[name] = k
		}
		return k
	}
	note := func(k *KernelInfo, hash js.Value) {
		if h, ok := kernelHash(hash); ok && !seen[[2]string{k.Name, h}] {
			seen[[2]string{k.Name, h}] = true
			k.Hashes = append(k.Hashes, h)
		}
	}
	problems, err := eachRecord(path, func(_ int64, root js.Value) error {
		switch kind := root.Get("event_type"); {
		case kind.Is("compilation"):
			m := root.Get("payload").Get("metadata")
			k := get(m.Get("name").Str())
			note(k, m.Get("hash"))
			if root.Get("is_fake").Kind() != js.True {
				k.Compiled++
			}
		case kind.Is("launch"):
			k := get(launchName(root))
			note(k, root.Get("compilation_metadata").Get("hash"))
			k.Launches++
		case kind.Is("launch_diff"):
			n, _ := root.Get("total_launches").Int()
			diffs[root.Get("name").Str()] += n
		}
		return nil
	})
	if err != nil {
		return nil, problems, err
	}
	for name, n := range diffs {
		if k := get(name); k.Launches == 0 {
			k.Launches = n
		}
	}
	var list []KernelInfo
	for _, k := range byName {
		list = append(list, *k)
	}
	slices.SortFunc(list, func(a, b KernelInfo) int { return strings.Compare(a.Name, b.Name) })
	return list, problems, nil
}

func launchName(launch js.Value) string {
	if n := launch.Get("name").Str(); n != "" {
		return n
	}
	return launch.Get("compilation_metadata").Get("name").Str()
}

// LaunchInfo is one launch of a kernel.
type LaunchInfo struct {
	ID    int64  // its number among the kernel's launches, from 0
	Line  int64  // its line in the file, from 1
	Grid  string // JSON
	Group string // launch_group_hash, of a parsed trace
}

// Launches lists the launches of a kernel that pass every filter.
func Launches(path, kernel string, filters []ArgFilter) ([]LaunchInfo, []Problem, error) {
	var list []LaunchInfo
	id := int64(0)
	problems, err := eachRecord(path, func(line int64, root js.Value) error {
		if !root.Get("event_type").Is("launch") || launchName(root) != kernel {
			return nil
		}
		id++
		for _, f := range filters {
			if !f.matches(root) {
				return nil
			}
		}
		list = append(list, LaunchInfo{id - 1, line, string(root.Get("grid").Raw()), root.Get("launch_group_hash").Str()})
		return nil
	})
	return list, problems, err
}

// ArgFilter asks that a field of a launch has a value.
type ArgFilter struct {
	path  []string // names and [indexes]
	value string
}

// ParseArgFilters reads a list such as "num_stages=3, C_ptr.shape[0]=3024, D.shape=[3024, 10752]". A name is that of an
// argument, or of a field of the compilation's metadata or of the launch. Commas in brackets or quotes do not separate.
func ParseArgFilters(list string) ([]ArgFilter, error) {
	var fs []ArgFilter
	for _, part := range splitOutside(list, ',') {
		name, value, ok := strings.Cut(part, "=")
		name, value = strings.TrimSpace(name), strings.TrimSpace(value)
		if !ok || name == "" || value == "" {
			return nil, fmt.Errorf("parse: bad filter %q: want NAME=VALUE", strings.TrimSpace(part))
		}
		f := ArgFilter{value: canonicalText(value)}
		for _, step := range strings.Split(name, ".") {
			base, rest, _ := strings.Cut(step, "[")
			f.path = append(f.path, base)
			for rest != "" {
				i, after, ok := strings.Cut(rest, "]")
				if _, err := strconv.ParseUint(i, 10, 31); err != nil || !ok {
					return nil, fmt.Errorf("parse: bad filter %q: want an index in brackets", strings.TrimSpace(part))
				}
				f.path = append(f.path, "["+i)
				rest = strings.TrimPrefix(after, "[")
			}
		}
		fs = append(fs, f)
	}
	return fs, nil
}

// splitOutside splits at a separator that stands outside of brackets and quotes, and drops blank parts.
func splitOutside(s string, sep byte) []string {
	var parts []string
	depth, from, quoted := 0, 0, false
	add := func(p string) {
		if strings.TrimSpace(p) != "" {
			parts = append(parts, p)
		}
	}
	for i := range len(s) {
		switch c := s[i]; {
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '[' || c == '{' || c == '(':
			depth++
		case c == ']' || c == '}' || c == ')':
			depth--
		case c == sep && depth == 0:
			add(s[from:i])
			from = i + 1
		}
	}
	add(s[from:])
	return parts
}

// canonicalText makes texts of equal values equal. What is no JSON is taken as a string.
func canonicalText(s string) string {
	var d js.Doc
	if d.Parse([]byte(s)) != nil {
		s = string(js.AppendString(nil, s))
		if d.Parse([]byte(s)) != nil {
			return s
		}
	}
	return string(d.Root().AppendCanonical(nil, nil))
}

func (f *ArgFilter) matches(launch js.Value) bool {
	for _, from := range [...]js.Value{launch.Get("extracted_args"), launch.Get("compilation_metadata"), launch} {
		v := from
		for _, step := range f.path {
			if strings.HasPrefix(step, "[") {
				v = element(v, step[1:])
			} else {
				v = v.Get(step)
			}
		}
		if !v.Exists() {
			continue
		}
		if inner := v.Get("value"); inner.Exists() {
			v = inner
		}
		return string(v.AppendCanonical(nil, nil)) == f.value
	}
	return false
}

func element(v js.Value, index string) js.Value {
	if v.Kind() != js.Array {
		return js.Value{}
	}
	n, _ := strconv.Atoi(index)
	for e := range v.Each() {
		if n == 0 {
			return e
		}
		n--
	}
	return js.Value{}
}

// longName is the number of bytes beyond which names are not compared letter by letter.
const longName = 1000

// CloseNames returns up to three names that are like name, the likest first.
func CloseNames(name string, among []string) []string {
	type scored struct {
		name string
		d    int
	}
	var s []scored
	for _, a := range among {
		if len(a) > longName || len(name) > longName {
			continue
		}
		d := editDistance(strings.ToLower(name), strings.ToLower(a))
		if strings.Contains(strings.ToLower(a), strings.ToLower(name)) {
			d = min(d, 1)
		}
		if d <= max(2, len(name)/2) {
			s = append(s, scored{a, d})
		}
	}
	slices.SortStableFunc(s, func(a, b scored) int { return a.d - b.d })
	var out []string
	for i := range min(3, len(s)) {
		out = append(out, s[i].name)
	}
	return out
}

// editDistance is the number of letters to insert, remove or change.
func editDistance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		last := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := last
			if a[i] != b[j] {
				cost++
			}
			last = row[j+1]
			row[j+1] = min(cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}

// eachRecord calls f with the line number and the value of each record of a trace file. What is no record, and damage,
// is returned as problems; the error is for what ends the reading.
func eachRecord(path string, f func(line int64, root js.Value) error) (problems []Problem, err error) {
	var doc js.Doc
	var rep RankReport
	err = readLines(path, &rep, nil, func(number int64, text []byte) error {
		if text = bytes.TrimSpace(text); len(text) == 0 {
			return nil
		}
		if err := doc.Parse(text); err != nil {
			rep.bad(path, number, err.Error())
			return nil
		}
		if doc.Root().Kind() != js.Object {
			rep.bad(path, number, "a JSON value that is no object")
			return nil
		}
		return f(number, doc.Root())
	})
	return rep.details(path), err
}
