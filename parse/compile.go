package parse

import (
	"bytes"
	"strconv"

	"github.com/tracehandler/tracehandler/parse/internal/analysis"
	"github.com/tracehandler/tracehandler/parse/internal/js"
	"github.com/tracehandler/tracehandler/parse/internal/repeat"
	"github.com/tracehandler/tracehandler/parse/internal/srcmap"
)

// compiler turns compilation records into their parsed form. It is not safe for concurrent use.
type compiler struct {
	o     *settings
	spill *spill // which packs the texts
	maps  srcmap.Builder
	texts map[string][]byte // decoded artifacts of the current record, by stage
	free  [][]byte

	key  codeKeys
	line []byte
	body []byte
	tail repeat.Text // the source mappings, which repeat themselves and know how
}

// code is all of a compilation's parsed form that follows from the text of its artifacts. It is read-only once made.
type code struct {
	body      packedText // the payload from the value of file_content on, with its end
	known     bool       // its backend, so that it has ir_stages
	mapped    bool       // it has source mappings
	baseWarps string     // JSON: the number of warps that the TTGIR starts from, if the metadata has another one and does not say
	analysis  []byte     // the ir_analysis event behind its hash, nil if there is nothing to say
	static    *analysis.Static
	warnings  []string
}

// code returns the parsed form of a compilation's artifacts: one that is known already, if they are the same.
func (c *compiler) code(payload js.Value) *code {
	content := payload.Get("file_content")
	var text []byte // from the artifacts on
	if content.Exists() {
		text = payload.Raw()[content.Offset()-payload.Offset():]
	}
	if len(text) < shortCode {
		return c.work(payload, content)
	}
	key := c.key.of(payload, text)
	if k := c.o.codes.get(key); k != nil {
		return k
	}
	k := c.work(payload, content)
	c.o.codes.put(key, k)
	return k
}

// work makes the parsed form.
func (c *compiler) work(payload, content js.Value) *code {
	k := &code{}
	k.known, k.mapped = c.read(content, payload.Get("metadata").Get("backend_name").Str())
	k.baseWarps = c.baseWarps(payload.Get("metadata"))
	k.warnings = c.maps.Warnings
	c.body = c.appendBody(c.body[:0], payload, content, k)
	c.tail.Off = !c.spill.pack.repeats
	c.tail.Reset()
	if k.mapped {
		py := payload.Get("python_source")
		p := srcmap.Python{Known: py.Kind() == js.Object && py.Len() > 0}
		if !c.o.compat {
			p.File = py.Get("file_path").Str()
		}
		c.maps.AppendJSON(&c.tail, p)
	}
	c.tail.B = append(c.tail.B, '}')
	k.body = c.spill.packText(c.body, &c.tail)
	k.static = c.static(k.known)
	c.line = c.appendAnalysis(c.line[:0], payload, k.known)
	k.analysis = bytes.Clone(c.line)
	return k
}

// read maps the artifacts and keeps their texts until the next call.
func (c *compiler) read(content js.Value, backend string) (known, mapped bool) {
	for _, t := range c.texts {
		c.free = append(c.free, t[:0])
	}
	if c.texts == nil {
		c.texts = map[string][]byte{}
	}
	clear(c.texts)
	c.maps.Reset()
	list, known := backends[backend]
	if !known {
		list = anyBackend
	}
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
			mapped = true
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
	return known, mapped
}

// appendAround appends what stands before and behind the code in the record's line. Everything is copied as it is; the
// metadata may get the number of warps that the code starts from, the record gets its occurrence id.
func appendAround(head, tail []byte, root js.Value, k *code, occurrence int64) (before, behind []byte) {
	payload := root.Get("payload")
	content := payload.Get("file_content")
	head = append(head, '{')
	part := &head
	for m := range root.Each() {
		switch key, _ := m.KeyPlain(); {
		case string(key) == "occurrence_id":
			continue
		case m == payload:
			head = append(append(append(head, m.RawKey()...), ':'), '{')
			head = k.appendMembers(head, payload, content)
			part = &tail
			tail = append(tail, ',')
			continue
		case string(key) == "payload":
			continue // of several the last one counts
		}
		*part = append(append(append(append(*part, m.RawKey()...), ':'), m.Raw()...), ',')
	}
	*part = append(*part, `"occurrence_id":`...)
	*part = strconv.AppendInt(*part, occurrence, 10)
	return head, append(tail, '}', '\n')
}

