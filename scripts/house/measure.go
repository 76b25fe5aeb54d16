package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/scanner"
	"go/token"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"unicode/utf8"
)

// module is the prefix of the import paths of this module's packages.
const module = "github.com/ingot-events/ingot/"

// source is one Go file.
type source struct {
	name   string // from the root, with slashes
	test   bool   // its name ends in _test.go
	code   int    // lines of code
	wide   int    // lines of more than wideLine columns, unless one text makes them so; a tab counts as four
	tokens int
	file   *ast.File
	funcs  []function
}

// function is one declared function or method.
type function struct {
	name  string
	lines int // from its first line to its last
}

const wideLine = 140

func (s *source) folder() string { return path.Dir(s.name) }

// sources reads all Go files that belong to the repository.
func sources(root string) ([]*source, error) {
	names, err := tracked(root, "*.go")
	if err != nil {
		return nil, err
	}
	var list []*source
	for _, name := range names {
		if strings.Contains(name, "testdata/") {
			continue
		}
		text, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(name)))
		if os.IsNotExist(err) { // deleted, and not committed yet
			continue
		}
		if err != nil {
			return nil, err
		}
		s, err := read(name, text)
		if err != nil {
			return nil, err
		}
		list = append(list, s)
	}
	return list, nil
}

// tracked lists the files of the checkout that match a pattern.
func tracked(root string, patterns ...string) ([]string, error) {
	cmd := exec.Command("git", append([]string{"ls-files", "-z", "--cached", "--others", "--exclude-standard", "--"}, patterns...)...)
	cmd.Dir = root
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("git ls-files, which needs a checkout: %w", err)
	}
	return strings.FieldsFunc(string(out), func(r rune) bool { return r == 0 }), nil
}

// read measures one Go file.
func read(name string, text []byte) (*source, error) {
	files := token.NewFileSet()
	parsed, err := parser.ParseFile(files, name, text, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	s := &source{name: name, test: strings.HasSuffix(name, "_test.go"), file: parsed}
	s.scan(text)
	s.wide = wide(text)
	for _, d := range parsed.Decls {
		if f, ok := d.(*ast.FuncDecl); ok {
			lines := files.Position(f.End()).Line - files.Position(f.Pos()).Line + 1
			s.funcs = append(s.funcs, function{name: f.Name.Name, lines: lines})
		}
	}
	return s, nil
}

// scan counts the tokens, and the lines that hold a part of one.
func (s *source) scan(text []byte) {
	files := token.NewFileSet()
	file := files.AddFile(s.name, -1, len(text))
	var scan scanner.Scanner
	scan.Init(file, text, nil, 0)
	last := 0
	for {
		at, tok, literal := scan.Scan()
		if tok == token.EOF {
			return
		}
		if tok == token.SEMICOLON && literal != ";" { // the scanner has put it in
			continue
		}
		s.tokens++
		first := file.Line(at)
		end := first + strings.Count(literal, "\n")
		s.code += end - max(first, last+1) + 1
		last = max(last, end)
	}
}

// wide counts the lines of more than wideLine columns. A line that is so wide because of one text
// is not counted: a message or a JSON document is easier to read and to find if it stands whole.
func wide(text []byte) (n int) {
	columns := func(line string) int { return utf8.RuneCountInString(strings.ReplaceAll(line, "\t", "    ")) }
	lines := strings.Split(string(text), "\n")
	whole := map[int]bool{}
	var scan scanner.Scanner
	file := token.NewFileSet().AddFile("", -1, len(text))
	scan.Init(file, text, nil, scanner.ScanComments)
	for {
		at, tok, literal := scan.Scan()
		if tok == token.EOF {
			break
		}
		if tok == token.STRING {
			for i, piece := range strings.Split(literal, "\n") {
				line := file.Line(at) + i
				whole[line] = whole[line] || columns(piece) > wideLine/2
			}
		}
	}
	for i, line := range lines {
		if columns(line) > wideLine && !whole[i+1] {
			n++
		}
	}
	return n
}
