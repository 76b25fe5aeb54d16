package store

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/ingot-events/ingot/aggregate"
	"github.com/ingot-events/ingot/event"
)

// Applied is what became of a batch of changes.
type Applied struct {
	// Unproven is the lowest sequence number that is not proven counted in every aggregate it touches; zero
	// if all are. It and all after it must be delivered again; what was counted already will be dropped by
	// mark or receipt.
	Unproven event.Sequence
	Err      error // the first reason why something is unproven
	Updates  int   // aggregate items written
	Dropped  int   // steps found counted already
	Refused  int   // updates the table will never take; quarantined and flagged
	Cost     Cost
}

// Quarantine durably records that an update of an aggregate item is refused for good. It returns nil only
// when that is proven: the update then counts as processed.
type Quarantine func(ctx context.Context, u *aggregate.Update, cause error) error

// Apply counts a batch of one lane into its aggregate items, each step exactly once. Updates of different
// items are independent; within one item a batch is one conditional write.
func (s *Store) Apply(ctx context.Context, b *aggregate.Batch, quarantine Quarantine) Applied {
	a := &apply{store: s, quarantine: quarantine}
	if b.Counting() == aggregate.Receipts {
		a.receipts(ctx, b)
	} else {
		updates := b.Updates()
		s.env.Each(len(updates), s.concurrency, func(i int) { a.update(ctx, b.Lane(), updates[i]) })
	}
	return a.Applied
}

// apply is one call of Apply.
type apply struct {
	store      *Store
	quarantine Quarantine
	mu         sync.Mutex // guards Applied
	Applied
}

// update writes one aggregate item under its lane's mark, again and again until it is proven.
//
// The condition is that the mark is below the first record. If the answer to an earlier try was lost, the
// mark that comes back says so, and what it covers is dropped instead of counted twice.
func (a *apply) update(ctx context.Context, lane aggregate.LaneID, u *aggregate.Update) {
	seen := a.store.seen.get(u.Key)
	refusal := error(nil)
	prune, stuck := true, 0
	for round := 1; ; {
		if ctx.Err() != nil {
			a.unproven(u.Steps[0].Sequence, ctx.Err())
			return
		}
		answer, img := a.send(ctx, a.markUpdate(lane, u, seen, prune, refusal))
		switch answer.outcome {
		case done:
			a.written(u, seen, img, refusal)
			return
		case failed:
			img, answer = a.imageOf(ctx, u.Key, img)
			if answer.outcome != done {
				break
			}
			created := u.Steps[0].Created
			counted := 0
			if mark, err := aggregate.ParseMark(bytesOf(img[lane.MarkAttribute()])); err == nil {
				counted = u.Drop(mark)
				a.dropped(counted)
			}
			now := observe(u.Def, img)
			if stuck++; counted > 0 || prune || !now.sameExtremes(seen) {
				stuck = 0
			}
			seen, prune = now, false
			seen.at = created
			a.store.seen.put(u.Key, seen)
			if len(u.Steps) == 0 {
				return
			}
			if stuck < maxStuck {
				continue
			}
			answer.err, stuck = errStuck, 0
			fallthrough
		case invalid:
			if refusal != nil {
				a.flagHead(ctx, u, refusal)
				return
			}
			if refusal = answer.err; !a.quarantined(ctx, u, refusal) {
				return
			}
			continue
		case refused:
			a.unproven(u.Steps[0].Sequence, answer.err)
			return
		}
		a.retried(answer)
		if !a.store.backoff(ctx, round) {
			a.unproven(u.Steps[0].Sequence, answer.err)
			return
		}
		round++
	}
}

// maxStuck is how often a condition may fail while the item shows nothing that explains it. Then it never
// will hold: an attribute has a type that Ingot does not write, and no comparison with it is true.
const maxStuck = 3

var errStuck = errors.New("its condition can never hold: an attribute of the aggregate item has a type that Ingot does not write")

