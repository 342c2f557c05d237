package parse

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/tracehandler/tracehandler/parse/internal/js"
)

// Validation is the result of Validate.
type Validation struct {
	Records  int64
	ByType   map[string]int64 // records by event_type; those of unknown types pass
	Invalid  int64            // records with errors, lines that are none, and damage
	Problems []Problem        // the first ones, with their lines
}

// maxInvalid bounds the problems that a Validation spells out.
const maxInvalid = 50

// Validate checks the records of a trace, raw or parsed, against what their readers rely on: the fields that must be
// there, and the types of those that are. Objects are open: fields that are not known pass.
func Validate(path string) (*Validation, error) {
	v := &Validation{ByType: map[string]int64{}}
	var doc js.Doc
	var rep RankReport
	problem := func(line int64, msgs ...string) {
		v.Invalid++
		if len(v.Problems) < maxInvalid {
			v.Problems = append(v.Problems, Problem{path, line, strings.Join(msgs, "; ")})
		}
	}
	err := readLines(path, &rep, nil, func(number int64, text []byte) error {
		if len(bytes.TrimSpace(text)) == 0 {
			return nil
		}
		v.Records++
		if err := doc.Parse(text); err != nil {
			problem(number, err.Error())
			return nil
		}
		root := doc.Root()
		kind := root.Get("event_type")
		if root.Kind() != js.Object || kind.Kind() != js.String {
			problem(number, "event_type is missing or no string")
			return nil
		}
		v.ByType[kind.Str()]++
		if rule, ok := rules[kind.Str()]; ok {
			var c checker
			c.check(rule, root, "")
			if len(c.errors) > 0 {
				problem(number, c.errors...)
			}
		}
		return nil
	})
	for _, p := range rep.Details {
		problem(p.Line, p.Msg)
	}
	v.Invalid += rep.Problems - int64(len(rep.Details))
	return v, err
}

// rule is what a value must be like.
type rule struct {
	kinds    []js.Kind
	required []string
	fields   map[string]rule
	each     *rule // of an array's elements, or an object's members that fields does not name
}

