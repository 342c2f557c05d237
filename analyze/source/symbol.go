package source

import (
	"strings"
)

// BaseSymbol is the name under which a kernel is defined: the last name of a mangled or demangled symbol, without
// namespaces, template arguments and parameters.
func BaseSymbol(name string) string {
	name = strings.TrimSuffix(strings.TrimSpace(name), ".kd")
	if strings.HasPrefix(name, "_Z") {
		if base := itaniumBase(name); base != "" {
			return base
		}
		return name
	}
	name = strings.ReplaceAll(name, "(anonymous namespace)::", "")
	if i := strings.IndexAny(name, "(<"); i >= 0 {
		name = name[:i]
	}
	if i := strings.LastIndex(name, "::"); i >= 0 {
		name = name[i+2:]
	}
	fields := strings.Fields(name)
	if len(fields) == 0 {
		return ""
	}
	return fields[len(fields)-1]
}

// itaniumBase reads the source names of a mangled symbol up to its template arguments or end; the last one is the
// function's. Grammar: Itanium C++ ABI, §5.1.
func itaniumBase(name string) string {
	rest := strings.TrimPrefix(name, "_Z")
	rest = strings.TrimLeft(rest, "LNKVr")
	last := ""
	for {
		n, digits := 0, 0
		for digits < len(rest) && rest[digits] >= '0' && rest[digits] <= '9' && digits < 6 {
			n = n*10 + int(rest[digits]-'0')
			digits++
		}
		if digits == 0 || n == 0 || n > len(rest)-digits {
			return last
		}
		last = rest[digits : digits+n]
		rest = strings.TrimPrefix(rest[digits+n:], "L") // internal linkage
	}
}

// NonPatchable names the library whose kernels are generated from templates and cannot be patched one by one: "aiter_ck"
// for Composable Kernel, or "".
func NonPatchable(name string) string {
	if strings.HasPrefix(name, "_ZN2ck") || strings.HasPrefix(name, "_ZN7ck_tile") {
		return "aiter_ck"
	}
	for _, ns := range []string{"ck::", "ck_tile::"} {
		for from := 0; ; {
			i := strings.Index(name[from:], ns)
			if i < 0 {
				break
			}
			if i += from; i == 0 || !identByte(name[i-1]) {
				return "aiter_ck"
			}
			from = i + 1
		}
	}
	return ""
}

// MatchKernel finds the wanted kernel that an event's name is: the same but for a ".kd"; one that stands in it as a whole
// word; or one whose name was cut ("long_pre...") with at least 16 characters left. Where several fit equally, none does.
func MatchKernel(event string, wanted []string) (string, bool) {
	event = strings.TrimSuffix(event, ".kd")
	if event == "" {
		return "", false
	}
	for _, test := range []func(w string) bool{
		func(w string) bool { return strings.TrimSuffix(w, ".kd") == event },
		func(w string) bool { return hasWord(event, w) },
		func(w string) bool {
			p, cut := strings.CutSuffix(w, "...")
			return cut && len(p) >= 16 && strings.HasPrefix(event, p)
		},
	} {
		found, n := "", 0
		for _, w := range wanted {
			if w != "" && test(w) {
				found = w
				n++
			}
		}
		if n > 0 {
			return found, n == 1
		}
	}
	return "", false
}

func hasWord(text, word string) bool {
	for from := 0; ; {
		i := strings.Index(text[from:], word)
		if i < 0 {
			return false
		}
		i += from
		end := i + len(word)
		if (i == 0 || !identByte(text[i-1])) && (end == len(text) || !identByte(text[end])) {
			return true
		}
		from = i + 1
	}
}
