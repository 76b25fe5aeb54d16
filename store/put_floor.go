package store

import (
	"context"
	"errors"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/ingot-events/ingot/aggregate"
	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/base/awserr"
	"github.com/ingot-events/ingot/internal/base/itemform"
	"github.com/ingot-events/ingot/internal/plan/lanes"
)

// mayTake reports whether the message may take from the totals whose floors it must not break. It
// may not while one of them is being built, because its sum is not complete then. Items that are
// stored already are judged in any case, and the others are Retry.
func (t *atomicPut) mayTake(ctx context.Context) bool {
	if t.ready {
		return true
	}
	for _, def := range t.floors() {
		if why := t.store.incomplete(ctx, def, false, &t.cost); why != nil {
			t.look(ctx, t.unmet())
			if t.decide(); t.result == nil {
				t.refused(why)
			}
			return false
		}
	}
	t.ready = true
	return true
}

// stopped decides about a message whose transaction was cancelled, although the refusal names no
// key that is taken. If no total refuses either, other requests have held the items.
func (t *atomicPut) stopped(ctx context.Context, moves []*totalMove, reasons []types.CancellationReason) (answer, next) {
	why, refusing, busy := answer{outcome: contended, err: errSilent}, -1, false
	for i := range moves {
		switch a := classifyReason(reasons[i]); a.outcome {
		case done:
		case failed, invalid:
			if refusing < 0 || a.outcome == invalid {
				refusing = i
			}
		default:
			t.cost.refused(a)
			t.refusedFor(a, moves[i].Key)
			why, busy = a, true
		}
	}
	switch {
	case refusing < 0 && busy:
		return why, later
	case refusing < 0:
		return t.refusedWhole(ctx, moves, why)
	}
	if totals, step := t.onlyTotals(ctx); !totals {
		return answer{}, step
	}
	return t.refusedBy(ctx, moves[refusing], reasons[refusing])
}

// onlyTotals reads the items under the keys, because a refusal may not name every item that caused
// it. It reports whether only totals refuse the message, and all tries of this delivery were
// answered. If not, the message is settled, or must be sent again at once.
func (t *atomicPut) onlyTotals(ctx context.Context) (is bool, step next) {
	unmet := t.unmet()
	if t.look(ctx, unmet); t.result == nil {
		t.decide()
	}
	switch {
	case t.result != nil:
		return false, ended
	case len(t.unmet()) < len(unmet): // a part of it is stored, and that part moves nothing
		return false, again
	case t.unanswered:
		t.refused(&event.Refusal{Verdict: event.Retry, Reason: event.Unproven,
			Detail: "a try of this delivery got no answer and may still be carried out, and now a total refuses the event; it is delivered again"})
		return false, ended
	}
	return true, ended
}

// refusedWhole decides about a message whose transaction was refused without naming an item; why
// has the reason. The rules for the file leave only one reason in the data: the items and the
// totals that they move are together too large for a transaction. Then the largest total refuses
// the message, which could be stored if that total were small. Totals are not read if they cannot
// be large enough for this.
func (t *atomicPut) refusedWhole(ctx context.Context, moves []*totalMove, why answer) (answer, next) {
	bytes := 0
	for _, m := range t.members {
		bytes += m.attempted()
	}
	if bytes+len(moves)*event.MaxItem <= itemform.MaxTransaction {
		return why, later
	}
	totals, size, largest := 0, 0, (*totalMove)(nil)
	for _, u := range moves {
		img, err := t.store.get(ctx, u.Key)
		if err != nil {
			return classify(err), later
		}
		t.cost.Requests++
		t.cost.read(imageSize(img))
		if totals += imageSize(img); largest == nil || imageSize(img) > size {
			size, largest = imageSize(img), u
		}
	}
	if bytes+totals <= itemform.MaxTransaction {
		return why, later
	}
	if alone, step := t.onlyTotals(ctx); !alone {
		return answer{}, step
	}
	return t.refuseTotal(ctx, largest, fmt.Errorf("the items of the message take %d bytes and the totals that they move take %d, and a transaction takes about %d of both", bytes, totals, itemform.MaxTransaction))
}

