package html

import (
	"bytes"
	"encoding/json"
	"regexp"
	"strings"
	"testing"
)

func TestWrite(t *testing.T) {
	var names Index
	evil := `</script><script>alert(1)</script>`
	lane := Lane{Label: "GPU 0 stream 7"}
	lane.Add(5, 10, names.Of(evil), 0, 0)
	lane.Add(25, 1, names.Of(evil), 0, 0)
	p := &Page{Title: evil, Names: names.List, Kinds: []string{"GEMM"}, Lanes: []Lane{lane}, Span: 100, Flame: &Node{NS: 11}}
	p.Flame.Child(0, 0).NS = 11
	var b bytes.Buffer
	if err := Write(&b, p); err != nil {
		t.Fatal(err)
	}
	text := b.String()
	if n := strings.Count(text, "<script"); n != 2 {
		t.Errorf("%d script elements", n)
	}
	if m := regexp.MustCompile(`(?i)(src|href)\s*=|https?://|@import|url\(`).FindString(text); m != "" {
		t.Errorf("the page refers to something outside: %q", m)
	}
	_, rest, _ := strings.Cut(text, `id="data">`)
	data, _, _ := strings.Cut(rest, "</script>")
	var got struct {
		Title string
		Lanes []struct{ Ev []int64 }
		Flame []any
	}
	if err := json.Unmarshal([]byte(data), &got); err != nil || got.Title != evil || len(got.Lanes[0].Ev) != 10 || got.Lanes[0].Ev[5] != 20 {
		t.Errorf("%v %+v", err, got)
	}
}
