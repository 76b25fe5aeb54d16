package lint

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Each fuzz target has a committed corpus, which go test runs.
func TestFuzzTargetsHaveACorpus(t *testing.T) {
	targets := 0
	err := filepath.WalkDir("../..", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.HasSuffix(name, "_test.go") {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		for _, d := range file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Recv == nil && strings.HasPrefix(f.Name.Name, "Fuzz") {
				targets++
				corpus := filepath.Join(filepath.Dir(name), "testdata", "fuzz", f.Name.Name)
				if inputs, _ := os.ReadDir(corpus); len(inputs) == 0 {
					t.Errorf("%s: %s has no input in %s", name, f.Name.Name, corpus)
				}
			}
		}
		return nil
	})
	if err != nil || targets == 0 {
		t.Errorf("%d targets: %v", targets, err)
	}
}
