package store

import (
	"context"
	"fmt"
	"iter"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/ingot-events/ingot/event"
)

// Items scans the events table consistently, page by page, in no order. It includes items that are
// past their time and not yet swept, because they are counted until the stream says that they are
// gone. It leaves out items that are not Ingot's. An item that says it is Ingot's, but cannot be
// understood, comes as an [*OddItem] error, and the scan goes on. Any other error ends the scan.
func (s *Store) Items(ctx context.Context) iter.Seq2[*event.Item, error] {
	return func(yield func(*event.Item, error) bool) {
		for img, err := range s.scan(ctx, s.events) {
			if err != nil {
				yield(nil, err)
				return
			}
			item, err := decode(img)
			if err != nil {
				err = &OddItem{Key: keyOf(img), Err: err}
			}
			if (item != nil || err != nil) && !yield(item, err) {
				return
			}
		}
	}
}

// OddItem is the error for a stored item that says it is Ingot's, but cannot be understood.
type OddItem struct {
	Key event.Key
	Err error
}

func (o *OddItem) Error() string { return o.Err.Error() }

func (o *OddItem) Unwrap() error { return o.Err }

// Totals scans the aggregates table consistently, in no order, for aggregate items of every
// generation. It includes items past their expiry.
func (s *Store) Totals(ctx context.Context) iter.Seq2[StoredTotal, error] {
	return func(yield func(StoredTotal, error) bool) {
		for img, err := range s.scan(ctx, s.aggregates) {
			if err != nil {
				yield(StoredTotal{}, err)
				return
			}
			if total, ok := readTotal(img); ok && !yield(total, nil) {
				return
			}
		}
	}
}

func (s *Store) scan(ctx context.Context, table string) iter.Seq2[image, error] {
	return func(yield func(image, error) bool) {
		in := &dynamodb.ScanInput{TableName: &table, ConsistentRead: aws.Bool(true)}
		for {
			var out *dynamodb.ScanOutput
			err := s.ask(ctx, func() (err error) {
				out, err = s.client.Scan(ctx, in)
				return err
			})
			if err != nil {
				yield(nil, fmt.Errorf("scan of table %s: %w", table, err))
				return
			}
			for _, img := range out.Items {
				if !yield(img, nil) {
					return
				}
			}
			if in.ExclusiveStartKey = out.LastEvaluatedKey; len(in.ExclusiveStartKey) == 0 {
				return
			}
		}
	}
}
