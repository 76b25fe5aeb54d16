package check

import (
	"strings"
	"testing"

	"github.com/ingot-events/ingot/internal/tool/check/rules"
	"github.com/ingot-events/ingot/internal/tool/textfile"
)

const ordersPublished = `publish: 1
source: shop
publications:
  orders: {from: [order.placed], to: "${PUBLISH_TO}"}
`

// publish.yaml is checked with the pipeline, and with that of a second Ingot.
func TestPublishing(t *testing.T) {
	in := own{}.input(t)
	for text, want := range map[string]string{
		ordersPublished: "",
		strings.Replace(ordersPublished, "order.placed", "order.place", 1): "publish.yaml:4:19: the pipeline has no event type " +
			"order.place;",
		"publish: [": "publish.yaml:1:",
	} {
		in.Publish = &textfile.File{Name: "publish.yaml", Text: []byte(text)}
		r := run(t, in)
		if len(r.Findings) == 0 && want == "" {
			continue
		}
		if len(r.Findings) == 0 || want == "" || !strings.HasPrefix(r.Findings[0].String(), want) || r.Findings[0].Rule != "publish" {
			t.Errorf("%s\ngot  %v\nwant %s", text, r.Findings, want)
		}
	}
}

func TestChain(t *testing.T) {
	const first = `ingot: 1
epoch: 1
type: "{type}"
events:
  order.placed: {id: "{o}", at: "{at}", key: {pk: "ORDER#{o}", sk: "-"}}
  order.status: {id: "{o}", at: "{at}", mode: latest, revision: version number, key: {pk: "STATUS#{o}", sk: "-"}}
`
	next := strings.Replace(first, "type: \"{type}\"\n", "", 1)
	for _, c := range []struct{ from, on, next, says string }{
		{"order.placed, order.status", "stored, changed", next, ""},
		{"order.placed", "stored, removed", next,
			"orders sends what is removed, which has no payload, so next.yaml puts it into quarantine"},
		{"order.status", "stored, changed", strings.Replace(next, "mode: latest, revision: version number, ", "", 1),
			"orders sends each version of order.status, and in next.yaml all but the first are Conflicts"},
		{"order.status", "stored", strings.Replace(next, "mode: latest, revision: version number, ", "", 1), ""},
		{"order.placed", "stored", strings.Replace(next, "order.placed", "order.taken", 1), "next.yaml has no such event type"},
		{"order.placed", "stored", "ingot: 1", "epoch"},
	} {
		in := Input{Pipeline: textfile.File{Name: "pipeline.yaml", Text: []byte(first)},
			Next: &textfile.File{Name: "next.yaml", Text: []byte(c.next)}, Publish: &textfile.File{Name: "publish.yaml", Text: []byte(
				"publish: 1\nsource: shop\npublications:\n  orders: {from: [" + c.from + "], on: [" + c.on + "], to: \"${TO}\"}\n")}}
		r := run(t, in)
		var out strings.Builder
		if err := r.WriteText(&out, in); err != nil || !strings.Contains(out.String(), "pipeline.yaml, publish.yaml and next.yaml: ") {
			t.Errorf("%s, %v", &out, err)
		}
		var text strings.Builder
		for _, f := range r.Findings {
			if f.Rule != "next" {
				t.Errorf("%+v", f)
			}
			text.WriteString(f.String())
		}
		if !strings.Contains(text.String(), c.says) || c.says == "" && len(r.Findings) > 0 {
			t.Errorf("%s on %s: %s, want %q", c.from, c.on, &text, c.says)
		}
	}
}

// A shard has room for two readers. That of publish.yaml is in a stack of its own.
func TestReaders(t *testing.T) {
	third := [2]string{"  IngestFunction:\n    Type", `  OtherMapping:
    Type: AWS::Lambda::EventSourceMapping
    Properties: {FunctionName: !Ref Other, EventSourceArn: !GetAtt EventsTable.StreamArn, StartingPosition: LATEST}
  IngestFunction:
    Type`}
	fourth := third
	fourth[1] = strings.Replace(third[1], "OtherMapping", "AnotherMapping", 1)
	for _, c := range []struct {
		edits     [][2]string
		published bool
		want      string
	}{
		{nil, true, ""},
		{[][2]string{third}, false, ""},
		{[][2]string{third}, true, "3 mappings, with the publish function of publish.yaml, read"},
		{[][2]string{third, fourth}, false, "3 mappings read the events table's stream"},
	} {
		in := own{template: c.edits}.input(t)
		if c.published {
			in.Publish = &textfile.File{Name: "publish.yaml", Text: []byte(ordersPublished)}
		}
		var found []rules.Finding
		for _, f := range run(t, in).Findings {
			if f.Rule == "stream-readers" {
				found = append(found, f)
			}
		}
		if len(found) > 1 || (len(found) == 1) != (c.want != "") || len(found) == 1 && !strings.Contains(found[0].What, c.want) {
			t.Errorf("%v, published %t: %v", c.edits, c.published, found)
		}
	}
}
