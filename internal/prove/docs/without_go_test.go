package docs

import (
	"testing"

	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/internal/kit/sampleshop"
	"github.com/ingot-events/ingot/internal/tool/check"
	"github.com/ingot-events/ingot/internal/tool/check/rules"
	"github.com/ingot-events/ingot/internal/tool/textfile"
)

// named is a file as ingot check is given it.
func named(name, text string) *textfile.File { return &textfile.File{Name: name, Text: []byte(text)} }

// checked returns what ingot check says of files.
func checked(t *testing.T, in check.Input) *check.Report {
	t.Helper()
	r, err := check.Run(in)
	must.Succeed(t, err)
	return r
}

// TestWithoutGo shows that the lines that docs/without.md changes make a template with which
// `ingot check` finds nothing wrong. If one of them is left out, or if another file is checked, it
// does find something wrong. (integration.TestPipelineInALayer runs functions under this template.)
func TestWithoutGo(t *testing.T) {
	text := read(t, sampleshop.Template)
	diffs := sampleshop.Diffs(read(t, withoutPage))
	findings := func(file string, diffs ...string) []rules.Finding {
		t.Helper()
		return checked(t, check.Input{Pipeline: *named(file, read(t, sampleshop.Pipeline)), Partitions: 1,
			Template: named("template.yaml", sampleshop.Patched(t, text, diffs...))}).Findings
	}
	if found := findings("pipeline/pipeline.yaml", diffs...); len(diffs) != 5 || len(found) > 0 {
		t.Errorf("%d diffs: %v", len(diffs), found)
	}
	for name, found := range map[string][]rules.Finding{
		"no layer":     findings("pipeline/pipeline.yaml", diffs[1:]...),
		"another file": findings("pipeline.yaml", diffs...),
	} {
		if len(found) != 1 || found[0].Rule != "pipeline-file" {
			t.Errorf("%s: %v", name, found)
		}
	}
}
