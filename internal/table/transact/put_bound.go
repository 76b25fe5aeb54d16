package transact

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/ingot-events/ingot/aggregate"
	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/base/awserr"
	"github.com/ingot-events/ingot/internal/base/itemform"
	"github.com/ingot-events/ingot/internal/plan/lanes"
	"github.com/ingot-events/ingot/internal/table/generations"
	"github.com/ingot-events/ingot/internal/table/plain"
	"github.com/ingot-events/ingot/internal/table/rows"
	"github.com/ingot-events/ingot/tables"
)

// messages are messages that are judged together, so that one read serves all of them.
type messages []*atomicPut

// look reads what is stored under the keys of all items that are to be put.
func (list messages) look(ctx context.Context, cost *tables.Cost) {
	var unmet []*atomicItem
	for _, t := range list {
		unmet = append(unmet, t.unmet()...)
	}
	if len(unmet) > 0 {
		list[0].lookAt(ctx, unmet, cost)
	}
}

// mayTake returns the messages that may move values towards the bounds of totals. A
// message may not while one of these is being built, because its sum is not complete then. Its
// items that are stored already are judged in any case; otherwise it is Retry.
func (list messages) mayTake(ctx context.Context, cost *tables.Cost) (may messages) {
	read, blocked, why := Heads{}, messages(nil), map[*atomicPut]*event.Refusal{}
	for _, t := range list {
		for _, def := range t.Bounded() {
			if !t.ready && why[t] == nil {
				why[t] = read.Incomplete(ctx, t.store, def, false, cost)
			}
		}
		if t.ready = why[t] == nil; t.ready {
			may = append(may, t)
		} else {
			blocked = append(blocked, t)
		}
	}
	blocked.look(ctx, cost)
	for _, t := range blocked {
		if t.decide(); t.result == nil {
			t.refused(why[t])
		}
	}
	return may
}

// stopped decides about a message whose transaction was cancelled, although the refusal names no
// key that is taken. If no total refuses either, other requests have held the items.
func (t *atomicPut) stopped(ctx context.Context, moves []*TotalMove, reasons []types.CancellationReason) (rows.Answer, rows.Next) {
	why, refusing, busy := rows.Answer{Outcome: rows.Contended, Err: rows.ErrSilent}, -1, false
	for i := range moves {
		switch a := rows.ClassifyReason(reasons[i]); a.Outcome {
		case rows.Done:
		case rows.Failed, rows.Invalid:
			if refusing < 0 || a.Outcome == rows.Invalid {
				refusing = i
			}
		default:
			a.Count(&t.cost)
			if t.refusedFor(a, moves[i].Key) {
				t.cost.RefusedTotal(moves[i].Def.Name, moves[i].Key)
			}
			why, busy = a, true
		}
	}
	switch {
	case refusing < 0 && busy:
		return why, rows.Later
	case refusing < 0:
		return t.refusedWhole(ctx, moves, why)
	}
	if len(messages{t}.onlyTotals(ctx, &t.cost)) == 0 {
		return rows.Answer{}, t.step()
	}
	return t.refusedBy(ctx, moves[refusing], reasons[refusing])
}

// onlyTotals reads the items under the keys of messages that a total refuses, because a refusal may
// not name every item that caused it. It returns those that only totals refuse, and of which all
// tries of this delivery were answered. The others are settled, or must be sent again at once.
func (list messages) onlyTotals(ctx context.Context, cost *tables.Cost) (only messages) {
	before := make([]int, len(list))
	for i, t := range list {
		before[i] = len(t.unmet())
	}
	list.look(ctx, cost)
	for i, t := range list {
		t.decide()
		switch {
		case t.result != nil:
		case len(t.unmet()) < before[i]: // a part of it is stored, and that part moves nothing
		case t.unanswered:
			t.refused(plain.MayStillBe(t.Members[0].item, "a total refuses the event"))
		default:
			only = append(only, t)
		}
	}
	return only
}

// step says whether a message must be sent again at once, because it is not settled.
func (t *atomicPut) step() rows.Next {
	if t.result != nil {
		return rows.Ended
	}
	return rows.Again
}

// refusedWhole decides about a message whose transaction was refused without naming an item; why
// has the reason. The rules for the file leave only one reason in the data: the items and the
// totals that they move are together too large for a transaction. Then the largest total refuses
// the message, which could be stored if that total were small. Totals are not read if they cannot
// be large enough for this.
func (t *atomicPut) refusedWhole(ctx context.Context, moves []*TotalMove, why rows.Answer) (rows.Answer, rows.Next) {
	bytes := 0
	for _, m := range t.Members {
		bytes += m.attempted()
	}
	if bytes+len(moves)*event.MaxItem <= itemform.MaxTransaction {
		return why, rows.Later
	}
	totals, size, largest := 0, 0, (*TotalMove)(nil)
	for _, u := range moves {
		img, err := t.store.Get(ctx, u.Key)
		if err != nil {
			return rows.Classify(err), rows.Later
		}
		t.cost.Requests++
		t.cost.Read(rows.ImageSize(img))
		if totals += rows.ImageSize(img); largest == nil || rows.ImageSize(img) > size {
			size, largest = rows.ImageSize(img), u
		}
	}
	if bytes+totals <= itemform.MaxTransaction {
		return why, rows.Later
	}
	if len(messages{t}.onlyTotals(ctx, &t.cost)) == 0 {
		return rows.Answer{}, t.step()
	}
	return t.refuseTotal(ctx, largest,
		fmt.Errorf("the items of the message take %d bytes and the totals that they move take %d, and a transaction takes about %d of both",
			bytes, totals, itemform.MaxTransaction))
}

