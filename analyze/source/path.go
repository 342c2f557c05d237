package source

import (
	"path"
	"regexp"
	"strconv"
	"strings"
)

// KindInductor marks a Python file that TorchInductor generated: changing it changes nothing.
const KindInductor = "triton_inductor_generated"

// IsEditable reports whether a path is source that someone may change: CUDA and HIP, and Python unless it was generated.
// kind is what is known about the source, or "".
func IsEditable(file, kind string) bool {
	if !IsPath(file) {
		return false
	}
	switch strings.ToLower(path.Ext(file)) {
	case ".cu", ".cuh", ".hip", ".h":
		return true
	case ".py":
		if kind == KindInductor || strings.HasPrefix(file, "/tmp/") {
			return false
		}
		for _, generated := range []string{"torchinductor", "inductor_cache", "torch_compile_cache"} {
			if strings.Contains(file, generated) {
				return false
			}
		}
		return true
	}
	return false
}

// IsPath rejects the sentinels that tools write where a path was not found.
func IsPath(text string) bool {
	switch strings.ToLower(strings.TrimSpace(text)) {
	case "", "not found", "n/a", "na", "none", "null", "unknown", "unresolved", "-", "—", "aiter (vendor)", "vendor":
		return false
	}
	return !strings.HasSuffix(strings.ToLower(text), "(vendor)")
}

var launcherForm = regexp.MustCompile(`^(.+?\.py)(?:\((\d+)\)(?::\s*(.*))?|:(\d+)(?::\s*(.*))?|#L(\d+))$`)

// Location is a place in a source file: Line is 0 and Func "" if not stated.
type Location struct {
	File string
	Line int
	Func string
}

// ParseLocation reads the forms in which launchers are written: a.py, a.py(12): f, a.py:12:f, a.py#L12. Anything else is
// a path as a whole.
func ParseLocation(text string) Location {
	text = strings.TrimSpace(text)
	m := launcherForm.FindStringSubmatch(text)
	if m == nil {
		return Location{File: text}
	}
	line, _ := strconv.Atoi(m[2] + m[4] + m[6])
	return Location{File: m[1], Line: line, Func: strings.TrimSpace(m[3] + m[5])}
}
