package report_test

import (
	"fmt"

	"github.com/tracehandler/tracehandler/analyze/report"
)

func Example() {
	d := report.Doc{Title: "Performance Analysis Report — resnet"}
	metrics := &report.Table{Header: []string{"Metric", "Value"}, Rows: [][]string{{"Idle %", "2.50%"}}}
	d.Add(report.Section{Level: 2, Heading: "Executive Summary", Blocks: []report.Block{{Table: metrics}}})
	text := d.Render()
	fmt.Print(text)
	again, err := report.Parse(text)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(again.Find("Executive Summary").Blocks[0].Table.Rows)
	// Output:
	// # Performance Analysis Report — resnet
	//
	// ## Executive Summary
	//
	// | Metric | Value |
	// |---|---|
	// | Idle % | 2.50% |
	// [[Idle % 2.50%]]
}

// Items are the findings of a report, whoever wrote it; Metrics its executive summary.
func ExampleDoc_Items() {
	d, err := report.Parse(`# Analysis

## Executive Summary

| Metric | Value |
|---|---|
| Idle % | 2.50% |

### P1: Slow matrix products
<!-- reasoning-candidate tier=compute rank=1 -->

**Data:**

| Operation | Args | Kernel Path | Time (ms) | %E2E | Count | FLOPs/Byte | Efficiency | Bound |
|---|---|---|---|---|---|---|---|---|
| aten::mm | (8,8) bf16 | — | 1.500 | 30.00 | 12 | 1.333 | 20.00% of peak | memory_bound |
`)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(d.Metrics())
	for _, item := range d.Items() {
		fmt.Println(item.Rank, item.Title, item.Rows[0][0], item.Rows[0][3])
	}
	// Output:
	// map[Idle %:2.50%]
	// 1 Slow matrix products aten::mm 1.500
}
