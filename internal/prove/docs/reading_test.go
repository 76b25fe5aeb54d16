package docs

import (
	"io/fs"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/ingot-events/ingot/keys"
)

// The heart is read in at most twelve files, and in one sentence each. TestLinks shows that they
// exist.
func TestReadingList(t *testing.T) {
	_, list, _ := strings.Cut(read(t, "docs/reading.md"), "## The heart, in twelve files")
	list, _, _ = strings.Cut(list, "To follow one event")
	files := regexp.MustCompile(`(?m)^\d+\. \[\S+\.go\]\(\.\./\S+\.go\): `).FindAllString(list, -1)
	if len(files) != 12 {
		t.Errorf("%d files", len(files))
	}
}

// CONTRIBUTING lists the files that ask for a template function by its name: whoever adds one must
// look there, because the entry of the function does not say everything.
func TestFilesThatNameFunctions(t *testing.T) {
	var names, asking []string
	for _, f := range keys.Functions() {
		names = append(names, f.Name)
	}
	asks := regexp.MustCompile(`\b[nN]ame [!=]= "(` + strings.Join(names, "|") + `)"`)
	_, listed, _ := strings.Cut(strings.ReplaceAll(read(t, "CONTRIBUTING.md"), "\n", " "), "ask for some functions by name")
	listed, _, _ = strings.Cut(listed, "**Add a verdict.**")
	for _, pattern := range []string{"keys/*.go", "pipeline/*.go", "*/*/*.go", "internal/*/*/*.go"} {
		files, err := fs.Glob(os.DirFS(root), pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			if !strings.HasSuffix(file, "_test.go") && asks.MatchString(read(t, file)) {
				asking = append(asking, file)
				if !strings.Contains(listed, "`"+file+"`") {
					t.Errorf("CONTRIBUTING does not list %s", file)
				}
			}
		}
	}
	if n := strings.Count(listed, ".go`"); n != len(asking) {
		t.Errorf("CONTRIBUTING lists %d files, want %q", n, asking)
	}
}
