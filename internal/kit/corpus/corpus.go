// Package corpus gives a fuzz target its seeds from one file, testdata/fuzz/FuzzName.txtar, instead
// of one file for each seed. [Add] is the entry point. The package is for tests alone.
//
// An entry is a name that says what is odd about the seed, and the lines that Go writes for a
// failing input, one for each argument:
//
//	-- a text that is not UTF-8 --
//	string("\xff")
//	[]byte("x")
//
// Every byte is spelled in Go's own way, so a seed does not depend on the file's encoding or its
// line ends.
package corpus

import (
	"fmt"
	"go/ast"
	"go/parser"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// header is the first line of a failing input as Go writes it. In this file it may be left out.
const header = "go test fuzz v1"

// seed is one entry of a file.
type seed struct {
	name   string
	values []any // string, []byte, bool or int64
}

// Add adds the target's seeds to f. Call it before any f.Add. Then seed#0 of a failure is the first
// seed in the file. If a seed fails, Add lists the names.
func Add(f *testing.F) {
	f.Helper()
	seeds, err := read(filepath.Join("testdata", "fuzz", f.Name()+".txtar"))
	if err != nil {
		f.Fatal(err)
	}
	names := make([]string, len(seeds))
	for i, s := range seeds {
		f.Add(s.values...)
		names[i] = fmt.Sprintf("seed#%d is %q", i, s.name)
	}
	f.Cleanup(func() {
		if f.Failed() {
			f.Logf("in testdata/fuzz/%s.txtar %s", f.Name(), strings.Join(names, ", "))
		}
	})
}

// read reads a file of seeds. It is a txtar archive whose entries are values, one to a line.
func read(file string) ([]seed, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("the seeds of a fuzz target: %w", err)
	}
	return parse(file, string(text))
}

func parse(file, text string) ([]seed, error) {
	var seeds []seed
	number := 0
	for line := range strings.Lines(text) {
		number++
		line = strings.TrimSpace(line)
		name, entry := strings.CutPrefix(line, "-- ")
		switch {
		case entry:
			seeds = append(seeds, seed{name: strings.TrimSpace(strings.TrimSuffix(name, "--"))})
		case line == "" || line == header || len(seeds) == 0:
		default:
			v, err := value(line)
			if err != nil {
				return nil, fmt.Errorf("%s:%d: %w", file, number, err)
			}
			last := &seeds[len(seeds)-1]
			last.values = append(last.values, v)
		}
	}
	if len(seeds) == 0 {
		return nil, fmt.Errorf("%s holds no seed; begin one with a line such as -- what is odd about it --", file)
	}
	return seeds, nil
}

// value reads one line, which converts a literal to the type of the argument.
func value(line string) (any, error) {
	expr, err := parser.ParseExpr(line)
	call, ok := expr.(*ast.CallExpr)
	if err != nil || !ok || len(call.Args) != 1 {
		return nil, fmt.Errorf("%s is not a value as Go writes it; write string(\"…\"), []byte(\"…\"), bool(true) or int64(1)", line)
	}
	kind := line[call.Fun.Pos()-1 : call.Fun.End()-1]
	text := line[call.Args[0].Pos()-1 : call.Args[0].End()-1]
	switch kind {
	case "string":
		return strconv.Unquote(text)
	case "[]byte":
		s, err := strconv.Unquote(text)
		return []byte(s), err
	case "bool":
		return strconv.ParseBool(text)
	case "int64":
		return strconv.ParseInt(text, 10, 64)
	}
	return nil, fmt.Errorf("arguments of type %s are not read; add the type to package corpus", kind)
}
