package scaffold

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/diff"

	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/internal/kit/sampleshop"
	"github.com/ingot-events/ingot/internal/tool/check"
	"github.com/ingot-events/ingot/internal/tool/textfile"
)

// A template that lacks indexes gets them where a new template has them. What is changed elsewhere
// stays, and check accepts the result.
func TestAddIndexes(t *testing.T) {
	all := []string{"GSI1", "GSI2", "GSI3"}
	mine := func(text []byte) []byte {
		return bytes.Replace(text, []byte("maxReceiveCount: 10"), []byte("maxReceiveCount: 20"), 1)
	}
	whole, err := Template(sampleTemplate(t), all)
	must.Succeed(t, err)
	shop := must.Read(t, root+sampleshop.Pipeline)
	for _, there := range [][]string{nil, {"GSI1"}, {"GSI1", "GSI2"}, all} {
		text, err := Template(sampleTemplate(t), there)
		must.Succeed(t, err)
		findings := func(text []byte) string {
			r, err := check.Run(check.Input{Pipeline: textfile.File{Name: "pipeline.yaml", Text: shop},
				Template: &textfile.File{Name: "template.yaml", Text: text}, Partitions: 1})
			must.Succeed(t, err)
			var list []string
			for _, f := range r.Findings {
				list = append(list, f.String())
			}
			return strings.Join(list, "\n")
		}
		must.Equal(t, strings.Contains(findings(text), "; run ingot init --indexes, which adds each"), (len(there) < len(all)), there)
		got, added, err := AddIndexes(mine(text), sampleTemplate(t), all)
		if err != nil || !slices.Equal(added, all[len(there):]) {
			t.Errorf("with %v: %v, added %v", there, err, added)
		}
		if want := mine(whole); !bytes.Equal(got, want) {
			t.Errorf("with %v it differs:\n%s", there, diff.Diff("want", want, "got", got))
		}
		must.Equal(t, findings(got), "", there)
	}
}

// Attributes that are defined already are not defined again.
func TestAddIndexesHalfDone(t *testing.T) {
	text, err := Template(sampleTemplate(t), nil)
	must.Succeed(t, err)
	const first = "        - {AttributeName: SK, AttributeType: S}\n"
	half := bytes.Replace(text, []byte(first), []byte(first+"        - {AttributeName: GSI1PK, AttributeType: S}\n"), 1)
	got, _, err := AddIndexes(half, sampleTemplate(t), []string{"GSI1"})
	if err != nil || bytes.Count(got, []byte("AttributeName: GSI1PK, AttributeType")) != 1 ||
		bytes.Count(got, []byte("AttributeName: GSI1SK, AttributeType")) != 1 {
		t.Errorf("%v\n%s", err, diff.Diff("half", half, "got", got))
	}
}

// A template of another form is not changed.
func TestAddIndexesToAnotherForm(t *testing.T) {
	for _, text := range []string{"Resources: {}\n", "Resources:\n  EventsTable:\n    Type: AWS::DynamoDB::Table\n"} {
		if got, _, err := AddIndexes([]byte(text), sampleTemplate(t), []string{"GSI1"}); err == nil {
			t.Errorf("%s\nbecame\n%s", text, got)
		}
	}
}
