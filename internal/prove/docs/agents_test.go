package docs

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/ingot-events/ingot/internal/kit/must"
)

// AGENTS.md has ten facts. Each rule that it names is one by which check has refused or warned of a
// template or a pipeline.yaml.
func TestAgents(t *testing.T) {
	said := ""
	scenarios, err := filepath.Glob(root + "/internal/tool/check/testdata/scenarios/*.txt")
	must.Succeed(t, err)
	for _, name := range scenarios {
		said += string(must.Read(t, name))
	}
	text := string(must.Read(t, root+"/AGENTS.md"))
	facts := regexp.MustCompile(`(?m)^\d+\. [^(]*\(([^()]*)\)$`).FindAllStringSubmatch(text, -1)
	must.Equal(t, len(facts), 10)
	for _, fact := range facts {
		named := groups(regexp.MustCompile("`([a-z-]+)`"), fact[1])
		must.Equal(t, len(named) > 0, true, fact[0])
		for _, rule := range named {
			if !strings.Contains(said, "> mistake "+rule+", ") && !strings.Contains(said, "> warning "+rule+", ") {
				t.Errorf("AGENTS.md names the rule %s, and check reports none of that name", rule)
			}
		}
	}
}
