package store

import (
	"context"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/ingot-events/ingot/event"
)

// next says what to do after a try.
type next uint8

const (
	ended next = iota // nothing
	again             // try again at once, because the next try will not fail for the same reason
	later             // try again after a wait
)

// retry calls try until it has ended. All repetitions in this package follow these rules:
//
//   - Between two tries it waits as [env.Env.Wait] does, unless try says that the next one can go
//     at once. Only waits count as rounds.
//   - It stops early if ctx has ended, if it cannot wait, or if the answer says that asking again
//     cannot help. Then it returns the reason. It returns nil once try has ended, whatever the
//     outcome was.
//
// A try is one request or several. It must be safe to repeat if its answer was lost.
func (s *tables) retry(ctx context.Context, try func() (answer, next)) error {
	for round := 1; ; {
		if err := ctx.Err(); err != nil {
			return err
		}
		a, next := try()
		if next == ended {
			return nil
		}
		if next == again {
			continue
		}
		if a.hopeless() || !s.env.Wait(ctx, round) {
			return a.err
		}
		round++
	}
}

// ask sends one request until the service has carried it out or says that its condition does not
// hold. It returns nil, the failed condition, or the reason why nothing is proven. The error is as
// the service gave it, without [awserr.Quiet].
func (s *tables) ask(ctx context.Context, send func() error) error {
	var last error
	gaveUp := s.retry(ctx, func() (answer, next) {
		last = send()
		a := classify(last)
		if a.outcome == done || a.outcome == failed {
			return a, ended
		}
		return a, later
	})
	if last == nil {
		return gaveUp
	}
	return last
}

// readAll reads up to 100 keys of one table, and calls take with each answer until all of them are
// answered. It asks again for keys that an answer leaves out: at once if the answer had any items,
// and otherwise after a wait. capacity says which consumed units the answers report, if any.
func (s *tables) readAll(ctx context.Context, table string, request types.KeysAndAttributes, capacity types.ReturnConsumedCapacity,
	take func(*dynamodb.BatchGetItemOutput)) error {
	for len(request.Keys) > 0 {
		err := s.ask(ctx, func() error {
			out, err := s.client.BatchGetItem(ctx,
				&dynamodb.BatchGetItemInput{RequestItems: map[string]types.KeysAndAttributes{table: request},
					ReturnConsumedCapacity: capacity})
			if err != nil {
				return err
			}
			take(out)
			asked := len(request.Keys)
			if request.Keys = out.UnprocessedKeys[table].Keys; len(request.Keys) == asked {
				return errUnread.err
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// readOne reads what is stored under a key of a table, consistently. The image is empty if nothing
// is.
func (s *tables) readOne(ctx context.Context, table string, key event.Key) (img image, err error) {
	in := &dynamodb.GetItemInput{TableName: &table, Key: keyImage(key), ConsistentRead: aws.Bool(true)}
	err = s.ask(ctx, func() error {
		out, err := s.client.GetItem(ctx, in)
		if err == nil {
			img = out.Item
		}
		return err
	})
	return img, err
}

// get reads one item of the aggregates table.
func (s *tables) get(ctx context.Context, key event.Key) (image, error) {
	return s.readOne(ctx, s.aggregates, key)
}

// image reads one item of the events table.
func (s *tables) image(ctx context.Context, key event.Key) (image, error) {
	img, err := s.readOne(ctx, s.events, key)
	if err != nil {
		return nil, fmt.Errorf("item %s: %w", key, err)
	}
	return img, nil
}
