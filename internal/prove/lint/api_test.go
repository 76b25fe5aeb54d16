package lint

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/doc/comment"
	"go/parser"
	"go/token"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/ingot-events/ingot/internal/kit/golden"
	"github.com/ingot-events/ingot/internal/kit/must"
)

// publicPackages returns the folders of the packages that other modules may import.
func publicPackages(t *testing.T) []string {
	t.Helper()
	cmd := exec.Command("go", "list", "-f", "{{.Name}} {{.ImportPath}}", "./...")
	cmd.Dir = "../../.."
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list ./...: %v", err)
	}
	var folders []string
	for line := range strings.Lines(string(out)) {
		name, importPath, _ := strings.Cut(strings.TrimSpace(line), " ")
		folder := strings.TrimPrefix(strings.TrimPrefix(importPath+"/", module), "/")
		first, _, _ := strings.Cut(folder, "/")
		if name == "main" || slices.Contains([]string{"internal", "integration", "events", "scripts", "cmd", "examples"}, first) {
			continue
		}
		folders = append(folders, strings.TrimSuffix(folder, "/"))
	}
	return folders
}

// filesOf returns the parsed files of a folder: those of the package, and its tests.
func filesOf(t *testing.T, folder string) (code, tests []*ast.File) {
	t.Helper()
	names, err := filepath.Glob(filepath.Join("../../..", folder, "*.go"))
	must.Succeed(t, err)
	for _, name := range names {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments)
		must.Succeed(t, err)
		if strings.HasSuffix(name, "_test.go") {
			tests = append(tests, file)
		} else {
			code = append(code, file)
		}
	}
	return code, tests
}

// api collects the exported names of a package, and the places where they name a type of an
// internal package.
type api struct {
	names []string
	leaks []string
}

func (a *api) file(file *ast.File) {
	inside := map[string]bool{} // the names of its internal imports
	for _, spec := range file.Imports {
		if p, _ := strconv.Unquote(spec.Path.Value); strings.Contains(p, "/internal/") {
			inside[path.Base(p)] = true
			if spec.Name != nil {
				inside[spec.Name.Name] = true
			}
		}
	}
	for _, decl := range file.Decls {
		switch d := decl.(type) {
		case *ast.FuncDecl:
			a.function(d, inside)
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				a.spec(d.Tok, spec, inside)
			}
		}
	}
}

func (a *api) function(d *ast.FuncDecl, inside map[string]bool) {
	name := d.Name.Name
	if d.Recv != nil {
		receiver := d.Recv.List[0].Type
		if star, is := receiver.(*ast.StarExpr); is {
			receiver = star.X
		}
		ident, is := receiver.(*ast.Ident)
		if !is || !ident.IsExported() {
			return
		}
		name = ident.Name + "." + name
	}
	if d.Name.IsExported() {
		a.add("func", name, d.Type, inside)
	}
}

func (a *api) spec(token token.Token, spec ast.Spec, inside map[string]bool) {
	switch s := spec.(type) {
	case *ast.ValueSpec:
		for _, name := range s.Names {
			if name.IsExported() {
				a.add(token.String(), name.Name, s.Type, inside)
			}
		}
	case *ast.TypeSpec:
		if !s.Name.IsExported() {
			return
		}
		list, is := (*ast.FieldList)(nil), false
		switch t := s.Type.(type) {
		case *ast.StructType:
			list, is = t.Fields, true
		case *ast.InterfaceType:
			list, is = t.Methods, true
		}
		if !is {
			a.add("type", s.Name.Name, s.Type, inside)
			return
		}
		a.add("type", s.Name.Name, nil, inside)
		for _, field := range list.List {
			for _, name := range field.Names {
				if name.IsExported() {
					a.add("field", s.Name.Name+"."+name.Name, field.Type, inside)
				}
			}
		}
	}
}

func (a *api) add(kind, name string, of ast.Node, inside map[string]bool) {
	a.names = append(a.names, kind+" "+name)
	if of == nil || of == ast.Expr(nil) {
		return
	}
	ast.Inspect(of, func(n ast.Node) bool {
		if s, is := n.(*ast.SelectorExpr); is {
			if x, is := s.X.(*ast.Ident); is && inside[x.Name] {
				a.leaks = append(a.leaks, fmt.Sprintf("%s %s names %s.%s", kind, name, x.Name, s.Sel.Name))
			}
		}
		return true
	})
}

