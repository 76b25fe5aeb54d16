package handler

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"

	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"github.com/ingot-events/ingot/aggregate"
	"github.com/ingot-events/ingot/event"
)

// recordLetter is the body of a stream record's letter: enough to find the item and the record again.
type recordLetter struct {
	PK        string          `json:"pk"`
	SK        string          `json:"sk"`
	StreamARN string          `json:"streamArn"`
	ShardID   string          `json:"shardId"`
	Sequences []string        `json:"sequenceNumbers"`
	Reason    string          `json:"reason"`
	Detail    string          `json:"detail"`
	Aggregate string          `json:"aggregate,omitempty"`
	Record    json.RawMessage `json:"record,omitempty"` // the record itself, if it fits
}

// Reasons of what the streams function sends to quarantine: a stream record that cannot be understood, and an update of
// a total that the table refuses for good.
const (
	UndecodableRecord event.Reason = "undecodable-record"
	RefusedUpdate     event.Reason = "refused-update"
)

// noteRoom is what a letter's body leaves for the note beside it: keys of 3 KB and a detail of 1 KB, each
// character of which JSON may write as six.
const noteRoom = 32 << 10

func (r *recordLetter) letter() Letter {
	key := event.Key{PK: r.PK, SK: r.SK}
	refusal := &event.Refusal{Verdict: event.Poison, Reason: event.Reason(r.Reason), Detail: r.Detail, Key: key}
	l := Letter{Attributes: map[string]types.MessageAttributeValue{Attribute: note(refusal)}}
	body, err := json.Marshal(r)
	if l.Body = sendable(body); err != nil || len(l.Body) > maxMessageBytes-noteRoom {
		r.Record = nil
		body, _ = json.Marshal(r)
		l.Body = sendable(body)
	}
	return l
}

var errNoQuarantine = errors.New("no quarantine queue is configured (INGOT_QUARANTINE_URL)")

func (b *streamBatch) send(ctx context.Context, letters ...*recordLetter) error {
	if b.Quarantine == nil {
		return errNoQuarantine
	}
	sendable := make([]Letter, len(letters))
	for i, l := range letters {
		sendable[i] = l.letter()
		if b.Log != nil {
			b.Log.WarnContext(ctx, "quarantined", slog.String("reason", l.Reason), slog.String("detail", l.Detail), slog.String("pk", l.PK),
				slog.String("sk", l.SK), slog.String("shardId", l.ShardID), slog.Any("sequenceNumbers", l.Sequences))
		}
	}
	return errors.Join(b.Quarantine.Send(ctx, sendable)...)
}

// quarantineOdd keeps the records that cannot be understood and flags every generation, because which ones
// they would have touched cannot be known. The batch never fails for them: a shard that waits for one bad
// record loses the others after a day.
func (b *streamBatch) quarantineOdd(ctx context.Context) {
	if len(b.odd) == 0 {
		return
	}
	var letters []*recordLetter
	for _, odd := range b.odd {
		c := odd.change
		letters = append(letters, &recordLetter{PK: c.Key.PK, SK: c.Key.SK, StreamARN: c.Lane.StreamARN, ShardID: c.Lane.ShardID,
			Sequences: []string{c.Sequence.String()}, Reason: string(UndecodableRecord), Detail: odd.err.Error(), Record: odd.raw})
	}
	err := b.send(ctx, letters...)
	if err == nil {
		b.rep.Quarantined += len(letters)
		cost, flagErr := b.Store.Flag(ctx, slices.Concat(b.Plan.Definitions(), b.Store.Newer()), b.created, "a stream record could not be understood and is in quarantine: "+b.odd[0].err.Error())
		b.rep.Cost.Add(cost)
		err = flagErr
	}
	if err != nil {
		b.fail(ctx, b.firstOdd(), "record that cannot be understood not quarantined", err)
	}
}

// firstOdd is the sequence to go on from when an odd record could not be kept: the lowest, which is none at
// all if one of them has none.
func (b *streamBatch) firstOdd() event.Sequence {
	for _, odd := range b.odd {
		if odd.change.Sequence.IsZero() {
			return odd.change.Sequence
		}
	}
	return b.odd[0].change.Sequence
}

// refused keeps an update that the table will never take.
func (b *streamBatch) refused(ctx context.Context, u *aggregate.Update, cause error) error {
	l := &recordLetter{Reason: string(RefusedUpdate), Detail: cause.Error(), Aggregate: u.Key.String(), PK: u.Key.PK, SK: u.Key.SK}
	if len(b.changes) > 0 {
		l.StreamARN, l.ShardID = b.changes[0].Lane.StreamARN, b.changes[0].Lane.ShardID
	}
	for _, s := range u.Steps {
		l.Sequences = append(l.Sequences, s.Sequence.String())
	}
	if err := b.send(ctx, l); err != nil {
		return fmt.Errorf("update of %s: %w", u.Key, err)
	}
	return nil
}
