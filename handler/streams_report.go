package handler

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/tables"
)

// StreamsReport sums up one batch.
type StreamsReport struct {
	ShardID     string // the shard that the event names; empty if it names none
	Received    int    // records
	Foreign     int    // records of items that are not events, like the one that names the home Region
	Inserted    int    // new items among the records that are done; see the metric ItemsInserted
	Quarantined int    // records and updates
	Archived    int
	// PayloadsLost counts expired items that were archived without their payload, because the
	// payload bucket did not have it any more. A batch that is delivered again counts them again.
	PayloadsLost int
	Updates      int // aggregate items written
	Dropped      int // steps that were counted before, as a mark or receipt shows
	Large        int // aggregate items that come close to the largest size of an item
	Behind       int // images stamped below a generation of their type
	Unproven     bool
	Lag          time.Duration // since the oldest record was created
	Cost         tables.Cost
	Took         time.Duration
}

// fail notes that a record is not proven done. The answer names the lowest such record. A record
// without a sequence number cannot be named, so the whole batch fails.
func (b *streamBatch) fail(ctx context.Context, at event.Sequence, what string, err error) {
	ending := "; the batch goes on from there"
	if at.IsZero() {
		b.whole, ending = fmt.Errorf("%s: %w", what, err), "; the whole batch fails"
	} else if b.unproven.IsZero() || at.Compare(b.unproven) < 0 {
		b.unproven, b.why = at, fmt.Errorf("%s: %w", what, err)
	}
	if b.Log == nil {
		return
	}
	attrs := []slog.Attr{slog.String("sequence", at.String()), slog.Any("error", err)}
	if b.rep.ShardID != "" {
		attrs = append(attrs, slog.String("shardId", b.rep.ShardID))
	}
	b.Log.LogAttrs(ctx, slog.LevelError, what+ending, attrs...)
}

// inserted counts the new items among the records that are not delivered again.
func (b *streamBatch) inserted() (n int) {
	if b.whole != nil {
		return 0
	}
	for i := range b.changes {
		c := &b.changes[i]
		if c.Kind == event.Insert && c.New != nil && (b.unproven.IsZero() || c.Sequence.Compare(b.unproven) < 0) {
			n++
		}
	}
	return n
}

func (b *streamBatch) report(ctx context.Context, began time.Time) {
	if !b.created.IsZero() {
		b.rep.Lag = max(0, began.Sub(b.created))
	}
	b.rep.Unproven = b.whole != nil || !b.unproven.IsZero()
	b.rep.Inserted = b.inserted()
	b.quarantineLog.end(ctx)
	b.rep.Took = b.env.Now().Sub(began)
	if b.OnBatch != nil {
		b.OnBatch(ctx, b.rep)
	}
}
