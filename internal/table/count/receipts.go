package count

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/plan/lanes"
	"github.com/ingot-events/ingot/internal/table/rows"
)

const (
	// receiptBytes is an upper bound for the size of a receipt.
	receiptBytes = 200
	// receiptLife is how long a receipt outlives its change, in stream time. No change is delivered
	// again after that (24 h in the stream, 48 h for finished shards that are listed again). It is
	// not measured by the machine's clock, because a wrong clock could end it early.
	receiptLife = 96 * time.Hour
)

// receipts counts a batch that has no order. The transaction that counts a change in all its
// aggregates also writes a receipt for the change, so it cannot be counted again.
func (a *apply) receipts(ctx context.Context, b *lanes.Batch) {
	groups := groupEntries(b.Entries(), func(key event.Key) int { return a.store.seen.Get(key).Size })
	a.store.Each(len(groups), mostLarge, func(i int) {
		g := &receiptGroup{apply: a, stream: b.StreamARN(), entries: groups[i], refusals: map[event.Key]error{}, full: map[event.Key]bool{},
			seen: map[event.Key]*rows.Observation{}, stuck: map[event.Key]int{}}
		g.run(ctx)
	})
}

// groupEntries packs changes, in order, into transactions. Each transaction takes as many as fit,
// by the number of items, by their bytes, and by the buckets that one total moves.
func groupEntries(entries []lanes.Entry, size func(event.Key) int) [][]lanes.Entry {
	var groups [][]lanes.Entry
	touched, moved := map[event.Key]bool{}, movedBuckets{}
	start, bytes := 0, 0
	for i, entry := range entries {
		items, more := 1, receiptBytes
		for _, u := range entry.Touches {
			if !touched[u.Key] {
				items++
				more += size(u.Key)
			}
		}
		if i > start && (i-start+len(touched)+items > rows.MaxTransaction || bytes+more > rows.MaxTransactionBytes || moved.full(entry)) {
			groups = append(groups, entries[start:i])
			start, bytes, touched, moved = i, 0, map[event.Key]bool{}, movedBuckets{}
		}
		moved.add(entry)
		for _, u := range entry.Touches {
			if !touched[u.Key] {
				touched[u.Key] = true
				bytes += size(u.Key)
			}
		}
		bytes += receiptBytes
	}
	if start < len(entries) {
		groups = append(groups, entries[start:])
	}
	return groups
}

// movedBuckets holds the buckets of histograms that the changes of one transaction move in each
// total.
type movedBuckets map[event.Key]lanes.Moved

// full reports whether the buckets of one more change would not fit.
func (m movedBuckets) full(e lanes.Entry) bool {
	for _, u := range e.Touches {
		if !lanes.HasHistogram(u.Def) {
			continue
		}
		with := maps.Clone(m[u.Key])
		if with == nil {
			continue // the buckets of one change always fit
		}
		if with.Add(stepOf(u, e)); len(with) > lanes.MaxBuckets {
			return true
		}
	}
	return false
}

func (m movedBuckets) add(e lanes.Entry) {
	for _, u := range e.Touches {
		if !lanes.HasHistogram(u.Def) {
			continue
		}
		if m[u.Key] == nil {
			m[u.Key] = lanes.Moved{}
		}
		m[u.Key].Add(stepOf(u, e))
	}
}

// stepOf returns what a change does to a total that it touches.
func stepOf(u *lanes.Update, e lanes.Entry) *lanes.Step {
	i, _ := slices.BinarySearchFunc(u.Steps, e.Change.Sequence, func(s lanes.Step, q event.Sequence) int { return s.Sequence.Compare(q) })
	return &u.Steps[i]
}

// receiptGroup holds the changes of one transaction until all are proven counted.
type receiptGroup struct {
	*apply
	stream   string
	entries  []lanes.Entry
	refusals map[event.Key]error // aggregate items that the table refused for good
	full     map[event.Key]bool  // items that could not even take a flag; their heads have it
	seen     map[event.Key]*rows.Observation
	stuck    map[event.Key]int // how often the condition of an aggregate item failed without an explanation
	silent   int               // how often the transaction was cancelled without a reason
	blind    bool              // the items in the way are not asked for, because together they are too large
}

func (g *receiptGroup) run(ctx context.Context) {
	err := g.store.Retry(ctx, func(ctx context.Context) (rows.Answer, rows.Next) {
		answer, next := g.try(ctx)
		if len(g.entries) == 0 {
			return answer, rows.Ended // all of them were counted before
		}
		if next == rows.Later {
			g.retried(answer, nil)
		}
		return answer, next
	})
	if err != nil {
		g.unproven(g.entries[0].Change.Sequence, err)
	}
}

// try sends the transaction once.
func (g *receiptGroup) try(ctx context.Context) (rows.Answer, rows.Next) {
	items, updates := g.items()
	in := &dynamodb.TransactWriteItemsInput{TransactItems: items}
	if slices.ContainsFunc(updates, func(u *lanes.Update) bool { return u.Def.Rank.Value != "" }) {
		in.ReturnConsumedCapacity = types.ReturnConsumedCapacityTotal // what the index took depends on what was there
	}
	sent := g.store.Transact(ctx, in)
	answer := sent.Answer
	g.count(answer, updates, cmp.Or(sent.Units, g.units(items)))
	if sent.Long && !g.blind {
		g.blind = true
		return answer, rows.Again
	}
	if answer.Outcome == rows.Done {
		return answer, rows.Ended
	}
	progress := false
	if answer.Outcome == rows.Cancelled && !sent.Long {
		progress, answer = g.cancelled(ctx, sent.Reasons, updates)
	} else if answer.Outcome == rows.Invalid {
		progress, answer = g.refusedWhole(ctx, updates, answer)
	}
	if progress {
		return answer, rows.Again
	}
	return answer, rows.Later
}

