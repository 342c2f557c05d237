package html_test

import (
	"bytes"
	"encoding/json"
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

// A flame view is a tree of boxes: Child finds the box of a name below another, or adds it.
func ExampleNode_Child() {
	var names, kinds html.Index
	root := &html.Node{}
	for _, call := range []struct {
		path []string
		ns   int64
	}{{[]string{"forward", "aten::mm"}, 700}, {[]string{"forward", "aten::add"}, 50}, {[]string{"forward", "aten::mm"}, 300}} {
		n := root
		for _, name := range call.path {
			n = n.Child(names.Of(name), kinds.Of("op"))
			n.NS += call.ns
		}
	}
	text, err := json.Marshal(root.Children)
	fmt.Println(names.List, string(text), err)
	text, err = json.Marshal([]html.Share{{Name: "idle", NS: 250}})
	fmt.Println(string(text), err)
	// Output:
	// [forward aten::mm aten::add] [[0,1050,0,[[1,1000,0,[]],[2,50,0,[]]]]] <nil>
	// [["idle",250]] <nil>
}
