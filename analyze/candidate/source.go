package candidate

import (
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

// find asks the trace first, then the finder.
func find(device, file string, finder SourceFinder) Location {
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
	if finder != nil {
		if loc := finder.Find(device, file); loc.File != "" {
			return loc
		}
	}
	return Location{Method: MethodUnresolved}
}

// IndexFinder finds sources in an index.
type IndexFinder struct {
	Index           *source.Index
	Framework, Arch string
}

// Find implements SourceFinder.
func (f IndexFinder) Find(device, _ string) Location {
	for _, d := range f.Index.Lookup(device, f.Framework, f.Arch) {
		if d.Triton {
			return Location{File: d.File, Line: d.Line, Method: MethodIndex, Kind: "triton"}
		}
		if source.IsEditable(d.File, "") {
			return Location{File: d.File, Line: d.Line, Method: MethodIndex, Kind: "native"}
		}
	}
	return Location{}
}
