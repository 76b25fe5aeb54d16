package sim

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	streamtypes "github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/types"

	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/store"
	"github.com/ingot-events/ingot/store/repair"
)

// erasures are the events that people erase.
type erasures struct {
	*World
	erasing map[string]int // by key: erasures that have not finished
}

// barredImage reads the image of an item that bars the key of an erased event. It returns nil if
// the image is of another item.
func barredImage(img map[string]streamtypes.AttributeValue) *image {
	if img["i:barred"] == nil || img["type"] != nil {
		return nil
	}
	pk := valueOf(img["PK"])
	kind, id, _ := strings.Cut(pk, "#")
	return &image{barred: true, whole: img, pk: pk, sk: valueOf(img["SK"]), expiresAt: atoi(valueOf(img["expiresAt"])),
		fact: fact{Type: strings.ToLower(kind), ID: id}}
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
	from, before := w.sent[bodies[w.Rng.IntN(len(bodies))]], w.model.records
	if from.events != nil {
		good := slices.DeleteFunc(slices.Clone(from.events), func(e *message) bool { return e.malformed })
		from = good[w.arrays.draw.IntN(len(good))]
	}
	of := from.fact
	if holders := w.claims.holders(); len(holders) > 0 && w.wholes.draw.IntN(2) == 0 {
		of = holders[w.wholes.draw.IntN(len(holders))]
	}
	if lines := of.lines(); len(lines) > 0 && w.wholes.draw.IntN(4) == 0 {
		of = lines[0] // the line alone
	}
	w.Fault(byErasure, of.key())
	w.erasing[of.key()]++
	ctx := w.Deadline(context.Background(), w.Now.Add(time.Hour), 0)
	err := eraseAll(ctx, w.operators.storeOf(eraser{client{w.World}}, w.wholes.toolEpoch(), w.Env(w.Rng.Float64, 0)), keyOfFact(of))
	w.Tracef("erased %s: %v", of.key(), err)
	if err != nil {
		return
	}
	w.erasing[of.key()]--
	for _, img := range w.model.keys[of.key()].during(before) {
		if img != nil && img.barred {
			w.wholes.checkErasedParts(of, before)
			w.offload.checkPayloadsErased(of)
			return
		}
	}
	w.Fail(Returned, "%s was erased, and its key is not barred", of.key())
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
	e.w.removeBeforeRead([]map[string]types.AttributeValue{in.Item})
	return e.client.PutItem(ctx, in, options...)
}

// eraseBeforeTouch lets a person erase an event that a touch pass has read and is about to stamp.
func (w *erasures) eraseBeforeTouch(key map[string]types.AttributeValue) {
	if !w.plan.People || !w.Chance(0.03) {
		return
	}
	k := event.Key{PK: text(key["PK"]), SK: text(key["SK"])}
	if k.SK == "COUPON" { // it is erased with its order alone
		return
	}
	w.Fault(byErasure, k.PK)
	err := eraseAll(context.Background(), w.operators.storeOf(w.dynamo, w.wholes.toolEpoch(), w.Env(w.Rng.Float64, 0)), k)
	w.Must(err)
	w.wrote()
}

// checkBar checks a change that bars a key, or that changes a barred key. Only time to live may
// take a bar away. The bar holds the key and the expiry of the order, or line, that it replaced.
func (w *erasures) checkBar(c *change) {
	switch {
	case c.new == nil:
		if c.old.expiresAt == 0 || c.old.expiresAt > w.Now.Unix() {
			w.Fail(Returned, "the bar of %s is removed at %d, and it stands until %d", c.old.key(), w.Now.Unix(), c.old.expiresAt)
		}
		return
	case !c.new.barred:
		w.Fail(Returned, "%s was erased, and is stored again", c.new.key())
		return
	}
	expires := int64(0)
	if c.old != nil && c.old.Type != "parcel" {
		expires = c.old.expiresAt
	}
	want := 3 // PK, SK, i:barred
	if expires != 0 {
		want = 4
	}
	if c.new.expiresAt != expires || len(c.new.whole) != want {
		w.Fail(Returned, "the bar of %s has %q and stands until %d, not %d", c.new.key(), sortedKeys(c.new.whole), c.new.expiresAt, expires)
	}
}
