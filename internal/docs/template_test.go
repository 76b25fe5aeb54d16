package docs

import (
	"regexp"
	"strings"
	"testing"

	"github.com/ingot-events/ingot/internal/check"
	"github.com/ingot-events/ingot/internal/check/template"
	"github.com/ingot-events/ingot/internal/sampleshop"
)

var reference = regexp.MustCompile(`!(?:Ref|GetAtt) (\w+)`)

// What the operating guide says to add to template.yaml can be added: it is read, refers to resources that are there, and
// `ingot check` has nothing against it.
func TestAdditionsToTheTemplate(t *testing.T) {
	for _, b := range blocksOf(t, operatingPage, "yaml template") {
		text := strings.Replace(read(t, sampleshop.Template), "\nResources:\n", "\nResources:\n"+b.text, 1)
		tpl, err := template.Open([]byte(text), nil)
		if err != nil {
			t.Errorf("line %d: %v", b.line, err)
			continue
		}
		for _, name := range reference.FindAllStringSubmatch(b.text, -1) {
			if tpl.Resource(name[1]) == nil {
				t.Errorf("line %d: there is no resource %s", b.line, name[1])
			}
		}
		report, err := check.Run(check.Input{Pipeline: check.File{Name: "pipeline.yaml", Text: []byte(read(t, sampleshop.Pipeline))},
			Template: &check.File{Name: "template.yaml", Text: []byte(text)}, Partitions: 1})
		if err != nil || len(report.Findings) > 0 {
			t.Errorf("line %d: %v, %v", b.line, err, report)
		}
	}
}
