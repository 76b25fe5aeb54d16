package sim

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/prove/sim/model"
	"github.com/ingot-events/ingot/store"
	"github.com/ingot-events/ingot/store/repair"
)

// erasures are the events that people erase.
type erasures struct {
	*World
	erasing map[string]int // by key: erasures that have not finished
}

// erasure lets a person erase an event, or bar the key of an event that is not stored. The person
// meets the same trouble as everybody else, while the world goes on. Once Erase reports that it is
// done, the key is barred.
func (w *erasures) erasure() {
	w.Sleep(time.Duration(w.Rng.IntN(300)) * time.Second)
	var bodies []string
	for _, body := range sortedKeys(w.sent) {
		if !w.sent[body].malformed {
			bodies = append(bodies, body)
		}
	}
	if len(bodies) == 0 {
		return
	}
	from := w.sent[bodies[w.Rng.IntN(len(bodies))]]
	if from.events != nil {
		good := slices.DeleteFunc(slices.Clone(from.events), func(e *message) bool { return e.malformed })
		from = good[w.arrays.draw.IntN(len(good))]
	}
	of := from.fact
	if holders := w.claims.holders(); len(holders) > 0 && w.wholes.draw.IntN(2) == 0 {
		of = holders[w.wholes.draw.IntN(len(holders))]
	}
	if lines := of.LineFacts(); len(lines) > 0 && w.wholes.draw.IntN(4) == 0 {
		of = lines[0] // the line alone
	}
	w.erase(of)
}

// erase lets a person erase an event, and checks that this is done if Erase says so.
func (w *erasures) erase(of model.Fact) {
	before := w.model.Records
	w.Fault(byErasure, of.Key())
	w.erasing[of.Key()]++
	ctx := w.Deadline(context.Background(), w.Now.Add(time.Hour), 0)
	err := eraseAll(ctx, w.operators.storeOf(eraser{w.client()}, w.wholes.toolEpoch(), w.Env(w.Rng.Float64, 0)), keyOfFact(of))
	w.Tracef("erased %s: %v", of.Key(), err)
	if err != nil {
		return
	}
	w.erasing[of.Key()]--
	for _, img := range w.model.Keys[of.Key()].During(before) {
		if img != nil && img.Barred {
			w.wholes.checkErasedParts(of, before)
			w.offload.checkPayloadsErased(of)
			return
		}
	}
	w.Fail(Returned, "%s was erased, and its key is not barred", of.Key())
}

// eraseAll erases an event. If some of its parts are not stored, as Erase then says, the person has
// looked for them through the whole table.
func eraseAll(ctx context.Context, st *store.Store, key event.Key) error {
	_, err := repair.Of(st).Erase(ctx, key)
	if err != nil && strings.Contains(err.Error(), "its parts are not all found") {
		_, err = repair.Of(st).EraseWith(ctx, key, nil, true)
	}
	return err
}

// eraser is DynamoDB as it is reached by the machine of a person who erases an event. Between its
// read and its put, another person may remove the item.
type eraser struct{ client }

func (e eraser) PutItem(ctx context.Context, in *dynamodb.PutItemInput, options ...func(*dynamodb.Options)) (*dynamodb.PutItemOutput,
	error) {
	e.w.people.removeBeforeRead([]map[string]types.AttributeValue{in.Item})
	return e.client.PutItem(ctx, in, options...)
}

// eraseBeforeTouch lets a person erase an event that a touch pass has read and is about to stamp.
func (w *erasures) eraseBeforeTouch(key map[string]types.AttributeValue) {
	if !w.plan.People || !w.Chance(0.03) {
		return
	}
	k := event.Key{PK: text(key["PK"]), SK: text(key["SK"])}
	if k.SK == "COUPON" || k.SK == "SHELF" { // it is erased with its order alone
		return
	}
	w.Fault(byErasure, k.PK)
	err := eraseAll(context.Background(), w.operators.storeOf(w.dynamo, w.wholes.toolEpoch(), w.Env(w.Rng.Float64, 0)), k)
	w.Must(err)
	w.wrote()
}

// checkBar checks a change that bars a key, or that changes a barred key. Only time to live may
// take a bar away. The bar holds the key and the expiry of the order, or line, that it replaced.
func (w *erasures) checkBar(c *model.Change) {
	switch {
	case c.New == nil:
		if c.Old.ExpiresAt == 0 || c.Old.ExpiresAt > w.Now.Unix() {
			w.Fail(Returned, "the bar of %s is removed at %d, and it stands until %d", c.Old.Key(), w.Now.Unix(), c.Old.ExpiresAt)
		}
		return
	case !c.New.Barred:
		w.Fail(Returned, "%s was erased, and is stored again", c.New.Key())
		return
	}
	expires := int64(0)
	if c.Old != nil && c.Old.Type != "parcel" {
		expires = c.Old.ExpiresAt
	}
	want := 3 // PK, SK, i:barred
	if expires != 0 {
		want = 4
	}
	if c.New.ExpiresAt != expires || len(c.New.Whole) != want {
		w.Fail(Returned, "the bar of %s has %q and stands until %d, not %d", c.New.Key(), sortedKeys(c.New.Whole), c.New.ExpiresAt, expires)
	}
}
