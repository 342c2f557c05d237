package parse

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tracehandler/tracehandler/parse/internal/js"
)

// TestDefault: without Compat the output differs from the reference's only where docs/parse.md says so.
func TestDefault(t *testing.T) {
	for _, v := range variants {
		if strings.HasPrefix(v.dir, "05_split/") && v.dir != "05_split/no_split" {
			continue // names differ: TestAttempt
		}
		t.Run(v.dir, func(t *testing.T) {
			got := runCase(t, v.dir, &v.opts)
			compareFiles(t, readTree(t, expectedDir(v.dir)), got, withoutImprovements)
		})
	}
}

// withoutImprovements takes out of two events what is better than in the reference.
func withoutImprovements(want, got map[string]any) {
	for _, e := range []map[string]any{want, got} {
		switch e["event_type"] {
		case "compilation":
			maps, _ := e["payload"].(map[string]any)["source_mappings"].(map[string]any)
			delete(maps, "llir")
			delete(maps, "python")
			for _, stage := range maps {
				for _, entry := range stage.(map[string]any) {
					delete(entry.(map[string]any), "llir_lines")
				}
			}
		case "ir_analysis":
			checks, _ := e["ir_analysis"].(map[string]any)["procedure_checks"].(map[string]any)
			for _, c := range checks {
				for _, k := range []string{"detected", "match_details", "error_message", "module_attributes", "attributes", "detection_method"} {
					if _, ok := c.(map[string]any)[k]; !ok {
						continue
					}
					delete(c.(map[string]any), k)
				}
			}
		}
	}
}

func TestAttempt(t *testing.T) {
	got := runCase(t, "05_split/default", &Options{})
	for _, name := range []string{"rank_0/f0_fc1_a2_cai-.ndjson", "rank_0/f1_fc0_a3_cai-.ndjson"} {
		if _, ok := got[name]; !ok {
			t.Errorf("%s is missing: both attempt and attempt_id count", name)
		}
	}
}

// parseOne parses one trace with default options and returns its events by type.
func parseOne(t *testing.T, o *Options, lines ...string) map[string][]js.Value {
	t.Helper()
	dir := t.TempDir()
	write(t, filepath.Join(dir, "in/dedicated_log_triton_trace_u_.ndjson"), strings.Join(lines, "\n")+"\n")
	if _, err := Dir(context.Background(), filepath.Join(dir, "in"), filepath.Join(dir, "out"), o); err != nil {
		t.Fatal(err)
	}
	events := map[string][]js.Value{}
	for name, lines := range readTree(t, filepath.Join(dir, "out")) {
		if name == listName {
			continue
		}
		for _, l := range lines {
			d := &js.Doc{}
			if err := d.Parse(l); err != nil {
				t.Fatal(err)
			}
			kind := d.Root().Get("event_type").Str()
			events[kind] = append(events[kind], d.Root())
		}
	}
	return events
}

func quote(s string) string { return string(js.AppendString(nil, s)) }

// TestInlinedHelpers: a line that was inlined from a library counts for the user's line that called it, in the table by
// Python line. The reference puts it on the library's line number in the user's file.
func TestInlinedHelpers(t *testing.T) {
	ttir := `module {
  %1 = tt.load %x : i32 loc(#loc3)
  %2 = tt.store %x : i32 loc(#loc1)
}
#loc1 = loc("/u/k.py":12:8)
#loc2 = loc("/lib/standard.py":41:16)
#loc3 = loc(callsite(#loc2 at #loc1))
`
	c := `{"event_type":"compilation","payload":{"metadata":{"hash":"h","name":"k","backend_name":"cuda"},"file_content":{"k.ttir":` + quote(ttir) +
		`},"python_source":{"file_path":"/u/k.py","start_line":10,"end_line":20,"code":"x"}}}`
	for _, compat := range []bool{false, true} {
		m := parseOne(t, &Options{Compat: compat}, c)["compilation"][0].Get("payload").Get("source_mappings").Get("python")
		line12 := string(m.Get("12").Get("ttir_lines").Raw())
		if compat && (line12 != `["3","5"]` || !m.Get("41").Exists()) || !compat && (line12 != `["2","3","5","7"]` || m.Get("41").Exists()) {
			t.Errorf("compat %v: %s", compat, m.Raw())
		}
	}
}

// TestNestedArguments: what differs deep inside an argument is reported. The reference reports that the argument
// differs, and loses where.
func TestNestedArguments(t *testing.T) {
	arg := func(ptr, block string) string {
		return strings.Replace(edgeLaunch, `{"type":"int","value":1}`,
			`{"type":"TensorDescriptor","base":{"type":"tensor","data_ptr":"`+ptr+`","block":`+block+`},"padding":"zero"}`, 1)
	}
	d := parseOne(t, nil, edgeCompile, arg("0x1", "1"), arg("0x2", "2"), arg("0x3", "2"))["launch_diff"][0].Get("diffs").Get("extracted_args").Get("n")
	if got := string(d.Get("sames").AppendCanonical(nil, nil)); got != `{"base.type":"tensor","padding":"zero","type":"TensorDescriptor"}` {
		t.Errorf("sames %s", got)
	}
	if got := d.Get("diffs").Get("base.data_ptr").Get("summary_text").Str(); got != "Varies across 3 unique values" {
		t.Errorf("diffs %s", d.Get("diffs").Raw())
	}
	if got := string(d.Get("diffs").Get("base.block").AppendCanonical(nil, nil)); got != `{"diff_type":"distribution","values":[{"count":1,"launches":[{"end":0,"start":0}],"value":1},{"count":2,"launches":[{"end":2,"start":1}],"value":2}]}` {
		t.Errorf("diffs %s", got)
	}
}

