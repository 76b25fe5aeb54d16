package transact

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
	"github.com/ingot-events/ingot/internal/table/generations"
	"github.com/ingot-events/ingot/internal/table/plain"
	"github.com/ingot-events/ingot/internal/table/rows"
	"github.com/ingot-events/ingot/tables"
)

// Writer puts items together with their parts, or with the totals that they move.
type Writer struct {
	*plain.Writer
	Generations *generations.Heads
	complete    generations.RecentHeads // generations with bounds that are not being built
}

// PutTogether puts the items at these places in transactions, and sets their results. Each item
// moves totals or is atomic.
func (s *Writer) PutTogether(ctx context.Context, items []*event.Item, places []int, results []tables.Result) (cost tables.Cost) {
	if len(places) == 0 {
		return cost
	}
	var moving, others []int
	later := make(map[int]bool, len(places))
	for _, i := range places {
		if rows.MovesTotals(items[i]) {
			moving = append(moving, i)
		} else {
			others, later[i] = append(others, i), true
		}
	}
	tried := make([]*event.Item, 0, len(items))
	for i, item := range items {
		if !later[i] {
			tried = append(tried, item)
		}
	}
	cost = s.putMoved(ctx, items, moving, results, s.throttles(tried))
	cost.Add(s.putAtomic(ctx, items, others, results, s.throttles(items)))
	return cost
}

// putAtomic puts each of the items at these places together with its parts. Copies of one event go
// one after the other, and so do events that have a state in common, because two transactions on
// the same key would only make each other fail.
func (s *Writer) putAtomic(ctx context.Context, items []*event.Item, places []int, results []tables.Result,
	among *throttles) (cost tables.Cost) {
	groups := apart(items, places)
	costs := make([]tables.Cost, len(groups))
	s.Env.Each(len(groups), s.Parallel(), func(n int) {
		copies := map[event.Key]int{} // the first one of each event
		for _, i := range groups[n] {
			first, known := copies[items[i].Key]
			if known && items[i].Digest == items[first].Digest { // then its parts are equal too
				results[i] = rows.Repeated(results[first])
				continue
			}
			if !known {
				copies[items[i].Key] = i
			}
			t := s.among(among, items[i])
			results[i] = t.Put(ctx)
			costs[n].Add(t.cost)
		}
	})
	for _, c := range costs {
		cost.Add(c)
	}
	return cost
}

