package lint

import (
	"fmt"
	"go/ast"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Lambda's log handler takes the request's id from the context. A line that is written without it cannot be found
// from the batch that failed.
func TestEveryLogLineCarriesItsContext(t *testing.T) {
	for _, folder := range []string{"store", "handler", filepath.Join("internal", "function")} {
		for _, file := range sources(t, filepath.Join("..", "..", folder)) {
			hold(t, file, loggedBare)
		}
	}
}

// loggedBare lists the calls that write a line of a log without a request's context: the methods of slog that take
// none, and a context made on the spot. error's own Error takes no argument, which tells it apart.
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
			faults = append(faults, fmt.Sprintf("%s: %s without a context; use %sContext or LogAttrs", files.Position(n.Pos()), method.Sel.Name, method.Sel.Name))
		case of != nil && of.Name == "context" && (method.Sel.Name == "Background" || method.Sel.Name == "TODO"):
			faults = append(faults, fmt.Sprintf("%s: context.%s, which names no request; pass on the caller's", files.Position(n.Pos()), method.Sel.Name))
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
