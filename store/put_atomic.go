package store

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/ingot-events/ingot/aggregate"
	"github.com/ingot-events/ingot/event"
)

// transactions puts items together with their parts, or with the totals that they move.
type transactions struct {
	*plain
	generations *generations
	complete    recentHeads // generations with floors that are not being built
}

// putAtomic puts each of the items at these places together with its parts. Copies of one event go
// one after the other, because two transactions on the same key would only make each other fail.
func (s *transactions) putAtomic(ctx context.Context, items []*event.Item, places []int, results []Result) (cost Cost) {
	copies := make(map[event.Key]int, len(places))
	var groups [][]int
	for _, i := range places {
		n, known := copies[items[i].Key]
		if !known {
			n = len(groups)
			copies[items[i].Key], groups = n, append(groups, nil)
		}
		groups[n] = append(groups[n], i)
	}
	costs := make([]Cost, len(groups))
	among := s.throttles(items)
	s.env.Each(len(groups), s.parallel(), func(n int) {
		first := groups[n][0]
		for _, i := range groups[n] {
			if i != first && items[i].Digest == items[first].Digest { // then its parts are equal too
				results[i] = results[first].again()
				continue
			}
			t := s.atomicPut(items[i], items[i].Parts.Items...)
			t.halt.among = among
			results[i] = t.put(ctx)
			costs[n].Add(t.cost)
		}
	})
	for _, c := range costs {
		cost.Add(c)
	}
	return cost
}

// atomicPut puts items in one transaction: all of them, or none. The first one is the whole, and
// the others are its parts. The same transaction moves the totals that move with these items.
//
// If a key is taken, the item that came back decides. A different digest is a Conflict, and nothing
// is stored. The same digest means that this item is stored already: by a try whose answer was
// lost, by an earlier delivery, or by a function that put the whole and its parts one after the
// other. In the next transaction, a condition replaces its put: the item is still the same. The
// other items are put again. Without that condition, a part could be put next to a whole that has
// been erased in the meantime.
//
// What the keys hold is judged before what the totals say: an event that is stored is a Duplicate,
// whatever a floor says.
type atomicPut struct {
	store   *transactions
	members []*atomicItem
	cost    Cost
	last    answer // why it is not settled
	beside  bool   // only a part is put; the whole is stored already
	blind   bool   // after a refusal, items and totals are read: together they are too large for its answer
	halt    *halt
	result  *Result // once it is known
	// unanswered says that a try got no answer, and may still be carried out.
	unanswered bool
	ready      bool // none of the totals that it takes from, and that have a floor, is being built
	// throttled are the partition keys for which the last try was refused, as far as its refusal
	// names them.
	throttled []string
}

// atomicItem is one item of a transaction.
type atomicItem struct {
	item *event.Item
	// result is what was found under the key. It has no verdict if nothing was found there yet.
	result Result
	// met says that the item is proven stored, with this digest and size. barred says that its key
	// is barred. In both cases it is not put again.
	met, barred bool
	digest      event.Digest
	size        int
	// moves is what its put adds to totals.
	moves []aggregate.Contribution
}

func (s *transactions) atomicPut(whole *event.Item, parts ...*event.Item) *atomicPut {
	t := &atomicPut{store: s, halt: &halt{}, members: []*atomicItem{{item: whole, moves: s.moves(whole)}}}
	for _, part := range parts {
		t.members = append(t.members, &atomicItem{item: part, moves: s.moves(part)})
	}
	return t
}

// put sends the transaction until the message is settled. If it is not settled in time, it is
// Retry.
func (t *atomicPut) put(ctx context.Context) Result {
	tries := 0
	err := t.store.retry(ctx, func() (answer, next) {
		if tries++; tries > 1 {
			t.cost.Retries++
		}
		a, next := t.try(ctx)
		held := t.halt.up(a, t.throttled, t.store.env.Now())
		if t.last = a; t.result != nil || held {
			return a, ended
		}
		return a, next
	})
	return t.end(tries > 0, err)
}

