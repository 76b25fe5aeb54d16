package docs

import (
	"regexp"
	"strings"
	"testing"

	"github.com/ingot-events/ingot/envelope"
	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/internal/testworld/written"
)

var (
	aFile    = regexp.MustCompile("(?s)```yaml pipeline\n(.*?)```")
	anEvent  = regexp.MustCompile("(?s)```json event([^\n]*)\n(.*?)```\n\n(.*)")
	itsItems = regexp.MustCompile("`([^`]+ / [^`]+)`")
)

// The message of each producer becomes the items that the page names, and none of it is refused.
// The file has no warning that a reader would have to explain.
func TestProducers(t *testing.T) {
	sections := strings.Split(read(t, "docs/producers.md"), "\n### ")[1:]
	for _, section := range sections {
		name, _, _ := strings.Cut(section, "\n")
		file, message := aFile.FindStringSubmatch(section), anEvent.FindStringSubmatch(section)
		if file == nil || message == nil {
			t.Fatalf("%s has no file or no message", name)
		}
		p := written.Pipeline(t, file[1])
		m := envelope.Message{Body: message[2], Attributes: map[string]string{}}
		for _, attribute := range strings.Fields(message[1]) {
			key, value, _ := strings.Cut(attribute, "=")
			m.Attributes[key] = value
		}
		item, list, err := p.PlanMessage(m)
		must.Succeed(t, err)
		var got []string
		if item != nil {
			got = append(got, item.Key.String())
		}
		for _, one := range list {
			if one.Refusal != nil {
				t.Errorf("%s, %s: %v", name, one.Place, one.Refusal)
				continue
			}
			got = append(got, one.Item.Key.String())
		}
		must.Match(t, got, groups(itsItems, message[3]), name)
		for _, w := range p.Describe().Warnings {
			t.Errorf("%s: %s", name, w)
		}
	}
	must.Equal(t, len(sections), 6)
}
