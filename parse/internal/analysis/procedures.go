package analysis

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/tracehandler/tracehandler/parse/internal/js"
)

// builtin holds the three checks for AMD's ping-pong scheduling, as tritonparse ships them (BSD-3-Clause, Meta Platforms).
//
//go:embed procedures.json
var builtin []byte

// Procedures are compiled checks: is a known scheduling pattern in this code? They are read-only once made.
type Procedures struct {
	list     []procedure
	patterns []*regexp.Regexp // of all attributes, each once
}

type procedure struct {
	name, pattern      string
	check              *fileCheck
	broken             string // why the pattern cannot be used
	attributes         []attribute
	head, middle, tail []byte // of the result, ready made
}

type attribute struct {
	Key, Type, Source string
	Rule              string `json:"extract_rule"`
	Pattern           string `json:"extract_pattern"`
	Field             string `json:"extract_field"`
	Compute           string `json:"compute_rule"`

	re int // index into Procedures.patterns
}

// BuiltinProcedures returns the checks that are always known.
func BuiltinProcedures() *Procedures {
	p, err := ReadProcedures(builtin)
	if err != nil {
		panic(err) // the embedded file is part of the program
	}
	return p
}

// ReadProcedures reads a configuration: {"procedures":[{"name", "pattern_checks", "message", "display_attributes"}]}.
func ReadProcedures(config []byte) (*Procedures, error) {
	var c struct {
		Procedures []struct {
			Name       string          `json:"name"`
			Checks     json.RawMessage `json:"pattern_checks"`
			Message    string          `json:"message"`
			Attributes json.RawMessage `json:"display_attributes"`
		} `json:"procedures"`
	}
	if err := json.Unmarshal(config, &c); err != nil {
		return nil, fmt.Errorf("parse: procedure checks: %w", err)
	}
	ps := &Procedures{}
	for i, in := range c.Procedures {
		if in.Name == "" {
			return nil, fmt.Errorf("parse: procedure checks: number %d has no name", i+1)
		}
		p := procedure{name: in.Name}
		var lines []string
		if json.Unmarshal(in.Checks, &p.pattern) != nil {
			if json.Unmarshal(in.Checks, &lines) != nil {
				return nil, fmt.Errorf("parse: procedure check %s: pattern_checks is neither text nor a list of lines", in.Name)
			}
			p.pattern = strings.Join(lines, "\n")
		}
		var err error
		if p.check, err = compileCheck(p.pattern); err != nil {
			p.broken = err.Error()
		}
		if len(in.Attributes) == 0 || string(in.Attributes) == "null" {
			in.Attributes = json.RawMessage("[]")
		}
		if err := json.Unmarshal(in.Attributes, &p.attributes); err != nil {
			return nil, fmt.Errorf("parse: procedure check %s: display_attributes: %w", in.Name, err)
		}
		for j := range p.attributes {
			a := &p.attributes[j]
			if a.Rule == "regex" {
				if a.re, err = ps.pattern(a.Pattern); err != nil {
					return nil, fmt.Errorf("parse: procedure check %s: attribute %s: %w", in.Name, a.Key, err)
				}
			}
		}
		p.head = append(append(js.AppendString(nil, p.name), `:{"procedure_name":`...), js.AppendString(nil, p.name)...)
		p.middle = append(append([]byte(`,"check_pattern":`), js.AppendString(nil, p.pattern)...), `,"message":`...)
		p.middle = js.AppendString(p.middle, in.Message)
		var compact bytes.Buffer
		if err := json.Compact(&compact, in.Attributes); err != nil {
			return nil, fmt.Errorf("parse: procedure check %s: %w", in.Name, err)
		}
		p.tail = append([]byte(`,"display_attributes":`), compact.Bytes()...)
		ps.list = append(ps.list, p)
	}
	return ps, nil
}

func (ps *Procedures) pattern(text string) (int, error) {
	for i, re := range ps.patterns {
		if re.String() == text {
			return i, nil
		}
	}
	re, err := regexp.Compile(text)
	if err != nil {
		return 0, err
	}
	ps.patterns = append(ps.patterns, re)
	return len(ps.patterns) - 1, nil
}

