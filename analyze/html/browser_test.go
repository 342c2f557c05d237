package html

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestBrowser loads a page in the headless Chromium that TRACEHANDLER_CHROMIUM names, uses its search and its flame view, and
// saves a screenshot where TRACEHANDLER_SHOTS says, for someone to look at.
func TestBrowser(t *testing.T) {
	chromium := os.Getenv("TRACEHANDLER_CHROMIUM")
	if chromium == "" {
		t.Log("TRACEHANDLER_CHROMIUM names no browser; TestWrite checks what needs none")
		return
	}
	var names, kinds Index
	gpu, cpu := Lane{Label: "GPU 0 stream 7"}, Lane{Label: "thread 1"}
	p := &Page{Title: "a <b>test</b>", Span: 1000_000, Flame: &Node{Name: names.Of("all"), Kind: kinds.Of("all")},
		Timeline: []Share{{"computation", 700_000}, {"idle", 300_000}}, Categories: []Share{{"GEMM", 700_000}},
		Kernels: [][]any{{"gemm<1>", "GEMM", 7, 0.7, 100.0, 100.0, 100.0, 100.0}}}
	for i := range 7 {
		name := names.Of([]string{"gemm<1>", "softmax"}[i%2])
		gpu.Add(int64(i)*140_000, 100_000, name, kinds.Of("GEMM"), 0)
		cpu.Add(int64(i)*140_000, 120_000, names.Of("aten::mm"), kinds.Of("op"), 0)
		cpu.Add(int64(i)*140_000+1000, 90_000, names.Of("inner"), kinds.Of("op"), 1)
		op := p.Flame.Child(names.Of("aten::mm"), kinds.Of("op"))
		box := op.Child(name, kinds.Of("GEMM"))
		for _, n := range []*Node{p.Flame, op, box} {
			n.NS += 100_000
		}
	}
	p.Lanes, p.Names, p.Kinds = []Lane{gpu, cpu}, names.List, kinds.List
	var b bytes.Buffer
	if err := Write(&b, p); err != nil {
		t.Fatal(err)
	}
	use := `<script>
		const find = document.getElementById("find"); find.value = "SOFTMAX"; find.oninput(); find.onkeydown({key: "Enter"}); find.onkeydown({key: "Enter"});
		document.body.dataset.found = document.getElementById("found").textContent;
		const box = document.getElementById("flame").getBoundingClientRect();
		document.getElementById("flame").onclick({clientX: box.left + 5, clientY: box.top + 30});
		document.body.dataset.flame = document.getElementById("flamepath").textContent;
		document.body.dataset.rows = document.querySelectorAll("#kernels tbody tr").length;
		document.getElementById("fit").onclick();
	</script></body>`
	dir := t.TempDir()
	page := filepath.Join(dir, "page.html")
	if err := os.WriteFile(page, []byte(strings.Replace(b.String(), "</body>", use, 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	args := []string{"--headless", "--no-sandbox", "--disable-gpu", "--user-data-dir=" + filepath.Join(dir, "profile"), "--window-size=1300,1500", "file://" + page}
	dom, err := exec.CommandContext(ctx, chromium, append([]string{"--dump-dom"}, args...)...).Output()
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`data-ready="1"`, `data-found="2 of 3"`, `data-flame="all › aten::mm"`, `data-rows="1"`, "a &lt;b&gt;test"} {
		if !bytes.Contains(dom, []byte(want)) {
			t.Errorf("the page lacks %s", want)
		}
	}
	if shots := os.Getenv("TRACEHANDLER_SHOTS"); shots != "" {
		if err := exec.CommandContext(ctx, chromium, append([]string{"--screenshot=" + filepath.Join(shots, "page.png")}, args...)...).Run(); err != nil {
			t.Error(err)
		}
	}
}
