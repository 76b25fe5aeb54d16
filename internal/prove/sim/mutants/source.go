package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/scanner"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// source holds the packages of the module. Each is read when it is needed.
type source struct {
	root     string
	folders  []string // all of them
	packages map[string]*packageSource
}

func newSource(root string) *source {
	return &source{root: root, packages: map[string]*packageSource{}}
}

// packageSource holds the files of one package, and the places of its functions and types in them.
type packageSource struct {
	name  string
	files map[string]string // by path below root
	decls map[string]place  // by name: put.miss, NewBatch, put
}

// place is a part of a file.
type place struct {
	file     string
	from, to int
}

// folder returns where a package is. The name of a package is as much of the end of its path as is
// needed to tell it from others: rows, or table/rows.
func (s *source) folder(name string) (string, error) {
	if s.folders == nil {
		err := filepath.WalkDir(s.root, func(path string, d fs.DirEntry, err error) error {
			if err != nil || !d.IsDir() {
				return err
			}
			if path != s.root && (strings.HasPrefix(d.Name(), ".") || d.Name() == "testdata") {
				return filepath.SkipDir
			}
			below, err := filepath.Rel(s.root, path)
			s.folders = append(s.folders, filepath.ToSlash(below))
			return err
		})
		if err != nil {
			return "", err
		}
	}
	if slices.Contains(s.folders, name) {
		return name, nil
	}
	var found []string
	for _, folder := range s.folders {
		if strings.HasSuffix(folder, "/"+name) {
			found = append(found, folder)
		}
	}
	if len(found) != 1 {
		return "", fmt.Errorf("%d folders are named %s, and one is needed: %s", len(found), name, strings.Join(found, ", "))
	}
	return found[0], nil
}

// load reads the package in a folder below root, without its tests.
func (s *source) load(folder string) (*packageSource, error) {
	if p := s.packages[folder]; p != nil {
		return p, nil
	}
	paths, err := filepath.Glob(filepath.Join(s.root, filepath.FromSlash(folder), "*.go"))
	if err != nil {
		return nil, err
	}
	p := &packageSource{files: map[string]string{}, decls: map[string]place{}}
	for _, path := range paths {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		if err := p.read(folder+"/"+filepath.Base(path), string(text)); err != nil {
			return nil, err
		}
	}
	if len(p.files) == 0 {
		return nil, fmt.Errorf("there is no package in %s", folder)
	}
	s.packages[folder] = p
	return p, nil
}

func (p *packageSource) read(path, text string) error {
	set := token.NewFileSet()
	f, err := parser.ParseFile(set, path, text, parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	p.name, p.files[path] = f.Name.Name, text
	at := func(n ast.Node) place { return place{path, set.Position(n.Pos()).Offset, set.Position(n.End()).Offset} }
	for _, d := range f.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			name := d.Name.Name
			if d.Recv != nil {
				name = receiver(d.Recv.List[0].Type) + "." + name
			}
			whole := at(d)
			whole.from = set.Position(d.Type.Func).Offset // without its comment
			p.decls[name] = whole
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				if t, ok := spec.(*ast.TypeSpec); ok {
					p.decls[t.Name.Name] = at(t)
				}
			}
		}
	}
	return nil
}

// receiver returns the name of a receiver's type.
func receiver(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.StarExpr:
		return receiver(e.X)
	case *ast.IndexExpr:
		return receiver(e.X)
	case *ast.IndexListExpr:
		return receiver(e.X)
	case *ast.Ident:
		return e.Name
	}
	return ""
}

// find returns the package, and the part of it, that a name such as esm.Stream.Due stands for.
func (s *source) find(symbol string) (folder string, at place, err error) {
	last := strings.LastIndexByte(symbol, '/') + 1
	dot := strings.IndexByte(symbol[last:], '.')
	if dot < 0 {
		return "", place{}, fmt.Errorf("%q names no function: it needs a folder, a dot and a name", symbol)
	}
	name := symbol[last+dot+1:]
	if folder, err = s.folder(symbol[:last+dot]); err != nil {
		return "", place{}, err
	}
	p, err := s.load(folder)
	if err != nil {
		return "", place{}, fmt.Errorf("%s: %w", symbol, err)
	}
	at, ok := p.decls[name]
	if !ok {
		return "", place{}, fmt.Errorf("package %s has no function or type %s any more", folder, name)
	}
	return folder, at, nil
}

// word is a token of Go with its place in a text.
type word struct {
	text     string
	from, to int
}

// words returns the tokens of a text. It leaves out comments, line breaks, and commas that are
// there only because of a line break.
func words(text string) (list []word) {
	set := token.NewFileSet()
	file := set.AddFile("", set.Base(), len(text))
	var s scanner.Scanner
	s.Init(file, []byte(text), func(token.Position, string) {}, 0) // text that is not a token becomes a word that never matches
	for {
		pos, tok, literal := s.Scan()
		if tok == token.EOF {
			return list
		}
		if tok == token.SEMICOLON && literal != ";" {
			continue
		}
		if !tok.IsLiteral() {
			literal = tok.String()
		}
		closing := tok == token.RPAREN || tok == token.RBRACE || tok == token.RBRACK
		if n := len(list); closing && n > 0 && list[n-1].text == "," {
			list = list[:n-1]
		}
		from := file.Offset(pos)
		list = append(list, word{literal, from, from + len(literal)})
	}
}

// replace returns text with old replaced. old must occur in it exactly once. Both are compared word
// by word.
func replace(text, old, with string) (string, error) {
	in, of := words(text), words(old)
	found, at := 0, 0
	for i := 0; i+len(of) <= len(in) && len(of) > 0; i++ {
		same := true
		for n := range of {
			same = same && in[i+n].text == of[n].text
		}
		if same {
			found, at = found+1, i
		}
	}
	if found != 1 {
		return "", fmt.Errorf("this text occurs %d times, not once:\n%s", found, old)
	}
	return text[:in[at].from] + with + text[in[at+len(of)-1].to:], nil
}
