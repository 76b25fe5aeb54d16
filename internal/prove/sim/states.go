package sim

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/ingot-events/ingot/internal/prove/sim/model"
	"github.com/ingot-events/ingot/pipeline"
)

// states are shelves, of which orders are versions.
type states struct {
	*World
	draw *rand.Rand // draws the shelves of orders, and when an order is erased
	made int        // how many orders have got shelves
}

// In worlds whose plan has States, orders with lines name shelves, and say which version of each
// they are. Of all stored orders that name a shelf, the newest is its state. Versions are often
// equal, so that the times and ids of the orders decide.

// planStates decides whether there are shelves. Its draw is its own, so that other worlds stay as
// they are.
func (p *Plan) planStates() {
	p.States = p.Parts > 0 && rand.New(rand.NewPCG(p.Seed, 22)).IntN(2) == 0
}

// addShelves declares shelves, and a total of them that begins with the epoch since.
func addShelves(spec *pipeline.Spec, since int64) {
	spec.Events["shelf"] = pipeline.EventSpec{ID: "{shelf}", Key: pipeline.KeySpec{PK: "SHELF#{shelf}", SK: "SHELF"},
		Part: pipeline.PartSpec{Of: "order", Each: "shelves", With: []string{"id", "merchant", "at"}},
		Mode: "latest", Revision: "version number", Indexes: map[string]pipeline.IndexSpec{}}
	spec.Aggregates["shelves"] = pipeline.AggregateSpec{Since: since, By: map[string]string{"merchant": "{merchant}"}, OnExpire: "subtract",
		From: map[string]pipeline.FromSpec{"shelf": {Values: map[string]string{"shelves": "count", "versions": "sum version"}}}}
}

// shelvesThere is how many shelves a world has. There are so few that most orders meet the state of
// another one.
const shelvesThere = 8

// addSomeShelves lets an order name shelves, if the world has them. Where nothing goes wrong, each
// order is newer than those before it.
func (w *states) addSomeShelves(f *model.Fact) {
	if !w.plan.States || w.plan.Parts == 0 || f.Type != "order" {
		return
	}
	w.made++
	f.Shelves = model.NoLines
	for n := range w.draw.IntN(3) {
		version := w.draw.IntN(3)
		if w.plan.Still {
			version = w.made
		}
		text := fmt.Sprintf("%d=%d", w.draw.IntN(shelvesThere), version)
		if n == 0 {
			f.Shelves = text
		} else {
			f.Shelves += "," + text
		}
	}
}

// atLeast reports whether an image is an event, or a newer state in its place.
func atLeast(img *model.Image, f model.Fact) bool {
	return img.Fact == f || f.Type == "shelf" && img.Type == f.Type && !f.Newer(img.Fact)
}

// stands reports whether the stored item is a state or a newer one, as its attributes say.
func (w *states) stands(p model.Fact, item map[string]types.AttributeValue) bool {
	version := number(item["revision"]).Int64()
	return item["revision"] != nil && (version > p.Rev || version == p.Rev && text(item["i:revision"]) >= p.Tied())
}

// checkBeside checks a state that is put. At this moment its order is stored, and has this state.
func (w *states) checkBeside(c *model.Change) {
	if c.New.Type != "shelf" || c.Old != nil && c.Old.Fact == c.New.Fact {
		return
	}
	of := c.New.Order()
	item := w.read(eventsTable, of.PK(), of.SK())
	switch {
	case item["i:barred"] != nil:
		w.Fail(Returned, "%s is the state of %s, which was erased", c.New.Key(), of.Key())
	case item["type"] == nil:
		w.Fail(Parted, "%s is the state of %s, which is not stored", c.New.Key(), of.Key())
	case !slices.ContainsFunc(w.orders[of.ID], func(m *message) bool {
		digest := m.fact.Digest()
		return text(item["digest"]) == fmt.Sprintf("%x", digest[:]) && slices.Contains(m.fact.ShelfFacts(), c.New.Fact)
	}):
		w.Fail(Parted, "%s is a state that %s, as it is stored, does not have", c.New.Key(), of.Key())
	}
}

