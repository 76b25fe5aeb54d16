package scaffold

import (
	"bytes"
	"fmt"
	"go/format"
	"io/fs"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/diff"

	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/internal/kit/sampleshop"
	"github.com/ingot-events/ingot/internal/tool/check"
	"github.com/ingot-events/ingot/internal/tool/textfile"
)

// root is the root of the repository, relative to this package.
const root = "../../../"

func sampleTemplate(t *testing.T) []byte {
	t.Helper()
	text := must.Read(t, root+sampleshop.Template)
	return text
}

// With the sample's own indexes the template is the sample's.
func TestTemplateOfTheSampleIsTheSample(t *testing.T) {
	text, err := Template(sampleTemplate(t), []string{"GSI1", "GSI2", "GSI3"})
	must.Succeed(t, err)
	if !bytes.Equal(text, sampleTemplate(t)) {
		t.Errorf("it differs:\n%s", diff.Diff("sample", sampleTemplate(t), "made", text))
	}
}

// ingot check finds nothing wrong with the template that is made for a pipeline, whatever indexes
// the pipeline has.
func TestTemplateFitsAnyIndexes(t *testing.T) {
	for _, indexes := range [][]string{nil, {"GSI1"}, {"GSI2", "GSI11"}, {"GSI1", "GSI10", "GSI20"}} {
		text, err := Template(sampleTemplate(t), indexes)
		must.Succeed(t, err)
		r, err := check.Run(check.Input{Pipeline: textfile.File{Name: "pipeline.yaml", Text: withIndexes(indexes)},
			Template: &textfile.File{Name: "template.yaml", Text: text}})
		must.Succeed(t, err)
		for _, f := range r.Findings {
			t.Errorf("indexes %v: %s", indexes, f)
		}
		must.Equal(t, strings.Count(string(text), "- IndexName: GSI"), len(indexes), indexes)
	}
}

func withIndexes(names []string) []byte {
	text := "ingot: 1\nepoch: 1\ntype: \"{type}\"\nevents:\n  visit:\n    id: \"{id}\"\n    at: \"{at}\"\n    key: {pk: \"VISIT#{id}\", sk: VISIT}\n"
	for i, name := range names {
		if i == 0 {
			text += "    indexes:\n"
		}
		text += fmt.Sprintf("      %s: {pk: \"%s#{site}\", sk: \"{@at | time}#{@id}\"}\n", name, name)
	}
	return []byte(text)
}

// A template that lacks the model for indexes is refused. It is not copied without them.
func TestTemplateWithoutItsModel(t *testing.T) {
	if _, err := Template([]byte("Resources: {}\n"), []string{"GSI1"}); err == nil {
		t.Error("it was taken")
	}
}

// Every Go file of a repository is formatted, whatever the name of the module. No file has a gap.
func TestFilesAreFormatted(t *testing.T) {
	for _, module := range []string{"example.com/shop", "shop", "example.com/My-Shop.v2", "example.com/go"} {
		r, err := New(Config{Module: module})
		must.Succeed(t, err)
		list, err := r.Files(os.DirFS(root))
		must.Succeed(t, err)
		more, err := r.Migrate(os.DirFS(root))
		must.Succeed(t, err)
		noGo, err := r.NoGo(os.DirFS(root))
		must.Succeed(t, err)
		for _, f := range slices.Concat(list, more, noGo) {
			must.Equal(t, strings.Contains(string(f.Text), "[["), false, f.Name)
			if !strings.HasSuffix(f.Name, ".go") {
				continue
			}
			if formatted, err := format.Source(f.Text); err != nil || !bytes.Equal(formatted, f.Text) {
				t.Errorf("%s of %s: not as gofmt has it (%v)\n%s", f.Name, module, err, f.Text)
			}
		}
	}
}

// A repository without Go code downloads from the release of the tool that has made it, or else
// from the newest. One with Go code whose Ingot is a folder says what to do until there is a
// release.
func TestWhereIngotComesFrom(t *testing.T) {
	for _, c := range []struct{ version, replace, from string }{
		{"v1.2.3", "", "/releases/download/v1.2.3/ingot-linux-amd64.tar.gz"},
		{"", "/src/ingot", "/releases/latest/download/ingot-linux-amd64.tar.gz"},
	} {
		r, err := New(Config{Module: "example.com/shop", Version: c.version, Replace: c.replace})
		must.Succeed(t, err)
		must.Say(t, fileOf(t, r.NoGo, ".github/workflows/ci.yml"), c.from)
		must.Say(t, fileOf(t, r.NoGo, "Makefile"), "\nFROM = "+Releases)
		readme := fileOf(t, r.Files, "README.md")
		must.Equal(t, strings.Contains(readme, "`/src/ingot`") && strings.Contains(readme, "`go mod vendor`"), c.replace != "")
	}
}

// Each repository has AGENTS.md: one without Go code has what all have.
func TestAgents(t *testing.T) {
	r, err := New(Config{Module: "example.com/shop"})
	must.Succeed(t, err)
	must.Equal(t, fileOf(t, r.NoGo, "AGENTS.md"), string(must.Read(t, root+"AGENTS.md")))
}

func fileOf(t *testing.T, files func(fs.FS) ([]File, error), name string) string {
	t.Helper()
	list, err := files(os.DirFS(root))
	must.Succeed(t, err)
	i := slices.IndexFunc(list, func(f File) bool { return f.Name == name })
	if i < 0 {
		t.Fatal(name + " is missing")
	}
	return string(list[i].Text)
}

func TestBadModules(t *testing.T) {
	for _, module := range []string{"", "a b", "example.com/", "/shop", "example.com/12", "example.com/é"} {
		if _, err := New(Config{Module: module}); err == nil ||
			!strings.Contains(err.Error(), "write one with --module, such as example.com/shop") {
			t.Errorf("module %q: %v", module, err)
		}
	}
}

func TestNames(t *testing.T) {
	for module, want := range map[string][2]string{
		"example.com/shop":       {"shop", "shop"},
		"example.com/My_Shop.v2": {"myshopv2", "My-Shop-v2"},
		"example.com/2fast":      {"fast", "fast"},
		"example.com/select":     {"selectevents", "select"},
		"example.com/ingot":      {"ingotevents", "ingot"},
	} {
		must.Equal(t, [2]string{packageOf(module), stackName(module)}, want, module)
	}
}
