package send_test

import (
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/ingot-events/ingot/envelope"
	"github.com/ingot-events/ingot/internal/tool/send"
	"github.com/ingot-events/ingot/pipeline"
)

const withParts = `
ingot: 1
epoch: 1
type: "{type}"
events:
  order:
    id: "{order}"
    at: "{at}"
    key: {pk: "ORDER#{order}", sk: "ORDER"}
  line:
    part: {of: order, each: cart.lines, with: [order, shop]}
    id: "{order}#{line}"
    key: {pk: "ORDER#{order}", sk: "LINE#{line}"}
  gift:
    part: {of: order, each: cart.lines, with: [order]}
    id: "{order}#{line}"
    key: {pk: "ORDER#{order}", sk: "GIFT#{line}"}
  receipt:
    part: {of: order, with: [order]}
    id: "{order}"
    key: {pk: "RECEIPT#{order}", sk: "-"}
aggregates:
  sold:
    since: 1
    by: {shop: "{shop}"}
    onExpire: subtract
    from:
      line: {values: {sold: sum quantity}}
`

// A sample of a whole yields parts of every type, with all that they need.
func TestSampleWithParts(t *testing.T) {
	p, err := pipeline.Load(fstest.MapFS{"p.yaml": {Data: []byte(withParts)}}, "p.yaml")
	if err != nil {
		t.Fatal(err)
	}
	text, err := send.Sample(p, "order", nil, time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC), 7)
	if err != nil {
		t.Fatal(err)
	}
	item, err := p.Plan(envelope.Message{Body: text})
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	types := map[string]int{}
	for _, part := range item.Parts.Items {
		types[part.Type]++
	}
	if types["line"] != 2 || types["gift"] != 2 || types["receipt"] != 1 || !strings.Contains(text, `"shop":"shop-7"`) ||
		!strings.Contains(text, `"quantity":8`) {
		t.Errorf("%v of %s", types, text)
	}
	if _, err := send.Sample(p, "line", nil, time.Now(), 1); err == nil ||
		!strings.Contains(err.Error(), "line is a part of order and comes only with it; send a sample of order") {
		t.Errorf("a sample of a part: %v", err)
	}
}
