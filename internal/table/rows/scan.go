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
)

// Segment is the part of a table that a scan reads. The zero value is the whole table.
type Segment struct {
	// Number is the number of the segment, from 0, if the table is divided into Of segments. The
	// service reads several segments at the same time. Of 0 means that the table is not divided.
	Number, Of int
	// After lets a scan continue where another one ended: it is the Next of that scan's last page.
	// Number and Of must be the same as there. The zero value begins at the beginning.
	After event.Key
}

// Page is what one request of a scan brought.
type Page[T any] struct {
	All   []T
	Odd   []*OddItem // items that have Ingot's type but cannot be decoded
	Units float64    // read units that the service has counted for the request
	Next  event.Key  // where the next page begins; zero after the last page
}

// Last reports whether no page follows.
func (p *Page[T]) Last() bool { return p.Next == event.Key{} }

// ItemPages does what [Store.ItemPages] says.
func (s *Tables) ItemPages(ctx context.Context, seg Segment) iter.Seq2[Page[*event.Item], error] {
	return pages(ctx, s, s.Events, seg, func(page *Page[*event.Item], img Image) {
		switch item, err := Decode(img); {
		case err != nil:
			page.Odd = append(page.Odd, &OddItem{Key: KeyOf(img), Err: err})
		case item != nil:
			page.All = append(page.All, item)
		}
	})
}

// Items does what [Store.Items] says.
func (s *Tables) Items(ctx context.Context) iter.Seq2[*event.Item, error] {
	return func(yield func(*event.Item, error) bool) {
		for page, err := range s.ItemPages(ctx, Segment{}) {
			if err != nil {
				yield(nil, err)
				return
			}
			for _, item := range page.All {
				if !yield(item, nil) {
					return
				}
			}
			for _, odd := range page.Odd {
				if !yield(nil, odd) {
					return
				}
			}
		}
	}
}

// OddItem is the error for a stored item that has Ingot's type but cannot be decoded.
type OddItem struct {
	Key event.Key
	Err error
}

// Error says what cannot be understood.
func (o *OddItem) Error() string { return o.Err.Error() }

// Unwrap returns Err.
func (o *OddItem) Unwrap() error { return o.Err }

// pages scans one segment of a table. add puts an item of it into a page.
func pages[T any](ctx context.Context, s *Tables, table string, seg Segment, add func(*Page[T], Image)) iter.Seq2[Page[T], error] {
	return func(yield func(Page[T], error) bool) {
		in := &dynamodb.ScanInput{TableName: &table, ConsistentRead: aws.Bool(true),
			ReturnConsumedCapacity: types.ReturnConsumedCapacityTotal}
		if seg.Of > 0 {
			in.Segment, in.TotalSegments = aws.Int32(int32(seg.Number)), aws.Int32(int32(seg.Of))
		}
		for next := seg.After; ; {
			if in.ExclusiveStartKey = nil; next != (event.Key{}) {
				in.ExclusiveStartKey = KeyImage(next)
			}
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
				yield(Page[T]{}, err)
				return
			}
			var page Page[T]
			for _, img := range out.Items {
				add(&page, img)
			}
			if out.ConsumedCapacity != nil {
				page.Units = aws.ToFloat64(out.ConsumedCapacity.CapacityUnits)
			}
			if len(out.LastEvaluatedKey) > 0 {
				page.Next = KeyOf(out.LastEvaluatedKey)
			}
			if next = page.Next; !yield(page, nil) || page.Last() {
				return
			}
		}
	}
}

// TotalPages does what [Store.TotalPages] says.
func (s *Tables) TotalPages(ctx context.Context, seg Segment) iter.Seq2[Page[StoredTotal], error] {
	return pages(ctx, s, s.Aggregates, seg, func(page *Page[StoredTotal], img Image) {
		if total, ok := ReadTotal(img); ok {
			page.All = append(page.All, total)
		}
	})
}

// Totals does what [Store.Totals] says.
func (s *Tables) Totals(ctx context.Context) iter.Seq2[StoredTotal, error] {
	return func(yield func(StoredTotal, error) bool) {
		for page, err := range s.TotalPages(ctx, Segment{}) {
			if err != nil {
				yield(StoredTotal{}, err)
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