// end returns the result. A message that is not settled is Retry.
func (t *atomicPut) end(tried bool, err error) Result {
	switch {
	case t.result != nil:
	case !tried:
		t.refused(unattempted())
	case t.last.err == nil:
		t.refused(answer{outcome: unknown, err: err}.retry())
	default:
		t.refused(t.last.retry())
		t.result.cause = t.last.err
	}
	t.result.Units = t.cost.WriteUnits
	return *t.result
}

// refused ends the put with a refusal of the whole message. Several messages may have the same
// reason.
func (t *atomicPut) refused(why *event.Refusal) {
	r := *why
	r.Key = t.members[0].item.Key
	t.result = &Result{Verdict: r.Verdict, Refusal: &r}
}

// halt is the time since when other requests have held up transactions without any progress. It is
// zero if nothing holds them up. Messages that move the same totals share one halt, so they share
// their patience: otherwise each of a hundred messages would wait for the same total in turn.
type halt struct {
	since time.Time
	among *throttles // nil: only a refusal of the whole transaction says that a key is hot
}

// up takes an answer, and the partition keys that were throttled, as far as it names them. It
// reports whether the transaction has been held up for longer than a batch has patience, by hot
// keys or by requests that hold one of the items. Its messages are then delivered again. Hot keys
// are remembered for a while, and the next batches do not wait for them.
func (h *halt) up(a answer, throttled []string, now time.Time) bool {
	few := h.among.few(throttled)
	if a.outcome != contended && !a.hotKey() && !few {
		h.since = time.Time{}
		return false
	}
	if few && h.among.hot.all(throttled, now) {
		return true
	}
	if h.since.IsZero() {
		h.since = now
	}
	if now.Sub(h.since) < patience {
		return false
	}
	if few {
		h.among.hot.add(throttled, now)
	}
	return true
}

// try sends the transaction once.
func (t *atomicPut) try(ctx context.Context) (answer, next) {
	if t.beside && !t.members[0].met {
		t.refused(&event.Refusal{Verdict: event.Retry, Reason: event.Unattempted,
			Detail: "its whole was removed in the meantime, so it is not put"})
		return answer{}, ended
	}
	one := messages{t}
	if t.late() {
		one.judgeLate(ctx, &t.cost)
		return answer{}, ended
	}
	if len(one.mayTake(ctx, &t.cost)) == 0 {
		return answer{}, ended
	}
	moves := totalMoves(t.unmet())
	sent := t.store.transact(ctx, t.store.transaction(t.members, t.blind, moves), sendOnce(moves)...)
	t.cost.Requests++
	t.throttled = nil
	switch sent.outcome {
	case done:
		t.halt.among.wrote(t.members, moves)
		t.cost.WriteUnits += cmp.Or(sent.units, t.units(true)+movedUnits(&t.store.aggregates, moves, nil))
		t.stored(event.Inserted)
		return sent.answer, ended
	case cancelled:
		return t.cancelled(ctx, sent, moves)
	case throttled:
		t.cost.throttle(sent.reason, 1)
	case invalid:
		return t.refusedWhole(ctx, moves, sent.answer)
	case unknown, contended:
		t.unanswered = true
	}
	return sent.answer, later
}

// unmet returns the items that are to be put.
func (t *atomicPut) unmet() (list []*atomicItem) {
	for _, m := range t.members {
		if !m.met {
			list = append(list, m)
		}
	}
	return list
}

// transaction returns the transaction: a put for each item, a condition if the item is met, and an
// update for each total. If blind is set, it does not ask for the items and totals that make
// conditions fail.
func (s *transactions) transaction(members []*atomicItem, blind bool, moves []*totalMove) *dynamodb.TransactWriteItemsInput {
	in := &dynamodb.TransactWriteItemsInput{ReturnConsumedCapacity: types.ReturnConsumedCapacityTotal}
	images := types.ReturnValuesOnConditionCheckFailureAllOld
	if blind {
		images = types.ReturnValuesOnConditionCheckFailureNone
	}
	for _, m := range members {
		if m.met {
			in.TransactItems = append(in.TransactItems, types.TransactWriteItem{ConditionCheck: m.check(&s.events, images)})
			continue
		}
		in.TransactItems = append(in.TransactItems, types.TransactWriteItem{Put: &types.Put{TableName: &s.events, Item: m.encode(),
			ConditionExpression: aws.String("attribute_not_exists(PK)"), ReturnValuesOnConditionCheckFailure: images}})
	}
	for _, u := range moves {
		in.TransactItems = append(in.TransactItems, types.TransactWriteItem{Update: u.update(&s.aggregates, images)})
	}
	return in
}

