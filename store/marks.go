package store

import (
	"context"
	"errors"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/ingot-events/ingot/aggregate"
	"github.com/ingot-events/ingot/event"
)

// markedUpdate writes one aggregate item under its lane's mark, again and again until it is proven.
//
// The condition is that the mark is below the first record. If the answer to an earlier try was lost, the
// mark that comes back says so, and what it covers is dropped instead of counted twice.
type markedUpdate struct {
	*apply
	lane    aggregate.LaneID
	update  *aggregate.Update
	seen    *observation
	prune   bool  // old marks may go with it; not after a failed condition, which one of them may have caused
	stuck   int   // how often in a row its condition failed without an explanation
	refusal error // why the table will never take the values: now only flag and mark are written
}

// maxStuck is how often a condition may fail while the item shows nothing that explains it. Then it never
// will hold: an attribute has a type that Ingot does not write, and no comparison with it is true.
const maxStuck = 3

var errStuck = errors.New("its condition can never hold: an attribute of the aggregate item has a type that Ingot does not write")

func (a *apply) marked(lane aggregate.LaneID, u *aggregate.Update) *markedUpdate {
	return &markedUpdate{apply: a, lane: lane, update: u, seen: a.store.seen.get(u.Key), prune: true}
}

func (w *markedUpdate) run(ctx context.Context) {
	for round := 1; ; {
		if ctx.Err() != nil {
			w.giveUp(ctx.Err())
			return
		}
		answer, next := w.try(ctx)
		switch next {
		case ended:
			return
		case anotherRequest:
			continue
		}
		if answer.outcome == refused {
			w.giveUp(answer.err)
			return
		}
		w.retried(answer)
		if !w.store.backoff(ctx, round) {
			w.giveUp(answer.err)
			return
		}
		round++
	}
}

// next is what a try leaves to do.
type next uint8

const (
	ended          next = iota // nothing: it is proven, or it is told why not
	anotherRequest             // at once, since what stood in the way of this one does not stand in the way of the next
	sameRequest                // after a wait, or never if it is refused
)

// try sends the update once.
func (w *markedUpdate) try(ctx context.Context) (answer, next) {
	answer, img := w.send(ctx, w.request())
	switch answer.outcome {
	case done:
		w.written(img)
		return answer, ended
	case failed:
		return w.afterFailed(ctx, img)
	case invalid:
		return answer, w.afterInvalid(ctx, answer.err)
	}
	return answer, sameRequest
}

// afterFailed looks at the item that stood in the way: it drops what its mark covers, and corrects what the next
// request guesses of its extremes.
func (w *markedUpdate) afterFailed(ctx context.Context, img image) (answer, next) {
	img, read := w.imageOf(ctx, w.update.Key, img)
	if read.outcome != done {
		return read, sameRequest
	}
	created := w.update.Steps[0].Created
	counted := w.dropCounted(img)
	now := observe(w.update.Def, img)
	if w.stuck++; counted > 0 || w.prune || !now.sameExtremes(w.seen) {
		w.stuck = 0
	}
	w.seen, w.prune = now, false
	w.seen.at = created
	w.store.seen.put(w.update.Key, w.seen)
	if len(w.update.Steps) == 0 {
		return read, ended
	}
	if w.stuck < maxStuck {
		return read, anotherRequest
	}
	w.stuck = 0
	return read, w.afterInvalid(ctx, errStuck)
}

// dropCounted lets go of the steps that the lane's mark covers, and says how many those were.
func (w *markedUpdate) dropCounted(img image) int {
	mark, err := aggregate.ParseMark(bytesOf(img[w.lane.MarkAttribute()]))
	if err != nil {
		return 0
	}
	counted := w.update.Drop(mark)
	w.dropped(counted)
	return counted
}

// afterInvalid hands values that the table will never take to quarantine, and goes on with flag and mark; if it
// does not take those either, the head carries the flag.
//
// In that last case the mark stands where it was. The next batch is refused anew and quarantined with its own steps,
// and an earlier try that lingers can still be done, should somebody make room. Neither counts a step twice: what is
// done moves the mark, and what is then delivered again is dropped. A step may so be counted and in quarantine, under
// a flag that nothing takes back: the total is mended by a new generation, which has other keys, never by replaying
// what is in quarantine.
func (w *markedUpdate) afterInvalid(ctx context.Context, cause error) next {
	if w.refusal != nil {
		if err := w.flagHead(ctx, w.update, w.refusal); err != nil {
			w.giveUp(err)
		}
		return ended
	}
	w.refusal = cause
	if !w.quarantined(ctx, w.update, cause) {
		return ended
	}
	return anotherRequest
}

func (w *markedUpdate) giveUp(err error) { w.unproven(w.update.Steps[0].Sequence, err) }

// request is the one write of an aggregate item under marks: values, n, fingerprint and mark together. If the
// table has refused the values for good, only flag and mark.
func (w *markedUpdate) request() *dynamodb.UpdateItemInput {
	u, delta, e := w.update, w.update.Fold(), newExpression()
	if w.refusal == nil {
		e.fold(u.Def, &delta, w.seen)
	} else {
		e.flag(delta.Last.Created(), "an update was refused and is in quarantine: "+w.refusal.Error())
	}
	e.expiry(u.ExpiresAt)
	e.mark(w.lane, &delta)
	if w.prune {
		e.prune(w.seen, w.lane.MarkAttribute(), u.Steps[0].Created)
	}
	returns := types.ReturnValueAllNew
	if w.seen.fresh(w.lane, u.Steps[0].Created) && len(e.remove) == 0 {
		returns = types.ReturnValueNone
	}
	return &dynamodb.UpdateItemInput{
		TableName:                           &w.store.aggregates,
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
func (w *markedUpdate) send(ctx context.Context, in *dynamodb.UpdateItemInput) (answer, image) {
	out, err := w.store.client.UpdateItem(ctx, in)
	answer := classify(err)
	var img image
	var condition *types.ConditionalCheckFailedException
	if err == nil {
		img = out.Attributes
	} else if errors.As(err, &condition) {
		img = condition.Item
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.Cost.Requests++
	if answer.outcome == failed || len(img) > 0 {
		w.Cost.WriteUnits += float64(event.WriteUnits(imageSize(img)))
	}
	return answer, img
}

// written remembers what the item looks like now. Without an image its size is the last one seen, which is
// what it is counted by: an item grows by a mark in hours.
func (w *markedUpdate) written(img image) {
	seen, units := w.seen, 0
	if len(img) > 0 {
		seen = observe(w.update.Def, img)
		seen.at = w.update.Steps[0].Created
	} else {
		units = event.WriteUnits(seen.size)
		if w.update.Def.HasExtremes() && w.refusal == nil {
			delta := w.update.Fold()
			seen = seen.after(w.update.Def, &delta)
		}
	}
	w.store.seen.put(w.update.Key, seen)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.Updates++
	w.Cost.WriteUnits += float64(units)
	if w.refusal != nil {
		w.Refused++
	}
}
