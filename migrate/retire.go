package migrate

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/ingot-events/ingot/internal/base/itemform"
	"github.com/ingot-events/ingot/internal/table/rows"
	"github.com/ingot-events/ingot/internal/table/walk"
	"github.com/ingot-events/ingot/keys"
)

// Deleter deletes items. A *dynamodb.Client is one.
type Deleter interface {
	DeleteItem(context.Context, *dynamodb.DeleteItemInput, ...func(*dynamodb.Options)) (*dynamodb.DeleteItemOutput, error)
}

// Retire ends a migration: it deletes the tombstones, and returns how many there were. From then
// on, nothing needs the old table or `migrated` in pipeline.yaml. It may be stopped and called
// again.
//
// late counts the rows of the old table that somebody has changed after a time, but not those that
// going back has put right since, because whatever still writes there is lost when the table goes.
// A [*StopError] says what stands in the way: types that have not turned, or not for a quarter of
// an hour, totals that are not complete, or late changes.
func (s *Migration) Retire(ctx context.Context, d Deleter, late func(context.Context, time.Time) (int, error)) (swept int, err error) {
	c, err := s.Control(ctx)
	switch {
	case err != nil:
		return 0, err
	case !s.are(c, New):
		return 0, stopped("the types of migration %s have not turned: only a table that is no longer the source may go", s.mapping.Name())
	}
	if since := s.store.Env.Now().Sub(c.Turned); since < betweenPasses {
		return 0, stopped("the types have turned %s ago, and a worker of a pass may live for %s: retire later", since.Round(time.Minute),
			betweenPasses)
	}
	if err := s.complete(ctx); err != nil {
		return 0, err
	}
	n, err := late(ctx, c.Settled)
	if err == nil && n > 0 {
		err = stopped("somebody has written %d rows of table %s since capture was over, and nothing has copied that or put it right: find "+
			"what still writes there, or write --unwatched if what it writes may be lost", n, s.old.Table)
	}
	if err != nil {
		return 0, err
	}
	for page, err := range walk.Pages(ctx, s.store, s.store.Events, walk.Part{}) {
		if err != nil {
			return swept, err
		}
		n, err := s.sweep(ctx, d, page.All)
		if swept += n; err != nil {
			return swept, err
		}
	}
	_, err = s.update(ctx, "SET retiredAt = :at", "attribute_exists(PK)",
		rows.Image{":at": rows.Text(keys.FormatTime(s.store.Env.Now().UTC()))})
	return swept, err
}

// sweep deletes the tombstones of a page, each on condition that it is still the one that was read.
func (s *Migration) sweep(ctx context.Context, d Deleter, page []rows.Image) (swept int, err error) {
	var list []rows.Image
	for _, img := range page {
		if rows.Tombstone(img) {
			list = append(list, img)
		}
	}
	var mu sync.Mutex
	s.store.Each(len(list), rows.MostPace, func(i int) {
		seen := list[i][itemform.Migrated]
		_, failure := rows.Asked(ctx, s.store, d.DeleteItem, &dynamodb.DeleteItemInput{
			TableName: &s.store.Events, Key: rows.KeyImage(rows.KeyOf(list[i])),
			ConditionExpression:       aws.String("#m = :seen AND attribute_not_exists(#t) AND attribute_not_exists(#b)"),
			ExpressionAttributeNames:  map[string]string{"#m": itemform.Migrated, "#t": "type", "#b": rows.BarredAttribute},
			ExpressionAttributeValues: rows.Image{":seen": seen}})
		mu.Lock()
		defer mu.Unlock()
		switch a := rows.Classify(failure); a.Outcome {
		case rows.Done:
			swept++
		case rows.Failed: // a producer has taken its place, or an earlier try has deleted it
		default:
			err = fmt.Errorf("deleting a tombstone: %w", a.Err)
		}
	})
	return swept, err
}
