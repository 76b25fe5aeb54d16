package count

import (
	"context"
	"fmt"
	"maps"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/ingot-events/ingot/internal/plan/lanes"
	"github.com/ingot-events/ingot/internal/table/rows"
)

// refuse sends an update that the table will never take to quarantine. It does so before the
// receipts are written, because after that the update would never come again. From then on the item
// is only flagged. If it refuses the flag too, it is left out, and the generation's head has the
// flag.
func (g *receiptGroup) refuse(ctx context.Context, u *lanes.Update, a rows.Answer) (progress bool, why rows.Answer) {
	if refusal := g.refusals[u.Key]; refusal != nil {
		if err := g.flagHead(ctx, u, refusal); err != nil {
			return false, rows.Classify(err)
		}
		g.full[u.Key] = true
		return true, a
	}
	if err := g.quarantine(ctx, u, a.Err); err != nil {
		return false, rows.Answer{Outcome: rows.Unknown, Err: err}
	}
	g.refusals[u.Key] = a.Err
	return true, a
}

// cancelledSilently handles a cancellation without a reason: it waits and tries again. After a few
// times it tries each half of the changes on its own. It never refuses a single change, because
// nothing shows that its data is the reason.
func (g *receiptGroup) cancelledSilently(ctx context.Context) (progress bool, why rows.Answer) {
	why = rows.Answer{Outcome: rows.Contended, Err: rows.ErrSilent}
	if g.silent++; g.silent < maxStuck || len(g.entries) == 1 {
		return false, why
	}
	g.silent = 0
	g.cutHalf().run(ctx)
	return true, why
}

// refusedWhole handles a transaction that the service refuses without naming an item. Either its
// items together take more than 4 MB, or something unforeseen is wrong. If it has several changes,
// each half is tried on its own. If it has one change, its totals are refused one after the other,
// as if each had been named. They are quarantined and flagged, and then left to their heads, so
// that the receipt can be written and the shard goes on. If even the receipt alone is refused, the
// data is not the reason, and the change stays unproven.
func (g *receiptGroup) refusedWhole(ctx context.Context, updates []*lanes.Update, a rows.Answer) (progress bool, why rows.Answer) {
	if len(g.entries) > 1 {
		g.cutHalf().run(ctx)
		return true, a
	}
	named := rows.Answer{Outcome: rows.Invalid, Err: fmt.Errorf("its transaction was refused as a whole: %w", a.Err)}
	if fresh := g.unrefused(updates); len(fresh) > 0 {
		updates = fresh // the others are flagged already, and may still take their flag
	}
	for _, u := range updates {
		if progress, why = g.refuse(ctx, u, named); !progress {
			return false, why
		}
	}
	return len(updates) > 0, a
}

// unrefused returns the updates that still carry values.
func (g *receiptGroup) unrefused(updates []*lanes.Update) (rest []*lanes.Update) {
	for _, u := range updates {
		if g.refusals[u.Key] == nil {
			rest = append(rest, u)
		}
	}
	return rest
}

// cutHalf takes the first half of the changes out of g. Each half goes on with what is known, and
// learns for itself from here. If an update is refused in one half, only the steps of that half are
// quarantined.
func (g *receiptGroup) cutHalf() *receiptGroup {
	half := &receiptGroup{apply: g.apply, stream: g.stream, blind: g.blind, refusals: maps.Clone(g.refusals), full: maps.Clone(g.full),
		seen: maps.Clone(g.seen), stuck: maps.Clone(g.stuck)}
	middle := len(g.entries) / 2
	half.entries, g.entries = g.entries[:middle], g.entries[middle:]
	return half
}

// count adds the cost of the transaction. A cancelled transaction costs the same.
func (g *receiptGroup) count(answer rows.Answer, updates []*lanes.Update, units float64) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.Cost.Requests++
	switch answer.Outcome {
	case rows.Done:
		g.Updates += len(updates)
		for _, u := range updates {
			if g.refusals[u.Key] != nil { // only flagged; flagHead counts the items that could not even take the flag
				g.Refused++
			}
		}
		fallthrough
	case rows.Cancelled:
		g.Cost.WriteUnits += units
	}
}

// units returns the price of a transaction: two write units for each started kilobyte of each item.
// The size of a receipt is known. An aggregate item is at least as large as what its update writes,
// and at least as large as when it was last seen. A transaction brings no images, so a flag that
// another sandbox wrote may be missing here.
func (g *receiptGroup) units(items []types.TransactWriteItem) float64 {
	units := 0.0
	for _, item := range items {
		size := 0
		if item.Put != nil {
			size = rows.ImageSize(item.Put.Item)
		} else {
			size = max(WrittenSize(item.Update), g.observed(rows.KeyOf(item.Update.Key)).Size)
		}
		units += rows.TransactionUnits(size)
	}
	return units
}

// WrittenSize returns the size of the item that an update makes if there is none. Each attribute
// that the update names has one value. So this is the size of the key and of all those names and
// values.
func WrittenSize(u *types.Update) int {
	size := rows.ImageSize(u.Key)
	for _, name := range u.ExpressionAttributeNames {
		size += len(name)
	}
	for _, v := range u.ExpressionAttributeValues {
		size += rows.ValueSize(v)
	}
	return size
}