// TestExportedNamesAreListed compares the exported names of the public packages with a list. To add
// or remove a name is a decision, and the list makes it visible.
func TestExportedNamesAreListed(t *testing.T) {
	var got bytes.Buffer
	for _, folder := range publicPackages(t) {
		code, _ := filesOf(t, folder)
		var a api
		for _, file := range code {
			a.file(file)
		}
		slices.Sort(a.names)
		name := folder
		if name == "" {
			name = "ingot"
		}
		fmt.Fprintf(&got, "%s\n\t%s\n", name, strings.Join(slices.Compact(a.names), "\n\t"))
		for _, leak := range a.leaks {
			t.Errorf("%s: %s, which is internal, so that nobody who uses the library can write it; make it public, or keep it out of "+
				"the signature", name, leak)
		}
	}
	golden.File(t, "testdata/api.txt", got.String())
	if t.Failed() {
		t.Log("If a user of the library needs the change, run: go test -run TestExportedNames ./internal/prove/lint -update")
	}
}

// TestPublicPackagesAreExplained shows that each public package says what it is for, with links to
// its names or to other packages, and has an example that runs.
func TestPublicPackagesAreExplained(t *testing.T) {
	for _, folder := range publicPackages(t) {
		code, tests := filesOf(t, folder)
		if !slices.ContainsFunc(code, func(f *ast.File) bool { return f.Doc != nil && len(f.Doc.Text()) > 100 }) {
			t.Errorf("package %q has no comment that says what it is for", folder)
		}
		if !slices.ContainsFunc(code, func(f *ast.File) bool { return f.Doc != nil && hasLink(f.Doc.Text()) }) {
			t.Errorf("the comment of package %q links to no name; write the names that a reader looks for in brackets, as in [Store.Put]",
				folder)
		}
		if !slices.ContainsFunc(tests, hasExample) {
			t.Errorf("package %q has no example that runs: write a function Example… that ends with an // Output: comment", folder)
		}
	}
}

// hasLink reports whether a doc comment has a link to a name or to a page.
func hasLink(text string) bool {
	parser := comment.Parser{LookupSym: func(_, name string) bool { return ast.IsExported(name) }}
	var linked func(blocks []comment.Block) bool
	linked = func(blocks []comment.Block) bool {
		return slices.ContainsFunc(blocks, func(b comment.Block) bool {
			switch b := b.(type) {
			case *comment.Paragraph:
				return slices.ContainsFunc(b.Text, func(t comment.Text) bool {
					switch t.(type) {
					case *comment.DocLink, *comment.Link:
						return true
					}
					return false
				})
			case *comment.List:
				return slices.ContainsFunc(b.Items, func(i *comment.ListItem) bool { return linked(i.Content) })
			}
			return false
		})
	}
	return linked(parser.Parse(text).Content)
}

func TestLinksAreFound(t *testing.T) {
	for text, want := range map[string]bool{
		"Put stores an [Item].":              true,
		"Put stores [Item]s.":                false, // go doc makes no link of it
		"See [github.com/a/b/store.Put].":    true,
		"These:\n\n  - [Item] is one.\n":     true,
		"Put stores items [of a pipeline].":  false,
		"A paragraph.\n\n\tw.Send([Item])\n": false,
	} {
		if hasLink(text) != want {
			t.Errorf("%q: %t", text, !want)
		}
	}
}

// hasExample reports whether a file has an example that go test runs and compares.
func hasExample(file *ast.File) bool {
	return slices.ContainsFunc(file.Decls, func(decl ast.Decl) bool {
		d, is := decl.(*ast.FuncDecl)
		return is && strings.HasPrefix(d.Name.Name, "Example") && slices.ContainsFunc(file.Comments, func(c *ast.CommentGroup) bool {
			return c.Pos() > d.Body.Lbrace && c.End() < d.Body.Rbrace && strings.HasPrefix(c.Text(), "Output:")
		})
	})
}

func TestInternalTypesInTheAPIAreFound(t *testing.T) {
	for source, want := range map[string]string{
		"func F(b *lanes.Batch) {}":          "func F names lanes.Batch",
		"func (t *T) M() lanes.Mark":         "func T.M names lanes.Mark",
		"type T struct { Mark *lanes.Mark }": "field T.Mark names lanes.Mark",
		"type T map[string]lanes.Mark":       "type T names lanes.Mark",
		"func (t *t) M() lanes.Mark":         "",
		"type T struct { mark lanes.Mark }":  "",
	} {
		file, err := parser.ParseFile(token.NewFileSet(), "", "package p\nimport \"x/internal/lanes\"\n"+source, 0)
		must.Succeed(t, err)
		var a api
		a.file(file)
		must.Equal(t, strings.Join(a.leaks, "\n"), want, source)
	}
}
