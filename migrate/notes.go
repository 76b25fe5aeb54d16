package migrate

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/base/awserr"
	"github.com/ingot-events/ingot/internal/plan/lanes"
	"github.com/ingot-events/ingot/internal/table/rows"
)

// Capture notes how far it is in each lane, which is a shard of a stream. All changes of a lane up
// to its note are done: Lambda sends the batches of a shard one after the other, and a later one
// only after success. Two readers of a stream may note side by side, because each reads all of it.

// noteEvery is how often a lane that is busy is noted. A lane is also noted at the end of its
// window, so that its last change does not wait for another one.
const noteEvery = time.Minute

// window is what an event has beside its records if the mapping has a tumbling window.
type window struct {
	Shard  string          `json:"shardId"`
	Stream string          `json:"eventSourceARN"`
	State  json.RawMessage `json:"state"`
	Final  bool            `json:"isFinalInvokeForWindow"`
}

// WindowState is what capture carries from batch to batch of a window. It is a hint: if it is lost,
// the next batch notes again.
type WindowState struct {
	Done  LaneNote  `json:"done,omitzero"`
	Noted time.Time `json:"noted,omitzero"` // when Done, or one before it, was noted
}

// LaneNote is the last change of a lane up to which capture has done all. The zero value says
// nothing.
type LaneNote struct {
	Sequence string    `json:"sequence"` // as the stream writes it
	Created  time.Time `json:"created"`  // to the second
}

// proven notes that all records before the first that is left are done. The end of a window has no
// records, and notes what its batches have carried. The memory of a process would not do: another
// one may be called for the end.
func (c *Capture) proven(ctx context.Context, b *streamBatch, left []int) (*WindowState, error) {
	if b.Shard == "" {
		return nil, nil // without a window, nobody knows the shard
	}
	state := &WindowState{}
	if json.Unmarshal(b.State, state) != nil {
		state = &WindowState{}
	}
	done := len(b.Records)
	if len(left) > 0 {
		done = left[0]
	}
	if done > 0 {
		last := b.Records[done-1].DynamoDB
		state.Done = LaneNote{last.SequenceNumber, last.Created.UTC()}
	}
	now := c.Migration.store.Env.Now()
	if state.Done.Sequence == "" || !b.Final && now.Sub(state.Noted) < noteEvery {
		return state, nil
	}
	if err := c.Migration.NoteLane(ctx, event.Lane{StreamARN: b.Stream, ShardID: b.Shard}, state.Done); err != nil {
		return state, err
	}
	state.Noted = now.UTC()
	return state, nil
}

// laneKey is the key of the note of a lane, beside the control item.
func (s *Migration) laneKey(lane event.Lane) event.Key {
	return event.Key{PK: rows.ControlKey(s.mapping.Name()).PK, SK: lanes.LaneIDOf(lane).String()}
}

// NoteLane notes that capture has done every change of a lane up to one. A note never moves back.
// It goes three days after it was written, when the stream no longer has the lane.
func (s *Migration) NoteLane(ctx context.Context, lane event.Lane, note LaneNote) error {
	sequence, err := event.ParseSequence(note.Sequence)
	if err != nil {
		return fmt.Errorf("noting how far capture is in shard %s: %w", lane.ShardID, err)
	}
	mark := lanes.MarkAt(sequence, note.Created)
	_, err = rows.Asked(ctx, s.store, s.store.Client.UpdateItem, &dynamodb.UpdateItemInput{TableName: &s.store.Aggregates,
		Key:                 rows.KeyImage(s.laneKey(lane)),
		UpdateExpression:    aws.String("SET done = :done, upTo = :upTo, expiresAt = :expires"),
		ConditionExpression: aws.String("attribute_not_exists(done) OR done < :done"),
		ExpressionAttributeValues: rows.Image{":done": &types.AttributeValueMemberB{Value: mark[:]}, ":upTo": rows.Text(note.Sequence),
			":expires": rows.Integer(s.store.Env.Now().Add(lanes.PruneAfter).Unix())}})
	if a := rows.Classify(err); a.Outcome != rows.Done && a.Outcome != rows.Failed {
		return fmt.Errorf("noting how far capture is in shard %s: %w", lane.ShardID, a.Err)
	}
	return nil
}

// LaneDone reads the note of a lane, consistently.
func (s *Migration) LaneDone(ctx context.Context, lane event.Lane) (LaneNote, error) {
	img, err := s.store.Get(ctx, s.laneKey(lane))
	if err != nil {
		return LaneNote{}, fmt.Errorf("reading how far capture is in shard %s: %w", lane.ShardID, awserr.Quiet(err))
	}
	mark, err := lanes.ParseMark(rows.BytesOf(img["done"]))
	if err != nil {
		return LaneNote{}, nil // there is none
	}
	return LaneNote{rows.TextOf(img["upTo"]), mark.Created()}, nil
}
