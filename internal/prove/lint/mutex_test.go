package lint

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ingot-events/ingot/internal/kit/must"
)

// TestNoTypeEmbedsItsMutex shows that each mutex is a field with a name. A type that embeds its
// mutex offers Lock and Unlock to everybody who has a value of it.
func TestNoTypeEmbedsItsMutex(t *testing.T) {
	files := 0
	err := filepath.WalkDir("../../..", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.HasSuffix(name, ".go") {
			return err
		}
		files++
		fset := token.NewFileSet()
		file, err := parser.ParseFile(fset, name, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		for _, at := range embeddedMutexes(file) {
			t.Errorf("%s embeds its mutex; give the field a name, such as mu", fset.Position(at))
		}
		return nil
	})
	if err != nil || files < 100 {
		t.Errorf("%d files: %v", files, err)
	}
}

func embeddedMutexes(file *ast.File) []token.Pos {
	var found []token.Pos
	ast.Inspect(file, func(n ast.Node) bool {
		s, ok := n.(*ast.StructType)
		if !ok {
			return true
		}
		for _, f := range s.Fields.List {
			typ := f.Type
			if star, ok := typ.(*ast.StarExpr); ok {
				typ = star.X
			}
			sel, ok := typ.(*ast.SelectorExpr)
			if !ok || len(f.Names) > 0 || (sel.Sel.Name != "Mutex" && sel.Sel.Name != "RWMutex") {
				continue
			}
			if pkg, ok := sel.X.(*ast.Ident); ok && pkg.Name == "sync" {
				found = append(found, f.Pos())
			}
		}
		return true
	})
	return found
}

func TestEmbeddedMutexesAreFound(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "x.go", `package x
import "sync"
type a struct { sync.Mutex; n int }
type b struct { *sync.RWMutex }
type c struct { mu sync.Mutex; once sync.Once }
var d struct { sync.RWMutex }
`, parser.SkipObjectResolution)
	must.Succeed(t, err)
	must.Equal(t, len(embeddedMutexes(file)), 3)
}
