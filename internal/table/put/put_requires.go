package put

import (
	"context"
	"fmt"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/base/itemform"
	"github.com/ingot-events/ingot/internal/table/rows"
	"github.com/ingot-events/ingot/tables"
)

// ordered is a call of Put with items that require others. An item is put once all that it requires
// is proven stored. Events are not taken back, so a read before the put proves as much as a
// condition in its transaction, and excludes nobody. What is erased or expires between the two is
// not noticed.
//
// First come the items that require nothing. One request then reads a hundred keys that are still
// needed. Items follow whose needs were read, or were put by this call. In the end, an item of
// which something is missing is judged by what is stored under its own key. If nothing is, it is
// Rejected.
type ordered struct {
	*Stages
	items   []*event.Item
	results []tables.Result
	cost    tables.Cost
	left    []int // the places of items that are not put yet
	stored  map[event.Requirement]bool
}

// putInOrder puts items of which some require others.
func (s *Stages) putInOrder(ctx context.Context, items []*event.Item) ([]tables.Result, tables.Cost) {
	o := &ordered{Stages: s, items: items, results: make([]tables.Result, len(items)), stored: map[event.Requirement]bool{}}
	for i := range items {
		o.left = append(o.left, i)
	}
	o.putReady(ctx)
	err := o.read(ctx)
	for o.putReady(ctx) {
	}
	if err != nil {
		why := rows.Classify(err).Retry()
		for _, i := range o.left {
			o.results[i] = tables.Result{Verdict: event.Retry, Refusal: why, Cause: err}
		}
		return o.results, o.cost
	}
	o.judge(ctx)
	return o.results, o.cost
}

// putReady puts the items of which nothing is missing. It reports whether there were any.
func (o *ordered) putReady(ctx context.Context) bool {
	var ready, left []int
	for _, i := range o.left {
		if o.missing(o.items[i]) == nil {
			ready = append(ready, i)
		} else {
			left = append(left, i)
		}
	}
	o.left = left
	o.put(ctx, ready)
	return len(ready) > 0
}

// missing returns what an item requires and is not known to be stored, or nil.
func (o *ordered) missing(item *event.Item) *event.Requirement {
	at := slices.IndexFunc(item.Requires, func(r event.Requirement) bool { return !o.stored[r] })
	if at < 0 {
		return nil
	}
	return &item.Requires[at]
}

// Lacking returns why an item that is not stored may not be put: an event that it requires is not
// stored. It returns nil if there is no such event.
func (s *Stages) Lacking(ctx context.Context, item *event.Item) (*event.Refusal, error) {
	if len(item.Requires) == 0 {
		return nil, nil
	}
	o := &ordered{Stages: s, items: []*event.Item{item}, left: []int{0}, stored: map[event.Requirement]bool{}}
	if err := o.read(ctx); err != nil {
		return nil, fmt.Errorf("what item %q requires: %w", item.Key, err)
	}
	return o.refusal(item), nil
}

// refusal says what of an item is missing, or is nil.
func (o *ordered) refusal(item *event.Item) *event.Refusal {
	needed := o.missing(item)
	if needed == nil {
		return nil
	}
	return &event.Refusal{Verdict: event.Rejected, Reason: event.Requires, Key: item.Key, Type: item.Type,
		Detail: fmt.Sprintf("it requires %s under the key %q, which is not stored; send the message again once it is", needed.Type,
			needed.Key.String())}
}

// put puts the items at these places, and notes what is stored.
func (o *ordered) put(ctx context.Context, places []int) {
	if len(places) == 0 {
		return
	}
	items := make([]*event.Item, len(places))
	for n, i := range places {
		item := *o.items[i]
		item.Requires = nil // nothing of it is missing
		items[n] = &item
	}
	results, cost := o.Put(ctx, items)
	o.cost.Add(cost)
	now := o.Env.Now()
	note := func(item *event.Item, r *tables.Result) {
		if r.Verdict.Stored() && !rows.IsBarred(r) && !item.Expired(now) {
			o.stored[event.Requirement{Type: item.Type, Key: item.Key}] = true
		}
	}
	for n, i := range places {
		o.results[i] = results[n]
		note(items[n], &results[n])
		for part := range results[n].Parts {
			note(items[n].Parts.Items[part], &results[n].Parts[part])
		}
	}
}

// read finds out which of the events that are needed are stored.
func (o *ordered) read(ctx context.Context) error {
	var wanted []event.Key
	asked := map[event.Key]bool{}
	for _, i := range o.left {
		for _, r := range o.items[i].Requires {
			if !o.stored[r] && !asked[r.Key] {
				wanted, asked[r.Key] = append(wanted, r.Key), true
			}
		}
	}
	turned := map[string]bool{}
	for chunk := range slices.Chunk(wanted, rows.Summary.Keys()) {
		request := rows.Summary.Request()
		for _, key := range chunk {
			request.Keys = append(request.Keys, rows.KeyImage(key))
		}
		var found []rows.Image
		err := o.ReadKeys(ctx, o.Events, request, types.ReturnConsumedCapacityTotal, func(out *dynamodb.BatchGetItemOutput) {
			found = append(found, out.Responses[o.Events]...)
			o.cost.Requests++
			for _, c := range out.ConsumedCapacity {
				o.cost.ReadUnits += aws.ToFloat64(c.CapacityUnits)
			}
		})
		if err != nil {
			return err
		}
		for _, img := range found {
			known := rows.ReadPart(img, false)
			of := &event.Item{Type: known.Typ, Key: known.Key, ExpiresAt: known.ExpiresAt}
			if known.Foreign || known.Barred || of.Expired(o.Env.Now()) {
				continue
			}
			if img[itemform.Migrated] != nil { // a copy of a row counts once its type has turned
				is, err := o.hasTurned(ctx, of.Type, turned)
				if err != nil {
					return err
				}
				if !is {
					continue
				}
			}
			o.stored[event.Requirement{Type: of.Type, Key: of.Key}] = true
		}
	}
	return nil
}

// hasTurned reports whether events of a type are what counts, and not the rows of the table that a
// migration leaves. It remembers what it has read.
func (o *ordered) hasTurned(ctx context.Context, typ string, known map[string]bool) (bool, error) {
	migration := o.Pipeline.Migration(typ)
	if migration == "" {
		return true, nil
	}
	if is, there := known[typ]; there {
		return is, nil
	}
	states, err := o.turned(ctx, migration, &o.cost)
	known[typ] = states[typ] == rows.New
	return known[typ], err
}

// judge gives results to items of which something is missing. One that is stored is put once more,
// because its parts may be missing.
func (o *ordered) judge(ctx context.Context) {
	items := make([]*event.Item, len(o.left))
	for n, i := range o.left {
		items[n] = o.items[i]
	}
	own, cost := o.Look(ctx, items)
	o.cost.Add(cost)
	var there []int
	for n, i := range o.left {
		item, r := items[n], own[n]
		older := item.Revision != nil && r.Verdict == event.Retry && r.Refusal.Reason == event.Unattempted && ctx.Err() == nil
		switch {
		case r.Verdict == 0 || older:
			o.results[i] = tables.Result{Verdict: event.Rejected, Refusal: o.refusal(item)}
		case r.Verdict == event.Retry:
			o.results[i] = r
		default:
			there = append(there, i)
		}
	}
	o.put(ctx, there)
}