// Len returns the number of checks.
func (ps *Procedures) Len() int {
	if ps == nil {
		return 0
	}
	return len(ps.list)
}

// noFileCheck is what the reference reports where LLVM's FileCheck is missing.
const noFileCheck = "FileCheck binary not available. Set FILECHECK_PATH env var or install Triton."

// AppendJSON appends the result of every check of a TTGIR text, as one object. With compat it appends what the reference
// reports without LLVM's FileCheck program: nothing detected, and why.
func (ps *Procedures) AppendJSON(dst []byte, ttgir, ttir []byte, compat bool) []byte {
	f := facts{ir: ttgir, matches: make([]string, len(ps.patterns))}
	dot, hasDot := FirstDot(ttir)
	if !compat {
		f.dot, f.hasDot = FirstDot(ttgir)
		f.module = moduleAttributes(ttgir)
		for i, re := range ps.patterns {
			if m := re.FindSubmatch(ttgir); m != nil {
				f.matches[i] = strings.ToValidUTF8(string(m[len(m)-1]), "\uFFFD")
			}
		}
	}
	dst = append(dst, '{')
	for i := range ps.list {
		p := &ps.list[i]
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(dst, p.head...)
		var places []int
		detected, problem := false, noFileCheck
		if !compat {
			if problem = p.broken; problem == "" {
				if f.folded == nil && p.check.possible(ttgir) {
					f.folded = foldSpace(ttgir)
				}
				if f.folded != nil {
					places, detected = p.check.run(f.folded)
				}
			}
		}
		dst = append(dst, `,"detected":`...)
		dst = strconv.AppendBool(dst, detected)
		dst = append(dst, p.middle...)
		dst = append(dst, `,"match_details":[`...)
		for j, at := range places {
			if j > 0 {
				dst = append(dst, ',')
			}
			line := 1 + bytes.Count(f.folded[:at], []byte{'\n'})
			dst = js.AppendString(dst, fmt.Sprintf("line %d", line))
		}
		dst = append(dst, `],"error_message":`...)
		if problem == "" {
			dst = append(dst, `null`...)
		} else {
			dst = js.AppendString(dst, problem)
		}
		dst = append(dst, `,"module_attributes":`...)
		if f.module != "" && problem == "" {
			dst = js.AppendString(dst, f.module)
		} else {
			dst = append(dst, `null`...)
		}
		dst = append(dst, `,"attributes":{`...)
		a := attributeWriter{dst: dst}
		if problem == "" {
			p.readAttributes(&a, &f)
		}
		if hasDot {
			a.dot(dot)
		}
		dst = append(a.dst, '}')
		dst = append(dst, p.tail...)
		if compat {
			dst = append(dst, `,"detection_method":"filecheck"}`...)
		} else {
			dst = append(dst, `,"detection_method":"native"}`...)
		}
	}
	return append(dst, '}')
}

// facts is what the checks of one TTGIR text share.
type facts struct {
	ir, folded []byte
	module     string
	dot        Dot
	hasDot     bool
	matches    []string // of Procedures.patterns, "" for none
	counted    []string
	counts     []int64
	clusters   int64 // 1 + their number, 0 if it is not known yet
}

// count returns how often a text occurs in the code; many checks ask for the same.
func (f *facts) count(text string) int64 {
	for i, c := range f.counted {
		if c == text {
			return f.counts[i]
		}
	}
	n := int64(bytes.Count(f.ir, []byte(text)))
	f.counted, f.counts = append(f.counted, text), append(f.counts, n)
	return n
}

// moduleAttributes returns what stands in the braces of "module attributes {…}".
func moduleAttributes(ir []byte) string {
	_, rest, ok := bytes.Cut(ir, []byte("module attributes {"))
	if !ok {
		return ""
	}
	if nl := bytes.IndexByte(rest, '\n'); nl >= 0 {
		rest = rest[:nl]
	}
	if i := bytes.LastIndexByte(rest, '}'); i >= 0 {
		rest = rest[:i]
	}
	return strings.ToValidUTF8(string(rest), "\uFFFD")
}

