package explain

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/ingot-events/ingot/aggregate"
	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/handler/quarantine"
	"github.com/ingot-events/ingot/internal/kit/golden"
	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/internal/local/stack"
	"github.com/ingot-events/ingot/internal/testworld"
	"github.com/ingot-events/ingot/store"
)

// byPut has totals that move with the put: one with a floor, one that is spread, and one that parts
// feed. Its payloads have a schema and are compressed.
const byPut = `ingot: 1
epoch: 1
type: "{type}"
events:
  goods.reserved:
    id: "{id}"
    at: "{at}"
    key: {pk: "OUT#{id}", sk: "X"}
    indexes: {GSI1: {pk: "SKU#{sku}", sk: "{@id}"}}
    schema: schemas/goods.json
    compress: true
  transfer: {id: "{id}", at: "{at}", key: {pk: "T#{id}", sk: "X"}, atomic: true}
  entry:
    part: {of: transfer, each: entries, with: [id]}
    id: "{id}#{account}"
    key: {pk: "T#{id}", sk: "E#{account}"}
    schema: '{"required": ["cents"]}'
aggregates:
  stock: {since: 1, by: {sku: "{sku}"}, movedBy: put, atLeast: {available: -1.50},
    from: {goods.reserved: {values: {available: sum -quantity, reservations: count}}}}
  flow: {since: 1, movedBy: put, spread: 8, from: {goods.reserved: {values: {events: count}}}}
  later: {since: 1, from: {goods.reserved: {values: {events: count}}}}
  balances: {since: 1, by: {account: "{account}"}, movedBy: put, atLeast: {cents: 0}, atMost: {cents: 100}, from: {entry: {values: {cents: sum cents}}}}
`

func reserved(id, sku, note string) Message {
	return body(`{"type":"goods.reserved","id":"` + id + `","sku":"` + sku +
		`","quantity":2,"at":"2026-03-01T10:00:00Z","note":"` + note + `"}`)
}

var transfer = body(`{"type":"transfer","id":"1","at":"2026-03-01T10:00:00Z","entries":[{"account":"a","cents":-5},{"account":"b","cents":5}]}`)

// Totals that move with the put are explained with their bounds, and with what a transaction costs.
func TestTotalsByPutAreExplained(t *testing.T) {
	list := []Message{reserved("1", "s", "short"), reserved("2", "s", strings.Repeat("long ", 600)), transfer,
		body(`{"type":"goods.reserved","id":"3"}`)}
	e := of(t, byPut)
	r := e.Explain(list)
	golden.File(t, filepath.Join("testdata", "by-put.txt"), text(t, r))

	e.Counting = aggregate.Receipts
	if said := text(t, e.Explain(list[2:3])); strings.Contains(said, "receipt") {
		t.Errorf("totals that no change moves have no receipt:\n%s", said)
	}
	letter := reserved("1", "s", "")
	letter.Attributes = map[string]string{quarantine.Attribute: `{"verdict":"Rejected","reason":"below-floor",` +
		`"detail":"stock of sku=s: available is 0"}`}
	must.Say(t,
		text(t, e.Explain([]Message{letter})), "sent again   Inserted, unless its key is taken already or a total refuses it again\n")
	if r.Messages[0].takes() != true || r.Messages[2].takes() != true {
		t.Error("an event that moves a total towards a bound may be refused")
	}
}

// worldOf returns tables of an explainer's pipeline, in its time.
func worldOf(t *testing.T, e *Explainer) (*testworld.World, *store.Store) {
	t.Helper()
	w, err := testworld.New(t.Context(), testworld.Config{Start: e.Now, Stack: stack.Config{Indexes: e.Pipeline.Indexes()}})
	must.Succeed(t, err)
	st, err := w.Store(e.Pipeline)
	if err == nil {
		err = st.Start(t.Context())
	}
	must.Succeed(t, err)
	return w, st
}

// The total that is explained is the one that is moved, under spread too. What its update and the
// item cost is what the tables charge.
func TestTotalsByPutAreThoseThatMove(t *testing.T) {
	e := of(t, byPut)
	buckets := map[string]bool{}
	for i, m := range []Message{transfer, reserved("1", "s", "short"), reserved("2", "s", strings.Repeat("long ", 600)),
		reserved("3", "s", ""), reserved("4", "s", "")} {
		if i == 0 {
			m.Body = strings.Replace(m.Body, "-5", "0", 1) // what nobody has cannot be given
		}
		w, st := worldOf(t, e)
		if i > 0 { // goods must come before they go
			m.Body = strings.Replace(m.Body, `"quantity":2`, `"quantity":-2`, 1)
		}
		item, err := e.Pipeline.Plan(m.Message)
		must.Succeed(t, err)
		before := w.Engine.Usage()
		results, _ := st.Put(t.Context(), []*event.Item{item})
		charged := w.Engine.Usage().Sub(before).WriteUnits()
		if results[0].Verdict != event.Inserted {
			t.Fatalf("message %d: %+v", i, results[0])
		}
		x := e.Explain([]Message{m}).Messages[0]
		units := 0
		for _, x := range append(x.Parts, x) {
			units += x.Item.WriteUnits
			for _, a := range x.Aggregates {
				if a.MovedBy == "" {
					continue
				}
				units += a.FreshUnits
				key := testworld.Key(a.PK, a.SK)
				out, err := w.Engine.DynamoDB().GetItem(t.Context(),
					&dynamodb.GetItemInput{TableName: aws.String(stack.Aggregates), Key: key})
				if err != nil || len(out.Item) == 0 {
					t.Errorf("message %d: nothing has moved %s / %s: %v", i, a.PK, a.SK, err)
				}
				if a.Name == "flow" {
					buckets[a.PK] = true
				}
			}
		}
		must.Equal(t, float64(units), charged, i)
	}
	if len(buckets) < 2 {
		t.Errorf("all items move the same share: %v", buckets)
	}
}