// markUpdate is the one write of an aggregate item under marks: values, n, fingerprint and mark together. If
// the table has refused the values for good, only flag and mark.
func (a *apply) markUpdate(lane aggregate.LaneID, u *aggregate.Update, seen *observation, prune bool, refusal error) *dynamodb.UpdateItemInput {
	delta, e := u.Fold(), newExpression()
	if refusal == nil {
		e.fold(u.Def, &delta, seen)
	} else {
		e.flag(delta.Last.Created(), "an update was refused and is in quarantine: "+refusal.Error())
	}
	e.expiry(u.ExpiresAt)
	e.mark(lane, &delta)
	if prune {
		e.prune(seen, lane.MarkAttribute(), u.Steps[0].Created)
	}
	returns := types.ReturnValueAllNew
	if seen.fresh(lane, u.Steps[0].Created) && len(e.remove) == 0 {
		returns = types.ReturnValueNone
	}
	return &dynamodb.UpdateItemInput{
		TableName:                           &a.store.aggregates,
		Key:                                 keyImage(u.Key),
		UpdateExpression:                    aws.String(e.update()),
		ConditionExpression:                 aws.String(e.condition()),
		ExpressionAttributeNames:            e.names,
		ExpressionAttributeValues:           e.values,
		ReturnValues:                        returns,
		ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
	}
}

// send makes one update and returns the item as it is now: after it, if that was asked for, or as it stood in
// its way.
func (a *apply) send(ctx context.Context, in *dynamodb.UpdateItemInput) (answer, image) {
	out, err := a.store.client.UpdateItem(ctx, in)
	answer := classify(err)
	var img image
	var condition *types.ConditionalCheckFailedException
	if err == nil {
		img = out.Attributes
	} else if errors.As(err, &condition) {
		img = condition.Item
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.Cost.Requests++
	if answer.outcome == failed || len(img) > 0 {
		a.Cost.WriteUnits += float64(event.WriteUnits(imageSize(img)))
	}
	return answer, img
}

// imageOf is the image that a failed condition brought, or else the item as it is read now: some emulators
// bring none, and an item that does not exist has none.
func (a *apply) imageOf(ctx context.Context, key event.Key, img image) (image, answer) {
	if len(img) > 0 {
		return img, answer{}
	}
	out, err := a.store.client.GetItem(ctx, &dynamodb.GetItemInput{
		TableName: &a.store.aggregates, Key: keyImage(key), ConsistentRead: aws.Bool(true)})
	a.mu.Lock()
	defer a.mu.Unlock()
	a.Cost.Requests++
	if err != nil {
		return nil, classify(err)
	}
	a.Cost.read(imageSize(out.Item))
	return out.Item, answer{}
}

// written remembers what the item looks like now. Without an image its size is the last one seen, which is
// what it is counted by: an item grows by a mark in hours.
func (a *apply) written(u *aggregate.Update, seen *observation, img image, refusal error) {
	units := 0
	switch {
	case len(img) > 0:
		seen = observe(u.Def, img)
		seen.at = u.Steps[0].Created
	default:
		units = event.WriteUnits(seen.size)
		if u.Def.HasExtremes() && refusal == nil {
			delta := u.Fold()
			seen = seen.after(u.Def, &delta)
		}
	}
	a.store.seen.put(u.Key, seen)
	a.mu.Lock()
	defer a.mu.Unlock()
	a.Updates++
	a.Cost.WriteUnits += float64(units)
	if refusal != nil {
		a.Refused++
	}
}

// quarantined hands a refused update to quarantine; only then may its mark move. False: it is unproven.
func (a *apply) quarantined(ctx context.Context, u *aggregate.Update, cause error) bool {
	if err := a.quarantine(ctx, u, cause); err != nil {
		a.unproven(u.Steps[0].Sequence, fmt.Errorf("aggregate %s was refused (%w) and could not be quarantined: %w", u.Key, cause, err))
		return false
	}
	return true
}

// flagHead is the last resort for an item that takes not even a flag (it is full): the generation's head
// carries it, and the update counts as processed.
func (a *apply) flagHead(ctx context.Context, u *aggregate.Update, cause error) {
	last := u.Steps[len(u.Steps)-1]
	cost, err := a.store.Flag(ctx, []*aggregate.Definition{u.Def}, last.Created, fmt.Sprintf("aggregate %s takes no more updates: %v", u.Key, cause))
	a.mu.Lock()
	a.Cost.Add(cost)
	a.Refused++
	a.mu.Unlock()
	if err != nil {
		a.unproven(u.Steps[0].Sequence, err)
	}
}

func (a *apply) unproven(sequence event.Sequence, err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.Unproven.IsZero() || sequence.Compare(a.Unproven) < 0 {
		a.Unproven = sequence
	}
	if a.Err == nil {
		a.Err = err
	}
}

func (a *apply) dropped(n int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.Dropped += n
}

func (a *apply) retried(answer answer) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.Cost.Retries++
	if answer.outcome == throttled {
		a.Cost.throttle(answer.reason, 1)
	}
}
