package handler

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"

	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/handler/quarantine"
	"github.com/ingot-events/ingot/internal/base/awserr"
	"github.com/ingot-events/ingot/internal/plan/lanes"
)

var errNoQuarantine = errors.New("no quarantine queue is configured (INGOT_QUARANTINE_URL)")

// recordLetter is a letter about a record or an update.
type recordLetter struct {
	quarantine.Record
	hidden bool // the log shows its key as a hash
}

func (b *streamBatch) send(ctx context.Context, letters ...*recordLetter) error {
	if b.Quarantine == nil {
		return errNoQuarantine
	}
	list := make([]quarantine.Letter, len(letters))
	for i, l := range letters {
		list[i] = l.Letter()
	}
	errs := quarantine.Within(b.env, b.Quarantine).Send(ctx, list)
	for i, l := range letters {
		if errs[i] == nil {
			b.quarantineLog.line(ctx, slog.LevelWarn, "quarantined", append(keyAttrs(event.Key{PK: l.PK, SK: l.SK}, l.hidden),
				slog.String("reason", string(l.Reason)), slog.String("shardId", l.ShardID), slog.Any("sequenceNumbers", l.Sequences))...)
		}
	}
	return errors.Join(errs...)
}

// quarantineOdd puts the records that cannot be understood, or are given up, into quarantine. It
// flags every generation, because it cannot know which ones the records would have changed. Such a
// record never fails the batch, because a shard that waits for one bad record loses the others
// after a day.
func (b *streamBatch) quarantineOdd(ctx context.Context) {
	if len(b.odd) == 0 {
		return
	}
	var letters []*recordLetter
	for _, odd := range b.odd {
		c := odd.change
		letters = append(letters, &recordLetter{quarantine.Record{PK: c.Key.PK, SK: c.Key.SK, StreamARN: c.Lane.StreamARN,
			ShardID: c.Lane.ShardID, Sequences: []string{c.Sequence.String()}, Reason: odd.reason, Detail: odd.err.Error(),
			Record: json.RawMessage(odd.raw)}, b.pipeline.HidesKeys("")}) // the type of such a record cannot be relied on
	}
	err := b.send(ctx, letters...)
	if err == nil {
		b.rep.Quarantined += len(letters)
		cost, flagErr := b.tables.Heads.Flag(ctx, slices.Concat(b.pipeline.Definitions(), b.tables.Heads.Newer()), b.created,
			b.odd[0].flag())
		b.rep.Cost.Add(cost)
		err = flagErr
	}
	if err != nil {
		b.fail(ctx, b.firstOdd(), "record not quarantined", err)
	}
}

// flag returns the reason for the heads' flags. The record's note says what is odd about it.
func (o *oddRecord) flag() string {
	switch {
	case o.change.Sequence.IsZero():
		return "a stream record without a sequence number could not be understood and is in quarantine"
	case o.reason == quarantine.GivenUp:
		return "a stream record was given up and is in quarantine: " + o.change.Sequence.String()
	}
	return "a stream record could not be understood and is in quarantine: " + o.change.Sequence.String()
}

// firstOdd returns the sequence to go on from if an odd record could not be kept. It is the lowest
// sequence of these records, or zero if one of them has no sequence.
func (b *streamBatch) firstOdd() event.Sequence {
	for _, odd := range b.odd {
		if odd.change.Sequence.IsZero() {
			return odd.change.Sequence
		}
	}
	return b.odd[0].change.Sequence
}

// refused puts an update that the table will never take into quarantine.
func (b *streamBatch) refused(ctx context.Context, u *lanes.Update, cause error) error {
	l := &recordLetter{quarantine.Record{Reason: quarantine.RefusedUpdate, Detail: awserr.Detail(cause), Aggregate: u.Key.String(),
		PK: u.Key.PK, SK: u.Key.SK}, b.pipeline.HidesTotals(u.Def.Name)}
	if len(b.changes) > 0 {
		l.StreamARN, l.ShardID = b.changes[0].Lane.StreamARN, b.changes[0].Lane.ShardID
	}
	for _, s := range u.Steps {
		l.Sequences = append(l.Sequences, s.Sequence.String())
	}
	if err := b.send(ctx, l); err != nil {
		return fmt.Errorf("update of aggregate %s: %w", u.Def, err)
	}
	return nil
}
