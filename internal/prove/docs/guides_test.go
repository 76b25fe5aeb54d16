package docs

import (
	"regexp"
	"strings"
	"testing"

	"github.com/ingot-events/ingot/internal/kit/must"
)

var markdownLink = regexp.MustCompile(`\[[^\]]+\]\(([^)#]*)#?([^)]*)\)`)

// TestGuides follows the example of each pattern of the guides: it is a folder of examples, all of
// which are run, or a section with a block that the tests of its page run.
func TestGuides(t *testing.T) {
	names := map[string]bool{}
	rows := table(t, "docs/patterns.md", "patterns")
	for _, row := range rows {
		if names[row[0]] {
			t.Errorf("%s is there twice", row[0])
		}
		names[row[0]] = true
		links := markdownLink.FindAllStringSubmatch(row[2], -1)
		if len(links) != 1 {
			t.Errorf("%s has %d examples", row[0], len(links))
			continue
		}
		switch file, section := links[0][1], links[0][2]; {
		case strings.HasPrefix(file, "../examples/"):
			must.Equal(t, exists("docs/"+file+"/pipeline.yaml"), true, row[0])
		case file == "":
			if text := sectionOf(t, "docs/patterns.md", section); !strings.Contains(text, "```text question") {
				t.Errorf("%s: #%s asks nothing", row[0], section)
			}
		default:
			if text := sectionOf(t, "docs/"+file, section); !strings.Contains(text, "```yaml pipeline") {
				t.Errorf("%s: %s#%s declares nothing", row[0], file, section)
			}
		}
	}
	for _, row := range table(t, "docs/patterns.md", "left out") {
		if names[row[0]] || len(strings.Fields(row[1])) < 6 {
			t.Errorf("%s is left out without a reason, or is there", row[0])
		}
	}
	// Each is one of the guides', which have 87 under other names.
	other := table(t, "docs/patterns.md", "other pages")
	for _, row := range other {
		if names[row[0]] || !markdownLink.MatchString(row[1]) {
			t.Errorf("%s is on no other page, or is there twice", row[0])
		}
	}
	must.Equal(t, [...]int{len(rows), len(other), len(table(t, "docs/patterns.md", "left out"))}, [...]int{34, 17, 14})
}

// sectionOf returns the text below a heading, up to the next heading of its level or a higher one.
func sectionOf(t *testing.T, file, anchor string) string {
	t.Helper()
	text := read(t, file)
	all := heading.FindAllStringSubmatchIndex(text, -1)
	level := func(at []int) int { return len(text[at[0]:at[1]]) - len(strings.TrimLeft(text[at[0]:at[1]], "#")) }
	for i, at := range all {
		if slug(text[at[2]:at[3]]) != anchor {
			continue
		}
		for _, next := range all[i+1:] {
			if level(next) <= level(at) {
				return text[at[1]:next[0]]
			}
		}
		return text[at[1]:]
	}
	t.Errorf("%s has no #%s", file, anchor)
	return ""
}
