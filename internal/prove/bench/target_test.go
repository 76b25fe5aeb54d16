package main

import (
	"fmt"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/ingot-events/ingot/internal/kit/golden"
	"github.com/ingot-events/ingot/internal/kit/must"
)

// TestTargetsAreListed compares the targets with a list. To weaken a target is a decision, and the
// list makes it visible. It is also the one place to read them all.
func TestTargetsAreListed(t *testing.T) {
	names, err := filepath.Glob("*.go")
	must.Succeed(t, err)
	files := map[string]*ast.File{}
	constants := map[string]ast.Expr{}
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		must.Succeed(t, err)
		files[name] = file
		ast.Inspect(file, func(n ast.Node) bool {
			if v, is := n.(*ast.ValueSpec); is && len(v.Values) == len(v.Names) {
				for i, ident := range v.Names {
					constants[ident.Name] = v.Values[i]
				}
			}
			return true
		})
	}
	var list strings.Builder
	for _, name := range slices.Sorted(maps.Keys(files)) {
		ast.Inspect(files[name], func(n ast.Node) bool {
			if call, is := n.(*ast.CallExpr); is {
				if sign := signOf(call); sign != "" {
					limit := call.Args[2]
					if ident, is := limit.(*ast.Ident); is && constants[ident.Name] != nil {
						limit = constants[ident.Name]
					}
					fmt.Fprintf(&list, "%s: %s: %s %s\n", strings.TrimSuffix(name, ".go"), textOf(call.Args[0]), sign, source(t, limit))
				}
			}
			return true
		})
	}
	makefile := must.Read(t, "../../../Makefile")
	for _, limits := range regexp.MustCompile(`go run \./(internal/prove/cold -max.*?)( &&|;)`).FindAllStringSubmatch(string(makefile),
		-1) {
		fmt.Fprintln(&list, limits[1])
	}
	golden.File(t, "testdata/targets.txt", list.String())
}

// signOf returns what a call demands of a figure. It returns an empty text if the call judges no
// figure.
func signOf(call *ast.CallExpr) string {
	if f, is := call.Fun.(*ast.SelectorExpr); is && len(call.Args) == 3 {
		return map[string]string{"atLeast": "at least", "atMost": "at most"}[f.Sel.Name]
	}
	return ""
}

// textOf returns the constant text in an expression, with … for what is known only when the bench
// runs.
func textOf(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.BasicLit:
		if text, err := strconv.Unquote(e.Value); err == nil {
			return strings.ReplaceAll(text, "%s", "…")
		}
	case *ast.BinaryExpr:
		return textOf(e.X) + textOf(e.Y)
	case *ast.CallExpr: // fmt.Sprintf
		return textOf(e.Args[0])
	}
	return "…"
}

func source(t *testing.T, e ast.Expr) string {
	t.Helper()
	var text strings.Builder
	must.Succeed(t, format.Node(&text, token.NewFileSet(), e))
	return text.String()
}
