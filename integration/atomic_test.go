package integration

import (
	"fmt"
	"testing"

	"github.com/ingot-events/ingot/aggregate"
	"github.com/ingot-events/ingot/envelope"
	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/pipeline"
	"github.com/ingot-events/ingot/store/repair"
)

// TestAtomic stores accounts that claim their email address, on real clients: new ones, again,
// beside what an older function stored, in the place of an erased one. No two ever have one
// address.
func TestAtomic(t *testing.T) {
	onEach(t, func(t *testing.T, b *backend) { atomicRequests(newWorld(t, b, aggregate.Marks, accounts)) })
}

// accounts adds accounts, each with its address.
func accounts(w *world) {
	w.spec.Events["account"] = pipeline.EventSpec{ID: "{id}", At: "{at}", Key: pipeline.KeySpec{PK: "ACCOUNT#{id}", SK: "ACCOUNT"},
		Atomic: true}
	w.spec.Events["email"] = pipeline.EventSpec{Part: pipeline.PartSpec{Of: "account", With: []string{"email"}}, ID: "{email}",
		Key: pipeline.KeySpec{PK: "EMAIL#{email}", SK: "CLAIM"}}
	w.spec.Events["device"] = pipeline.EventSpec{Part: pipeline.PartSpec{Of: "account", With: []string{"id"}}, ID: "{id}",
		Key: pipeline.KeySpec{PK: "ACCOUNT#{id}", SK: "DEVICE"}}
}

func atomicRequests(w *world) {
	account := func(id, email string) string {
		return fmt.Sprintf(`{"type":"account","id":%q,"email":%q,"at":%q}`, id, email, began.Format("2006-01-02T15:04:05Z"))
	}
	plan := func(body string) *event.Item {
		item, err := w.plan.Plan(envelope.Message{Body: body})
		must.Succeed(w, err)
		return item
	}
	one, two := map[string]int{"TransactWriteItems": 1}, map[string]int{"TransactWriteItems": 2}
	w.ask("a new account", []string{account("a", "x@y")}, event.Inserted, one)
	w.ask("again", []string{account("a", "x@y")}, event.Duplicate, one)
	w.ask("a second owner", []string{account("b", "x@y")}, event.Conflict, map[string]int{"TransactWriteItems": 1, "SendMessageBatch": 1})
	old := plan(account("c", "c@y"))
	device := old.Parts.Items[0]
	old.Parts = nil
	for _, item := range []*event.Item{old, device} {
		if results, _ := w.store.Put(ctx, []*event.Item{item}); results[0].Verdict != event.Inserted {
			w.Fatal(results)
		}
	}
	_, err := repair.Of(w.store).Erase(ctx, device.Key)
	must.Succeed(w, err)
	w.ask("beside what is there", []string{account("c", "c@y")}, event.Inserted, two)
	if erased, err := repair.Of(w.store).Erase(ctx, plan(account("a", "x@y")).Key); err != nil || !erased {
		w.Fatal(erased, err)
	}
	w.ask("the message of the erased one", []string{account("a", "x@y")}, event.Duplicate, one)
	w.ask("the next owner", []string{account("b", "x@y")}, event.Inserted, one)
}
