package rows

import (
	"context"
	"errors"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/ingot-events/ingot/event"
)

// Next says what to do after a try.
type Next uint8

const (
	Ended Next = iota // nothing
	Again             // try again at once, because the next try will not fail for the same reason
	Later             // try again after a wait
)

// maxAtOnce is how many tries may follow each other without a wait. A pack of a hundred messages
// that leave it one by one takes as many.
const maxAtOnce = 100

var errRestless = errors.New("what is stored changes with every try")

// Retry calls try until it has ended. All repetitions in this package follow these rules:
//
//   - Between two tries it waits as [env.Env.Wait] does, unless try says that the next one can go
//     at once. After a hundred tries without a wait it waits all the same, because others may
//     write the same items without end. Only waits count as rounds.
//   - It stops early if ctx has ended, if it cannot wait, or if the answer says that asking again
//     cannot help. Then it returns the reason. It returns nil once try has ended, whatever the
//     outcome was.
//
// A try is one request or several. It must be safe to repeat if its answer was lost.
func (s *Tables) Retry(ctx context.Context, try func(context.Context) (Answer, Next)) error {
	for round, atOnce := 1, 0; ; {
		if err := ctx.Err(); err != nil {
			return err
		}
		a, next := try(ctx)
		if next == Ended {
			return nil
		}
		if next == Again {
			if atOnce++; atOnce < maxAtOnce {
				continue
			}
			a = Answer{Outcome: Contended, Err: errRestless}
		}
		if a.Hopeless() || !s.Env.Wait(ctx, round) {
			return a.Err
		}
		round, atOnce = round+1, 0
	}
}

// Ask sends one request until the service has carried it out or says that its condition does not
// hold. It returns nil, the failed condition, or the reason why nothing is proven. The error is as
// the service gave it, without [awserr.Quiet].
func (s *Tables) Ask(ctx context.Context, send func() error) error {
	var last error
	gaveUp := s.Retry(ctx, func(context.Context) (Answer, Next) {
		last = send()
		a := Classify(last)
		if a.Outcome == Done || a.Outcome == Failed {
			return a, Ended
		}
		return a, Later
	})
	if last == nil {
		return gaveUp
	}
	return last
}

// Asked sends a request as [Tables.Ask] does, and returns its answer. The answer is nil if there is
// an error.
func Asked[I, O any](ctx context.Context, s interface {
	Ask(context.Context, func() error) error
}, send func(context.Context, I, ...func(*dynamodb.Options)) (*O, error), in I) (out *O, err error) {
	err = s.Ask(ctx, func() (err error) {
		out, err = send(ctx, in)
		return err
	})
	return out, err
}

// ReadKeys reads up to 100 keys of one table, and calls take with each answer until all of them are
// answered. It asks again for keys that an answer leaves out: at once if the answer had any items,
// and otherwise after a wait. capacity says which consumed units the answers report, if any.
func (s *Tables) ReadKeys(ctx context.Context, table string, request types.KeysAndAttributes, capacity types.ReturnConsumedCapacity,
	take func(*dynamodb.BatchGetItemOutput)) error {
	for len(request.Keys) > 0 {
		err := s.Ask(ctx, func() error {
			out, err := s.Client.BatchGetItem(ctx,
				&dynamodb.BatchGetItemInput{RequestItems: map[string]types.KeysAndAttributes{table: request},
					ReturnConsumedCapacity: capacity})
			if err != nil {
				return err
			}
			take(out)
			asked := len(request.Keys)
			if request.Keys = out.UnprocessedKeys[table].Keys; len(request.Keys) == asked {
				return ErrUnread.Err
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// ReadOne reads what is stored under a key of a table, consistently. The image is empty if nothing
// is.
func (s *Tables) ReadOne(ctx context.Context, table string, key event.Key) (Image, error) {
	out, err := Asked(ctx, s, s.Client.GetItem,
		&dynamodb.GetItemInput{TableName: &table, Key: KeyImage(key), ConsistentRead: aws.Bool(true)})
	if err != nil {
		return nil, err
	}
	return out.Item, nil
}

// Get reads one item of the aggregates table.
func (s *Tables) Get(ctx context.Context, key event.Key) (Image, error) {
	return s.ReadOne(ctx, s.Aggregates, key)
}

// Image reads one item of the events table.
func (s *Tables) Image(ctx context.Context, key event.Key) (Image, error) {
	img, err := s.ReadOne(ctx, s.Events, key)
	if err != nil {
		return nil, fmt.Errorf("item %s: %w", key, err)
	}
	return img, nil
}
