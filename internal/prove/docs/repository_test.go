package docs

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/internal/tool/scaffold"
)

// repository returns the files of a new repository, by name: what ingot init shop writes.
func repository(t *testing.T) map[string]string {
	t.Helper()
	r, err := scaffold.New(scaffold.Config{Module: "example.com/shop"})
	must.Succeed(t, err)
	list, err := r.Files(os.DirFS(root))
	must.Succeed(t, err)
	files := map[string]string{}
	for _, f := range list {
		files[f.Name] = string(f.Text)
	}
	return files
}

var (
	makeCommand  = regexp.MustCompile("(?m)(?:^ *|`)make ([^`\\n]+)")
	stackOption  = regexp.MustCompile(`--stack ([a-z][\w-]*)`)
	fileName     = regexp.MustCompile("(?:\\b|`)((?:events/)?[a-z][\\w-]*\\.(?:ndjson|toml|yaml))\\b")
	makeVariable = regexp.MustCompile(`^([A-Z]+)=`)
)

// ofReader lists files that the pages tell the reader to write.
var ofReader = map[string]bool{"messages.ndjson": true, "gifts.ndjson": true, "publish.yaml": true}

// TestPagesFitANewRepository shows that each make target, variable of make, stack and file that the
// pages about a stack name is in a repository that ingot init has made.
func TestPagesFitANewRepository(t *testing.T) {
	files := repository(t)
	targets, stacks, names := 0, 0, 0
	for _, page := range []string{deployPage, watchPage, repairPage} {
		text := read(t, page)
		for _, command := range groups(makeCommand, text) {
			for _, word := range strings.Fields(command) {
				if v := makeVariable.FindStringSubmatch(word); v != nil && !strings.Contains(files["Makefile"], "$("+v[1]+")") {
					t.Errorf("%s: the Makefile does not use %s", page, v[1])
				} else if v == nil && !strings.Contains(files["Makefile"], "\n"+word+":") {
					t.Errorf("%s: the Makefile has no target %s", page, word)
				}
				targets++
			}
		}
		for _, stack := range groups(stackOption, text) {
			if !strings.Contains(files["samconfig.toml"], `stack_name = "`+stack+`"`) {
				t.Errorf("%s: samconfig.toml has no stack %s", page, stack)
			}
			stacks++
		}
		for _, name := range groups(fileName, text) {
			if files[name] == "" && !ofReader[name] {
				t.Errorf("%s: there is no file %s", page, name)
			}
			names++
		}
	}
	if targets < 8 || stacks < 4 || names < 10 {
		t.Errorf("only %d words of make, %d stacks and %d files were found", targets, stacks, names)
	}
}
