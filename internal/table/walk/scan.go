// Package walk reads whole tables, for tools. No function of a pipeline imports it.
package walk

import (
	"context"
	"errors"
	"fmt"
	"iter"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/table/rows"
	"github.com/ingot-events/ingot/tables"
)

// ItemPages does what Store.ItemPages says.
func ItemPages(ctx context.Context, s *rows.Tables, seg tables.Segment) iter.Seq2[tables.Page[*event.Item], error] {
	isCopy, err := copies(ctx, s)
	if err != nil {
		return func(yield func(tables.Page[*event.Item], error) bool) { yield(tables.Page[*event.Item]{}, err) }
	}
	return pages(ctx, s, s.Events, seg, func(page *tables.Page[*event.Item], img rows.Image) {
		switch item, err := rows.Decode(img); {
		case item != nil && isCopy(item):
			page.Copies = append(page.Copies, item)
		case err != nil:
			page.Unreadable = append(page.Unreadable, &tables.UnreadableItem{Key: rows.KeyOf(img), Err: err})
		case item != nil:
			page.All = append(page.All, item)
		}
	})
}

// Items does what Store.Items says.
func Items(ctx context.Context, s *rows.Tables) iter.Seq2[*event.Item, error] {
	return func(yield func(*event.Item, error) bool) {
		for page, err := range ItemPages(ctx, s, tables.Segment{}) {
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
func pages[T any](ctx context.Context, s *rows.Tables, table string, seg tables.Segment,
	add func(*tables.Page[T], rows.Image)) iter.Seq2[tables.Page[T], error] {
	part := Part{Number: seg.Number, Of: seg.Of}
	if seg.After != (event.Key{}) {
		part.After = rows.KeyImage(seg.After)
	}
	return func(yield func(tables.Page[T], error) bool) {
		for images, err := range Pages(ctx, s, table, part) {
			page := tables.Page[T]{Units: images.Units}
			for _, img := range images.All {
				add(&page, img)
			}
			if len(images.Next) > 0 {
				page.Next = rows.KeyOf(images.Next)
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
	After      rows.Image
}

// Images is what one request of a scan brought.
type Images struct {
	All   []rows.Image
	Units float64    // read units that the service has counted
	Next  rows.Image // the key where the next page begins; nil after the last page
}

// Pages scans a table consistently, in no order, one request for each page.
func Pages(ctx context.Context, s *rows.Tables, table string, part Part) iter.Seq2[Images, error] {
	return func(yield func(Images, error) bool) {
		in := &dynamodb.ScanInput{TableName: &table, ConsistentRead: aws.Bool(true), ExclusiveStartKey: part.After,
			ReturnConsumedCapacity: types.ReturnConsumedCapacityTotal}
		if part.Of > 0 {
			in.Segment, in.TotalSegments = aws.Int32(int32(part.Number)), aws.Int32(int32(part.Of))
		}
		for {
			out, err := rows.Asked(ctx, s, s.Client.Scan, in)
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
func TotalPages(ctx context.Context, s *rows.Tables, seg tables.Segment) iter.Seq2[tables.Page[tables.StoredTotal], error] {
	return pages(ctx, s, s.Aggregates, seg, func(page *tables.Page[tables.StoredTotal], img rows.Image) {
		if total, ok := ReadTotal(img); ok {
			page.All = append(page.All, total)
		}
	})
}

// Totals does what Store.Totals says.
func Totals(ctx context.Context, s *rows.Tables) iter.Seq2[tables.StoredTotal, error] {
	return func(yield func(tables.StoredTotal, error) bool) {
		for page, err := range TotalPages(ctx, s, tables.Segment{}) {
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

// copies returns which items are copies of rows whose type a migration has not turned yet. They are
// no events, so nothing counts them. It reads the control items of the pipeline's migrations.
func copies(ctx context.Context, s *rows.Tables) (func(*event.Item) bool, error) {
	states := map[string]map[string]string{}
	for _, name := range s.Pipeline.Migrations() {
		img, err := s.Get(ctx, rows.ControlKey(name))
		if err != nil {
			return nil, fmt.Errorf("reading the control item of migration %s: %w", name, err)
		}
		states[name] = rows.StatesOf(img)
	}
	return func(item *event.Item) bool {
		name := s.Pipeline.Migration(item.Type)
		if name == "" || item.Epoch != 0 {
			return false
		}
		state := states[name][s.Pipeline.WholeType(item.Type)]
		return state == "" // on the way back, they are still events
	}, nil
}
