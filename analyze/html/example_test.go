package html_test

import (
	"bytes"
	"fmt"

	"github.com/tracehandler/tracehandler/analyze/html"
)

func ExampleWrite() {
	var names, kinds html.Index
	lane := html.Lane{Label: "GPU 0 stream 7"}
	lane.Add(0, 15_000, names.Of("gemm"), kinds.Of("GEMM"), 0) // from, for; ns
	p := &html.Page{Title: "resnet", Span: 15_000, Lanes: []html.Lane{lane}, Names: names.List, Kinds: kinds.List}
	var page bytes.Buffer
	if err := html.Write(&page, p); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(bytes.HasPrefix(page.Bytes(), []byte("<!DOCTYPE html>")), bytes.Contains(page.Bytes(), []byte("https:")))
	// Output:
	// true false
}