// encode returns the stored form of the item. It says under which epoch the put has counted it, if
// the transaction does so.
func (m *atomicItem) encode() image {
	img := encode(m.item)
	if len(m.moves) > 0 {
		img[putAttribute] = integer(m.item.Epoch)
	}
	return img
}

// check returns the condition that the item is still the one that was met.
func (m *atomicItem) check(table *string, images types.ReturnValuesOnConditionCheckFailure) *types.ConditionCheck {
	c := &types.ConditionCheck{TableName: table, Key: keyImage(m.item.Key), ReturnValuesOnConditionCheckFailure: images}
	if m.barred {
		c.ConditionExpression, c.ExpressionAttributeNames = aws.String("attribute_exists(#b)"), map[string]string{"#b": barredAttribute}
		return c
	}
	c.ConditionExpression, c.ExpressionAttributeNames = aws.String("#d = :d"), map[string]string{"#d": "digest"}
	c.ExpressionAttributeValues = image{":d": binary(m.digest[:])}
	return c
}

// units returns what the transaction costs. If it was not carried out, indexes cost nothing.
func (t *atomicPut) units(done bool) (units float64) {
	for _, m := range t.members {
		switch {
		case m.met:
			units += transactionUnits(m.size)
		case done:
			units += 2 * insertUnits(m.item)
		default:
			units += transactionUnits(max(m.item.Size(), m.size))
		}
	}
	return units
}

var errMoving = errors.New("an item that was there before is gone or has changed")

// cancelled reads the reasons of a cancelled transaction. They have the order of its items: first
// the members, then the totals.
func (t *atomicPut) cancelled(ctx context.Context, sent transacted, moves []*totalMove) (why answer, step next) {
	if len(sent.reasons) != len(t.members)+len(moves) {
		t.cost.WriteUnits += t.units(false) + movedUnits(&t.store.aggregates, moves, nil)
		if sent.long && !t.blind {
			t.blind = true
			return sent.answer, again
		}
		return t.refusedWhole(ctx, moves, answer{outcome: contended, err: errSilent})
	}
	why, step = sent.answer, again
	var unread []*atomicItem
	for i, m := range t.members {
		reason := sent.reasons[i]
		known := readWhole(reason.Item)
		t.cost.WriteUnits += transactionUnits(max(m.attempted(), known.size))
		switch a := classifyReason(reason); a.outcome {
		case done:
		case failed:
			if m.met { // it was erased, or a person removed it
				m.met, m.barred, m.result = false, false, Result{}
				why, step = answer{outcome: unknown, err: errMoving}, later
			}
			if len(reason.Item) == 0 {
				unread = append(unread, m)
				continue
			}
			t.meet(ctx, m, known)
		default:
			t.cost.refused(a)
			t.refusedFor(a, m.item.Key)
			why, step = a, later
		}
	}
	ofMoves := sent.reasons[len(t.members):]
	t.cost.WriteUnits += movedUnits(&t.store.aggregates, moves, ofMoves)
	if len(unread) > 0 && t.result == nil {
		t.lookAt(ctx, unread, &t.cost)
		if step == again && slices.ContainsFunc(unread, func(m *atomicItem) bool { return m.result.Verdict == 0 }) {
			why, step = answer{outcome: unknown, err: errMoving}, later
		}
	}
	t.decide()
	if t.result == nil && step == again && len(moves) > 0 && !slices.ContainsFunc(sent.reasons[:len(t.members)], isFailed) {
		return t.stopped(ctx, moves, ofMoves)
	}
	return why, step
}

