package parse

import (
	"bytes"
	"strconv"
	"strings"

	"github.com/tracehandler/tracehandler/parse/internal/analysis"
	"github.com/tracehandler/tracehandler/parse/internal/js"
	"github.com/tracehandler/tracehandler/parse/internal/repeat"
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

// compiler turns compilation records into their parsed form. It is not safe for concurrent use.
type compiler struct {
	o     *settings
	maps  srcmap.Builder
	texts map[string][]byte // decoded artifacts of the current record, by stage
	free  [][]byte
}

// read maps the artifacts of a compilation and keeps their texts until the next call.
func (c *compiler) read(payload js.Value) (list []stage, known, any bool) {
	for _, t := range c.texts {
		c.free = append(c.free, t[:0])
	}
	if c.texts == nil {
		c.texts = map[string][]byte{}
	}
	clear(c.texts)
	c.maps.Reset()
	list, known = backends[payload.Get("metadata").Get("backend_name").Str()]
	if !known {
		list = anyBackend
	}
	content := payload.Get("file_content")
	for _, s := range list {
		if !s.mapped {
			continue
		}
		for f := range content.Each() {
			name, plain := f.KeyPlain()
			if !plain {
				name = []byte(f.Key())
			}
			if !bytes.HasSuffix(name, []byte(s.ext)) {
				continue
			}
			any = true
			var buf []byte
			if n := len(c.free); n > 0 {
				buf, c.free = c.free[n-1], c.free[:n-1]
			}
			text := f.AppendStr(buf)
			c.texts[s.name] = text
			if s.notation != srcmap.LLVM || !c.o.compat {
				c.maps.Add(s.notation, s.name, text)
			}
			break
		}
	}
	c.maps.Join()
	return list, known, any
}

// appendCompilation makes the record's line, in two parts: head up to the source mappings, which repeat themselves and
// know how, and tail from there. The payload gets its stages and source mappings, the record its occurrence id;
// everything else is copied as it is.
func (c *compiler) appendCompilation(head []byte, tail *repeat.Text, root js.Value, occurrence int64) []byte {
	payload := root.Get("payload")
	_, known, any := c.read(payload)
	tail.Reset()
	dst := append(head, '{')
	part := &dst
	for m := range root.Each() {
		switch key, _ := m.KeyPlain(); string(key) {
		case "occurrence_id":
			continue
		case "payload":
			if m.Kind() == js.Object && len(tail.B) == 0 {
				dst = append(dst, `"payload":`...)
				dst = c.appendPayload(dst, m, known, any)
				if any {
					c.appendMappings(tail, m)
					part = &tail.B
				}
				*part = append(*part, '}', ',')
				continue
			}
		}
		*part = append(append(append(append(*part, m.RawKey()...), ':'), m.Raw()...), ',')
	}
	*part = append(*part, `"occurrence_id":`...)
	*part = strconv.AppendInt(*part, occurrence, 10)
	*part = append(*part, '}', '\n')
	return dst
}

// appendPayload appends the payload without its end; with source mappings it ends where their value begins.
func (c *compiler) appendPayload(dst []byte, payload js.Value, known, any bool) []byte {
	dst = append(dst, '{')
	first := true
	next := func() {
		if !first {
			dst = append(dst, ',')
		}
		first = false
	}
	for m := range payload.Each() {
		switch key, _ := m.KeyPlain(); string(key) {
		case "ir_stages":
			if known {
				continue
			}
		case "source_mappings":
			if any {
				continue
			}
		case "metadata":
			if warps, ok := c.baseWarps(m); ok {
				next()
				raw := m.Raw()
				dst = append(append(dst, `"metadata":`...), raw[:len(raw)-1]...)
				if m.Len() > 0 {
					dst = append(dst, ',')
				}
				dst = append(append(append(dst, `"num_warps_base":`...), warps...), '}')
				continue
			}
		}
		next()
		dst = append(append(append(dst, m.RawKey()...), ':'), m.Raw()...)
	}
	if known {
		next()
		dst = append(append(dst, `"ir_stages":`...), stagesJSON[payload.Get("metadata").Get("backend_name").Str()]...)
	}
	if any {
		next()
		dst = append(dst, `"source_mappings":`...)
	}
	return dst
}

func (c *compiler) appendMappings(t *repeat.Text, payload js.Value) {
	py := payload.Get("python_source")
	p := srcmap.Python{Known: py.Kind() == js.Object && py.Len() > 0}
	if !c.o.compat {
		p.File = py.Get("file_path").Str()
	}
	c.maps.AppendJSON(t, p)
}

// baseWarps returns the number of warps that the TTGIR starts from, if the metadata has another one and does not say.
func (c *compiler) baseWarps(metadata js.Value) (string, bool) {
	if metadata.Kind() != js.Object || metadata.Get("num_warps_base").Exists() {
		return "", false
	}
	text, ok := analysis.NumWarps(c.texts["ttgir"])
	if !ok || len(text) > 9 {
		return "", false
	}
	n, err := strconv.Atoi(text)
	have, isInt := metadata.Get("num_warps").Int()
	if err != nil || !isInt || have == int64(n) {
		return "", false
	}
	return strconv.Itoa(n), true
}

// appendAnalysis appends the ir_analysis line of the compilation read last, if there is anything to say.
func (c *compiler) appendAnalysis(dst []byte, k *kernel, payload js.Value) []byte {
	backend := payload.Get("metadata").Get("backend_name").Str()
	_, known := backends[backend]
	ttir, hasTTIR := c.texts["ttir"]
	ttgir, hasTTGIR := c.texts["ttgir"]
	amdgcn, hasAMD := c.texts["amdgcn"]
	from := len(dst)
	dst = append(append(dst, `{"event_type":"ir_analysis","hash":`...), k.hashJSON...)
	dst = append(dst, `,"ir_analysis":{`...)
	empty := len(dst)
	next := func() {
		if len(dst) > empty {
			dst = append(dst, ',')
		}
	}
	a := c.o.analyses
	if a.loops && hasTTIR && hasTTGIR {
		next()
		before := len(dst)
		var ok bool
		if dst, ok = analysis.AppendLoopSchedules(append(dst, `"loop_schedules":`...), ttir, ttgir, &c.maps, payload.Get("python_source")); !ok {
			dst = dst[:before]
			if before > empty {
				dst = dst[:before-1]
			}
		}
	}
	if a.io && hasTTGIR && hasAMD && (!known || backend == "hip") {
		next()
		dst = analysis.AppendIOCounts(append(dst, `"io_counts":`...), ttgir, amdgcn)
	}
	if a.procedures && hasTTGIR && c.o.procedures.Len() > 0 {
		next()
		dst = c.o.procedures.AppendJSON(append(dst, `"procedure_checks":`...), ttgir, ttir, c.o.compat)
	}
	if len(dst) == empty {
		return dst[:from]
	}
	return append(dst, "}}\n"...)
}

// static returns what the roofline needs of the compilation read last, nil without TTIR or for an unknown backend.
func (c *compiler) static(payload js.Value) *analysis.Static {
	_, known := backends[payload.Get("metadata").Get("backend_name").Str()]
	ttir, ok := c.texts["ttir"]
	if !ok || !known || !c.o.analyses.roofline {
		return nil
	}
	s := analysis.ReadStatic(ttir)
	return &s
}