// TestPlacesInTracesAreNotOpened: a trace names files of the machine it was made on; they are none of ours.
func TestPlacesInTracesAreNotOpened(t *testing.T) {
	dir := t.TempDir()
	secret := filepath.Join(dir, "k.ttir")
	write(t, secret, "secret #loc1 = loc(\"/etc/x\":1:1)\n")
	c := `{"event_type":"compilation","payload":{"metadata":{"hash":"h","backend_name":"cuda"},"file_content":{"k.ttir":""},"file_path":{"k.ttir":` + quote(secret) + `}}}`
	e := parseOne(t, nil, c)["compilation"][0]
	if m := e.Get("payload").Get("source_mappings"); m.Get("ttir").Exists() || !m.Exists() {
		t.Errorf("%s", m.Raw())
	}
}

// TestPageFields pins what tritonparse's web page reads, so that our output opens in it.
func TestPageFields(t *testing.T) {
	got := runCase(t, "03_launch_autotune/default", &Options{})
	kinds := map[string]int{}
	compiled := map[string]bool{}
	stages := map[string]bool{}
	for name, lines := range got {
		if name == listName {
			continue
		}
		for _, line := range lines {
			var d js.Doc
			if err := d.Parse(line); err != nil {
				t.Fatal(err)
			}
			e := d.Root()
			kind := e.Get("event_type").Str()
			kinds[kind]++
			need := func(v js.Value, what string, k ...js.Kind) {
				t.Helper()
				if !slices.Contains(k, v.Kind()) {
					t.Errorf("%s: %s is %s", kind, what, v.Raw())
				}
			}
			switch kind {
			case "compilation":
				p := e.Get("payload")
				need(p.Get("metadata").Get("hash"), "payload.metadata.hash", js.String)
				need(p.Get("file_path"), "payload.file_path", js.Object)
				need(p.Get("file_content"), "payload.file_content", js.Object)
				need(p.Get("ir_stages"), "payload.ir_stages", js.Array)
				compiled[p.Get("metadata").Get("hash").Str()] = true
				for s := range p.Get("ir_stages").Each() {
					need(s.Get("name"), "ir_stages.name", js.String)
					need(s.Get("extension"), "ir_stages.extension", js.String)
					need(s.Get("display_name"), "ir_stages.display_name", js.String)
					need(s.Get("display_order"), "ir_stages.display_order", js.Number)
					need(s.Get("is_text"), "ir_stages.is_text", js.True, js.False)
					need(s.Get("supports_source_mapping"), "ir_stages.supports_source_mapping", js.True, js.False)
					need(s.Get("syntax_id"), "ir_stages.syntax_id", js.String)
					stages[s.Get("name").Str()] = true
				}
				for s := range p.Get("source_mappings").Each() {
					name := s.Key()
					for l := range s.Each() {
						if name == "python" {
							for list := range l.Each() {
								if !strings.HasSuffix(list.Key(), "_lines") || list.Kind() != js.Array {
									t.Errorf("python table: %s", l.Raw())
								}
								for n := range list.Each() {
									need(n, "python line", js.String)
								}
							}
							continue
						}
						need(l.Get("file"), "file", js.String)
						need(l.Get("line"), "line", js.Number)
						need(l.Get("column"), "column", js.Number)
						if string(l.Get(name+"_line").Raw()) != l.Key() {
							t.Errorf("%s line %s: %s", name, l.Key(), l.Raw())
						}
					}
				}
			case "launch_diff", "ir_analysis", "roofline":
				if !compiled[e.Get("hash").Str()] {
					t.Errorf("%s of no compilation in the file before it", kind)
				}
			case "autotune_analysis":
				need(e.Get("possible_groups"), "possible_groups", js.Array)
				need(e.Get("session_id"), "session_id", js.String)
			case "autotune_summary":
				need(e.Get("winner_run_counts"), "winner_run_counts", js.Object)
			}
		}
	}
	if kinds["compilation"] == 0 || kinds["launch_diff"] == 0 || kinds["autotune_analysis"] == 0 || kinds["autotune_summary"] != 1 || !stages["ttgir"] || !stages["ptx"] {
		t.Errorf("%v %v", kinds, stages)
	}
}

// TestTorchLogsBesideTraces: torch's logs in the source folder attribute kernels without being named.
func TestTorchLogsBesideTraces(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "dedicated_log_triton_trace_u_.ndjson"),
		`{"event_type":"compilation","payload":{"metadata":{"hash":"h"},"python_source":{"file_path":"/tmp/torchinductor_u/a.py"}}}`+"\n")
	write(t, filepath.Join(dir, "dedicated_log_torch_trace_rank_0.log"),
		`V0302 14:30:00.1 1 x.py:1] {"inductor_output_code": {}, "frame_id": 4, "frame_compile_id": 2}`+"\n\t# kernel path: /tmp/torchinductor_u/a.py\n")
	for compat, want := range map[bool]string{false: "f4_fc2_a0_cai-.ndjson.gz", true: "dedicated_log_triton_trace_u__mapped.ndjson.gz"} {
		rep, err := Dir(context.Background(), dir, filepath.Join(t.TempDir(), "out"), &Options{Compat: compat})
		if err != nil {
			t.Fatal(err)
		}
		if got := rep.Files()[0]; got != want {
			t.Errorf("compat %v: %s, want %s", compat, got, want)
		}
	}
}
