package handler

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"time"

	"github.com/ingot-events/ingot/aggregate"
	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/plan/lanes"
)

// heads is what the batch has found out about whole generations.
type heads struct {
	behind []*aggregate.Definition
	failed map[*aggregate.Definition]string // for each, the first item from which it could not be computed
	order  []*aggregate.Definition          // of failed
}

// route computes what the changes add.
func (b *streamBatch) route(shard string) (*lanes.Batch, *heads) {
	lane := event.Lane{ShardID: shard}
	if len(b.changes) > 0 {
		lane = b.changes[0].Lane
	}
	batch, h := lanes.NewBatch(b.tables.Heads.Counting(), lane), &heads{failed: map[*aggregate.Definition]string{}}
	batch.LeaveUnclosed(b.leaves)
	for i := range b.changes {
		c := &b.changes[i]
		batch.Add(c, b.contributions(c.Old, h, false), uncounted(c, b.contributions(c.New, h, true)))
	}
	return batch, h
}

// leaves reports whether an event that has expired leaves a total as it is.
func (b *streamBatch) leaves(expired *event.Item, from *aggregate.Contribution) bool {
	return b.tables.Heads.Unclosed()[from.Def] &&
		lanes.Uncovered(from.Window, b.pipeline.ShortestRetain(from.Def, time.Unix(from.Window, 0)), expired.ExpiresAt)
}

// uncounted leaves out what the transaction that put the new image has counted already: the
// contributions to totals that move with the put. A put never overwrites anything, so such a change
// is always an INSERT. The transaction knew the generations of its own epoch, which is the item's
// i:put.
//
// Everything else that happens to the item is counted here, as for every other total. Also counted
// here are items that a person or a migration puts, because no transaction has counted them, items
// that a person damages and mends, and older items that a touch pass adds.
func uncounted(c *event.Change, list []aggregate.Contribution) []aggregate.Contribution {
	if c.Kind != event.Insert || c.New == nil || c.New.Put == 0 {
		return list
	}
	return slices.DeleteFunc(list, func(of aggregate.Contribution) bool {
		return of.Def.MovedBy == aggregate.Put && of.Def.Since <= c.New.Put
	})
}

func (b *streamBatch) contributions(item *event.Item, h *heads, isNew bool) []aggregate.Contribution {
	if item == nil {
		return nil
	}
	c := b.pipeline.Contributions(item)
	for _, f := range c.Failed {
		if h.failed[f.Def] == "" {
			h.failed[f.Def] = b.uncomputable(item, f.Err)
			h.order = append(h.order, f.Def)
		}
	}
	if isNew && !(item.Epoch == 0 && b.pipeline.Migration(item.Type) != "") { // a copy is counted once it is touched, after the turn
		newer := b.tables.Heads.Newer() // a rolled-back function does not know them, so they miss this change
		b.rep.Behind += len(c.Behind) + len(newer)
		for _, def := range slices.Concat(c.Behind, newer) {
			h.add(def)
		}
	}
	return c.List
}

// uncomputable names an item from which a definition cannot be computed, and the reason. It leaves
// the detail out, because the detail may quote the payload.
func (b *streamBatch) uncomputable(item *event.Item, err error) string {
	text := strconv.Quote(keyText(item.Key, b.pipeline.HidesKeys(item.Type)))
	if refusal := (*event.Refusal)(nil); errors.As(err, &refusal) {
		text += " (" + string(refusal.Reason) + ")"
	}
	return text
}

func (h *heads) add(def *aggregate.Definition) {
	for _, known := range h.behind {
		if known == def {
			return
		}
	}
	h.behind = append(h.behind, def)
}

// mark records on the heads which generations are behind, and which could not be computed.
func (b *streamBatch) mark(ctx context.Context, h *heads) {
	if len(b.changes) == 0 {
		return
	}
	first := b.changes[0].Sequence
	cost, err := b.tables.Heads.MarkBehind(ctx, h.behind)
	b.rep.Cost.Add(cost)
	if err != nil {
		b.fail(ctx, first, "generation not marked behind", err)
	}
	for _, def := range h.order {
		cost, err := b.tables.Heads.Flag(ctx, []*aggregate.Definition{def}, b.created,
			"an item adds nothing because it cannot be computed: item "+h.failed[def])
		b.rep.Cost.Add(cost)
		if err != nil {
			b.fail(ctx, first, "head not flagged", err)
		}
	}
}
