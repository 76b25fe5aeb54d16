package pipeline

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/ingot-events/ingot/envelope"
	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/kit/must"
)

// withStates is an order with lines, whose status moves: the newest status of each order, and the
// newest price of each product.
const withStates = `ingot: 1
epoch: 1
type: "{type}"
events:
  moved:
    id: "{change | lower}"
    at: "{at}"
    key: {pk: "CHANGE#{change | lower}", sk: "CHANGE"}
    retain: 90d
  status:
    part: {of: moved, with: [order, status, version]}
    id: "{order}"
    key: {pk: "ORDER#{order}", sk: "STATUS"}
    mode: latest
    revision: version number
  price:
    part: {of: moved, each: lines, with: [change]}
    id: "{sku}"
    key: {pk: "SKU#{sku}", sk: "PRICE"}
    mode: latest
    revision: "{@at}"
aggregates:
  open:
    since: 1
    onExpire: subtract
    by: {status: "{status}"}
    from:
      status: {values: {orders: count}}
`

func bare(body string) envelope.Message { return envelope.Message{Body: body} }

// moved is a change as it comes, with these lines.
func moved(change, lines string) string {
	return fmt.Sprintf(`{"type":"moved","change":%q,"at":"2099-03-01T10:00:00.5Z","order":"o","status":"paid","version":7,"lines":[%s]}`,
		change, lines)
}

// A state has the id that names the thing, its revision, and what breaks ties.
func TestStates(t *testing.T) {
	p := mustLoad(t, withStates)
	whole, err := p.Plan(bare(moved("C1", `{"sku":"a","cents":5},{"sku":"b","cents":6}`)))
	must.Succeed(t, err)
	if whole.Parts.Count != 0 || len(whole.Parts.Items) != 3 {
		t.Fatalf("%+v", whole.Parts)
	}
	status, price := whole.Parts.Items[2], whole.Parts.Items[0]
	if status.Key.String() != "ORDER#o / STATUS" || status.ID != "o" || status.Revision.String() != "7" || status.Whole != whole ||
		!strings.HasSuffix(status.Ties, ",c1") || status.ExpiresAt != whole.ExpiresAt {
		t.Errorf("%+v", status)
	}
	if price.Key.String() != "SKU#a / PRICE" || price.Revision.String() != "4076042400500000000" {
		t.Errorf("%+v", price)
	}
	stored := *whole
	stored.Parts = &event.Parts{}
	again, err := p.Parts(&stored)
	if must.Succeed(t, err); len(again) != 3 || again[2].Digest != status.Digest || again[2].Ties != status.Ties ||
		again[2].Whole.Digest != whole.Digest {
		t.Errorf("%+v", again)
	}
	other, err := p.Plan(bare(moved("c1", `{"sku":"a","cents":5},{"sku":"b","cents":6}`))) // the same event
	if must.Succeed(t, err); other.Digest != whole.Digest || other.Parts.Items[0].Digest != price.Digest {
		t.Errorf("the state depends on the spelling of what the id folds: %+v", other.Parts.Items[0])
	}
}

// An event has at most 99 states, because one transaction removes them with it.
func TestTooManyStates(t *testing.T) {
	p := mustLoad(t, withStates)
	lines := func(n int) string {
		list := make([]string, n)
		for i := range list {
			list[i] = fmt.Sprintf(`{"sku":"s%d"}`, i)
		}
		return strings.Join(list, ",")
	}
	_, err := p.Plan(bare(moved("c", lines(98))))
	must.Succeed(t, err)
	_, err = p.Plan(bare(moved("c", lines(99))))
	if r := refusal(t, err); r.Reason != event.TooManyParts || r.Detail != "the message yields 100 states, parts with mode latest, and an "+
		"event has at most 99: one transaction removes them when it is erased" {
		t.Error(err)
	}
}

// What does not go with a state is refused, with what to write instead.
func TestStateMistakes(t *testing.T) {
	for _, c := range []struct{ name, old, new, want string }{
		{"several revisions", "revision: version number", "revision: [version number, status number]",
			"p.yaml:15:15: the revision of a part is one value: of equal ones, the time and then the id of the whole decide; " +
				"write its first entry alone"},
		{"no revision", "    revision: version number\n", "", "p.yaml:14:11: mode latest needs a revision"},
		{"migrated", "    retain: 90d\n", "    retain: 90d\n    migrated: old\n",
			"p.yaml:15:11: moved is migrated, and the copies of its rows cannot have parts with mode latest; write mode: insert"},
		{"offload", "    mode: latest\n", "    mode: latest\n    offload: {over: 2KB}\n", "offload does not go with mode latest"},
		{"compress", "    mode: latest\n", "    mode: latest\n    compress: true\n", "compress does not go with mode latest"},
		{"key beyond id", `sk: "STATUS"`, `sk: "{status}"`, "key uses status, which id does not: under mode latest"},
		{"id not shown", `pk: "ORDER#{order}"`, `pk: "ORDER#1"`, "key does not use order, which id uses"},
		{"shorter", "    mode: latest\n", "    mode: latest\n    retain: 30d\n", "retain is shorter than that of moved"},
		{"moved by put", "    onExpire: subtract\n", "    movedBy: put\n", "mode of status is latest, and a total that is movedBy: put"},
		{"keep", "    onExpire: subtract\n", "", "onExpire is keep over status, whose mode is latest"},
		{"another spelling", `id: "{sku}"`, `id: "{change}#{sku}"`, "id shows change in the spelling in which it came"},
	} {
		text := strings.Replace(withStates, c.old, c.new, 1)
		if text == withStates {
			t.Fatalf("%s changes nothing", c.name)
		}
		_, err := loadQuietly(text)
		var ms Mistakes
		if !errors.As(err, &ms) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v\nwant %s", c.name, err, c.want)
		}
	}
}
