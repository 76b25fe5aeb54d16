package lint

import (
	"fmt"
	"go/ast"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ingot-events/ingot/internal/kit/must"
)

// TestOnlyStackMakesResources shows that only internal/local/stack makes tables, queues and
// buckets, as template.yaml declares them. A test proves little if its table lacks something that
// is deployed. Only the engine's own tests make their own, and internal/local/wire passes on what a
// client asks for.
func TestOnlyStackMakesResources(t *testing.T) {
	root := filepath.Join("..", "..", "..")
	looked := 0
	err := filepath.WalkDir(root, func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		below, err := filepath.Rel(root, name)
		if err != nil {
			return err
		}
		switch below = filepath.ToSlash(below); {
		case entry.IsDir() && (strings.HasPrefix(entry.Name(), ".") && below != "." || slices.Contains(makers, below)):
			return filepath.SkipDir
		case !strings.HasSuffix(below, ".go"):
			return nil
		}
		looked++
		hold(t, name, makes)
		return nil
	})
	must.Succeed(t, err)
	if looked < 100 {
		t.Errorf("only %d files looked at", looked)
	}
}

// makers lists the folders that may make a resource.
var makers = []string{"internal/local/stack", "internal/local/embedded", "internal/local/wire"}

// creations lists the requests that make a resource.
var creations = []string{"CreateTable", "CreateQueue", "CreateBucket"}

// makes returns the calls in a file that make a resource.
func makes(t *testing.T, name string, src []byte) []string {
	t.Helper()
	files, file := parsed(t, name, src)
	var faults []string
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.SelectorExpr:
			if slices.Contains(creations, n.Sel.Name) {
				faults = append(faults, fmt.Sprintf("%s: calls %s; make it with internal/local/stack", files.Position(n.Pos()), n.Sel.Name))
			}
		case *ast.CallExpr:
			for _, a := range n.Args {
				if text, ok := a.(*ast.BasicLit); ok && slices.Contains(creations, strings.Trim(text.Value, `"`)) {
					faults = append(faults, fmt.Sprintf("%s: asks for %s; make it with internal/local/stack", files.Position(n.Pos()),
						text.Value))
				}
			}
		}
		return true
	})
	return faults
}

func TestMakesFindsEachWay(t *testing.T) {
	for name, tt := range map[string]struct {
		src  string
		says string // empty if nothing is found
	}{
		"table":     {`func f() { db().CreateTable(ctx, in) }`, "x.go:3:12: calls CreateTable"},
		"queue":     {`var make = client.CreateQueue`, "calls CreateQueue"},
		"bucket":    {`func f() { e.S3().CreateBucket(ctx, in) }`, "calls CreateBucket"},
		"by name":   {`func f() { call(ctx, "CreateTable", body) }`, `asks for "CreateTable"`},
		"interface": {`type db interface { CreateTable() error }`, ""},
		"stack":     {`func f() { stack.AggregatesTable("t").Create(ctx, db) }`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			faults := strings.Join(makes(t, "x.go", []byte("package x\n\n"+tt.src+"\n")), "\n")
			if (tt.says == "") != (faults == "") || !strings.Contains(faults, tt.says) {
				t.Errorf("found %q, want %q", faults, tt.says)
			}
		})
	}
}
