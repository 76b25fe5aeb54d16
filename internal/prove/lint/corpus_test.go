package lint

import (
	"go/ast"
	"go/parser"
	"go/printer"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestFuzzTargetsHaveACorpus shows that each fuzz target has a committed corpus, which go test
// runs. It is one file of seeds. The target adds them before it adds others.
func TestFuzzTargetsHaveACorpus(t *testing.T) {
	targets, files := map[string]bool{}, []string{}
	err := filepath.WalkDir("../../..", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && filepath.Base(filepath.Dir(name)) == "fuzz" && filepath.Base(filepath.Dir(filepath.Dir(name))) == "testdata":
			t.Errorf("%s: an input that a fuzz run has found; CONTRIBUTING.md says where it goes", name)
		case strings.HasSuffix(name, ".txtar") && filepath.Base(filepath.Dir(name)) == "fuzz":
			files = append(files, name)
		case strings.HasSuffix(name, "_test.go"):
			return fuzzTargets(name, func(target string, seeded bool) {
				seeds := filepath.Join(filepath.Dir(name), "testdata", "fuzz", target+".txtar")
				targets[seeds] = true
				if _, err := os.Stat(seeds); err != nil || !seeded {
					t.Errorf("%s: %s must begin with corpus.Add(f), and have its seeds in %s", name, target, seeds)
				}
			})
		}
		return nil
	})
	if err != nil || len(targets) == 0 {
		t.Errorf("%d targets: %v", len(targets), err)
	}
	for _, file := range files {
		if !targets[file] {
			t.Errorf("%s: no such fuzz target", file)
		}
	}
}

// fuzzTargets reports the fuzz targets of a file, and whether each begins by adding its seeds.
func fuzzTargets(name string, found func(target string, seeded bool)) error {
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, name, nil, parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	for _, d := range file.Decls {
		f, ok := d.(*ast.FuncDecl)
		if !ok || f.Recv != nil || !strings.HasPrefix(f.Name.Name, "Fuzz") {
			continue
		}
		var first strings.Builder
		if err := printer.Fprint(&first, files, f.Body.List[0]); err != nil {
			return err
		}
		found(f.Name.Name, strings.TrimPrefix(first.String(), "corpus.") == "Add(f)") // in package corpus there is no prefix
	}
	return nil
}
