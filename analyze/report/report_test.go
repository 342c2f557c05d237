package report

import (
	"os"
	"reflect"
	"strings"
	"testing"
)

func sample() *Doc {
	d := &Doc{Title: "Performance Analysis Report — a|b", Quotes: []string{"made by a test"}}
	d.Add(Section{Level: 2, Heading: "Executive Summary", Blocks: []Block{{Table: &Table{Header: []string{"Metric", "Value"}, Rows: [][]string{{"Idle %", "8.54%"}, {"x \\| y", Dash}}}}}})
	p := Item{Rank: 3, Title: "aten::mm", Library: "GEMM", Category: "GEMM", Low: 1.25, Mid: 2.5, High: 3.75, Tier: "compute", Header: Data,
		Rows: [][]string{{"aten::mm", "(8,8) bf16<br>(8,8) bf16", Dash, "1.234", "5.00", "7", "2.000", "50.00% of peak", "memory_bound"}}}
	d.Add(p.Section(3))
	d.Add(Section{Level: 2, Heading: "Notes", Blocks: []Block{{Text: "# not a heading"}, {Text: "| not a table"}, {Text: "\\ a backslash"}, {Text: "plain"}}})
	return d
}

func TestRoundTrip(t *testing.T) {
	d := sample()
	text := d.Render()
	again, err := Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(d, again) {
		t.Errorf("\n%#v\nwant\n%#v", again, d)
	}
	if again.Render() != text {
		t.Error("rendering again gives other text")
	}
	items := again.Items()
	if len(items) != 1 || items[0].Rank != 3 || items[0].Title != "aten::mm" || items[0].Library != "GEMM" || items[0].High != 3.75 || items[0].Rows[0][3] != "1.234" {
		t.Errorf("%+v", items)
	}
	if again.Metrics()["Idle %"] != "8.54%" {
		t.Errorf("%v", again.Metrics())
	}
}

// TestForeign reads a report that Hyperloom wrote.
func TestForeign(t *testing.T) {
	text, err := os.ReadFile("testdata/hyperloom_analysis.md")
	if err != nil {
		t.Fatal(err)
	}
	d, err := Parse(string(text))
	if err != nil {
		t.Fatal(err)
	}
	items := d.Items()
	if len(items) != 1 || items[0].Rank != 12 || items[0].Rows[0][0] != "aten::silu" || d.Metrics()["GPU Idle %"] != "8.54%" {
		t.Errorf("%+v %v", items, d.Metrics())
	}
}

func TestParseErrors(t *testing.T) {
	for _, text := range []string{"", "text", "# a\n# b", "# a\ntext", "# a\n## b\n| x |\n", "# a\n## b\n| x | y |\n|---|---|\n| 1 |\n"} {
		if _, err := Parse(text); err == nil || !strings.HasPrefix(err.Error(), "report: line ") {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add(sample().Render())
	f.Fuzz(func(t *testing.T, text string) {
		d, err := Parse(text)
		if err != nil {
			return
		}
		d.Items()
		once := d.Render()
		again, err := Parse(once)
		if err != nil {
			t.Fatalf("%v in %q", err, once)
		}
		if twice := again.Render(); twice != once {
			t.Errorf("%q, then %q", once, twice)
		}
	})
}
