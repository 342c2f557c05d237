package tables_test

import (
	"fmt"

	"github.com/tracehandler/tracehandler/analyze/kineto"
	"github.com/tracehandler/tracehandler/analyze/link"
	"github.com/tracehandler/tracehandler/analyze/tables"
)

func Example() {
	t, err := kineto.Open("../testdata/kineto/h100_bert_small.json.gz", nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, row := range tables.Launchers(t, link.New(t), tables.ByName, tables.LauncherOptions{})[:3] {
		fmt.Println(row.Name, row.Instances, row.Direct, "ns")
	}
	// Output:
	// aten::addmm 26 197598 ns
	// aten::_flash_attention_forward 4 37408 ns
	// aten::native_layer_norm 10 30912 ns
}
