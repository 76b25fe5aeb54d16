package docs

import (
	"io/fs"
	"os"
	"regexp"
	"slices"
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
	var names []string
	for _, f := range keys.Functions() {
		names = append(names, f.Name)
	}
	asks := regexp.MustCompile(`\.?\b[nN]ame [!=]= "(` + strings.Join(names, "|") + `)"`)
	_, listed, _ := strings.Cut(strings.ReplaceAll(read(t, "CONTRIBUTING.md"), "\n", " "), "ask for some functions by name")
	listed, _, _ = strings.Cut(listed, "**Add a verdict.**")
	var want, got []string
	for _, folder := range strings.Fields("keys internal/plan pipeline handler store verify migrate publish internal/table internal/tool cmd") {
		err := fs.WalkDir(os.DirFS(root), folder, func(name string, entry fs.DirEntry, err error) error {
			if err == nil && strings.HasSuffix(name, ".go") && !strings.HasSuffix(name, "_test.go") && asks.MatchString(read(t, name)) {
				want = append(want, name)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, one := range regexp.MustCompile("`([a-z_/]+\\.go)`").FindAllStringSubmatch(listed, -1) {
		got = append(got, one[1])
	}
	slices.Sort(want)
	if slices.Sort(got); !slices.Equal(got, want) {
		t.Errorf("CONTRIBUTING lists %q, want %q", got, want)
	}
}
