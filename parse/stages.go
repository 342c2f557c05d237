package parse

import (
	"strconv"
	"strings"

	"github.com/tracehandler/tracehandler/parse/internal/js"
	"github.com/tracehandler/tracehandler/parse/internal/srcmap"
)

// stage is a step of a compiler whose artifact may be in a trace.
type stage struct {
	name, ext, display string
	order              int
	text               bool
	mapped             bool
	notation           srcmap.Notation
	syntax             string
}

// backends are the compilers known, by the backend_name in the metadata. Source: the adapters of tritonparse 4e5fbc4.
var backends = map[string][]stage{
	"cuda": {mlirStage("ttir", 10), mlirStage("ttgir", 20), llirStage, ptxStage, plainStage("cubin", 50), sassStage, jsonStage},
	"hip":  {mlirStage("ttir", 10), mlirStage("ttgir", 20), llirStage, amdStage, jsonStage},
	"cann": {mlirStage("ttir", 10), mlirStage("ttadapter", 20), plainStage("mlirbc", 30), mlirStage("bcmlir", 40), plainStage("npubin", 50), jsonStage},
}

var (
	llirStage = stage{"llir", ".llir", "LLIR", 30, true, true, srcmap.LLVM, "llvm"}
	ptxStage  = stage{"ptx", ".ptx", "PTX", 40, true, true, srcmap.PTX, "ptx"}
	amdStage  = stage{"amdgcn", ".amdgcn", "AMDGCN", 40, true, true, srcmap.AMDGCN, "asm"}
	sassStage = stage{"sass", ".sass", "SASS", 60, true, true, srcmap.SASS, "asm"}
	jsonStage = stage{"json", ".json", "JSON", 100, true, false, 0, "json"}

	// anyBackend are the stages tried for a compilation whose backend is not known.
	anyBackend = []stage{mlirStage("ttir", 10), mlirStage("ttgir", 20), ptxStage, amdStage, sassStage}
)

func mlirStage(name string, order int) stage {
	display := strings.ToUpper(name)
	if name == "ttadapter" {
		display = "TTAdapter"
	}
	return stage{name, "." + name, display, order, true, true, srcmap.MLIR, "mlir"}
}

func plainStage(name string, order int) stage {
	return stage{name, "." + name, strings.ToUpper(name), order, false, false, 0, "plaintext"}
}

var stagesJSON = func() map[string][]byte {
	m := map[string][]byte{}
	for name, list := range backends {
		b := []byte{'['}
		for i, s := range list {
			if i > 0 {
				b = append(b, ',')
			}
			b = js.AppendString(append(b, `{"name":`...), s.name)
			b = js.AppendString(append(b, `,"extension":`...), s.ext)
			b = js.AppendString(append(b, `,"display_name":`...), s.display)
			b = strconv.AppendInt(append(b, `,"display_order":`...), int64(s.order), 10)
			b = strconv.AppendBool(append(b, `,"is_text":`...), s.text)
			b = strconv.AppendBool(append(b, `,"supports_source_mapping":`...), s.mapped)
			b = js.AppendString(append(b, `,"syntax_id":`...), s.syntax)
			b = append(b, '}')
		}
		m[name] = append(b, ']')
	}
	return m
}()
