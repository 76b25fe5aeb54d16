package store

import (
	"context"
	"errors"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/ingot-events/ingot/aggregate"
	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/lanes"
)

// Touched is what a touch pass did.
type Touched struct {
	Scanned int // items of Ingot's seen
	Touched int // items whose stamp was raised
	Odd     int // items that could not be understood, and were left alone
	// Refused are items that take no higher stamp because they are full. The error says why for
	// each. There are at most maxRefused.
	Refused []event.Key
}

// maxRefused ends a touch pass: if this many items are refused, they are not all full, and
// something else is wrong.
const maxRefused = 100

// Touch raises the stamp of every item below the pipeline's epoch to that epoch. Each write is a
// MODIFY in the stream. Its old image contributes nothing to a newer generation, and its new image
// contributes everything. The stream itself brings old items into new aggregates in this way, under
// ordinary marks. It does no harm to stop Touch and to repeat it.
//
// Touch is refused before it touches anything if no streams function has started with the
// pipeline's epoch yet. Only a start raises the epoch, and functions of an older epoch stop at the
// first item that is stamped above it.
//
// If the table refuses to stamp an item, the pass goes on with the others, and its error then names
// each such item. Until they are shortened or removed, and the pass has run again, no newer
// generation is complete.
func (s *Store) Touch(ctx context.Context) (Touched, error) {
	var t Touched
	var refusals []error
	if err := s.mayStamp(ctx); err != nil {
		return t, fmt.Errorf("touch: %w", err)
	}
	for item, err := range s.Items(ctx) {
		if ctx.Err() != nil {
			return t, ctx.Err()
		}
		if odd := (*OddItem)(nil); errors.As(err, &odd) {
			t.Odd++
			continue
		} else if err != nil {
			return t, err
		}
		t.Scanned++
		if item.Epoch >= s.pipeline.Epoch() {
			continue
		}
		touched, err := s.touch(ctx, item.Key)
		if classify(err).outcome == invalid {
			t.Refused = append(t.Refused, item.Key)
			refusals = append(refusals, fmt.Errorf("item %s: %w", item.Key, err))
			if len(t.Refused) == maxRefused {
				break
			}
			continue
		}
		if err != nil {
			return t, fmt.Errorf("touch %s: %w", item.Key, err)
		}
		if touched {
			t.Touched++
		}
	}
	if len(refusals) > 0 {
		return t, fmt.Errorf("touch: %d items take no higher stamp and stay uncounted in newer generations; shorten or remove them, then run the touch pass again:\n%w", len(refusals), errors.Join(refusals...))
	}
	return t, nil
}

// mayStamp returns an error if items must not carry this pipeline's epoch yet. It reads the table's
// epoch once, consistently. An epoch never falls, so what may be stamped now may be stamped to the
// end of the pass.
func (s *Store) mayStamp(ctx context.Context) error {
	if s.aggregates == "" {
		return errors.New("Config.Aggregates names no table, and the epoch that items may carry is read there: set it to the aggregates table")
	}
	img, err := s.get(ctx, lanes.EpochKey)
	if err != nil {
		return fmt.Errorf("reading the epoch of the aggregates table %s: %w", s.aggregates, err)
	}
	return s.reached(integerOf(img["epoch"]))
}

// reached returns an error if the table's epoch is below the pipeline's. The epoch is 0 if the
// table has none.
func (s *Store) reached(epoch int64) error {
	switch own := s.pipeline.Epoch(); {
	case epoch >= own:
		return nil
	case epoch == 0:
		return fmt.Errorf("refused, because no streams function has started with the aggregates table %s, which has no epoch yet; deploy it with this pipeline.yaml, at epoch %d, let it start, then run the touch pass again", s.aggregates, own)
	default:
		return fmt.Errorf("refused, because the aggregates table %s is at epoch %d and this pipeline.yaml at %d, and a streams function that is at %d stops at the first item stamped %d; deploy it with this pipeline.yaml, let it start, then run the touch pass again", s.aggregates, epoch, own, epoch, own)
	}
}

// touch raises one item's stamp if the item is still there and still below it. It returns false if
// somebody else did so, or if the item is gone: removed, or replaced by a bar, which has no type.
func (s *Store) touch(ctx context.Context, key event.Key) (bool, error) {
	in := &dynamodb.UpdateItemInput{
		TableName: &s.events, Key: keyImage(key),
		UpdateExpression:          aws.String("SET #e = :now"),
		ConditionExpression:       aws.String("attribute_exists(#t) AND (attribute_not_exists(#e) OR #e < :now)"),
		ExpressionAttributeNames:  map[string]string{"#e": "epoch", "#t": "type"},
		ExpressionAttributeValues: image{":now": integer(s.pipeline.Epoch())},
	}
	err := s.ask(ctx, func() error {
		_, err := s.client.UpdateItem(ctx, in)
		return err
	})
	if classify(err).outcome == failed {
		return false, nil
	}
	return err == nil, err
}

// ErrBehind says that images below the generation have been met since the pass began. Begin again.
var ErrBehind = errors.New("images stamped below the generation have been met since the pass began; begin again")

// ClearBuilding declares a generation complete, on condition that behind of its head is still what
// [Store.BeginPass] returned. Call it only if you have found no lower stamp and no difference.
// verify.Finish does all of this.
func (s counter) ClearBuilding(ctx context.Context, d *aggregate.Definition, behind int64) error {
	in := &dynamodb.UpdateItemInput{
		TableName: &s.aggregates, Key: keyImage(lanes.HeadKey(d)),
		UpdateExpression:         aws.String("SET #building = :false"),
		ConditionExpression:      aws.String("#behind = :behind AND attribute_exists(#open)"),
		ExpressionAttributeNames: map[string]string{"#building": "building", "#behind": "behind", "#open": "open"},
		ExpressionAttributeValues: image{
			":false":  &types.AttributeValueMemberBOOL{Value: false},
			":behind": integer(behind),
		},
	}
	err := s.ask(ctx, func() error {
		_, err := s.client.UpdateItem(ctx, in)
		return err
	})
	if classify(err).outcome != failed {
		return err
	}
	if head, err := s.Head(ctx, d); err != nil || head == nil {
		return errors.Join(err, fmt.Errorf("aggregate %s has no head: start the streams function with its pipeline first", d))
	}
	return ErrBehind
}
