package rows

import (
	"context"
	"errors"
	"fmt"
	"iter"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/tables"
)

// ItemPages does what Store.ItemPages says.
func (s *Tables) ItemPages(ctx context.Context, seg tables.Segment) iter.Seq2[tables.Page[*event.Item], error] {
	isCopy, err := s.Copies(ctx)
	if err != nil {
		return func(yield func(tables.Page[*event.Item], error) bool) { yield(tables.Page[*event.Item]{}, err) }
	}
	return pages(ctx, s, s.Events, seg, func(page *tables.Page[*event.Item], img Image) {
		switch item, err := Decode(img); {
		case item != nil && isCopy(item):
			page.Copies = append(page.Copies, item)
		case err != nil:
			page.Unreadable = append(page.Unreadable, &tables.UnreadableItem{Key: KeyOf(img), Err: err})
		case item != nil:
			page.All = append(page.All, item)
		}
	})
}

// Items does what Store.Items says.
func (s *Tables) Items(ctx context.Context) iter.Seq2[*event.Item, error] {
	return func(yield func(*event.Item, error) bool) {
		for page, err := range s.ItemPages(ctx, tables.Segment{}) {
			if err != nil {
				yield(nil, err)
				return
			}
			for _, item := range page.All {
				if !yield(item, nil) {
					return
				}
			}
			for _, odd := range page.Unreadable {
				if !yield(nil, odd) {
					return
				}
			}
		}
	}
}

// pages scans one segment of a table. add puts an item of it into a page.
func pages[T any](ctx context.Context, s *Tables, table string, seg tables.Segment,
	add func(*tables.Page[T], Image)) iter.Seq2[tables.Page[T], error] {
	part := Part{Number: seg.Number, Of: seg.Of}
	if seg.After != (event.Key{}) {
		part.After = KeyImage(seg.After)
	}
	return func(yield func(tables.Page[T], error) bool) {
		for images, err := range s.Pages(ctx, table, part) {
			page := tables.Page[T]{Units: images.Units}
			for _, img := range images.All {
				add(&page, img)
			}
			if len(images.Next) > 0 {
				page.Next = KeyOf(images.Next)
			}
			if !yield(page, err) {
				return
			}
		}
	}
}

// Part is a part of a scan: a segment, if Of is not 0, from after a key.
type Part struct {
	Number, Of int
	After      Image
}

// Images is what one request of a scan brought.
type Images struct {
	All   []Image
	Units float64 // read units that the service has counted
	Next  Image   // the key where the next page begins; nil after the last page
}

// Pages scans a table consistently, in no order, one request for each page.
func (s *Tables) Pages(ctx context.Context, table string, part Part) iter.Seq2[Images, error] {
	return func(yield func(Images, error) bool) {
		in := &dynamodb.ScanInput{TableName: &table, ConsistentRead: aws.Bool(true), ExclusiveStartKey: part.After,
			ReturnConsumedCapacity: types.ReturnConsumedCapacityTotal}
		if part.Of > 0 {
			in.Segment, in.TotalSegments = aws.Int32(int32(part.Number)), aws.Int32(int32(part.Of))
		}
		for {
			var out *dynamodb.ScanOutput
			err := s.Ask(ctx, func() (err error) {
				out, err = s.Client.Scan(ctx, in)
				return err
			})
			if gone := (*types.ResourceNotFoundException)(nil); errors.As(err, &gone) {
				err = fmt.Errorf("there is no table %s: it was deleted, or it is in another account or Region", table)
			} else if err != nil {
				err = fmt.Errorf("scan of table %s: %w", table, err)
			}
			if err != nil {
				yield(Images{}, err)
				return
			}
			page := Images{All: out.Items, Next: out.LastEvaluatedKey}
			if out.ConsumedCapacity != nil {
				page.Units = aws.ToFloat64(out.ConsumedCapacity.CapacityUnits)
			}
			if in.ExclusiveStartKey = page.Next; !yield(page, nil) || len(page.Next) == 0 {
				return
			}
		}
	}
}

// TotalPages does what Store.TotalPages says.
func (s *Tables) TotalPages(ctx context.Context, seg tables.Segment) iter.Seq2[tables.Page[tables.StoredTotal], error] {
	return pages(ctx, s, s.Aggregates, seg, func(page *tables.Page[tables.StoredTotal], img Image) {
		if total, ok := ReadTotal(img); ok {
			page.All = append(page.All, total)
		}
	})
}

// Totals does what Store.Totals says.
func (s *Tables) Totals(ctx context.Context) iter.Seq2[tables.StoredTotal, error] {
	return func(yield func(tables.StoredTotal, error) bool) {
		for page, err := range s.TotalPages(ctx, tables.Segment{}) {
			if err != nil {
				yield(tables.StoredTotal{}, err)
				return
			}
			for _, total := range page.All {
				if !yield(total, nil) {
					return
				}
			}
		}
	}
}
