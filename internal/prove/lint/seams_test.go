// Package lint holds the rules of this repository that no general tool knows. Each rule is a test.
package lint

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/ingot-events/ingot/internal/kit/must"
)

// doors lists the packages of the functions that reach the world: env is the world, and the others
// put it into what the functions are made of.
var doors = []string{"env", "internal/run/emf", "internal/run/function"}

// TestOnlyEnvTouchesTheWorld shows that what the functions do takes the clock, waiting, chance and
// goroutines only from env.Env. That makes a simulation a pure function of its seed. One time.Now
// elsewhere would end that, and no other test would notice.
func TestOnlyEnvTouchesTheWorld(t *testing.T) {
	for _, folder := range deployed(t) {
		faults := 0
		for _, file := range sources(t, filepath.Join("..", "..", "..", folder)) {
			if slices.Contains(doors, folder) {
				src := must.Read(t, file)
				faults += len(worldly(t, file, src))
			} else {
				hold(t, file, worldly)
			}
		}
		if slices.Contains(doors, folder) && faults == 0 {
			t.Errorf("%s is listed as a door, and reaches nothing; take it out of the list", folder)
		}
	}
}

// deployed returns the folders of the packages that the functions are made of.
func deployed(t *testing.T) (folders []string) {
	t.Helper()
	for _, command := range []string{"./cmd/ingest", "./cmd/streams"} {
		for _, dep := range dependencies(t, "lambda.norpc", command) {
			folder, own := strings.CutPrefix(dep+"/", module)
			folder = cmp.Or(strings.TrimSuffix(folder, "/"), ".")
			if own && !slices.Contains(folders, folder) {
				folders = append(folders, folder)
			}
		}
	}
	return folders
}

// hold checks a Go file against a rule. The rule returns what it finds wrong.
func hold(t *testing.T, file string, rule func(t *testing.T, name string, src []byte) []string) {
	t.Helper()
	src := must.Read(t, file)
	for _, fault := range rule(t, file, src) {
		t.Error(fault)
	}
}

// parsed parses Go source for the rules.
func parsed(t *testing.T, name string, src []byte) (*token.FileSet, *ast.File) {
	t.Helper()
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, name, src, parser.SkipObjectResolution)
	must.Succeed(t, err)
	return files, file
}

// sources returns the Go files of a folder, without its tests.
func sources(t *testing.T, folder string) []string {
	t.Helper()
	all, err := filepath.Glob(filepath.Join(folder, "*.go"))
	must.Succeed(t, err)
	files := slices.DeleteFunc(all, func(name string) bool { return strings.HasSuffix(name, "_test.go") })
	if len(files) == 0 {
		t.Fatalf("no Go files in %s", folder)
	}
	return files
}

// banned lists, by import path, the functions that reach the world without Env. nil bans the whole
// package.
var banned = map[string][]string{
	"time":                           {"Now", "Since", "Until", "Sleep", "After", "AfterFunc", "Tick", "NewTicker", "NewTimer"},
	"context":                        {"WithDeadline", "WithDeadlineCause", "WithTimeout", "WithTimeoutCause", "AfterFunc"},
	"math/rand":                      nil,
	"math/rand/v2":                   nil,
	"crypto/rand":                    nil,
	"golang.org/x/sync/errgroup":     nil,
	"golang.org/x/sync/singleflight": nil,
}

// worldly returns what a file does that only Env may do.
func worldly(t *testing.T, name string, src []byte) []string {
	t.Helper()
	files, file := parsed(t, name, src)
	var faults []string
	fault := func(n ast.Node, what string) {
		faults = append(faults, fmt.Sprintf("%s: %s; take it from env.Env", files.Position(n.Pos()), what))
	}
	paths := map[string]string{} // by local name
	for _, spec := range file.Imports {
		path, _ := strconv.Unquote(spec.Path.Value)
		names, watched := banned[path]
		local := filepath.Base(strings.TrimSuffix(path, "/v2"))
		if spec.Name != nil {
			local = spec.Name.Name
		}
		switch {
		case watched && names == nil:
			fault(spec, "imports "+path)
		case watched && local == ".":
			fault(spec, "imports "+path+" without its name")
		case watched:
			paths[local] = path
		}
	}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GoStmt:
			fault(n, "starts a goroutine")
		case *ast.SelectorExpr:
			if x, ok := n.X.(*ast.Ident); ok && slices.Contains(banned[paths[x.Name]], n.Sel.Name) {
				fault(n, "uses "+paths[x.Name]+"."+n.Sel.Name)
			}
			if x, ok := n.X.(*ast.Ident); ok && x.Name == "sync" && n.Sel.Name == "WaitGroup" {
				fault(n, "uses sync.WaitGroup, which starts goroutines")
			}
		}
		return true
	})
	return faults
}

// TestWorldlyFindsEachWayPastEnv shows that the rule finds each way around Env, and nothing in code
// that obeys it.
func TestWorldlyFindsEachWayPastEnv(t *testing.T) {
	for name, tt := range map[string]struct {
		src  string
		says string // empty if nothing is found
	}{
		"clock":         {`import "time"; var at = time.Now()`, "x.go:3:25: uses time.Now"},
		"clock's value": {`import "time"; var now = time.Now`, "uses time.Now"},
		"renamed":       {`import t "time"; func f() { t.Sleep(1) }`, "uses time.Sleep"},
		"dot":           {`import . "time"; func f() { Sleep(1) }`, "imports time without its name"},
		"timer":         {`import "time"; var c = time.NewTimer(1)`, "uses time.NewTimer"},
		"deadline":      {`import "context"; var f = context.WithTimeout`, "uses context.WithTimeout"},
		"chance":        {`import "math/rand/v2"; var n = rand.Int()`, "imports math/rand/v2"},
		"goroutine":     {`func f() { go f() }`, "starts a goroutine"},
		"group":         {`import "sync"; func f() { var g sync.WaitGroup; g.Go(f) }`, "uses sync.WaitGroup"},
		"fine":          {`import ("sync"; "time"); var mu sync.Mutex; const d = time.Second; var at = time.Unix(0, 0)`, ""},
		"other Now":     {`type env struct{ Now func() int }; func f(e env) int { return e.Now() }`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			faults := strings.Join(worldly(t, "x.go", []byte("package x\n\n"+tt.src+"\n")), "\n")
			if (tt.says == "") != (faults == "") || !strings.Contains(faults, tt.says) {
				t.Errorf("found %q, want %q", faults, tt.says)
			}
		})
	}
}