// goneBeforePut lets a person erase an order just before a transaction puts a state beside it.
func (w *states) goneBeforePut(in *dynamodb.TransactWriteItemsInput) {
	if !w.plan.States || !w.plan.People || w.Calm {
		return
	}
	for _, item := range itemsPut(in) {
		if text(item["SK"]) != "SHELF" || w.draw.IntN(20) > 0 {
			continue
		}
		var of struct{ ID string }
		if err := json.Unmarshal([]byte(text(item["data"])), &of); err != nil {
			continue // newer code stores it in another form
		}
		order := w.model.Keys[model.Fact{Type: "order", ID: of.ID}.Key()]
		if order == nil || order.Live == nil { // it is put by the same transaction
			continue
		}
		w.Fault(ownerGone, order.Live.Key())
		sending := w.Current
		w.Current = &task{Name: "person"} // what a person writes is not counted to the invocation
		w.Must(eraseAll(context.Background(), w.operators.storeOf(w.dynamo, w.wholes.toolEpoch(), w.Env(w.Rng.Float64, 0)),
			keyOfFact(order.Live.Fact)))
		w.Current = sending
		w.wrote()
		return
	}
}

// checkRemoved checks that an order that was erased has left no state.
func (w *states) checkRemoved(of model.Fact) {
	for _, p := range of.ShelfFacts() {
		if img := w.model.Keys[p.Key()].Holds(); img != nil && img.Owner == of.ID {
			w.Fail(Returned, "%s was erased, and is still the state of %s", of.Key(), p.Key())
			return
		}
	}
}

// heldUp reports whether a state of a message may not have been put because another message of its
// batch was tried in its place, and the order of that one was gone.
func (w *states) heldUp(inv *invocation, of *message) bool {
	mine := of.fact.ShelfFacts()
	for m := range w.arrays.eventsOf(inv) {
		common := slices.ContainsFunc(m.fact.ShelfFacts(), func(p model.Fact) bool {
			return slices.ContainsFunc(mine, func(own model.Fact) bool { return own.ID == p.ID })
		})
		if common && slices.ContainsFunc(w.model.Keys[m.fact.Key()].During(inv.began)[1:], func(img *model.Image) bool {
			return img == nil || img.Barred
		}) {
			return true
		}
	}
	return false
}

// reads returns how often a key may be read for a state of a message: once, and again whenever
// others have changed it.
func (w *states) reads(inv *invocation, m *message, pk string) int {
	for _, p := range m.fact.ShelfFacts() {
		if p.PK() == pk {
			return len(w.model.Keys[p.Key()].During(inv.began))
		}
	}
	return 0
}

// note counts orders that meet a newer state.
func (w *states) note(inv *invocation, m *message, verdict string) {
	if verdict != "Inserted" || !w.wholes.knowsParts(inv.epoch) {
		return
	}
	for _, p := range m.fact.ShelfFacts() {
		if h := w.model.Keys[p.Key()]; h != nil && h.Live != nil && h.Live.Newer(p) {
			w.Faults[beaten]++
		}
	}
}

// missing lists the states that an older one, or none, is in the place of.
func (w *states) missing() []model.Fact {
	return slices.DeleteFunc(w.wholes.missingParts(), func(p model.Fact) bool { return p.Type != "shelf" })
}

// bringBack lets people erase the orders of some states and put what is missing, at rest. After
// that, the state of each shelf is that of the newest order.
func (w *states) bringBack() bool {
	if !w.plan.States || !w.wholes.knowsParts(w.wholes.toolEpoch()) {
		return w.Failure == nil
	}
	ended := false
	w.Calm = true
	w.Spawn("eraser", nil, func() {
		for _, key := range sortedKeys(w.model.Keys) {
			if img := w.model.Keys[key].Live; img != nil && img.Type == "shelf" && w.draw.IntN(4) == 0 {
				w.erasures.erase(img.Order())
			}
		}
		w.Faults[brought] += len(w.missing())
		w.wholes.putParts(w.wholes.toolEpoch())
		ended = true
	})
	w.run(calmSteps, func() bool { return ended && w.quiet() })
	if left := w.missing(); w.Failure == nil && len(left) > 0 {
		w.Fail(Parted, "%s is not the state of its newest order, though somebody has put the parts that were missing: %+v", left[0].Key(),
			left[0])
	}
	return w.settle(nil) && w.rest.checkDrained()
}
