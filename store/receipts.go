package store

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"

	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/awserr"
	"github.com/ingot-events/ingot/internal/lanes"
)

const (
	// maxTransaction is the service's limit of items in one transaction.
	maxTransaction = 100
	// maxTransactionBytes is what the items of one transaction may have together, as far as their sizes are known. The
	// service takes 4 MB; what a transaction was thought to have less of is refused, and halved.
	maxTransactionBytes = 3 << 20
	// receiptBytes is more than a receipt has.
	receiptBytes = 200
	// receiptLife is how long a receipt outlives its change, by the stream's time: longer than any redelivery (24 h of
	// stream, 48 h of finished shards listed anew). A machine's clock that is slow would end it early.
	receiptLife = 96 * time.Hour
)

// receipts counts a batch without order: each change leaves a receipt in the transaction that counts it in
// all its aggregates, so it cannot be counted again.
func (a *apply) receipts(ctx context.Context, b *lanes.Batch) {
	groups := groupEntries(b.Entries(), func(key event.Key) int { return a.store.seen.get(key).size })
	a.store.each(len(groups), mostLarge, func(i int) {
		g := &receiptGroup{apply: a, stream: b.StreamARN(), entries: groups[i], refusals: map[event.Key]error{}, full: map[event.Key]bool{}, seen: map[event.Key]*observation{}, stuck: map[event.Key]int{}}
		g.run(ctx)
	})
}

