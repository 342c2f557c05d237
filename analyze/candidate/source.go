package candidate

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/tracehandler/tracehandler/analyze/source"
)

// How a source was found: the words of kernel_candidates.json.
const (
	MethodDefinition   = "trace_kernel_file_ast"
	MethodFile         = "trace_kernel_file"
	MethodIndex        = "symbol_index"
	MethodNonPatchable = "non_patchable"
	MethodUnresolved   = "unresolved"
)

// find asks the trace first, then the finder, then the python file that launched the kernel. That file is evidence and no
// more: it is the source only if it defines a Triton kernel of that name.
func find(device, file, frame string, finder SourceFinder) Location {
	if loc := source.ParseLocation(file); source.IsPath(loc.File) {
		if !source.IsEditable(loc.File, "") {
			return Location{File: loc.File, Line: loc.Line, Method: MethodFile, Kind: source.KindInductor}
		}
		if line, ok := source.TritonDefLine(loc.File, loc.Func, device, false); ok {
			return Location{File: loc.File, Line: line, Method: MethodDefinition, Kind: "triton"}
		}
		return Location{File: loc.File, Line: loc.Line, Method: MethodFile, Kind: "python"}
	}
	if source.NonPatchable(device) != "" {
		return Location{Method: MethodNonPatchable}
	}
	from := source.ParseLocation(frame).File
	if finder != nil {
		if loc := finder.Find(device, from); loc.File != "" {
			return loc
		}
	}
	if source.IsEditable(from, "") {
		if line, ok := source.TritonDefLine(from, "", device, true); ok {
			return Location{File: from, Line: line, Method: MethodDefinition, Kind: "triton"}
		}
	}
	return Location{Method: MethodUnresolved}
}

// IndexFinder finds sources in an index.
type IndexFinder struct {
	Index           *source.Index
	Framework, Arch string
}

// Find implements SourceFinder. Of Triton kernels of the same name, the one in the file that launched it comes first.
func (f IndexFinder) Find(device, from string) Location {
	found := f.Index.Lookup(device, f.Framework, f.Arch)
	if i := slices.IndexFunc(found, func(d source.Definition) bool { return d.Triton && sameFile(d.File, from) }); i > 0 {
		found[0] = found[i]
	}
	for _, d := range found {
		if d.Triton {
			return Location{File: d.File, Line: d.Line, Method: MethodIndex, Kind: "triton"}
		}
		if source.IsEditable(d.File, "") {
			return Location{File: d.File, Line: d.Line, Method: MethodIndex, Kind: "native"}
		}
	}
	return Location{}
}

// sameFile reports whether a file of a tree is the one of a frame, which profilers name from the tree's root or the whole
// path.
func sameFile(file, frame string) bool {
	file, frame = filepath.ToSlash(file), filepath.ToSlash(frame)
	return frame != "" && (file == frame || strings.HasSuffix(file, "/"+frame))
}
