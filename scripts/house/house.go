package main

import (
	"cmp"
	"fmt"
	"go/ast"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// number is one measured number and its budget.
type number struct {
	what    string
	now     int
	largest []string // what to look at first if it is too much
	held    bool     // it has a budget
	budget
}

// over reports whether a number is more than it may be.
func (n number) over() bool { return n.held && n.now > n.allowed() }

// heart lists the folders that store and count events: to change how an event is stored or
// counted, read these.
var heart = []string{"internal/plan/lanes", "internal/table/rows", "internal/table/generations", "internal/table/plain",
	"internal/table/put", "internal/table/count", "handler"}

// notHeart lists files of these folders that only tools need, and those that come with a
// declaration of their own: payloads in the payload bucket, and types that are migrated.
var notHeart = []string{
	"internal/table/generations/file.go", "internal/table/plain/fetch.go", "internal/table/plain/payload.go",
	"internal/table/put/put_gate.go", "internal/table/put/put_payloads.go", "internal/table/rows/control.go",
	"internal/table/rows/item.go",
}

type part struct {
	name    string
	folders []string
}

// parts are what the source consists of for somebody who looks for a place to read. A folder is in
// the first part that names it or a folder above it; all others are in the last.
var parts = []part{
	{"the tool", []string{"cmd/ingot", "internal/tool", "examples"}},
	{"AWS on this machine", []string{"internal/esm", "internal/local", "internal/kit", "internal/testworld", "ingottest"}},
	{"the proof", []string{"internal/prove", "integration", "scripts", "events"}},
	{"library", []string{"store", "verify", "worker", "cmd/worker"}},
	{"moving a table", []string{"migrate", "cmd/migrate"}},
	{"publishing", []string{"publish", "cmd/publish"}},
	{"declaration and functions", []string{""}},
}

// tokensByPart counts the tokens of each part.
func tokensByPart(code []*source) []number {
	list := make([]number, len(parts))
	for i, p := range parts {
		list[i].what = "tokens of source: " + p.name
	}
	for _, s := range code {
		i := slices.IndexFunc(parts, func(p part) bool {
			return slices.ContainsFunc(p.folders, func(f string) bool { return f == "" || strings.HasPrefix(s.folder()+"/", f+"/") })
		})
		list[i].now += s.tokens
	}
	return list
}

// measure returns the numbers of the checkout in root.
func measure(root string) ([]number, error) {
	list, err := sources(root)
	if err != nil {
		return nil, err
	}
	words, err := pages(root)
	if err != nil {
		return nil, err
	}
	shipped, err := shippedFolders(root)
	if err != nil {
		return nil, err
	}
	code := slices.DeleteFunc(slices.Clone(list), func(s *source) bool { return s.test })
	core := slices.DeleteFunc(slices.Clone(code), func(s *source) bool {
		return !slices.Contains(heart, s.folder()) || slices.Contains(notHeart, s.name)
	})
	lambda := slices.DeleteFunc(slices.Clone(code), func(s *source) bool { return !shipped[s.name] })
	line, err := commandLine(root)
	if err != nil {
		return nil, err
	}
	numbers := slices.Concat([]number{
		{what: sourceTokens, now: sum(code, tokens)},
		{what: testTokens, now: sum(list, tokens) - sum(code, tokens)},
		{what: shippedLines, now: sum(lambda, lines)},
		{what: heartLines, now: sum(core, lines)},
		largest(heartFile, core, lines),
		longest(heartFunction, core),
		{what: wideLines, now: sum(list, func(s *source) int { return s.wide })},
	}, words, line, packages(code), []number{designs(code), arrows(code)}, tokensByPart(code))
	for i, n := range numbers {
		numbers[i].budget, numbers[i].held = budgets[n.what]
	}
	return numbers, nil
}

func lines(s *source) int  { return s.code }
func tokens(s *source) int { return s.tokens }

func sum(list []*source, of func(*source) int) (all int) {
	for _, s := range list {
		all += of(s)
	}
	return all
}

// shown is how many of the largest things are named.
const shown = 3

// top makes a number of the largest of some named sizes.
func top(what string, sizes map[string]int) number {
	names := make([]string, 0, len(sizes))
	for name := range sizes {
		names = append(names, name)
	}
	slices.SortFunc(names, func(a, b string) int { return cmp.Or(sizes[b]-sizes[a], strings.Compare(a, b)) })
	n := number{what: what}
	for i, name := range names[:min(shown, len(names))] {
		if i == 0 {
			n.now = sizes[name]
		}
		n.largest = append(n.largest, fmt.Sprintf("%6d %s", sizes[name], name))
	}
	return n
}

func largest(what string, list []*source, of func(*source) int) number {
	sizes := map[string]int{}
	for _, s := range list {
		sizes[s.name] = of(s)
	}
	return top(what, sizes)
}

func longest(what string, list []*source) number {
	sizes := map[string]int{}
	for _, s := range list {
		for _, f := range s.funcs {
			name := s.name + ": " + f.name
			sizes[name] = max(sizes[name], f.lines)
		}
	}
	return top(what, sizes)
}

// room returns the folder at the top, or directly under internal/, that holds a folder.
func room(folder string) string {
	parts := strings.Split(folder, "/")
	if parts[0] == "internal" && len(parts) > 1 {
		return "internal/" + parts[1]
	}
	return parts[0]
}

// designs counts the wrong designs that the simulation must find: each has a name.
func designs(code []*source) number {
	n := number{what: "wrong designs in the simulation"}
	for _, s := range code {
		if s.folder() != "internal/prove/sim/mutants" {
			continue
		}
		ast.Inspect(s.file, func(node ast.Node) bool {
			if member, ok := node.(*ast.KeyValueExpr); ok {
				if key, ok := member.Key.(*ast.Ident); ok && key.Name == "Name" {
					n.now++
				}
			}
			return true
		})
	}
	return n
}

// arrows counts the pairs of rooms of which one imports the other.
func arrows(code []*source) number {
	pairs, from := map[[2]string]bool{}, map[string]int{}
	for _, s := range code {
		for _, spec := range s.file.Imports {
			path, own := strings.CutPrefix(strings.Trim(spec.Path.Value, `"`), module)
			pair := [2]string{room(s.folder()), room(path)}
			if own && pair[0] != pair[1] && !pairs[pair] {
				pairs[pair] = true
				from[pair[0]]++
			}
		}
	}
	n := top("pairs of folders of which one imports the other", from)
	n.now = len(pairs)
	return n
}

// packages measures the largest packages, beside the proof and of the proof.
func packages(code []*source) (numbers []number) {
	for _, what := range []string{largestCode, largestProof} {
		lines := map[string]int{}
		for _, s := range code {
			if slices.Contains([]string{"internal/prove", "integration"}, room(s.folder())) == (what == largestProof) {
				lines[s.folder()] += s.code
			}
		}
		numbers = append(numbers, top(what, lines))
	}
	return numbers
}

// shippedFolders returns the files of this module that are built into the two functions.
func shippedFolders(root string) (map[string]bool, error) {
	cmd := exec.Command("go", "list", "-deps", "-tags=lambda.norpc", "-f", "{{.ImportPath}}{{range .GoFiles}} {{.}}{{end}}", "./cmd/ingest",
		"./cmd/streams")
	cmd.Dir = root
	cmd.Env = append(cmd.Environ(), "GOFLAGS=", "CGO_ENABLED=0", "GOOS=linux")
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w", err)
	}
	files := map[string]bool{}
	for line := range strings.Lines(string(out)) {
		fields := strings.Fields(line)
		folder, own := strings.CutPrefix(fields[0]+"/", module)
		if !own {
			continue
		}
		for _, name := range fields[1:] {
			files[folder+name] = true
		}
	}
	return files, nil
}

// pages counts the words of README and of docs/.
func pages(root string) ([]number, error) {
	names, err := tracked(root, "README.md", "docs/*.md")
	if err != nil {
		return nil, err
	}
	words, all := map[string]int{}, 0
	for _, name := range names {
		text, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(name)))
		if os.IsNotExist(err) {
			continue
		}
		if err != nil {
			return nil, err
		}
		words[name] = len(strings.Fields(string(text)))
		all += words[name]
	}
	return []number{{what: pageWords, now: all}, top(longestPage, words)}, nil
}
