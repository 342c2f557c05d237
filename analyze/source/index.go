package source

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Root is a source tree to search.
type Root struct {
	Dir       string
	Framework string // "vllm", "aiter", …: a hint for ranking
}

// Definition is a place where a kernel is defined.
type Definition struct {
	Symbol    string
	File      string
	Line      int
	Framework string
	Triton    bool
}

// Index finds definitions of kernels by symbol. It is not changed after BuildIndex.
type Index struct {
	defs  map[string][]Definition
	Files int // read
}

// skippedDirs hold copies, third parties' code and generated code.
var skippedDirs = map[string]bool{"__pycache__": true, "3rdparty": true, "third_party": true, "example": true, "examples": true,
	"test": true, "tests": true, ".git": true, "node_modules": true}

// BuildIndex reads every CUDA, HIP and Python file under the roots. A file that cannot be read is passed over; a root
// that cannot is an error.
func BuildIndex(ctx context.Context, roots []Root) (*Index, error) {
	x := &Index{defs: map[string][]Definition{}}
	err := walk(ctx, roots, func(path string, d fs.DirEntry, framework string) { x.file(path, framework) })
	if err != nil {
		return nil, err
	}
	return x, nil
}

// walk calls visit for the source files below the roots, in lexical order.
func walk(ctx context.Context, roots []Root, visit func(path string, d fs.DirEntry, framework string)) error {
	for _, r := range roots {
		err := filepath.WalkDir(r.Dir, func(path string, d fs.DirEntry, err error) error {
			if err != nil {
				if path == r.Dir {
					return err
				}
				return nil
			}
			if err := ctx.Err(); err != nil {
				return err
			}
			if d.IsDir() {
				if path != r.Dir && (skippedDirs[d.Name()] || strings.HasSuffix(filepath.ToSlash(path), "jit/build")) {
					return filepath.SkipDir
				}
				return nil
			}
			if d.Type().IsRegular() && (isNative(path) || isPython(path)) {
				if fi, err := d.Info(); err == nil && fi.Size() <= maxFile {
					visit(path, d, r.Framework)
				}
			}
			return nil
		})
		if err != nil {
			return fmt.Errorf("source: %w", err)
		}
	}
	return nil
}

func isNative(path string) bool {
	return slices.Contains([]string{".cu", ".cuh", ".hip", ".h", ".hpp"}, strings.ToLower(filepath.Ext(path)))
}

func isPython(path string) bool { return strings.EqualFold(filepath.Ext(path), ".py") }

func (x *Index) file(path, framework string) {
	text, err := os.ReadFile(path)
	if err != nil {
		return
	}
	x.Files++
	add := func(symbol string, line int, triton bool) {
		x.defs[symbol] = append(x.defs[symbol], Definition{symbol, path, line, framework, triton})
	}
	if isNative(path) {
		if bytes.Contains(text, []byte("__global__")) {
			for _, g := range GlobalDefs(string(text)) {
				add(g.Symbol, g.Line, false)
			}
		}
		return
	}
	if bytes.Contains(text, []byte("jit")) {
		defs, _ := pythonDefs(string(text))
		for _, d := range defs {
			if d.jit {
				add(d.name, d.line, true)
			}
		}
	}
}

// Lookup returns the definitions of the kernel a device name stands for, the likeliest first: of the framework, with the
// architecture in the path, in the shortest path. Composable Kernel has none.
func (x *Index) Lookup(device, framework, arch string) []Definition {
	if NonPatchable(device) != "" {
		return nil
	}
	base := BaseSymbol(device)
	found := slices.Clone(x.defs[base])
	if len(found) == 0 {
		if core := SymbolCore(base); core != "" { // a Triton symbol carries a suffix of digits
			for symbol, defs := range x.defs {
				if SymbolCore(symbol) == core {
					found = append(found, defs...)
				}
			}
		}
	}
	score := func(d Definition) int {
		n := 0
		if framework != "" && d.Framework == framework {
			n -= 2
		}
		if arch != "" && strings.Contains(d.File, arch) {
			n--
		}
		return n
	}
	slices.SortFunc(found, func(a, b Definition) int {
		return cmp.Or(cmp.Compare(score(a), score(b)), cmp.Compare(len(a.File), len(b.File)), cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line))
	})
	return slices.DeleteFunc(found, func(d Definition) bool {
		return !d.Triton && strings.HasSuffix(d.File, ".py")
	})
}

// Global is a __global__ function.
type Global struct {
	Symbol string
	Line   int // of the name
}

var globalAttributes = []string{"__launch_bounds__", "__attribute__", "__maxnreg__", "__cluster_dims__", "__grid_constant__", "__block_size__"}

// GlobalDefs lists the __global__ functions defined in C++ text, without those in comments and strings and those only
// declared: after __global__, attributes with their parentheses are skipped; the first identifier before '(' is the
// name; the parameters are followed by '{'.
func GlobalDefs(text string) []Global {
	text = blankComments(text)
	const mark = "__global__"
	var out []Global
	for from := 0; ; {
		i := strings.Index(text[from:], mark)
		if i < 0 {
			return out
		}
		i += from
		from = i + len(mark)
		if symbol, at, ok := globalName(text[from:]); ok {
			out = append(out, Global{symbol, 1 + strings.Count(text[:from+at], "\n")})
		}
	}
}

// globalName returns the name of the function behind a __global__ and where it stands.
func globalName(text string) (symbol string, at int, ok bool) {
	for i := 0; i < len(text); {
		c := text[i]
		switch {
		case c == ';' || c == '{' || c == '}':
			return "", 0, false
		case !identByte(c):
			i++
		default:
			word, end := identifier(text, i)
			next := end
			for next < len(text) && strings.IndexByte(" \t\r\n", text[next]) >= 0 {
				next++
			}
			if next >= len(text) {
				return "", 0, false
			}
			if text[next] != '(' {
				i = end
				continue
			}
			close := matching(text, next)
			if close < 0 {
				return "", 0, false
			}
			if slices.Contains(globalAttributes, word) {
				i = close + 1
				continue
			}
			rest := strings.TrimLeft(text[close+1:], " \t\r\n")
			return word, i, strings.HasPrefix(rest, "{")
		}
	}
	return "", 0, false
}

func matching(text string, i int) int {
	depth := 0
	for ; i < len(text); i++ {
		switch text[i] {
		case '(':
			depth++
		case ')':
			if depth--; depth == 0 {
				return i
			}
		}
	}
	return -1
}

// blankComments replaces comments and the contents of strings by spaces, so that lines keep their numbers.
func blankComments(text string) string {
	b := []byte(text)
	for i := 0; i < len(b); i++ {
		switch {
		case b[i] == '/' && i+1 < len(b) && b[i+1] == '/':
			for ; i < len(b) && b[i] != '\n'; i++ {
				b[i] = ' '
			}
		case b[i] == '/' && i+1 < len(b) && b[i+1] == '*':
			end := bytes.Index(b[i+2:], []byte("*/"))
			if end < 0 {
				end = len(b) - i - 4
			}
			for stop := min(i+end+4, len(b)); i < stop; i++ {
				if b[i] != '\n' {
					b[i] = ' '
				}
			}
			i--
		case b[i] == '"':
			for i++; i < len(b) && b[i] != '"' && b[i] != '\n'; i++ {
				if b[i] == '\\' && i+1 < len(b) && b[i+1] != '\n' {
					b[i] = ' '
					i++
				}
				b[i] = ' '
			}
		}
	}
	return string(b)
}
