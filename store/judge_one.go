package store

import (
	"context"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/awserr"
)

// Judge returns what [Store.Put] would answer for the item now, and the event that is stored under
// its key. It writes nothing, so an answer can be out of date as soon as it is given. The stored
// event is nil if there is none, or if what is there is not an event of Ingot's.
func (s counter) Judge(ctx context.Context, item *event.Item) (Result, *event.Item, error) {
	if s.events == "" {
		return Result{}, nil, fmt.Errorf("judge %s: Config.Events names no table", item.Key)
	}
	var img image
	err := s.ask(ctx, func() error {
		out, err := s.client.GetItem(ctx, &dynamodb.GetItemInput{TableName: &s.events, Key: keyImage(item.Key), ConsistentRead: aws.Bool(true)})
		if err == nil {
			img = out.Item
		}
		return err
	})
	if err != nil {
		return Result{}, nil, fmt.Errorf("read of %s in table %s: %w", item.Key, s.events, awserr.Quiet(err))
	}
	late := tooLate(item, s.env.Now())
	if len(img) == 0 {
		if late {
			return Result{Verdict: event.Expired, Refusal: pastExpiry(item)}, nil, nil
		}
		return Result{Verdict: event.Inserted}, nil, nil
	}
	known := readWhole(img)
	if err := known.ahead(s.pipeline.Epoch()); err != nil {
		return Result{}, nil, err
	}
	stored, err := decode(img)
	if err != nil {
		stored = nil // the verdict then says that the key is taken
	}
	if !late && s.older(known, item) {
		return Result{Verdict: event.Updated, Existing: known.existing()}, stored, nil
	}
	return s.judge(known, item), stored, nil
}