// apart divides places into groups that have no key of a whole or of a state in common.
func apart(items []*event.Item, places []int) (groups [][]int) {
	of := make(map[event.Key]int, len(places)) // the group of each key
	for _, i := range places {
		keys := []event.Key{items[i].Key}
		for _, part := range rows.AtomicParts(items[i]) {
			if part.Whole != nil {
				keys = append(keys, part.Key)
			}
		}
		n := len(groups)
		for _, key := range keys {
			if known, is := of[key]; is {
				n = min(n, known)
			}
		}
		if n == len(groups) {
			groups = append(groups, nil)
		}
		for _, key := range keys { // this one joins all groups that it has a key in common with
			if other, is := of[key]; is && other != n {
				groups[n], groups[other] = append(groups[n], groups[other]...), nil
				for k, in := range of {
					if in == other {
						of[k] = n
					}
				}
			}
			of[key] = n
		}
		groups[n] = append(groups[n], i)
	}
	return slices.DeleteFunc(groups, func(g []int) bool { return len(g) == 0 })
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
// A state is read first. If an older one is stored, exactly that one is replaced. If a newer one is
// stored, a condition takes the place of the put: the stored one is still at least as new.
//
// What the keys hold is judged before what the totals say: an event that is stored is a Duplicate,
// whatever a bound says.
type atomicPut struct {
	store   *Writer
	Members []*atomicItem
	cost    tables.Cost
	last    rows.Answer // why it is not settled
	Beside  bool        // only a part is put; the whole is stored already
	blind   bool        // after a refusal, items and totals are read: together they are too large for its answer
	halt    *halt
	result  *tables.Result // once it is known
	// unanswered says that a try got no answer, and may still be carried out.
	unanswered bool
	looked     bool // its states have been read
	ready      bool // none of the totals that have a bound for it is being built
	// throttled are the partition keys for which the last try was refused, as far as its refusal
	// names them.
	throttled []string
}

// atomicItem is one item of a transaction.
type atomicItem struct {
	item *event.Item
	// result is what was found under the key. It has no verdict if nothing was found there yet.
	result tables.Result
	// met says that the item is proven stored, with this digest and size. barred says that its key
	// is barred. In both cases it is not put again.
	Met, barred bool
	Digest      event.Digest
	Size        int
	older       *rows.Stored // of a state: the stored one, which it replaces; nil: it is put if its key is free
	// moves is what its put adds to totals.
	moves []aggregate.Contribution
}

func (s *Writer) AtomicPut(whole *event.Item, parts ...*event.Item) *atomicPut {
	t := &atomicPut{store: s, halt: &halt{}, Members: []*atomicItem{{item: whole, moves: s.moves(whole)}}}
	for _, part := range parts {
		t.Members = append(t.Members, &atomicItem{item: part, moves: s.moves(part)})
	}
	return t
}

// among returns the put of one item of a call, with its parts if it is atomic. It has no more
// patience with a hot key than the call has.
func (s *Writer) among(call *throttles, item *event.Item) *atomicPut {
	t := s.AtomicPut(item, rows.AtomicParts(item)...)
	t.halt.among = call
	return t
}

// Put sends the transaction until the message is settled. If it is not settled in time, it is
// Retry.
func (t *atomicPut) Put(ctx context.Context) tables.Result {
	tries := 0
	err := t.store.Retry(ctx, func(ctx context.Context) (rows.Answer, rows.Next) {
		if tries++; tries > 1 {
			t.cost.Retries++
		}
		a, next := t.try(ctx)
		held := t.halt.up(a, t.throttled, t.store.Env.Now())
		if t.last = a; t.result != nil || held {
			return a, rows.Ended
		}
		return a, next
	})
	return t.end(tries > 0, err)
}

// end returns the result. A message that is not settled is Retry.
func (t *atomicPut) end(tried bool, err error) tables.Result {
	switch {
	case t.result != nil:
	case !tried:
		t.refused(plain.Unattempted())
	case t.last.Err == nil:
		t.refused(rows.Answer{Outcome: rows.Unknown, Err: err}.Retry())
	default:
		t.refused(t.last.Retry())
		t.result.Cause = t.last.Err
	}
	t.result.Units = t.cost.WriteUnits
	return *t.result
}

// refused ends the put with a refusal of the whole message. Several messages may have the same
// reason.
func (t *atomicPut) refused(why *event.Refusal) {
	r := *why
	r.Key = t.Members[0].item.Key
	t.result = &tables.Result{Verdict: r.Verdict, Refusal: &r}
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
func (h *halt) up(a rows.Answer, throttled []string, now time.Time) bool {
	few := h.among.few(throttled)
	if a.Outcome != rows.Contended && !a.HotKey() && !few {
		h.since = time.Time{}
		return false
	}
	if few && h.among.hot.All(throttled, now) {
		return true
	}
	if h.since.IsZero() {
		h.since = now
	}
	if now.Sub(h.since) < plain.Patience {
		return false
	}
	if few {
		h.among.hot.Add(throttled, now)
	}
	return true
}

// try sends the transaction once.
func (t *atomicPut) try(ctx context.Context) (rows.Answer, rows.Next) {
	if t.Beside && !t.Members[0].Met {
		t.refused(&event.Refusal{Verdict: event.Retry, Reason: event.Unattempted,
			Detail: "its whole was removed in the meantime, so it is not put"})
		return rows.Answer{}, rows.Ended
	}
	if t.readStates(ctx); t.result != nil {
		return rows.Answer{}, rows.Ended
	}
	one := messages{t}
	if t.late() {
		one.judgeLate(ctx, &t.cost)
		return rows.Answer{}, rows.Ended
	}
	if len(one.mayTake(ctx, &t.cost)) == 0 {
		return rows.Answer{}, rows.Ended
	}
	moves := TotalMoves(t.unmet())
	sent := t.store.Transact(ctx, t.store.transaction(t.Members, t.blind, moves), rows.Once, rows.InTime(itemsOf(t.unmet())...))
	t.cost.Requests++
	t.throttled = nil
	switch sent.Outcome {
	case rows.Done:
		t.halt.among.wrote(t.Members, moves)
		t.cost.WriteUnits += cmp.Or(sent.Units, t.units(true)+movedUnits(&t.store.Aggregates, moves, nil))
		t.stored(event.Inserted)
		return sent.Answer, rows.Ended
	case rows.Cancelled:
		return t.cancelled(ctx, sent, moves)
	case rows.Throttled:
		t.cost.Throttle(sent.Reason, 1)
	case rows.Invalid:
		return t.refusedWhole(ctx, moves, sent.Answer)
	case rows.Unknown, rows.Contended:
		t.unanswered = true
	}
	return sent.Answer, rows.Later
}

// readStates reads the states once, before the first try: most of them are stored, and a read costs
// less than a refused transaction.
func (t *atomicPut) readStates(ctx context.Context) {
	states := slices.DeleteFunc(t.unmet(), func(m *atomicItem) bool { return m.item.Whole == nil })
	if t.looked || len(states) == 0 {
		return
	}
	t.looked = true
	t.lookAt(ctx, states, &t.cost)
	t.decide()
}

// unmet returns the items that are to be put.
func (t *atomicPut) unmet() (list []*atomicItem) {
	for _, m := range t.Members {
		if !m.Met {
			list = append(list, m)
		}
	}
	return list
}

func itemsOf(members []*atomicItem) (list []*event.Item) {
	for _, m := range members {
		list = append(list, m.item)
	}
	return list
}

// transaction returns the transaction: a put for each item, a condition if the item is met, and an
// update for each total. If blind is set, it does not ask for the items and totals that make
// conditions fail.
func (s *Writer) transaction(members []*atomicItem, blind bool, moves []*TotalMove) *dynamodb.TransactWriteItemsInput {
	in := &dynamodb.TransactWriteItemsInput{ReturnConsumedCapacity: types.ReturnConsumedCapacityTotal}
	images := types.ReturnValuesOnConditionCheckFailureAllOld
	if blind {
		images = types.ReturnValuesOnConditionCheckFailureNone
	}
	for _, m := range members {
		if m.Met {
			in.TransactItems = append(in.TransactItems, types.TransactWriteItem{ConditionCheck: m.check(&s.Events, images)})
			continue
		}
		if m.older != nil {
			_, request := s.Replacement(m.older, m.item)
			request.ReturnValuesOnConditionCheckFailure = images
			in.TransactItems = append(in.TransactItems, types.TransactWriteItem{Put: plain.InTransaction(request)})
			continue
		}
		free, names := rows.FreeKey(s.Pipeline.Migration(m.item.Type) != "")
		in.TransactItems = append(in.TransactItems, types.TransactWriteItem{Put: &types.Put{TableName: &s.Events, Item: m.encode(),
			ConditionExpression: free, ExpressionAttributeNames: names, ReturnValuesOnConditionCheckFailure: images}})
	}
	for _, u := range moves {
		in.TransactItems = append(in.TransactItems, types.TransactWriteItem{Update: u.update(&s.Aggregates, images)})
	}
	return in
}

// encode returns the stored form of the item. It says under which epoch the put has counted it, if
// the transaction does so.
func (m *atomicItem) encode() rows.Image {
	img := rows.Encode(m.item)
	if len(m.moves) > 0 {
		img[rows.PutAttribute] = rows.Integer(m.item.Epoch)
	}
	return img
}

// check returns the condition that the item is still the one that was met, or a state at least as
// new.
func (m *atomicItem) check(table *string, images types.ReturnValuesOnConditionCheckFailure) *types.ConditionCheck {
	c := &types.ConditionCheck{TableName: table, Key: rows.KeyImage(m.item.Key), ReturnValuesOnConditionCheckFailure: images}
	if m.barred {
		c.ConditionExpression = aws.String("attribute_exists(#b)")
		c.ExpressionAttributeNames = map[string]string{"#b": rows.BarredAttribute}
		return c
	}
	if m.item.Whole != nil {
		c.ConditionExpression = aws.String("#r > :r OR #r = :r AND (#i > :i OR #i = :i AND #d >= :d)")
		c.ExpressionAttributeNames = map[string]string{"#r": "revision", "#i": "i:revision", "#d": "digest"}
		c.ExpressionAttributeValues = rows.Image{":r": rows.Number(m.item.Revision.String()), ":i": rows.Text(m.item.Ties),
			":d": rows.Binary(m.item.Digest[:])}
		return c
	}
	c.ConditionExpression, c.ExpressionAttributeNames = aws.String("#d = :d"), map[string]string{"#d": "digest"}
	c.ExpressionAttributeValues = rows.Image{":d": rows.Binary(m.Digest[:])}
	return c
}

// units returns what the transaction costs. If it was not carried out, indexes cost nothing.
func (t *atomicPut) units(done bool) (units float64) {
	for _, m := range t.Members {
		switch {
		case m.Met:
			units += rows.TransactionUnits(m.Size)
		case done:
			units += 2 * rows.InsertUnits(m.item)
		default:
			units += rows.TransactionUnits(max(m.item.Size(), m.Size))
		}
	}
	return units
}

var errMoving = errors.New("an item that was there before is gone or has changed")

// cancelled reads the reasons of a cancelled transaction. They have the order of its items: first
// the members, then the totals.
func (t *atomicPut) cancelled(ctx context.Context, sent rows.Transacted, moves []*TotalMove) (why rows.Answer, step rows.Next) {
	if len(sent.Reasons) != len(t.Members)+len(moves) {
		t.cost.WriteUnits += t.units(false) + movedUnits(&t.store.Aggregates, moves, nil)
		if sent.Long && !t.blind {
			t.blind = true
			return sent.Answer, rows.Again
		}
		return t.refusedWhole(ctx, moves, rows.Answer{Outcome: rows.Contended, Err: rows.ErrSilent})
	}
	why, step = sent.Answer, rows.Again
	var unread []*atomicItem
	for i, m := range t.Members {
		reason := sent.Reasons[i]
		known := rows.ReadWhole(reason.Item)
		t.cost.WriteUnits += rows.TransactionUnits(max(m.attempted(), known.Size))
		switch a := rows.ClassifyReason(reason); a.Outcome {
		case rows.Done:
		case rows.Failed:
			if m.Met { // it was erased, or a person removed it
				m.Met, m.barred, m.result = false, false, tables.Result{}
				why, step = rows.Answer{Outcome: rows.Unknown, Err: errMoving}, rows.Later
			}
			if m.older = nil; len(reason.Item) == 0 {
				unread = append(unread, m)
				continue
			}
			t.meet(ctx, m, known)
		default:
			a.Count(&t.cost)
			if t.refusedFor(a, m.item.Key) {
				t.cost.RefusedItem(m.item, a.Reason)
			}
			why, step = a, rows.Later
		}
	}
	ofMoves := sent.Reasons[len(t.Members):]
	t.cost.WriteUnits += movedUnits(&t.store.Aggregates, moves, ofMoves)
	if len(unread) > 0 && t.result == nil {
		t.lookAt(ctx, unread, &t.cost)
		if step == rows.Again && slices.ContainsFunc(unread, func(m *atomicItem) bool { return m.result.Verdict == 0 }) {
			why, step = rows.Answer{Outcome: rows.Unknown, Err: errMoving}, rows.Later
		}
	}
	t.decide()
	if t.result == nil && step == rows.Again && len(moves) > 0 && !slices.ContainsFunc(sent.Reasons[:len(t.Members)], isFailed) {
		return t.stopped(ctx, moves, ofMoves)
	}
	return why, step
}

// refusedFor notes the key of an item if it was throttled, and reports whether it was.
func (t *atomicPut) refusedFor(a rows.Answer, key event.Key) bool {
	if a.Outcome == rows.Throttled {
		t.throttled = append(t.throttled, key.PK)
	}
	return a.Outcome == rows.Throttled
}

func isFailed(reason types.CancellationReason) bool {
	return rows.ClassifyReason(reason).Outcome == rows.Failed
}

// attempted returns the size that a transaction is charged for if nothing is found under the key.
func (m *atomicItem) attempted() int {
	if m.Met {
		return m.Size
	}
	return m.item.Size()
}

// meet takes the stored item that holds the key of a member.
func (t *atomicPut) meet(ctx context.Context, m *atomicItem, known *rows.Stored) {
	judge := func() { m.take(t.store.JudgeStored(known, m.item), known.Digest) }
	if m.item.Whole != nil && t.store.Older(known, m.item) && !tables.TooLate(m.item, t.store.Env.Now()) {
		judge = func() { m.older = known }
	}
	err := known.Ahead(t.store.Pipeline.Epoch())
	switch {
	case err != nil:
	case known.Elsewhere(m.item):
		err = t.store.Fetch(ctx, known, &t.cost, judge)
	default:
		judge()
	}
	if err != nil {
		t.refused(rows.Answer{Outcome: rows.Unknown, Err: err}.Retry())
		return
	}
	m.Size = known.Size
}

// take takes what was found under the member's key.
func (m *atomicItem) take(r tables.Result, digest event.Digest) {
	if m.older = nil; r.Verdict == event.Retry && r.Existing != nil { // an older state
		m.older, r = rows.VersionOf(r.Existing), tables.Result{}
	}
	m.result = r
	if r.Verdict == event.Duplicate || r.Verdict == event.Stale {
		m.Met, m.barred, m.Digest = true, r.Refusal != nil, digest
	}
}

// lookAt reads what is stored under the keys of members. It puts nothing.
func (t *atomicPut) lookAt(ctx context.Context, members []*atomicItem, cost *tables.Cost) {
	items := make([]*event.Item, len(members))
	for i, m := range members {
		items[i] = m.item
	}
	results, own := t.store.Look(ctx, items)
	cost.Add(own)
	for i, m := range members {
		m.take(results[i], digestIn(results[i].Existing))
		m.Size = m.item.Size()
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
	now := t.store.Env.Now()
	return slices.ContainsFunc(t.Members, func(m *atomicItem) bool { return !m.Met && tables.TooLate(m.item, now) })
}

// judgeLate settles messages of which an item may no longer be put. Nothing of them is put, because
// they would be only partly stored.
func (list messages) judgeLate(ctx context.Context, cost *tables.Cost) {
	list.look(ctx, cost)
	for _, t := range list {
		for _, m := range t.unmet() {
			if m.result.Verdict != 0 {
				continue
			}
			refusal := plain.PastExpiry(m.item)
			if !tables.TooLate(m.item, t.store.Env.Now()) {
				refusal.Detail = "an item of the same message can no longer be stored, and this one is not stored without it"
			}
			m.result = tables.Result{Verdict: event.Expired, Refusal: refusal}
		}
		if t.decide(); t.unanswered && t.result != nil && t.result.Verdict == event.Expired {
			t.refused(plain.MayStillBe(t.Members[0].item, plain.ReasonLate))
		}
	}
}

// decide finds out whether what was found under the keys settles the message.
func (t *atomicPut) decide() {
	whole := t.Members[0]
	if t.result != nil {
		return
	}
	if whole.Met && whole.barred {
		t.result = &tables.Result{Verdict: event.Duplicate, Refusal: whole.result.Refusal}
		return
	}
	worst, met := &tables.Result{}, true
	for _, m := range t.Members {
		if m.item.Whole != nil && m.result.Verdict == event.Expired { // that says nothing about its whole
			continue
		}
		met = met && m.Met
		if m.result.Verdict.Severity() > worst.Verdict.Severity() {
			worst = &m.result
		}
	}
	switch {
	case worst.Verdict != 0:
		t.result = &tables.Result{Verdict: worst.Verdict, Refusal: worst.Refusal, Existing: worst.Existing}
	case met:
		t.stored(event.Duplicate)
	}
}

// stored ends the put of a message when all of its items are proven stored.
func (t *atomicPut) stored(v event.Verdict) {
	t.result = &tables.Result{Verdict: v, Existing: t.Members[0].result.Existing}
	for _, m := range t.Members[1:] {
		switch {
		case m.Met || m.result.Verdict == event.Expired:
		case m.older != nil:
			m.result = tables.Result{Verdict: event.Updated}
		default:
			m.result = tables.Result{Verdict: event.Inserted}
		}
		t.result.Parts = append(t.result.Parts, m.result)
	}
}
