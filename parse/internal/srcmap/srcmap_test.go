package srcmap

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/tracehandler/tracehandler/parse/internal/repeat"
)

func (b *Builder) json(py Python) []byte {
	var t repeat.Text
	b.AppendJSON(&t, py)
	return t.B
}

// table returns a stage as "line → file:line:column", one a line.
func table(b *Builder, name string) string {
	s := b.Stage(name)
	if s == nil {
		return "(none)"
	}
	var out []string
	for _, e := range s.Entries {
		line := fmt.Sprintf("%d %s:%d:%d", e.At, b.files[e.file].name, e.line, e.col)
		if e.root.file >= 0 {
			line += fmt.Sprintf(" in %s:%d", b.files[e.root.file].name, e.root.line)
		}
		out = append(out, line)
	}
	return strings.Join(out, "\n")
}

func TestSASSListing(t *testing.T) {
	text, err := os.ReadFile("testdata/test_kernel.sass")
	if err != nil {
		t.Fatal(err)
	}
	want, err := os.ReadFile("testdata/expected_line_mappings.json")
	if err != nil {
		t.Fatal(err)
	}
	var b Builder
	b.Add(SASS, "sass", text)
	b.Join()
	var got struct{ Sass any }
	if err := json.Unmarshal(b.json(Python{}), &got); err != nil {
		t.Fatal(err)
	}
	var w any
	if err := json.Unmarshal(want, &w); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got.Sass, w) {
		t.Errorf("got %v\nwant %v", got.Sass, w)
	}
}

func TestStages(t *testing.T) {
	for _, c := range []struct {
		name     string
		notation Notation
		text     string
		want     string
	}{
		{"mlir alias chain", MLIR, "%0 = x loc(#loc3)\n#loc1 = loc(\"a.py\":1:2)\n#loc2 = loc(#loc1)\n#loc3 = loc(\"n\"(#loc2))\n",
			"1 a.py:1:2\n2 a.py:1:2\n3 a.py:1:2\n4 a.py:1:2"},
		{"mlir cycle", MLIR, "%0 = x loc(#loc3)\n#loc3 = loc(#loc4)\n#loc4 = loc(#loc3)\n", "(none)"},
		{"mlir colon in a name", MLIR, `%0 = x loc("C:\\a.py":3:4)`, `1 C:\\a.py:3:4`},
		{"mlir call in call", MLIR, "%0 = x loc(#loc5)\n#loc1 = loc(\"lib.py\":1:1)\n#loc2 = loc(\"mid.py\":2:2)\n#loc3 = loc(\"user.py\":3:3)\n#loc4 = loc(callsite(#loc2 at #loc3))\n#loc5 = loc(callsite(#loc1 at #loc4))\n",
			"1 lib.py:1:1 in user.py:3\n2 lib.py:1:1\n3 mid.py:2:2\n4 user.py:3:3\n5 mid.py:2:2 in user.py:3\n6 lib.py:1:1 in user.py:3"},
		{"ptx inlined", PTX, "// -- Begin function k\n.loc 1 5 0 // k.py:5:0\nadd;\n.loc 2 9 1 // lib.py:9:1 @[ mid.py:4:4 @[ k.py:7:2 ] ]\nmul;\n// -- End function\nafter;",
			"2 k.py:5:0\n3 k.py:5:0\n4 lib.py:9:1 in k.py:7\n5 lib.py:9:1 in k.py:7"},
		{"ptx without end", PTX, "// -- Begin function k\n.loc 1 5 0 // k.py:5:0\n", "(none)"},
		{"amdgcn", AMDGCN, "; -- Begin function k\n\t.loc\t1 5 3 prologue_end ; k.py:5:3\n\ts_load\n; note\n; -- End function\n", "2 k.py:5:3\n3 k.py:5:3"},
		{"llvm", LLVM, `define void @k() !dbg !5 {
  %1 = load i32, !dbg !8
  %2 = add i32 1, 2, !dbg !9
  ret void
!1 = !DIFile(filename: "k.py", directory: "/u")
!2 = !DIFile(filename: "lib.py", directory: "/l\C3\A9")
!5 = distinct !DISubprogram(name: "k, file: !2", file: !1, line: 10)
!6 = distinct !DISubprogram(name: "f", file: !2, line: 1)
!7 = !DILexicalBlock(scope: !6, line: 2, column: 3)
!8 = !DILocation(line: 12, column: 8, scope: !5)
!9 = distinct !DILocation(line: 30, column: 1, scope: !7, inlinedAt: !8)
`, "2 /u/k.py:12:8\n3 /lé/lib.py:30:1 in /u/k.py:12"},
		{"llvm loop of scopes", LLVM, "x, !dbg !1\n!1 = !DILocation(line: 1, column: 1, scope: !2)\n!2 = !DILexicalBlock(scope: !2)\n", "(none)"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var b Builder
			b.Add(c.notation, "s", []byte(c.text))
			if got := table(&b, "s"); got != c.want {
				t.Errorf("got\n%s\nwant\n%s", got, c.want)
			}
		})
	}
}