// groupEntries packs changes, in order, into transactions: as many as fit, by the number of items and by their bytes.
func groupEntries(entries []lanes.Entry, size func(event.Key) int) [][]lanes.Entry {
	var groups [][]lanes.Entry
	touched := map[event.Key]bool{}
	start, bytes := 0, 0
	for i, entry := range entries {
		items, more := 1, receiptBytes
		for _, u := range entry.Touches {
			if !touched[u.Key] {
				items++
				more += size(u.Key)
			}
		}
		if i > start && (i-start+len(touched)+items > maxTransaction || bytes+more > maxTransactionBytes) {
			groups = append(groups, entries[start:i])
			start, bytes, touched = i, 0, map[event.Key]bool{}
		}
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

// receiptGroup is the changes of one transaction, until all are proven counted.
type receiptGroup struct {
	*apply
	stream   string
	entries  []lanes.Entry
	refusals map[event.Key]error // aggregate items that the table refused for good
	full     map[event.Key]bool  // those that took not even a flag: their heads carry it
	seen     map[event.Key]*observation
	stuck    map[event.Key]int // how often the condition of an aggregate item failed without an explanation
	silent   int               // how often the transaction was cancelled and no reason said why
	blind    bool              // the items in the way are not asked for: they are too large together
}

func (g *receiptGroup) run(ctx context.Context) {
	err := g.store.retry(ctx, func() (answer, next) {
		answer, next := g.try(ctx)
		if len(g.entries) == 0 {
			return answer, ended // all of them were counted before
		}
		if next == later {
			g.retried(answer)
		}
		return answer, next
	})
	if err != nil {
		g.unproven(g.entries[0].Change.Sequence, err)
	}
}

// try sends the transaction once.
func (g *receiptGroup) try(ctx context.Context) (answer, next) {
	items, updates := g.items()
	_, err := g.store.client.TransactWriteItems(ctx, &dynamodb.TransactWriteItemsInput{TransactItems: items}, bounded)
	answer := classify(err)
	large := errors.Is(err, errTooLarge)
	if large {
		answer.outcome = cancelled // nothing else has so much to say
	}
	g.count(answer, updates, g.units(items))
	if large && !g.blind {
		g.blind = true
		return answer, again
	}
	if answer.outcome == done {
		return answer, ended
	}
	progress := false
	var cancel *types.TransactionCanceledException
	if errors.As(err, &cancel) {
		progress, answer = g.cancelled(ctx, cancel.CancellationReasons, updates)
	} else if answer.outcome == invalid {
		progress, answer = g.refusedWhole(ctx, updates, answer)
	}
	if progress {
		return answer, again
	}
	return answer, later
}

// items is the transaction: a receipt for each change, then the aggregate items, each once.
func (g *receiptGroup) items() ([]types.TransactWriteItem, []*lanes.Update) {
	sequences := make(map[event.Sequence]bool, len(g.entries))
	var items []types.TransactWriteItem
	var touched []*lanes.Update
	for _, entry := range g.entries {
		sequences[entry.Change.Sequence] = true
		receipt := keyImage(lanes.ReceiptKey(g.stream, entry.Change.Key, entry.Change.Sequence))
		receipt["expiresAt"] = integer(entry.Change.Created.Add(receiptLife).Unix())
		items = append(items, types.TransactWriteItem{Put: &types.Put{
			TableName: &g.store.aggregates, Item: receipt, ConditionExpression: aws.String("attribute_not_exists(PK)")}})
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
	delta, e := u.Fold(), &edit{}
	if refusal := g.refusals[u.Key]; refusal != nil {
		e.flag(delta.Last.Created(), "an update was refused and is in quarantine: "+refusal.Error())
	} else {
		e.fold(u.Def, &delta, g.observed(u.Key))
	}
	e.expiry(u.ExpiresAt)
	x := e.expression()
	update := &types.Update{TableName: &g.store.aggregates, Key: keyImage(u.Key), UpdateExpression: &x.update, ConditionExpression: x.condition,
		ExpressionAttributeNames: x.names, ExpressionAttributeValues: x.values}
	if x.condition != nil && !g.blind { // else it cannot fail, or the item is read alone
		update.ReturnValuesOnConditionCheckFailure = types.ReturnValuesOnConditionCheckFailureAllOld
	}
	return update
}

// observed is what an aggregate item was last seen to be: by this group, or by whoever wrote it before.
func (g *receiptGroup) observed(key event.Key) *observation {
	if seen := g.seen[key]; seen != nil {
		return seen
	}
	return g.store.seen.get(key)
}

// cancelled reads the reasons, which stand in the order of the items: receipts first, then aggregate items.
// Progress means that the same transaction will not be cancelled for the same reasons again, so the next one
// can be sent at once.
func (g *receiptGroup) cancelled(ctx context.Context, reasons []types.CancellationReason, updates []*lanes.Update) (progress bool, why answer) {
	why = answer{outcome: contended, err: errSilent}
	if len(reasons) != len(g.entries)+len(updates) {
		return g.cancelledSilently(ctx)
	}
	ofReceipts, ofUpdates := reasons[:len(g.entries)], reasons[len(g.entries):]
	if g.dropCounted(ofReceipts) {
		return true, why // the rest is another transaction: its aggregate items are judged anew
	}
	for _, reason := range ofReceipts {
		if a := classifyReason(reason); a.outcome != done {
			why = a
		}
	}
	for i, reason := range ofUpdates {
		u, a := updates[i], classifyReason(reason)
		switch {
		case a.outcome == done:
		case a.outcome == failed:
			img, read := g.imageOf(ctx, u.Key, reason.Item)
			if read.outcome == refused {
				return false, read
			}
			if why = read; read.outcome == done {
				progress = true
				if g.learn(u, observe(u.Def, img, "")) {
					progress, why = g.refuse(ctx, u, answer{outcome: invalid, err: errStuck})
				}
			}
		case a.outcome == invalid:
			progress, why = g.refuse(ctx, u, a)
		default:
			why = a
		}
	}
	if why.err == errSilent {
		return g.cancelledSilently(ctx)
	}
	return progress, why
}

// learn takes what an aggregate item was found to be after its condition failed. stuck: that explains nothing,
// again and again.
func (g *receiptGroup) learn(u *lanes.Update, now *observation) (stuck bool) {
	if before := g.seen[u.Key]; before != nil && before.sameForm(now) {
		g.stuck[u.Key]++
	} else {
		g.stuck[u.Key] = 0
	}
	g.seen[u.Key] = now
	g.store.seen.put(u.Key, now)
	return g.stuck[u.Key] >= maxStuck
}

// dropCounted lets go of the changes whose receipts are there already.
func (g *receiptGroup) dropCounted(reasons []types.CancellationReason) bool {
	var rest []lanes.Entry
	for i, reason := range reasons {
		if classifyReason(reason).outcome != failed {
			rest = append(rest, g.entries[i])
		}
	}
	counted := len(g.entries) - len(rest)
	g.entries = rest
	g.dropped(counted)
	return counted > 0
}

func classifyReason(reason types.CancellationReason) answer {
	code := aws.ToString(reason.Code)
	if code == "" || code == "None" {
		return answer{}
	}
	return answer{outcome: codeOutcome(code), reason: code, err: awserr.Quiet(&smithy.GenericAPIError{Code: code, Message: aws.ToString(reason.Message)})}
}