// items returns the transaction: a receipt for each change, then each aggregate item once.
func (g *receiptGroup) items() ([]types.TransactWriteItem, []*lanes.Update) {
	sequences := make(map[event.Sequence]bool, len(g.entries))
	var items []types.TransactWriteItem
	var touched []*lanes.Update
	for _, entry := range g.entries {
		sequences[entry.Change.Sequence] = true
		receipt := rows.KeyImage(lanes.ReceiptKey(g.stream, entry.Change.Key, entry.Change.Sequence))
		receipt["expiresAt"] = rows.Integer(entry.Change.Created.Add(receiptLife).Unix())
		items = append(items, types.TransactWriteItem{Put: &types.Put{
			TableName: &g.store.Aggregates, Item: receipt, ConditionExpression: aws.String("attribute_not_exists(PK)")}})
		for _, u := range entry.Touches {
			if !slices.Contains(touched, u) && !g.full[u.Key] {
				touched = append(touched, u)
			}
		}
	}
	updates := make([]*lanes.Update, len(touched))
	for i, u := range touched {
		updates[i] = u.Only(sequences)
		items = append(items, types.TransactWriteItem{Update: g.item(updates[i])})
	}
	return items, updates
}

func (g *receiptGroup) item(u *lanes.Update) *types.Update {
	delta, e := u.Fold(), &rows.Edit{}
	if refusal := g.refusals[u.Key]; refusal != nil {
		e.Refused(delta.Last.Created(), refusal)
	} else {
		e.Fold(u, &delta, g.observed(u.Key))
	}
	e.Expiry(u.ExpiresAt)
	update := e.Update(&g.store.Aggregates, u.Key)
	if update.ConditionExpression != nil && !g.blind { // otherwise the update cannot fail, or the item is read separately
		update.ReturnValuesOnConditionCheckFailure = types.ReturnValuesOnConditionCheckFailureAllOld
	}
	return &update
}

// observed returns what was last seen of an aggregate item, by this group or by an earlier writer.
func (g *receiptGroup) observed(key event.Key) *rows.Observation {
	if seen := g.seen[key]; seen != nil {
		return seen
	}
	return g.store.seen.Get(key)
}

// cancelled reads the reasons of a cancelled transaction. They have the order of its items:
// receipts first, then aggregate items. Progress means that the same reasons will not cancel the
// transaction again, so the next one can be sent at once.
func (g *receiptGroup) cancelled(ctx context.Context, reasons []types.CancellationReason, updates []*lanes.Update) (progress bool,
	why rows.Answer) {
	why = rows.Answer{Outcome: rows.Contended, Err: rows.ErrSilent}
	if len(reasons) != len(g.entries)+len(updates) {
		return g.cancelledSilently(ctx)
	}
	ofReceipts, ofUpdates := reasons[:len(g.entries)], reasons[len(g.entries):]
	if g.dropCounted(ofReceipts) {
		return true, why // the rest is another transaction, whose aggregate items are judged again
	}
	for _, reason := range ofReceipts {
		if a := rows.ClassifyReason(reason); a.Outcome != rows.Done {
			why = a
		}
	}
	for i, reason := range ofUpdates {
		u, a := updates[i], rows.ClassifyReason(reason)
		switch {
		case a.Outcome == rows.Done:
		case a.Outcome == rows.Failed:
			img, read := g.imageOf(ctx, u.Key, reason.Item)
			if read.Outcome == rows.Refused {
				return false, read
			}
			if why = read; read.Outcome == rows.Done {
				progress = true
				if g.learn(u, rows.Observe(u.Def, img, "")) {
					progress, why = g.refuse(ctx, u, rows.Answer{Outcome: rows.Invalid, Err: errStuck})
				}
			}
		case a.Outcome == rows.Invalid:
			progress, why = g.refuse(ctx, u, a)
		default:
			why = a
		}
	}
	if why.Err == rows.ErrSilent {
		return g.cancelledSilently(ctx)
	}
	return progress, why
}

// learn takes what was read of an aggregate item after its condition failed. It reports whether the
// item is stuck: several times in a row, nothing in it explains the failure.
func (g *receiptGroup) learn(u *lanes.Update, now *rows.Observation) (stuck bool) {
	if before := g.seen[u.Key]; before != nil && before.SameForm(now) {
		g.stuck[u.Key]++
	} else {
		g.stuck[u.Key] = 0
	}
	g.seen[u.Key] = now
	g.store.seen.Put(u.Key, now)
	return g.stuck[u.Key] >= maxStuck
}

// dropCounted drops the changes whose receipts exist already. It reports whether there were any.
func (g *receiptGroup) dropCounted(reasons []types.CancellationReason) bool {
	var rest []lanes.Entry
	for i, reason := range reasons {
		if rows.ClassifyReason(reason).Outcome != rows.Failed {
			rest = append(rest, g.entries[i])
		}
	}
	counted := len(g.entries) - len(rest)
	g.entries = rest
	g.dropped(counted)
	return counted > 0
}
