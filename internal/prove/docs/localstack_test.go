package docs

import (
	"regexp"
	"strings"
	"testing"

	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/internal/kit/sampleshop"
	"github.com/ingot-events/ingot/internal/tool/check"
)

const withoutPage = "docs/without.md"

// TestParametersOnLocalStack shows that the parameters of docs/without.md are those of the
// template, that the line for samconfig.toml has them, and that `ingot check` finds nothing wrong
// with that line. (integration.TestWholeDeployment deploys with them.)
func TestParametersOnLocalStack(t *testing.T) {
	tpl := opened(t, sampleshop.Template, nil)
	rows := regexp.MustCompile("(?m)^\\| `(\\w+)` \\| (?:`(\\w+)`|empty)").FindAllStringSubmatch(read(t, withoutPage), -1)
	if len(rows) != 3 {
		t.Fatalf("parameters %q", rows)
	}
	line := strings.TrimSpace(blocksOf(t, withoutPage, "toml")[0].text)
	for _, row := range rows {
		must.Succeed(t, tpl.Accepts(row[1], row[2]))
		must.Equal(t, strings.Contains(line, row[1]+"="+row[2]), (row[2] != ""), line)
	}
	config := read(t, "samconfig.toml")
	old := `parameter_overrides = "LogRetentionDays=7"`
	must.Equal(t, strings.Count(config, old), 1, old)
	r := checked(t, check.Input{Pipeline: *named("pipeline.yaml", read(t, sampleshop.Pipeline)), Partitions: 1, ConfigEnv: "default",
		Template: named("template.yaml", read(t, sampleshop.Template)),
		Config:   named("samconfig.toml", strings.Replace(config, old, line, 1))})
	must.Equal(t, len(r.Findings), 0, r)
	must.Equal(t, r.Counting, "receipts")
}

// TestCommandsOnLocalStack shows that the page starts the LocalStack that is tested, and deletes
// the stack that make deploy makes.
func TestCommandsOnLocalStack(t *testing.T) {
	page := read(t, withoutPage)
	for file, pattern := range map[string]string{
		"internal/prove/peers/endpoint/endpoint.go": `Image = "(localstack/localstack:[0-9.]+)"`,
		"samconfig.toml":     `stack_name = "(ingot-dev)"`,
		"handler/streams.go": `errors.New\("(the batch names no shard)`,
	} {
		m := regexp.MustCompile(pattern).FindStringSubmatch(read(t, file))
		if m == nil || !strings.Contains(page, m[1]) {
			t.Errorf("the page does not say what %s has: %q", file, m)
		}
	}
}
