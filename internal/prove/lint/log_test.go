package lint

import (
	"fmt"
	"go/ast"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestEveryLogLineCarriesItsContext shows that every log line is written with a context. Lambda's
// log handler takes the id of the request from it. Without it, nobody can find the line of a batch
// that failed.
func TestEveryLogLineCarriesItsContext(t *testing.T) {
	for _, folder := range deployed(t) {
		if folder == "." {
			continue // the functions begin there, before any request
		}
		for _, file := range sources(t, filepath.Join("..", "..", "..", folder)) {
			hold(t, file, loggedBare)
		}
	}
}

// loggedBare returns the calls that write a log line without the context of a request: the methods
// of slog that take no context, and calls with a context made on the spot. The Error method of an
// error takes no argument, which tells it apart.
func loggedBare(t *testing.T, name string, src []byte) []string {
	t.Helper()
	files, file := parsed(t, name, src)
	var faults []string
	ast.Inspect(file, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return true
		}
		method, ok := call.Fun.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		switch of, _ := method.X.(*ast.Ident); {
		case len(call.Args) > 0 && slices.Contains([]string{"Error", "Warn", "Info", "Debug"}, method.Sel.Name):
			faults = append(faults, fmt.Sprintf("%s: %s without a context; use %sContext or LogAttrs", files.Position(n.Pos()),
				method.Sel.Name, method.Sel.Name))
		case of != nil && of.Name == "context" && (method.Sel.Name == "Background" || method.Sel.Name == "TODO"):
			faults = append(faults, fmt.Sprintf("%s: context.%s, which names no request; pass on the caller's", files.Position(n.Pos()),
				method.Sel.Name))
		}
		return true
	})
	return faults
}

func TestLoggedBareFindsLinesWithoutContext(t *testing.T) {
	for body, says := range map[string]string{
		`b.Log.Error("text", "error", err)`:                "Error without a context",
		`log.Info("text")`:                                 "Info without a context",
		`slog.Warn("text")`:                                "Warn without a context",
		`b.Log.ErrorContext(context.Background(), "text")`: "context.Background",
		`b.Log.ErrorContext(ctx, "text", err.Error())`:     "",
		`b.Log.LogAttrs(ctx, slog.LevelError, "text")`:     "",
		`f(err.Error())`:                                   "",
	} {
		faults := strings.Join(loggedBare(t, "x.go", []byte("package x\n\nfunc f() { "+body+" }\n")), "\n")
		if (says == "") != (faults == "") || !strings.Contains(faults, says) {
			t.Errorf("%s: found %q, want %q", body, faults, says)
		}
	}
}
