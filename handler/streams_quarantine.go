package handler

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"

	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/base/awserr"
	"github.com/ingot-events/ingot/internal/plan/lanes"
)

// recordLetter is the body of a stream record's letter. It is enough to find the item and the
// record again.
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
	hidden    bool            // the log shows its key as a hash
}

// These are the reasons why the streams function sends something to quarantine: a stream record
// cannot be understood, an operator has given up a record of a later epoch, or the table refuses an
// update of a total for good.
const (
	UndecodableRecord event.Reason = "undecodable-record"
	GivenUp           event.Reason = "given-up"
	RefusedUpdate     event.Reason = "refused-update"
)

// Unpublished is the reason why the publish function sends a record to quarantine: it cannot be
// read, or its target has refused what is published of it for too long.
const Unpublished event.Reason = "unpublished"

// NewLetter returns a letter about a stored item, with the JSON of body.
func NewLetter(reason event.Reason, key event.Key, detail string, body any) Letter {
	text, _ := json.Marshal(body)
	refusal := &event.Refusal{Verdict: event.Poison, Reason: reason, Detail: detail, Key: key}
	return Letter{sendable(text), map[string]types.MessageAttributeValue{Attribute: note(refusal, "", nil)}}
}

// noteRoom is how much room a letter's body leaves for the note: keys of 3 KB and a detail of 1 KB.
// In JSON, each of their characters may take six.
const noteRoom = 32 << 10

func (r *recordLetter) letter() Letter {
	key := event.Key{PK: r.PK, SK: r.SK}
	refusal := &event.Refusal{Verdict: event.Poison, Reason: event.Reason(r.Reason), Detail: r.Detail, Key: key}
	l := Letter{Attributes: map[string]types.MessageAttributeValue{Attribute: note(refusal, "", nil)}}
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
	}
	errs := within(b.env, b.Quarantine).Send(ctx, sendable)
	for i, l := range letters {
		if errs[i] == nil {
			b.quarantineLog.line(ctx, slog.LevelWarn, "quarantined", append(keyAttrs(event.Key{PK: l.PK, SK: l.SK}, l.hidden),
				slog.String("reason", l.Reason), slog.String("shardId", l.ShardID), slog.Any("sequenceNumbers", l.Sequences))...)
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
		letters = append(letters, &recordLetter{PK: c.Key.PK, SK: c.Key.SK, StreamARN: c.Lane.StreamARN, ShardID: c.Lane.ShardID,
			Sequences: []string{c.Sequence.String()}, Reason: string(odd.reason), Detail: odd.err.Error(), Record: json.RawMessage(odd.raw),
			hidden: b.pipeline.HidesKeys("")}) // the type of such a record cannot be relied on
	}
	err := b.send(ctx, letters...)
	if err == nil {
		b.rep.Quarantined += len(letters)
		cost, flagErr := b.tables.Flag(ctx, slices.Concat(b.pipeline.Definitions(), b.tables.Newer()), b.created,
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
	case o.reason == GivenUp:
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
	l := &recordLetter{Reason: string(RefusedUpdate), Detail: awserr.Detail(cause), Aggregate: u.Key.String(), PK: u.Key.PK, SK: u.Key.SK,
		hidden: b.pipeline.HidesTotals(u.Def.Name)}
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
