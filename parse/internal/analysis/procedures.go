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
type Procedures struct{ list []procedure }

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

	re *regexp.Regexp
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
				if a.re, err = regexp.Compile(a.Pattern); err != nil {
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
	var folded []byte
	dot, hasDot := FirstDot(ttir)
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
				if folded == nil {
					folded = foldSpace(ttgir)
				}
				places, detected = p.check.run(folded)
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
			line := 1 + bytes.Count(folded[:at], []byte{'\n'})
			dst = js.AppendString(dst, fmt.Sprintf("line %d", line))
		}
		dst = append(dst, `],"error_message":`...)
		if problem == "" {
			dst = append(dst, `null`...)
		} else {
			dst = js.AppendString(dst, problem)
		}
		dst = append(dst, `,"module_attributes":`...)
		if m := moduleAttributes(ttgir); m != "" && problem == "" {
			dst = js.AppendString(dst, m)
		} else {
			dst = append(dst, `null`...)
		}
		dst = append(dst, `,"attributes":{`...)
		a := attributeWriter{dst: dst}
		if problem == "" {
			p.readAttributes(&a, ttgir)
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

func (p *procedure) readAttributes(w *attributeWriter, ir []byte) {
	dot, hasDot := FirstDot(ir)
	for _, a := range p.attributes {
		switch {
		case a.Rule == "regex":
			m := a.re.FindSubmatch(ir)
			if m == nil {
				continue
			}
			text := strings.ToValidUTF8(string(m[len(m)-1]), "\uFFFD")
			if n, err := strconv.ParseInt(text, 10, 64); err == nil && a.Type == "number" {
				w.number(a.Key, n)
			} else {
				w.add(a.Key, js.AppendString(nil, text))
			}
		case a.Rule == "count":
			w.number(a.Key, int64(bytes.Count(ir, []byte(a.Pattern))))
		case a.Rule == "dot_shape" && hasDot:
			switch a.Field {
			case "tile_m":
				w.number(a.Key, dot.M)
			case "tile_n":
				w.number(a.Key, dot.N)
			case "tile_k":
				w.number(a.Key, dot.K)
			case "input_dtype":
				w.add(a.Key, js.AppendString(nil, dot.Input))
			case "output_dtype":
				w.add(a.Key, js.AppendString(nil, dot.Output))
			}
		case a.Compute == "pp_clusters":
			if n := clusters(ir); n > 0 {
				w.number(a.Key, n)
			}
		case a.Compute == "tile_size_bits" && hasDot:
			if bits := typeBits(dot.Input); bits > 0 {
				w.number(a.Key, dot.M*dot.N*dot.K*bits)
			}
		}
	}
}

var warps = regexp.MustCompile(`"ttg\.num-warps"\s*=\s*(\d+)`)

// NumWarps returns the number of warps that a TTGIR module declares.
func NumWarps(ttgir []byte) (string, bool) {
	i := bytes.Index(ttgir, []byte(`"ttg.num-warps"`))
	if i < 0 {
		return "", false
	}
	m := warps.FindSubmatch(ttgir[i:])
	if m == nil {
		return "", false
	}
	return string(m[1]), true
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
