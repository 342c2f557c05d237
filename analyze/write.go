package analyze

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	"github.com/tracehandler/tracehandler/analyze/candidate"
	"github.com/tracehandler/tracehandler/analyze/category"
	"github.com/tracehandler/tracehandler/analyze/tables"
	"github.com/tracehandler/tracehandler/analyze/timeline"
)

// Write creates dir and writes the result's files into it: kernel_candidates.json, analysis.md, report.html,
// summary.json and the tables as CSV. Each file appears whole or not at all; one of the same name is replaced.
func (r *Result) Write(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("analyze: %w", err)
	}
	candidates, err := indented(r.Candidates())
	if err != nil {
		return err
	}
	summary, err := indented(r.Summary())
	if err != nil {
		return err
	}
	page, err := r.HTML()
	if err != nil {
		return err
	}
	files := []struct {
		name string
		data []byte
	}{
		{"kernel_candidates.json", candidates},
		{"summary.json", summary},
		{"analysis.md", []byte(r.Document().Render())},
		{"report.html", page},
	}
	for _, t := range r.Tables() {
		text, err := t.CSV()
		if err != nil {
			return err
		}
		files = append(files, struct {
			name string
			data []byte
		}{t.Name + ".csv", text})
	}
	for _, f := range files {
		if err := replace(filepath.Join(dir, f.name), f.data); err != nil {
			return err
		}
	}
	return nil
}

// indented encodes JSON for people, with kernel names as they are.
func indented(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", " ")
	if err := enc.Encode(v); err != nil {
		return nil, fmt.Errorf("analyze: %w", err)
	}
	return b.Bytes(), nil
}

// replace writes a file beside its place and renames it there.
func replace(path string, data []byte) error {
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return fmt.Errorf("analyze: %w", err)
	}
	_, err = f.Write(data)
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		os.Remove(f.Name())
		return fmt.Errorf("analyze: %w", err)
	}
	return nil
}

// Table is one of the result's tables. Times are microseconds with three decimals.
type Table struct {
	Name   string
	Header []string
	Rows   [][]string
}

// CSV encodes the table.
func (t *Table) CSV() ([]byte, error) {
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	err := w.Write(t.Header)
	if err == nil {
		err = w.WriteAll(t.Rows)
	}
	if err != nil {
		return nil, fmt.Errorf("analyze: %w", err)
	}
	return b.Bytes(), nil
}

// us3 writes nanoseconds as microseconds, exactly.
func us3(ns int64) string {
	sign := ""
	if ns < 0 {
		sign, ns = "-", -ns
	}
	return fmt.Sprintf("%s%d.%03d", sign, ns/1000, ns%1000)
}

// Tables are the result's tables, of all ranks.
func (r *Result) Tables() []Table {
	timelines := Table{Name: "timeline", Header: []string{"rank", "view", "events", "total_us", "busy_us", "idle_us", "micro_idle_us", "macro_idle_us", "computation_us", "comm_us", "memcpy_us", "exposed_comm_us", "exposed_memcpy_us", "overlapped_comm_us"}}
	kernels := Table{Name: "kernels", Header: []string{"rank", "name", "category", "count", "total_us", "mean_us", "min_us", "max_us", "pct_of_kernel_time", "pct_of_total"}}
	ops := Table{Name: "ops", Header: []string{"rank", "name", "category", "input_dims", "input_types", "input_strides", "concrete_inputs", "instances", "gpu_events", "direct_us", "mean_us"}}
	streams := Table{Name: "streams", Header: []string{"rank", "device", "stream", "events", "sum_us", "busy_us"}}
	comms := Table{Name: "collectives", Header: []string{"rank", "collective", "process_group", "dtype", "in_nelems", "out_nelems", "group_size", "count", "total_us", "min_us", "max_us"}}
	for i := range r.Ranks {
		k := &r.Ranks[i]
		rank := strconv.Itoa(k.Rank)
		for _, v := range []struct {
			name string
			t    *timeline.Timeline
		}{{"all", &k.All}, {"linked", &k.Linked}} {
			row := []string{rank, v.name, strconv.Itoa(v.t.Events)}
			for _, ns := range []int64{v.t.Total, v.t.Busy, v.t.Idle, v.t.MicroIdle, v.t.MacroIdle, v.t.Computation, v.t.Comm, v.t.Memcpy, v.t.ExposedComm, v.t.ExposedMemcpy, v.t.OverlapComm} {
				row = append(row, us3(ns))
			}
			timelines.Rows = append(timelines.Rows, row)
		}
		op := map[string]string{}
		for j := range k.Trace.GPU {
			if a := k.Links.Any[j]; a >= 0 {
				op[k.Trace.String(k.Trace.GPU[j].Name)] = k.Trace.String(k.Trace.Ops[a].Name)
			}
		}
		for _, n := range tables.Kernels(k.Trace, k.keep) {
			kernels.Rows = append(kernels.Rows, []string{rank, n.Name, string(category.Of(n.Name, op[n.Name])), strconv.Itoa(n.Count), us3(n.Total), us3(n.Total / int64(n.Count)), us3(n.Min), us3(n.Max),
				fmt.Sprintf("%.4f", share(n.Total, k.All.KernelSum)), fmt.Sprintf("%.4f", share(n.Total, k.All.Total))})
		}
		for _, o := range tables.Launchers(k.Trace, k.Links, tables.ByAll, tables.LauncherOptions{Keep: k.keep, Captured: k.Captured}) {
			first := k.Trace.String(k.Trace.GPU[o.Example].Name)
			ops.Rows = append(ops.Rows, []string{rank, o.Name, category.Launcher(o.Name, first), candidate.ShapeText(o.Dims, o.Types), o.Types, o.Strides, o.Concrete, strconv.Itoa(o.Instances), strconv.Itoa(o.Events), us3(o.Direct), us3(o.Direct / int64(o.Instances))})
		}
		for _, s := range tables.Streams(k.Trace, k.keep) {
			streams.Rows = append(streams.Rows, []string{rank, strconv.Itoa(int(s.Device)), strconv.Itoa(int(s.Stream)), strconv.Itoa(s.Events), us3(s.Sum), us3(s.Busy)})
		}
		for _, c := range tables.Collectives(k.Trace, k.keep) {
			comms.Rows = append(comms.Rows, []string{rank, c.Collective, c.Group, c.DType, fmt.Sprint(c.In), fmt.Sprint(c.Out), fmt.Sprint(c.Size), strconv.Itoa(c.Count), us3(c.Total), us3(c.Min), us3(c.Max)})
		}
	}
	categories := Table{Name: "categories", Header: []string{"category", "kernels", "total_us", "pct_of_kernel_time"}}
	for _, c := range r.Set.Categories {
		categories.Rows = append(categories.Rows, []string{string(c.Category), strconv.Itoa(c.Kernels), us3(c.Time), fmt.Sprintf("%.4f", c.Percent)})
	}
	return append([]Table{timelines, categories, kernels, ops, streams, comms, r.metricsTable()}, r.collectiveTables()...)
}