// refusedBy decides about a message that is not stored and that a total refuses. It may be called
// only if all tries of this delivery were answered.
func (t *atomicPut) refusedBy(ctx context.Context, u *totalMove, reason types.CancellationReason) (answer, next) {
	a, img := classifyReason(reason), reason.Item
	if a.outcome == invalid {
		return t.refuseTotal(ctx, u, a.err)
	}
	if len(img) == 0 { // there is no such total, or the refusal did not include it
		var err error
		if img, err = t.store.get(ctx, u.Key); err != nil {
			return classify(err), later
		}
		t.cost.Requests++
		t.cost.read(imageSize(img))
	}
	floor, mistyped := u.below(img)
	switch {
	case mistyped != "":
		return t.refuseTotal(ctx, u, errors.New(mistyped))
	case floor == "":
		return answer{outcome: contended, err: errMoving}, later // it has risen in the meantime
	}
	if why := t.store.incomplete(ctx, u.Def, true, &t.cost); why != nil {
		t.refused(why)
		return answer{}, ended
	}
	t.refused(&event.Refusal{Verdict: event.Rejected, Reason: event.BelowFloor, Detail: floor})
	return answer{}, ended
}

// refuseTotal flags a total that takes no more updates, or the head of its generation if the total
// cannot even take a flag. The message is Rejected once that is proven.
func (t *atomicPut) refuseTotal(ctx context.Context, u *totalMove, cause error) (answer, next) {
	now, e := t.store.env.Now(), &edit{}
	e.flag(now, "an event was rejected, because its update was refused: "+cause.Error())
	e.expiry(u.ExpiresAt)
	x := e.expression()
	err := t.store.ask(ctx, func() error {
		t.cost.Requests++
		_, err := t.store.client.UpdateItem(ctx, &dynamodb.UpdateItemInput{TableName: &t.store.aggregates, Key: keyImage(u.Key),
			UpdateExpression: &x.update, ExpressionAttributeNames: x.names, ExpressionAttributeValues: x.values})
		return err
	})
	if classify(err).outcome == invalid {
		var cost Cost
		cost, err = counter{t.store}.Flag(ctx, []*aggregate.Definition{u.Def}, now, fmt.Sprintf("aggregate %s takes no more updates: %v", u.Key, cause))
		t.cost.Add(cost)
	} else if err == nil {
		t.cost.WriteUnits++
	}
	if err != nil {
		t.refused(answer{outcome: unknown, err: fmt.Errorf("a total of aggregate %s takes no more updates and could not be flagged: %w", u.Def, awserr.Quiet(err))}.retry())
		return answer{}, ended
	}
	t.refused(totalRefused(u, t.members[0].item.Key, cause.Error()))
	return answer{}, ended
}

// totalRefused says that a total takes no more updates.
func totalRefused(u *totalMove, key event.Key, cause string) *event.Refusal {
	return &event.Refusal{Verdict: event.Rejected, Reason: event.TotalRefused, Key: key,
		Detail: fmt.Sprintf("%s cannot be updated: %s; it is flagged, and the event can be sent again once the total is mended", u.name(), cause)}
}

// incomplete returns the reason why nothing may be taken from the totals of a generation: older
// events are not in them yet, or no function has started with it. It returns nil if the totals are
// complete. This is remembered for five minutes; now makes it read the head again.
func (s *Store) incomplete(ctx context.Context, def *aggregate.Definition, now bool, cost *Cost) *event.Refusal {
	key := lanes.HeadKey(def)
	if !now && s.complete.recently(key, s.env.Now()) {
		return nil
	}
	cost.Requests++
	img, err := s.get(ctx, key)
	if err != nil {
		return classify(err).retry()
	}
	cost.read(imageSize(img))
	why := "older events are not in its totals yet; it is delivered again until a rebuild is finished"
	switch {
	case len(img) == 0:
		why = "no function has started with it yet; it is delivered again"
	case !readHead(img).Building:
		s.complete.note(key, s.env.Now())
		return nil
	}
	return &event.Refusal{Verdict: event.Retry, Reason: event.Unproven, Detail: fmt.Sprintf("the event takes from aggregate %s, and %s", def, why)}
}