// TestJoin: lines join both ways, SASS without columns.
func TestJoin(t *testing.T) {
	var b Builder
	for range 2 { // a Builder is as good as new after Reset
		b.Reset()
		b.Add(MLIR, "ttir", []byte("a loc(\"/u/k.py\":1:2)\nb loc(\"/u/k.py\":1:3)\n"))
		b.Add(PTX, "ptx", []byte("// -- Begin function k\n.loc 1 1 2 // k.py:1:2\nadd;\n// -- End function"))
		b.Add(SASS, "sass", []byte("//## File \"/u/k.py\", line 1\n/*0000*/ X ;\n"))
		b.Join()
		got := string(b.json(Python{Known: true, File: "/u/k.py"}))
		want := `{"ttir":{"1":{"file":"/u/k.py","line":1,"column":2,"ttir_line":1,"ptx_lines":[2,3],"sass_lines":[1,2]},` +
			`"2":{"file":"/u/k.py","line":1,"column":3,"ttir_line":2,"sass_lines":[1,2]}},` +
			`"ptx":{"2":{"file":"/u/k.py","line":1,"column":2,"ptx_line":2,"ttir_lines":[1],"sass_lines":[1,2]},` +
			`"3":{"file":"/u/k.py","line":1,"column":2,"ptx_line":3,"ttir_lines":[1],"sass_lines":[1,2]}},` +
			`"sass":{"1":{"file":"/u/k.py","line":1,"column":0,"sass_line":1,"ttir_lines":[1,2],"ptx_lines":[2,3]},` +
			`"2":{"file":"/u/k.py","line":1,"column":0,"sass_line":2,"ttir_lines":[1,2],"ptx_lines":[2,3]}},` +
			`"python":{"1":{"ttir_lines":["1","2"],"ptx_lines":["2","3"],"sass_lines":["1","2"]}}}`
		if got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
}

// FuzzAdd: no text makes a reader of a notation panic, or write what is not JSON.
func FuzzAdd(f *testing.F) {
	f.Add([]byte("%0 = x loc(#loc3)\n#loc = loc(\"a\":1:2)\n#loc3 = loc(callsite(#loc at #loc))\n#loc4 = loc(\"n\"(#loc))"))
	f.Add([]byte("// -- Begin function\n.loc 1 2 3 // a:1:2 @[ b:3:4 ]\nx\n// -- End function"))
	f.Add([]byte("; -- Begin function\n.loc 1 2 3 is_stmt 0 ; a:1:2\nx\n; -- End function"))
	f.Add([]byte("//## File \"a\", line 3\n/*0f*/"))
	f.Add([]byte("x !dbg !1\n!1 = distinct !DILocation(line: 1, scope: !2)\n!2 = !DISubprogram(file: !3)\n!3 = !DIFile(filename: \"a\\22\")"))
	f.Fuzz(func(t *testing.T, text []byte) {
		if bytes.ContainsAny(text, "\x00\x01\x02\x03\x04\x05\x06\x07\x08") {
			return
		}
		var b Builder
		for i, n := range []Notation{MLIR, LLVM, PTX, AMDGCN, SASS} {
			b.Add(n, string(rune('a'+i)), text)
		}
		b.Join()
		out := b.json(Python{Known: true})
		if !json.Valid(out) {
			t.Fatalf("%s", out)
		}
	})
}
