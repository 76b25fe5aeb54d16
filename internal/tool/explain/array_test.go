package explain

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/ingot-events/ingot/internal/kit/golden"
	"github.com/ingot-events/ingot/internal/kit/must"
)

// Each event of an array is explained like a message, and judged beside all others.
func TestArraysAreExplained(t *testing.T) {
	const file = `ingot: 1
epoch: 1
batches: true
type: "{type}"
events:
  order: {id: "{order}", at: "{at}", key: {pk: "ORDER#{order}", sk: "ORDER"}}
  cart: {id: "{cart}", at: "{at}", key: {pk: "CART#{cart}", sk: "CART"}}
  row:
    part: {of: cart, each: rows, with: [cart]}
    id: "{cart}#{row}"
    key: {pk: "CART#{cart}", sk: "ROW#{row}"}
`
	order := func(id, cents string) string {
		return `{"type":"order","order":"` + id + `","at":"2026-01-02T03:04:05Z","cents":` + cents + `}`
	}
	explain := func(file, text string) *Report {
		t.Helper()
		list, _, err := Messages(text)
		must.Succeed(t, err)
		return of(t, file).Explain(list)
	}
	r := explain(file, order("1", "1")+"\n["+
		strings.Join([]string{order("2", "1"), `{"type":"cart","cart":"c","at":"2026-01-02T03:04:05Z","rows":[{"row":1}]}`, order("2", "1"),
			order("1", "2"), `7`}, ",")+"]\n")
	if len(r.Messages) != 2 || len(r.Messages[1].Events) != 5 || !r.Quarantined() {
		t.Fatalf("%+v", r)
	}
	golden.File(t, filepath.Join("testdata", "array.txt"), text(t, r))

	for _, c := range []struct{ file, body, verdict, reason, detail string }{
		{file, "[" + order("1", "1") + "]", "Inserted", "", ""},
		{file, "[]", "Poison", "bad-array", "the array holds no events"},
		{file, "[" + order("1", "1"), "Poison", "undecodable", "body: not strict JSON"},
		{file, "[[]]", "Poison", "not-an-object", "event [0] of the message: it is an array"},
		{strings.Replace(file, "batches: true\n", "", 1), "[" + order("1", "1") + "]", "Poison", "not-an-object", "the body is an array"},
	} {
		r := explain(c.file, c.body)
		if m := r.Messages[0]; len(r.Messages) != 1 || m.Verdict != c.verdict || m.Reason != c.reason ||
			!strings.HasPrefix(m.Detail, c.detail) {
			t.Errorf("%s: %s (%s): %s", c.body, m.Verdict, m.Reason, m.Detail)
		}
	}
	many := text(t, explain(file, "["+strings.Repeat(order("1", "1")+",", 19)+"7]"))
	if strings.Count(many, "\nevent [") != 6 || !strings.Contains(many, "14 more events are put or stored already") ||
		!strings.Contains(many, "event [19] of 20") {
		t.Error(many)
	}
}
