package store

import (
	"context"
	"fmt"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/awserr"
)

// Judge returns what [Store.Put] would answer for the item now, and the event that is stored under
// its key. It writes nothing, so an answer can be out of date as soon as it is given. The stored
// event is nil if there is none, or if what is there is not an event of Ingot's. Totals that move with
// the put are not asked whether they would refuse the event. The parts of an item
// that would be stored, or is, are judged too. If one of them is worse, the event that is stored under
// its key is returned.
func (s counter) Judge(ctx context.Context, item *event.Item) (Result, *event.Item, error) {
	r, stored, err := s.judgeOne(ctx, item)
	if err != nil || !r.yields(item) {
		return r, stored, err
	}
	var parts []Result
	for _, part := range item.Parts.Items {
		ofPart, there, err := s.judgeOne(ctx, part)
		if err != nil {
			return Result{}, nil, err
		}
		parts = append(parts, ofPart)
		if both := r.with(parts); both.Refusal != nil && both.Refusal == ofPart.Refusal {
			stored = there
		}
	}
	r = r.with(parts)
	if isAtomic(item) && r.Verdict == event.Duplicate && slices.ContainsFunc(r.Parts, func(p Result) bool { return p.Verdict == event.Inserted }) {
		r.Verdict = event.Inserted // it is a Duplicate only if all of it is stored
	}
	return r, stored, nil
}

// judgeOne judges an item without its parts.
func (s counter) judgeOne(ctx context.Context, item *event.Item) (Result, *event.Item, error) {
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
	if known.elsewhere(item) {
		if err := s.fetch(ctx, known, &Cost{}); err != nil {
			return Result{}, nil, fmt.Errorf("payload of %s: %w", item.Key, err)
		}
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