// appendMembers appends the members of the payload that stand before its artifacts, and the key of these.
func (k *code) appendMembers(dst []byte, payload, content js.Value) []byte {
	first := true
	for m := range payload.Each() {
		if k.replaces(m) {
			continue
		}
		if !first {
			dst = append(dst, ',')
		}
		first = false
		dst = append(append(dst, m.RawKey()...), ':')
		if m == content {
			return dst
		}
		dst = k.appendMember(dst, m)
	}
	return dst
}

// appendBody appends the payload from the value of its artifacts on. With source mappings it ends where their value
// begins, without where the end of the payload is missing.
func (c *compiler) appendBody(dst []byte, payload, content js.Value, k *code) []byte {
	inside := false
	for m := range payload.Each() {
		switch {
		case m == content:
			inside = true
			dst = append(dst, m.Raw()...)
		case inside && !k.replaces(m):
			dst = k.appendMember(append(append(append(dst, ','), m.RawKey()...), ':'), m)
		}
	}
	if k.known {
		dst = append(append(dst, `,"ir_stages":`...), stagesJSON[payload.Get("metadata").Get("backend_name").Str()]...)
	}
	if k.mapped {
		dst = append(dst, `,"source_mappings":`...)
	}
	return dst
}

// replaces reports whether parsing writes a member of the payload anew: the trace was parsed before.
func (k *code) replaces(m js.Value) bool {
	key, _ := m.KeyPlain()
	return k.known && string(key) == "ir_stages" || k.mapped && string(key) == "source_mappings"
}

// appendMember appends the value of a member of the payload.
func (k *code) appendMember(dst []byte, m js.Value) []byte {
	raw := m.Raw()
	if key, _ := m.KeyPlain(); k.baseWarps == "" || string(key) != "metadata" || m.Kind() != js.Object {
		return append(dst, raw...)
	}
	dst = append(dst, raw[:len(raw)-1]...)
	if m.Len() > 0 {
		dst = append(dst, ',')
	}
	return append(append(append(dst, `"num_warps_base":`...), k.baseWarps...), '}')
}

// baseWarps returns the number of warps that the TTGIR starts from, "" if the metadata has the same or says so.
func (c *compiler) baseWarps(metadata js.Value) string {
	if metadata.Kind() != js.Object || metadata.Get("num_warps_base").Exists() {
		return ""
	}
	text, ok := analysis.NumWarps(c.texts["ttgir"])
	if !ok || len(text) > 9 {
		return ""
	}
	n, err := strconv.Atoi(text)
	have, isInt := metadata.Get("num_warps").Int()
	if err != nil || !isInt || have == int64(n) {
		return ""
	}
	return strconv.Itoa(n)
}

// appendAnalysis appends the ir_analysis event of the artifacts read last from behind its hash on, if there is anything
// to say.
func (c *compiler) appendAnalysis(dst []byte, payload js.Value, known bool) []byte {
	ttir, hasTTIR := c.texts["ttir"]
	ttgir, hasTTGIR := c.texts["ttgir"]
	amdgcn, hasAMD := c.texts["amdgcn"]
	from := len(dst)
	dst = append(dst, `,"ir_analysis":{`...)
	empty := len(dst)
	next := func() {
		if len(dst) > empty {
			dst = append(dst, ',')
		}
	}
	a := c.o.analyses
	if a.loops && hasTTIR && hasTTGIR {
		var ok bool
		if dst, ok = analysis.AppendLoopSchedules(append(dst, `"loop_schedules":`...), ttir, ttgir, &c.maps, payload.Get("python_source")); !ok {
			dst = dst[:empty]
		}
	}
	if a.io && hasTTGIR && hasAMD && (!known || payload.Get("metadata").Get("backend_name").Is("hip")) {
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

// appendAnalysis appends the ir_analysis line of a kernel, if there is anything to say.
func (k *code) appendAnalysis(dst, hash []byte) []byte {
	if len(k.analysis) == 0 {
		return dst
	}
	return append(append(append(dst, `{"event_type":"ir_analysis","hash":`...), hash...), k.analysis...)
}

// static returns what the roofline needs of the artifacts read last, nil without TTIR or for an unknown backend.
func (c *compiler) static(known bool) *analysis.Static {
	ttir, ok := c.texts["ttir"]
	if !ok || !known || !c.o.analyses.roofline {
		return nil
	}
	s := analysis.ReadStatic(ttir)
	return &s
}
