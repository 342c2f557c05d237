package source

import (
	"os"
	"strings"
)

// maxFile bounds the source files that are read.
const maxFile = 16 << 20

// def is one function of a Python file.
type def struct {
	name string
	line int
	jit  bool // decorated with jit, autotune or heuristics
}

// TritonDefLine finds the line of the def that a Triton kernel is, without running Python: a function named exactly
// funcName; or a jit function whose name is, contains, or is contained in the symbol's core; or the only jit function of
// the file, unless strict. A file that cannot be read or parsed has none.
func TritonDefLine(file, funcName, symbol string, strict bool) (line int, ok bool) {
	fi, err := os.Stat(file)
	if err != nil || fi.Size() > maxFile {
		return 0, false
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return 0, false
	}
	defs, ok := pythonDefs(string(text))
	if !ok {
		return 0, false
	}
	var jits []def
	for _, d := range defs {
		if funcName != "" && d.name == funcName {
			return d.line, true
		}
		if d.jit {
			jits = append(jits, d)
		}
	}
	if core := SymbolCore(symbol); core != "" {
		for _, d := range jits {
			if SymbolCore(d.name) == core || strings.ToLower(d.name) == core {
				return d.line, true
			}
		}
		for _, d := range jits {
			if name := strings.Trim(strings.ToLower(d.name), "_"); strings.Contains(core, name) || strings.Contains(name, core) {
				return d.line, true
			}
		}
	}
	if len(jits) == 1 && !strict {
		return jits[0].line, true
	}
	return 0, false
}

// SymbolCore is the part of a kernel symbol that stands in its source: lower-case, up to the first character that is no
// identifier's, without Triton's suffix of digits and without outer underscores.
func SymbolCore(symbol string) string {
	for i := range len(symbol) {
		if !identByte(symbol[i]) {
			symbol = symbol[:i]
			break
		}
	}
	if i := strings.LastIndexByte(symbol, '_'); i >= 0 && i+1 < len(symbol) && symbol[i+1] >= '0' && symbol[i+1] <= '9' {
		symbol = symbol[:i]
	}
	return strings.ToLower(strings.Trim(symbol, "_"))
}

func identByte(c byte) bool {
	return c == '_' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || c >= 0x80
}

// pythonDefs lists the functions of a Python file in order. It follows strings, comments, brackets and continued lines,
// and nothing else of the grammar; ok is false if a string or bracket is left open, as in a file Python would not parse.
func pythonDefs(text string) (defs []def, ok bool) {
	line, depth := 1, 0
	atStart := true // of a logical line
	jit := false    // a decorator that makes a kernel stands before
	for i := 0; i < len(text); {
		c := text[i]
		switch {
		case c == '\n':
			line++
			i++
			if depth == 0 {
				atStart = true
			}
		case c == ' ' || c == '\t' || c == '\r' || c == '\f':
			i++
		case c == '#':
			for i < len(text) && text[i] != '\n' {
				i++
			}
		case c == '\\' && i+1 < len(text) && text[i+1] == '\n':
			line++
			i += 2
		case c == '"' || c == '\'':
			end, closed := stringLiteral(text, i)
			if !closed {
				return nil, false
			}
			line += strings.Count(text[i:end], "\n")
			if atStart {
				jit = false
			}
			i, atStart = end, false
		case c == '(' || c == '[' || c == '{':
			depth++
			i++
			atStart = false
		case c == ')' || c == ']' || c == '}':
			if depth--; depth < 0 {
				return nil, false
			}
			i++
		case atStart && c == '@':
			i++
			for i < len(text) && (text[i] == ' ' || text[i] == '\t') {
				i++
			}
			start := i
			for i < len(text) && (identByte(text[i]) || text[i] == '.') {
				i++
			}
			name := text[start:i]
			switch name[strings.LastIndexByte(name, '.')+1:] {
			case "jit", "autotune", "heuristics":
				jit = true
			}
			atStart = false
		case atStart && identByte(c):
			word, end := identifier(text, i)
			at := line
			if word == "async" {
				word, end = identifier(text, skipBlanks(text, end))
			}
			if word == "def" {
				name, after := identifier(text, skipBlanks(text, end))
				defs = append(defs, def{name, at, jit})
				end = after
			}
			jit, atStart, i = false, false, max(end, i+1)
		default:
			i++
			atStart = false
		}
	}
	return defs, depth == 0
}

func skipBlanks(text string, i int) int {
	for i < len(text) && (text[i] == ' ' || text[i] == '\t') {
		i++
	}
	return i
}

func identifier(text string, i int) (word string, end int) {
	for end = i; end < len(text) && identByte(text[end]); end++ {
	}
	return text[i:end], end
}

// stringLiteral returns the index after the literal whose quote is text[i].
func stringLiteral(text string, i int) (end int, closed bool) {
	q := text[i : i+1]
	if strings.HasPrefix(text[i:], q+q+q) {
		q += q + q
	}
	for i += len(q); i < len(text); i++ {
		switch {
		case text[i] == '\\':
			i++
		case strings.HasPrefix(text[i:], q):
			return i + len(q), true
		case text[i] == '\n' && len(q) == 1:
			return i, false
		}
	}
	return len(text), false
}