// attributeWriter appends members and keeps their keys, so that none is written twice.
type attributeWriter struct {
	dst  []byte
	keys []string
}

func (a *attributeWriter) add(key string, value []byte) {
	for _, k := range a.keys {
		if k == key {
			return
		}
	}
	if len(a.keys) > 0 {
		a.dst = append(a.dst, ',')
	}
	a.keys = append(a.keys, key)
	a.dst = append(append(js.AppendString(a.dst, key), ':'), value...)
}

func (a *attributeWriter) number(key string, n int64) { a.add(key, strconv.AppendInt(nil, n, 10)) }

func (a *attributeWriter) dot(d Dot) {
	a.number("tile_m", d.M)
	a.number("tile_n", d.N)
	a.number("tile_k", d.K)
	a.add("input_dtype", js.AppendString(nil, d.Input))
	a.add("output_dtype", js.AppendString(nil, d.Output))
}

func (p *procedure) readAttributes(w *attributeWriter, f *facts) {
	for _, a := range p.attributes {
		switch {
		case a.Rule == "regex":
			text := f.matches[a.re]
			if text == "" {
				continue
			}
			if n, err := strconv.ParseInt(text, 10, 64); err == nil && a.Type == "number" {
				w.number(a.Key, n)
			} else {
				w.add(a.Key, js.AppendString(nil, text))
			}
		case a.Rule == "count":
			w.number(a.Key, f.count(a.Pattern))
		case a.Rule == "dot_shape" && f.hasDot:
			switch a.Field {
			case "tile_m":
				w.number(a.Key, f.dot.M)
			case "tile_n":
				w.number(a.Key, f.dot.N)
			case "tile_k":
				w.number(a.Key, f.dot.K)
			case "input_dtype":
				w.add(a.Key, js.AppendString(nil, f.dot.Input))
			case "output_dtype":
				w.add(a.Key, js.AppendString(nil, f.dot.Output))
			}
		case a.Compute == "pp_clusters":
			if f.clusters == 0 {
				f.clusters = 1 + clusters(f.ir)
			}
			if n := f.clusters - 1; n > 0 {
				w.number(a.Key, n)
			}
		case a.Compute == "tile_size_bits" && f.hasDot:
			if bits := typeBits(f.dot.Input); bits > 0 && max(f.dot.M, f.dot.N, f.dot.K) < 1<<16 {
				w.number(a.Key, f.dot.M*f.dot.N*f.dot.K*bits)
			}
		}
	}
}

// NumWarps returns the number of warps that a TTGIR module declares: `"ttg.num-warps" = 4`.
func NumWarps(ttgir []byte) (string, bool) {
	for {
		_, rest, ok := bytes.Cut(ttgir, []byte(`"ttg.num-warps"`))
		if !ok {
			return "", false
		}
		ttgir = rest
		if rest, ok = bytes.CutPrefix(bytes.TrimLeft(rest, " \t"), []byte{'='}); !ok {
			continue
		}
		rest = bytes.TrimLeft(rest, " \t")
		n := 0
		for n < len(rest) && rest[n] >= '0' && rest[n] <= '9' {
			n++
		}
		if n > 0 {
			return string(rest[:n]), true
		}
	}
}

// clusters returns the number of ping-pong clusters, 0 if the code shows none.
func clusters(ir []byte) int64 {
	n, _ := NumWarps(ir)
	barrier := bytes.Contains(ir, []byte("amdgpu.cond_barrier"))
	switch {
	case n == "4" && !barrier:
		return 1
	case n == "8" && barrier && bytes.Count(ir, []byte("tt.dot")) >= 4:
		return 4
	case n == "8" && barrier:
		return 2
	}
	return 0
}

// typeBits reads the width at the end of a type's name: f16, bf16, i8; f8E4M3FN is 8.
func typeBits(t string) int64 {
	if strings.HasPrefix(t, "f8") {
		return 8
	}
	i := len(t)
	for i > 0 && t[i-1] >= '0' && t[i-1] <= '9' {
		i--
	}
	n, _ := strconv.ParseInt(t[i:], 10, 16)
	return n
}