// metricsTable has a row for each candidate: what kernel_candidates.json says of it, for a spreadsheet. What is not known
// is empty.
func (r *Result) metricsTable() Table {
	t := Table{Name: "kernel_metrics", Header: []string{"kernel_id", "name", "category", "kernel", "total_us", "pct_of_kernel_time", "calls", "mean_us", "gflops", "data_moved_mb", "flops_per_byte", "roofline_us",
		"efficiency_pct", "bound", "priority", "priority_rank", "shapes", "dtypes", "shape_provenance", "source_file", "source_line", "module_path", "python_frame"}}
	number := func(known bool, v float64) string {
		if !known {
			return ""
		}
		return strconv.FormatFloat(v, 'g', 8, 64)
	}
	for i := range r.hot() {
		row := &r.Set.Rows[i]
		bytes := row.HasWork && row.Work.Bytes > 0
		line := ""
		if row.Source.Line > 0 {
			line = strconv.Itoa(row.Source.Line)
		}
		t.Rows = append(t.Rows, []string{kernelID(i), row.Name, string(row.Category), row.Kernels[0].Name, us3(row.Time), fmt.Sprintf("%.4f", row.Percent), strconv.Itoa(row.Calls), us3(row.Time / int64(row.Calls)),
			number(row.HasWork, row.Work.FLOPs/1e9), number(bytes, row.Work.Bytes/(1<<20)), number(bytes, row.Work.Intensity()), number(row.HasEstimate, row.Estimate.Nanoseconds/1e3),
			number(row.HasEstimate, row.Efficiency), string(row.Estimate.Bound), fmt.Sprintf("%.4f", row.Priority), strconv.Itoa(row.Rank), candidate.ShapeText(row.Dims, row.Types), row.Types, row.Provenance,
			row.Source.File, line, row.Modules, row.Frame})
	}
	return t
}

// collectiveTables compare the ranks; there are none for one rank.
func (r *Result) collectiveTables() []Table {
	c := r.Collective
	if c == nil {
		return nil
	}
	ops := Table{Name: "collective_ops", Header: []string{"process_group", "index", "collective", "dtype", "in_nelems", "full_mb", "ranks", "latency_us", "skew_in_us", "skew_out_us", "mean_wait_us", "first_rank", "last_rank", "algo_gb_s", "bus_gb_s", "nodes"}}
	waits := Table{Name: "collective_waits", Header: []string{"process_group", "index", "rank", "ts_us", "dur_us", "wait_us"}}
	for _, op := range c.Ops {
		index := strconv.Itoa(op.Index)
		ops.Rows = append(ops.Rows, []string{op.Group, index, op.Collective, op.DType, fmt.Sprint(op.In), fmt.Sprintf("%.6f", op.FullMB), strconv.Itoa(len(op.Parts)), us3(op.Latency), us3(op.SkewIn), us3(op.SkewOut),
			fmt.Sprintf("%.3f", op.MeanWait/1e3), strconv.Itoa(op.First), strconv.Itoa(op.Last), fmt.Sprintf("%.6f", op.AlgoBW), fmt.Sprintf("%.6f", op.BusBW), op.Nodes})
		for _, p := range op.Parts {
			waits.Rows = append(waits.Rows, []string{op.Group, index, strconv.Itoa(p.Rank), us3(p.TS), us3(p.Dur), us3(p.Wait)})
		}
	}
	late := Table{Name: "stragglers", Header: []string{"rank", "total_wait_us", "mean_wait_us", "times_last", "times_first", "collectives", "total_collective_us", "node"}}
	for _, s := range c.Stragglers {
		late.Rows = append(late.Rows, []string{strconv.Itoa(s.Rank), us3(s.TotalWait), fmt.Sprintf("%.3f", s.MeanWait/1e3), strconv.Itoa(s.Last), strconv.Itoa(s.First), strconv.Itoa(s.Ops), us3(s.Total), strconv.Itoa(s.Node)})
	}
	return []Table{ops, waits, late}
}
