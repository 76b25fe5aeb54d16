package main

import (
	"io/fs"
	"os"
	"os/exec"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/ingot-events/ingot/examples"
	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/pipeline"
)

// TestExamplePages types what the page of each example says beside an ingot dev that runs the
// example's pipeline.yaml, and compares what is printed. On a page, … stands for anything, and a
// command without output may print anything. What is to be saved in a file is there before.
func TestExamplePages(t *testing.T) {
	if testing.Short() {
		t.Skip("runs each command in a process of its own, which -short leaves out")
	}
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("bash is not on PATH; to have the sessions of the examples run, install it")
	}
	files, err := fs.Glob(examples.Files, "*/pipeline.yaml")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		if slices.Contains([]string{"migrate", "publish"}, path.Dir(file)) {
			continue // their pages are docs/migrating.md and docs/publishing.md
		}
		t.Run(path.Dir(file), func(t *testing.T) {
			page := must.Read(t, "../../examples/"+path.Dir(file)+"/README.md")
			text, err := fs.ReadFile(examples.Files, file)
			must.Succeed(t, err)
			labelled(t, string(page), path.Dir(file))
			everyPattern(t, string(page), file)
			_, session, ok := strings.Cut(string(page), "```text session\n$ ")
			session, _, ended := strings.Cut(session, "```\n")
			if !ok || !ended {
				t.Fatal("the page has no session")
			}
			folder, err := fs.Sub(examples.Files, path.Dir(file))
			must.Succeed(t, err)
			dir := t.TempDir() + "/example"
			if err := os.CopyFS(dir, folder); err != nil { // its schemas too
				t.Fatal(err)
			}
			s := newStoryIn(t, bash, dir, string(text))
			for _, file := range strings.Split(string(page), "```json ")[1:] {
				name, rest, _ := strings.Cut(file, "\n")
				lines, _, _ := strings.Cut(rest, "```\n")
				s.write(name, lines)
			}
			for part := range strings.SplitSeq(session, "\n$ ") {
				line, out, _ := strings.Cut(strings.TrimSuffix(part, "\n"), "\n")
				if out == "" {
					s.run(line)
				} else {
					s.prints(line+"\n", out+"\n")
				}
			}
		})
	}
}

// labelled shows that the page says, before anything else, how its demo is run and where the data
// comes from, and that it then begins with the questions.
func labelled(t *testing.T, page, name string) {
	t.Helper()
	intro, rest, _ := strings.Cut(page, "\n## ")
	must.Say(t, intro, "Its data is SYNTHETIC: ", "\n    ingot demo --example "+name+"\n")
	if !strings.HasPrefix(rest, "What is asked\n") {
		t.Error("the page does not begin with what is asked")
	}
}

var inTable = regexp.MustCompile("`([a-z_]+)[^`]*`")

// everyPattern holds the table of a page's questions and the patterns of its pipeline.yaml to each
// other.
func everyPattern(t *testing.T, page, file string) {
	t.Helper()
	p, err := pipeline.Load(examples.Files, file, pipeline.CheckOnly())
	must.Succeed(t, err)
	asked := map[string]bool{}
	_, table, _ := strings.Cut(page, "| question | pattern |")
	table, _, _ = strings.Cut(table, "\n\n")
	for row := range strings.Lines(table) {
		if cells := strings.Split(row, "|"); len(cells) > 3 {
			for _, found := range inTable.FindAllStringSubmatch(cells[2], -1) {
				asked[found[1]] = true
			}
		}
	}
	for _, pattern := range p.Patterns() {
		if !asked[pattern.Name()] {
			t.Errorf("no question of the page is answered by %s", pattern.Name())
		}
		delete(asked, pattern.Name())
	}
	for name := range asked {
		t.Errorf("%s is not a pattern of %s", name, file)
	}
}
