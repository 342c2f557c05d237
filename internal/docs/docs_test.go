// Package docs checks what is promised of the documentation of all public packages: every exported function, method and type
// has a comment, and every function and method occurs in an example that runs.
package docs

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// public parses the files of the public packages of the module, tests included.
func public(t *testing.T) (*token.FileSet, map[string]*ast.File) {
	t.Helper()
	root := filepath.Join("..", "..")
	set, files := token.NewFileSet(), map[string]*ast.File{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && path != root:
			_, err := os.Stat(filepath.Join(path, "go.mod"))
			if err == nil || d.Name() == "testdata" || d.Name() == "internal" || strings.HasPrefix(d.Name(), ".") {
				return fs.SkipDir
			}
			return nil
		case !strings.HasSuffix(path, ".go"):
			return nil
		}
		f, err := parser.ParseFile(set, path, nil, parser.ParseComments)
		if err == nil && f.Name.Name != "main" {
			files[path] = f
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(files) < 100 {
		t.Fatalf("only %d files: is this the module?", len(files))
	}
	return set, files
}

// selfEvident are methods that others call by an interface: their example would be that interface's.
var selfEvident = []string{"Error", "Unwrap", "Is", "String", "LogValue", "MarshalJSON", "MarshalText", "UnmarshalText"}

// TestExamples goes by names alone: a method counts as shown if an example uses one of that name, whatever its type.
func TestExamples(t *testing.T) {
	set, files := public(t)
	shown := map[string]bool{}
	for path, f := range files {
		for _, decl := range f.Decls {
			fn, ok := decl.(*ast.FuncDecl)
			if !ok || !strings.HasSuffix(path, "_test.go") || !strings.HasPrefix(fn.Name.Name, "Example") || !runs(f, fn) {
				continue
			}
			ast.Inspect(fn, func(n ast.Node) bool {
				if id, ok := n.(*ast.Ident); ok {
					shown[id.Name] = true
				}
				return true
			})
		}
	}
	for path, f := range files {
		for _, decl := range f.Decls {
			if fn, ok := decl.(*ast.FuncDecl); ok && !strings.HasSuffix(path, "_test.go") && exported(fn) &&
				!slices.Contains(selfEvident, fn.Name.Name) && !shown[fn.Name.Name] {
				t.Errorf("%s: no example uses %s", set.Position(fn.Pos()), fn.Name)
			}
		}
	}
}

// TestComments demands comments that begin with the name, as go doc expects them.
func TestComments(t *testing.T) {
	set, files := public(t)
	check := func(name *ast.Ident, doc *ast.CommentGroup) {
		words := append(strings.Fields(doc.Text()), "", "")
		if slices.Contains([]string{"A", "An", "The"}, words[0]) {
			words = words[1:]
		}
		if strings.TrimSuffix(strings.TrimRight(words[0], ".,:;"), "'s") != name.Name {
			t.Errorf("%s: the comment of %s does not begin with its name", set.Position(name.Pos()), name)
		}
	}
	for path, f := range files {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		for _, decl := range f.Decls {
			switch d := decl.(type) {
			case *ast.FuncDecl:
				if exported(d) && !slices.Contains(selfEvident, d.Name.Name) {
					check(d.Name, d.Doc)
				}
			case *ast.GenDecl:
				for _, spec := range d.Specs {
					if s, ok := spec.(*ast.TypeSpec); ok && s.Name.IsExported() {
						doc := s.Doc
						if doc == nil {
							doc = d.Doc
						}
						check(s.Name, doc)
					}
				}
			}
		}
	}
}

// exported reports whether others can call a function, or a method.
func exported(fn *ast.FuncDecl) bool {
	return fn.Name.IsExported() && (fn.Recv == nil || ast.IsExported(receiver(fn)))
}

// receiver returns the name of the type that has a method.
func receiver(fn *ast.FuncDecl) string {
	for x := fn.Recv.List[0].Type; ; {
		switch t := x.(type) {
		case *ast.StarExpr:
			x = t.X
		case *ast.IndexExpr:
			x = t.X
		case *ast.IndexListExpr:
			x = t.X
		case *ast.Ident:
			return t.Name
		default:
			return ""
		}
	}
}

// runs reports whether an example has an output; without one it is only compiled.
func runs(f *ast.File, fn *ast.FuncDecl) bool {
	return slices.ContainsFunc(f.Comments, func(c *ast.CommentGroup) bool {
		text := strings.ToLower(c.Text())
		return c.Pos() > fn.Pos() && c.End() < fn.End() && (strings.HasPrefix(text, "output:") || strings.HasPrefix(text, "unordered output:"))
	})
}
