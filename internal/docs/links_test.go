package docs

import (
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/ingot-events/ingot/internal/sampleshop"
)

var link = regexp.MustCompile(`\]\(([^)\s]+)\)`)

// TestLinks shows that every relative link leads to a file of the repository, and that its anchor
// is a heading there.
func TestLinks(t *testing.T) {
	for _, name := range documents(t) {
		for _, m := range link.FindAllStringSubmatch(read(t, name), -1) {
			target, anchor, _ := strings.Cut(m[1], "#")
			if strings.Contains(target, "://") {
				continue
			}
			file := name
			if target != "" {
				file = path.Join(path.Dir(name), target)
			}
			if _, err := os.Stat(filepath.Join(root, file)); err != nil {
				t.Errorf("%s: the link %s leads nowhere", name, m[1])
				continue
			}
			if anchor != "" && !slices.Contains(anchors(t, file), anchor) {
				t.Errorf("%s: the link %s: there is no such heading in %s", name, m[1], file)
			}
		}
	}
}

func TestSlug(t *testing.T) {
	for title, want := range map[string]string{"Queue age": "queue-age", "`ingot check`": "ingot-check", "What is kept, and where": "what-is-kept-and-where"} {
		if got := slug(title); got != want {
			t.Errorf("%q: %q, want %q", title, got, want)
		}
	}
}

// mentioned finds the names of documents in documents and comments. Each named document must exist.
// The alarms of template.yaml name some, for example.
var mentioned = regexp.MustCompile(`docs/[a-z]+\.md`)

func TestMentionedDocumentsExist(t *testing.T) {
	for _, name := range []string{sampleshop.Template, sampleshop.Pipeline, "events/README.md", "README.md", "CONTRIBUTING.md", "CHANGELOG.md", "Makefile"} {
		for _, doc := range mentioned.FindAllString(read(t, name), -1) {
			if _, err := os.Stat(filepath.Join(root, doc)); err != nil {
				t.Errorf("%s names %s, which is not there", name, doc)
			}
		}
	}
}
