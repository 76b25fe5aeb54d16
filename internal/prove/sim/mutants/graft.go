package main

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strings"
)

// activeVariable names the mutant that a process runs. Without it, the process runs our own code.
const activeVariable = "INGOT_MUTANT"

// graft puts all mutants of a list into one program, because building a program for each of them
// takes far longer than the hunt does. Each function that mutants change gets a copy for each of
// those mutants. The function begins by asking whether it must run one of the copies:
//
//	func (p *put) miss(w *write) { if mutant_unread_is_absent { p.miss_mutant_unread_is_absent(w); return }
//
// The files that graft returns are laid over ours. Our own files do not change.
func (s *source) graft(list []Mutant) (map[string]string, error) {
	g := &grafting{source: s, functions: map[string]*function{}, changes: map[string][]change{}, added: map[string]string{}}
	for i := range list {
		if err := g.add(&list[i]); err != nil {
			return nil, fmt.Errorf("mutant %s no longer applies; write its edits anew: %w", list[i].Name, err)
		}
	}
	return g.files()
}

type grafting struct {
	*source
	functions map[string]*function // by symbol
	changes   map[string][]change  // by file
	added     map[string]string    // new files
}

// change is a part of a file that is replaced.
type change struct {
	from, to int
	with     string
}

// function is a function that mutants change.
type function struct {
	place
	text   string // every parameter in it has a name
	body   int    // where the body begins in text
	name   place  // where its name is in text
	call   string // a call with its own parameters, and %s for the name
	starts string // what it asks first
	copies string
}

func (g *grafting) add(m *Mutant) error {
	flag := "mutant_" + strings.ReplaceAll(m.Name, "-", "_")
	folders := map[string]bool{}
	var order []*function
	edited := map[*function]string{}
	for _, e := range m.Edits {
		f, folder, err := g.function(e.In)
		if err != nil {
			return err
		}
		folders[folder] = true
		text, again := edited[f]
		if !again {
			order, text = append(order, f), f.text
		}
		head, body := text[:f.body], text[f.body:]
		if e.Old == "" {
			body = "\n" + e.New + body
		} else if body, err = replace(body, e.Old, e.New); err != nil {
			return fmt.Errorf("in %s %w", e.In, err)
		}
		edited[f] = head + body
	}
	for _, f := range order {
		name := f.text[f.name.from:f.name.to] + "_" + flag
		call := fmt.Sprintf(f.call, name)
		f.starts += " if " + flag + " { " + call + " };"
		text := edited[f]
		f.copies += "\n\n" + text[:f.name.from] + name + text[f.name.to:]
	}
	for _, field := range m.Fields {
		if err := g.field(field); err != nil {
			return err
		}
	}
	for folder := range folders {
		p := g.packages[folder]
		g.added[folder+"/"+flag+".go"] = fmt.Sprintf("package %s\n\nimport \"os\"\n\nvar %s = os.Getenv(%q) == %q\n", p.name, flag,
			activeVariable, m.Name)
	}
	for _, h := range m.Helpers {
		folder, err := g.folder(h.Package)
		if err != nil {
			return err
		}
		p, err := g.load(folder)
		if err != nil {
			return err
		}
		g.added[folder+"/"+flag+"_helper.go"] = "package " + p.name + "\n\n" + h.Text
	}
	return nil
}

// field adds a field to a struct.
func (g *grafting) field(f Field) error {
	folder, at, err := g.find(f.In)
	if err != nil {
		return err
	}
	text := g.packages[folder].files[at.file]
	if text[at.to-1] != '}' {
		return fmt.Errorf("%s is not a struct any more", f.In)
	}
	g.changes[at.file] = append(g.changes[at.file], change{at.to - 1, at.to - 1, "\n" + f.Text + "\n"})
	return nil
}

// function reads a function of ours, once.
func (g *grafting) function(symbol string) (*function, string, error) {
	folder, at, err := g.find(symbol)
	if err != nil {
		return nil, "", err
	}
	if f := g.functions[symbol]; f != nil {
		return f, folder, nil
	}
	f := &function{place: at}
	if err := f.read(g.packages[folder].files[at.file][at.from:at.to]); err != nil {
		return nil, "", fmt.Errorf("%s: %w", symbol, err)
	}
	g.functions[symbol] = f
	return f, folder, nil
}

// read takes the text of a function. It gives a name to every parameter that has none, and makes a
// call of the function.
func (f *function) read(text string) error {
	const before = "package p\n"
	parse := func() (*ast.FuncDecl, func(token.Pos) int, error) {
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, "", before+text, parser.SkipObjectResolution)
		if err != nil {
			return nil, nil, fmt.Errorf("it is not a function any more: %w", err)
		}
		d, ok := file.Decls[0].(*ast.FuncDecl)
		if !ok || d.Body == nil {
			return nil, nil, fmt.Errorf("it is not a function with a body any more")
		}
		return d, func(p token.Pos) int { return set.Position(p).Offset - len(before) }, nil
	}
	d, at, err := parse()
	if err != nil {
		return err
	}
	var names []change
	for _, list := range []*ast.FieldList{d.Recv, d.Type.Params} {
		for i, field := range fields(list) {
			if len(field.Names) == 0 {
				names = append(names, change{at(field.Type.Pos()), at(field.Type.Pos()), fmt.Sprintf("unnamed%d ", i)})
			}
			for n, name := range field.Names {
				if name.Name == "_" {
					names = append(names, change{at(name.Pos()), at(name.End()), fmt.Sprintf("unnamed%d_%d", i, n)})
				}
			}
		}
	}
	text = apply(text, names)
	if d, at, err = parse(); err != nil {
		return err
	}
	f.text, f.body, f.name = text, at(d.Body.Lbrace)+1, place{from: at(d.Name.Pos()), to: at(d.Name.End())}
	var arguments []string
	for _, field := range fields(d.Type.Params) {
		for _, name := range field.Names {
			argument := name.Name
			if _, variadic := field.Type.(*ast.Ellipsis); variadic {
				argument += "..."
			}
			arguments = append(arguments, argument)
		}
	}
	f.call = "%s(" + strings.Join(arguments, ", ") + ")"
	if d.Recv != nil {
		f.call = d.Recv.List[0].Names[0].Name + "." + f.call
	}
	if d.Type.Results == nil {
		f.call += "; return"
	} else {
		f.call = "return " + f.call
	}
	return nil
}

func fields(list *ast.FieldList) []*ast.Field {
	if list == nil {
		return nil
	}
	return list.List
}

// files returns all files that differ from ours, by path below root.
func (g *grafting) files() (map[string]string, error) {
	for _, f := range g.functions {
		g.changes[f.file] = append(g.changes[f.file], change{f.from, f.to, f.text[:f.body] + f.starts + f.text[f.body:] + f.copies})
	}
	files := g.added
	for _, p := range g.packages {
		for path, text := range p.files {
			if changes := g.changes[path]; len(changes) > 0 {
				files[path] = apply(text, changes)
			}
		}
	}
	for path, text := range files {
		if _, err := parser.ParseFile(token.NewFileSet(), path, text, parser.SkipObjectResolution); err != nil {
			return nil, fmt.Errorf("what the mutants make of it is not Go: %w", err)
		}
	}
	return files, nil
}

// apply makes changes to a text. The changes must not overlap.
func apply(text string, changes []change) string {
	slices.SortStableFunc(changes, func(a, b change) int { return cmp.Compare(a.from, b.from) })
	var b strings.Builder
	last := 0
	for _, c := range changes {
		b.WriteString(text[last:c.from] + c.with)
		last = c.to
	}
	return b.String() + text[last:]
}
