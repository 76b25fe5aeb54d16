package docs

import (
	"go/scanner"
	"go/token"
	"os/exec"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"

	"golang.org/x/mod/modfile"

	"github.com/ingot-events/ingot/internal/base/excerpt"
	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/internal/kit/sampleshop"
)

var link = regexp.MustCompile(`\]\(([^)\s]+)\)`)

// TestLinks shows that every relative link leads to a file of the repository, and that its anchor
// is a heading there.
func TestLinks(t *testing.T) {
	for _, name := range documents(t) {
		for _, to := range groups(link, read(t, name)) {
			target, anchor, _ := strings.Cut(to, "#")
			if strings.Contains(target, "://") {
				continue
			}
			file := name
			if target != "" {
				file = path.Join(path.Dir(name), target)
			}
			if !exists(file) {
				t.Errorf("%s: the link %s leads nowhere", name, to)
				continue
			}
			if anchor != "" && !slices.Contains(anchors(t, file), anchor) {
				t.Errorf("%s: the link %s: there is no such heading in %s", name, to, file)
			}
		}
	}
}

func TestSlug(t *testing.T) {
	for title, want := range map[string]string{"Queue age": "queue-age", "`ingot check`": "ingot-check",
		"What is kept, and where": "what-is-kept-and-where"} {
		must.Equal(t, slug(title), want, title)
	}
}

// mentioned finds the names of documents in documents and comments. Each named document must exist.
// The alarms of template.yaml name some, for example.
var mentioned = regexp.MustCompile(`docs/[a-z]+\.md`)

func TestMentionedDocumentsExist(t *testing.T) {
	for _, name := range []string{sampleshop.Template, sampleshop.Pipeline, "events/README.md", "README.md", "CONTRIBUTING.md",
		"CHANGELOG.md", "Makefile"} {
		for _, doc := range mentioned.FindAllString(read(t, name), -1) {
			must.Equal(t, exists(doc), true, name, doc)
		}
	}
}

var (
	pageCall    = regexp.MustCompile(`excerpt\.Page\("([^"]*)"\)`)
	pageAddress = regexp.MustCompile(`(https://\S*/)?\bdocs/([a-z-]+\.md(#[a-z0-9-]+)?)`)
)

// checkPage reports an address of a page that does not exist or lacks the heading.
func checkPage(t *testing.T, where, page string) {
	t.Helper()
	name, anchor, _ := strings.Cut(page, "#")
	if !exists("docs/" + name) {
		t.Errorf("%s names docs/%s, which is not there", where, name)
	} else if anchor != "" && !slices.Contains(anchors(t, "docs/"+name), anchor) {
		t.Errorf("%s names docs/%s: there is no such heading", where, page)
	}
}

// checkAddresses reports a page that a text does not name by its address, or that does not exist.
func checkAddresses(t *testing.T, where, text string) (found int) {
	t.Helper()
	for _, m := range pageAddress.FindAllStringSubmatch(text, -1) {
		must.Equal(t, m[1]+"docs/", excerpt.Page(""), where, m[0])
		checkPage(t, where, m[2])
		found++
	}
	return found
}

// TestPagesOfMessages shows that the tool and the functions name a page only by its address, and
// that each such page has the heading.
func TestPagesOfMessages(t *testing.T) {
	cmd := exec.Command("go", "list", "-deps", "-f",
		`{{if .Module}}{{if .Module.Main}}{{$d := .Dir}}{{range .GoFiles}}{{$d}}/{{.}}{{"\n"}}{{end}}{{end}}{{end}}`, "./cmd/...")
	cmd.Dir = root
	out, err := cmd.Output()
	must.Succeed(t, err)
	called := 0
	for _, name := range strings.Fields(string(out)) {
		text := must.Read(t, name)
		for _, page := range groups(pageCall, string(text)) {
			checkPage(t, name, page)
			called++
		}
		files := token.NewFileSet()
		var s scanner.Scanner
		s.Init(files.AddFile(name, -1, len(text)), text, nil, 0)
		for _, kind, literal := s.Scan(); kind != token.EOF; _, kind, literal = s.Scan() {
			if kind == token.STRING {
				checkAddresses(t, name, literal)
			}
		}
	}
	if called < 5 {
		t.Errorf("only %d messages name a page", called)
	}
}

// TestPagesOfARepository shows the same of the files of a new repository. Its template.yaml names a
// page in each alarm.
func TestPagesOfARepository(t *testing.T) {
	found := 0
	for name, text := range repository(t) {
		found += checkAddresses(t, name, text)
	}
	if alarms := strings.Count(read(t, sampleshop.Template), "AlarmDescription:"); found < alarms {
		t.Errorf("%d pages are named, and there are %d alarms", found, alarms)
	}
}

// TestAddressOfPages shows that pages are where the module is.
func TestAddressOfPages(t *testing.T) {
	must.Equal(t, excerpt.Page(""), "https://"+modfile.ModulePath([]byte(read(t, "go.mod")))+"/blob/main/docs/")
}