var (
	aText    = rule{kinds: []js.Kind{js.String}}
	aNumber  = rule{kinds: []js.Kind{js.Number}}
	aTruth   = rule{kinds: []js.Kind{js.True, js.False}}
	orNone   = func(r rule) rule { r.kinds = append(append([]js.Kind{}, r.kinds...), js.Null); return r }
	anObject = rule{kinds: []js.Kind{js.Object}}
	listOf   = func(r rule) rule { return rule{kinds: []js.Kind{js.Array}, each: &r} }
	mapOf    = func(r rule) rule { return rule{kinds: []js.Kind{js.Object}, each: &r} }
	object   = func(fields map[string]rule, required ...string) rule {
		return rule{kinds: []js.Kind{js.Object}, required: required, fields: fields}
	}

	aFrame = object(map[string]rule{"line": aNumber, "name": aText, "filename": aText, "loc": aText}, "line", "name", "filename")
	aRange = object(map[string]rule{"start": aNumber, "end": aNumber}, "start", "end")
	aHash  = rule{kinds: []js.Kind{js.String, js.Number}}

	// rules are those of the five kinds for which tritonparse has a schema, and of autotune records. A
	// compiled_autograd_id may be a number, as its writer writes it.
	rules = map[string]rule{
		"compilation": object(map[string]rule{
			"pid": orNone(aNumber), "stack": listOf(aFrame), "timestamp": orNone(aText), "occurrence_id": aNumber, "is_fake": aTruth,
			"payload": object(map[string]rule{
				"metadata":     object(map[string]rule{"hash": aHash, "name": aText, "num_warps": orNone(aNumber), "num_stages": orNone(aNumber)}, "hash"),
				"file_path":    mapOf(aText),
				"file_content": mapOf(aText),
				"python_source": orNone(object(map[string]rule{"file_path": aText, "start_line": aNumber, "end_line": aNumber,
					"code": aText, "function_start_line": aNumber, "function_end_line": aNumber})),
				"ir_stages": listOf(object(map[string]rule{"name": aText, "extension": aText, "display_name": aText, "display_order": aNumber,
					"is_text": aTruth, "supports_source_mapping": aTruth, "syntax_id": aText}, "name", "extension")),
				"source_mappings": mapOf(mapOf(anObject)),
			}, "metadata"),
		}, "payload"),
		"launch": object(map[string]rule{
			"pid": orNone(aNumber), "name": orNone(aText), "stack": listOf(aFrame), "timestamp": orNone(aText), "stream": orNone(aNumber),
			"grid": listOf(aNumber), "compilation_metadata": object(map[string]rule{"hash": aHash, "name": aText}),
			"extracted_args": anObject, "launch_group_hash": aText, "occurrence_id": aNumber, "autotune_launch_type": aText,
		}),
		"launch_diff": object(map[string]rule{
			"hash": aHash, "name": orNone(aText), "total_launches": aNumber, "launch_index_map": listOf(aRange), "diffs": anObject,
			"sames": anObject, "occurrence_id": aNumber,
		}, "hash", "total_launches", "launch_index_map", "diffs", "sames"),
		"ir_analysis": object(map[string]rule{
			"hash": aHash, "ir_analysis": object(map[string]rule{"loop_schedules": listOf(mapOf(listOf(aText))), "io_counts": mapOf(mapOf(aNumber)),
				"procedure_checks": mapOf(object(map[string]rule{"procedure_name": aText, "detected": aTruth}, "procedure_name", "detected"))}),
		}, "hash", "ir_analysis"),
		"roofline": object(map[string]rule{
			"hash": aHash, "name": orNone(aText), "occurrence_id": aNumber,
			"roofline": object(map[string]rule{"is_gemm": aTruth, "bytes_moved_per_cta": orNone(aNumber), "flops_per_cta": orNone(aNumber),
				"per_launch": listOf(object(map[string]rule{"launch_index": aNumber, "occurrence_id": aNumber, "num_ctas": orNone(aNumber),
					"bytes_moved": orNone(aNumber), "flops": orNone(aNumber), "arithmetic_intensity": orNone(aNumber)}, "launch_index")),
				"notes": listOf(aText)}, "is_gemm", "per_launch"),
		}, "hash", "roofline"),
		"autotune": object(map[string]rule{
			"kernel_name": orNone(aText), "best_config": orNone(aText), "configs_timings": orNone(anObject), "duration": orNone(aNumber),
			"cache_hit": orNone(aTruth), "stack": listOf(aFrame),
		}),
	}
)

// checker collects where a value breaks its rule, a few places at most.
type checker struct{ errors []string }

const maxErrorsPerRecord = 5

func (c *checker) fail(path, format string, args ...any) {
	if len(c.errors) < maxErrorsPerRecord {
		c.errors = append(c.errors, strings.TrimPrefix(path, ".")+" "+fmt.Sprintf(format, args...))
	}
}

func (c *checker) check(r rule, v js.Value, path string) {
	if len(c.errors) >= maxErrorsPerRecord {
		return
	}
	ok := len(r.kinds) == 0
	for _, k := range r.kinds {
		ok = ok || v.Kind() == k
	}
	if !ok {
		c.fail(path, "is %s, want %s", kindName(v.Kind()), kindName(r.kinds[0]))
		return
	}
	for _, name := range r.required {
		if !v.Get(name).Exists() {
			c.fail(path+"."+name, "is missing")
		}
	}
	i := 0
	for m := range v.Each() {
		if v.Kind() == js.Array {
			if r.each != nil {
				c.check(*r.each, m, fmt.Sprintf("%s[%d]", path, i))
			}
			i++
		} else if f, ok := r.fields[m.Key()]; ok {
			c.check(f, m, path+"."+m.Key())
		} else if r.each != nil {
			c.check(*r.each, m, path+"."+m.Key())
		}
	}
}

func kindName(k js.Kind) string {
	return [...]string{"missing", "null", "a truth value", "a truth value", "a number", "a string", "an array", "an object"}[k]
}