// refusedBy decides about a message that is not stored and that a total refuses. It may be called
// only if all tries of this delivery were answered.
func (t *atomicPut) refusedBy(ctx context.Context, u *TotalMove, reason types.CancellationReason) (rows.Answer, rows.Next) {
	a, img := rows.ClassifyReason(reason), reason.Item
	if a.Outcome == rows.Invalid {
		return t.refuseTotal(ctx, u, a.Err)
	}
	if len(img) == 0 { // there is no such total, or the refusal did not include it
		var err error
		if img, err = t.store.Get(ctx, u.Key); err != nil {
			return rows.Classify(err), rows.Later
		}
		t.cost.Requests++
		t.cost.Read(rows.ImageSize(img))
	}
	beyond, mistyped := u.Beyond(img)
	switch {
	case mistyped != "":
		return t.refuseTotal(ctx, u, errors.New(mistyped))
	case beyond == nil:
		return rows.Answer{Outcome: rows.Contended, Err: errMoving}, rows.Later // it has moved in the meantime
	}
	t.refused(cmp.Or((Heads{}).Incomplete(ctx, t.store, u.Def, true, &t.cost), beyond))
	return rows.Answer{}, rows.Ended
}

// refuseTotal flags a total that takes no more updates, or the head of its generation if the total
// cannot even take a flag. The message is Rejected once that is proven.
func (t *atomicPut) refuseTotal(ctx context.Context, u *TotalMove, cause error) (rows.Answer, rows.Next) {
	now, e := t.store.Env.Now(), &rows.Edit{}
	e.Flag(now, "an event was rejected, because its update was refused: "+cause.Error())
	e.Expiry(u.ExpiresAt)
	in := rows.Request(e.Update(&t.store.Aggregates, u.Key))
	err := t.store.Ask(ctx, func() error {
		t.cost.Requests++
		_, err := t.store.Client.UpdateItem(ctx, in)
		return err
	})
	if rows.Classify(err).Outcome == rows.Invalid {
		var cost tables.Cost
		cost, err = t.store.Generations.Flag(ctx, []*aggregate.Definition{u.Def}, now,
			fmt.Sprintf("aggregate %q takes no more updates: %v", u.Key, cause))
		t.cost.Add(cost)
	} else if err == nil {
		t.cost.WriteUnits++
	}
	if err != nil {
		t.refused(rows.Answer{Outcome: rows.Unknown, Err: fmt.Errorf("a total of aggregate %s takes no more updates and could not be flagged: %w",
			u.Def, awserr.Quiet(err))}.Retry())
		return rows.Answer{}, rows.Ended
	}
	t.refused(TotalRefused(u, t.Members[0].item.Key, cause.Error()))
	return rows.Answer{}, rows.Ended
}

// TotalRefused says that a total takes no more updates.
func TotalRefused(u *TotalMove, key event.Key, cause string) *event.Refusal {
	return &event.Refusal{Verdict: event.Rejected, Reason: event.TotalRefused, Key: key,
		Detail: fmt.Sprintf("%s cannot be updated: %s; it is flagged, and the event can be sent again once the total is mended",
			u.name(), cause)}
}

// Heads says for generations why they are not complete, as their heads were read for some messages.
// nil means that a generation is complete.
type Heads map[*aggregate.Definition]*event.Refusal

// Incomplete returns the reason why the bounds of a generation cannot be judged: older
// events are not in them yet, or no function has started with it. It returns nil if the totals are
// complete. The store remembers this for five minutes; now makes it read the head again.
func (h Heads) Incomplete(ctx context.Context, s *Writer, def *aggregate.Definition, now bool, cost *tables.Cost) *event.Refusal {
	key := lanes.HeadKey(def)
	why, known := h[def]
	if known || !now && s.complete.Recently(key, s.Env.Now()) {
		return why
	}
	cost.Requests++
	img, err := s.Get(ctx, key)
	if err != nil {
		h[def] = rows.Classify(err).Retry()
		return h[def]
	}
	cost.Read(rows.ImageSize(img))
	detail := "older events are not in its totals yet; it is delivered again until a rebuild is finished"
	switch {
	case len(img) == 0:
		detail = "no function has started with it yet; it is delivered again"
	case !generations.ReadHead(img).Building:
		s.complete.Note(key, s.Env.Now())
		h[def] = nil
		return nil
	}
	h[def] = &event.Refusal{Verdict: event.Retry, Reason: event.Unproven,
		Detail: fmt.Sprintf("aggregate %s may refuse the event, and %s", def, detail)}
	return h[def]
}
