package store

import (
	"context"
	"errors"
	"fmt"
	"maps"

	"github.com/ingot-events/ingot/internal/lanes"
)

// refuse hands an update that the table will never take to quarantine, before the receipts are written: after
// them nothing would bring it back. From then on the item is only flagged; one that refuses the flag too is left
// out, and the generation's head says so.
func (g *receiptGroup) refuse(ctx context.Context, u *lanes.Update, a answer) (progress bool, why answer) {
	if refusal := g.refusals[u.Key]; refusal != nil {
		if err := g.flagHead(ctx, u, refusal); err != nil {
			return false, classify(err)
		}
		g.full[u.Key] = true
		return true, a
	}
	if err := g.quarantine(ctx, u, a.err); err != nil {
		return false, answer{outcome: unknown, err: err}
	}
	g.refusals[u.Key] = a.err
	return true, a
}

var errSilent = errors.New("a transaction was cancelled without a reason")

// cancelledSilently waits and asks again, and after a few times tries each half on its own. A single change is never
// refused for this: nothing says that its data is the reason.
func (g *receiptGroup) cancelledSilently(ctx context.Context) (progress bool, why answer) {
	why = answer{outcome: contended, err: errSilent}
	if g.silent++; g.silent < maxStuck || len(g.entries) == 1 {
		return false, why
	}
	g.silent = 0
	g.cutHalf().run(ctx)
	return true, why
}

// refusedWhole is what becomes of a transaction that the service refuses as it is, naming no item: its items together
// take more than 4 MB, or it is wrong in a way that was not foreseen. Of several changes each half is tried on its
// own. The totals of a single change are refused one after the other, as if each had been named: quarantined and
// flagged, then left to their heads, so that its receipt can be written and the shard goes on. Not even the receipt
// alone: then it is not the data that is wrong, and the change stays unproven.
func (g *receiptGroup) refusedWhole(ctx context.Context, updates []*lanes.Update, a answer) (progress bool, why answer) {
	if len(g.entries) > 1 {
		g.cutHalf().run(ctx)
		return true, a
	}
	named := answer{outcome: invalid, err: fmt.Errorf("its transaction was refused as a whole: %w", a.err)}
	if fresh := g.unrefused(updates); len(fresh) > 0 {
		updates = fresh // those that are flagged already may yet take their flag
	}
	for _, u := range updates {
		if progress, why = g.refuse(ctx, u, named); !progress {
			return false, why
		}
	}
	return len(updates) > 0, a
}

// unrefused is the part of updates that still carries values.
func (g *receiptGroup) unrefused(updates []*lanes.Update) (rest []*lanes.Update) {
	for _, u := range updates {
		if g.refusals[u.Key] == nil {
			rest = append(rest, u)
		}
	}
	return rest
}

// cutHalf takes the first half of the changes out of g. Each half goes on with what is known and learns for itself
// from here: what is refused in one has quarantined only the steps of that one.
func (g *receiptGroup) cutHalf() *receiptGroup {
	half := &receiptGroup{apply: g.apply, stream: g.stream, blind: g.blind, refusals: maps.Clone(g.refusals), full: maps.Clone(g.full), seen: maps.Clone(g.seen), stuck: maps.Clone(g.stuck)}
	middle := len(g.entries) / 2
	half.entries, g.entries = g.entries[:middle], g.entries[middle:]
	return half
}