// refusedFor notes the key of an item that was throttled.
func (t *atomicPut) refusedFor(a answer, key event.Key) {
	if a.outcome == throttled {
		t.throttled = append(t.throttled, key.PK)
	}
}

func isFailed(reason types.CancellationReason) bool { return classifyReason(reason).outcome == failed }

// attempted returns the size that a transaction is charged for if nothing is found under the key.
func (m *atomicItem) attempted() int {
	if m.met {
		return m.size
	}
	return m.item.Size()
}

// meet takes the stored item that holds the key of a member.
func (t *atomicPut) meet(ctx context.Context, m *atomicItem, known *stored) {
	judge := func() { m.take(t.store.judge(known, m.item), known.digest) }
	err := known.ahead(t.store.pipeline.Epoch())
	switch {
	case err != nil:
	case known.elsewhere(m.item):
		err = t.store.fetch(ctx, known, &t.cost, judge)
	default:
		judge()
	}
	if err != nil {
		t.refused(answer{outcome: unknown, err: err}.retry())
		return
	}
	m.size = known.size
}

// take takes what was found under the member's key.
func (m *atomicItem) take(r Result, digest event.Digest) {
	m.result = r
	if r.Verdict == event.Duplicate {
		m.met, m.barred, m.digest = true, r.Refusal != nil, digest
	}
}

// lookAt reads what is stored under the keys of members. It puts nothing.
func (t *atomicPut) lookAt(ctx context.Context, members []*atomicItem, cost *Cost) {
	items := make([]*event.Item, len(members))
	for i, m := range members {
		items[i] = m.item
	}
	results, own := t.store.look(ctx, items)
	cost.Add(own)
	for i, m := range members {
		m.take(results[i], digestIn(results[i].Existing))
		m.size = m.item.Size()
	}
}

func digestIn(item *event.Item) (d event.Digest) {
	if item != nil {
		d = item.Digest
	}
	return d
}

// late reports whether an item of the message may no longer be put.
func (t *atomicPut) late() bool {
	now := t.store.env.Now()
	return slices.ContainsFunc(t.members, func(m *atomicItem) bool { return !m.met && tooLate(m.item, now) })
}

// judgeLate settles messages of which an item may no longer be put. Nothing of them is put, because
// they would be only partly stored.
func (list messages) judgeLate(ctx context.Context, cost *Cost) {
	list.look(ctx, cost)
	for _, t := range list {
		for _, m := range t.unmet() {
			if m.result.Verdict != 0 {
				continue
			}
			refusal := pastExpiry(m.item)
			if !tooLate(m.item, t.store.env.Now()) {
				refusal.Detail = "an item of the same message can no longer be stored, and this one is not stored without it"
			}
			m.result = Result{Verdict: event.Expired, Refusal: refusal}
		}
		t.decide()
	}
}

// decide finds out whether what was found under the keys settles the message.
func (t *atomicPut) decide() {
	whole := t.members[0]
	if t.result != nil {
		return
	}
	if whole.met && whole.barred {
		t.result = &Result{Verdict: event.Duplicate, Refusal: whole.result.Refusal}
		return
	}
	worst, met := &Result{}, true
	for _, m := range t.members {
		met = met && m.met
		if severity(m.result.Verdict) > severity(worst.Verdict) {
			worst = &m.result
		}
	}
	switch {
	case worst.Verdict != 0:
		t.result = &Result{Verdict: worst.Verdict, Refusal: worst.Refusal, Existing: worst.Existing}
	case met:
		t.stored(event.Duplicate)
	}
}

// stored ends the put of a message when all of its items are proven stored.
func (t *atomicPut) stored(v event.Verdict) {
	t.result = &Result{Verdict: v}
	for _, m := range t.members[1:] {
		if !m.met {
			m.result = Result{Verdict: event.Inserted}
		}
		t.result.Parts = append(t.result.Parts, m.result)
	}
}
