package put

import (
	"context"
	"fmt"

	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/table/rows"
	"github.com/ingot-events/ingot/tables"
)

// gate refuses events of types that a migration has not turned yet: they are still written to the
// table that is left, and the items here are copies of its rows. Their messages wait in quarantine.
// For each such migration of the batch it reads the control item, consistently. Other batches cost
// nothing.
func (s *Stages) gate(ctx context.Context, b *batch) {
	known := map[string]map[string]string{} // states of types, by migration
	failed := map[string]error{}
	for _, i := range b.take(func(item *event.Item) bool { return s.Pipeline.Migration(item.Type) != "" }) {
		item := b.items[i]
		migration := s.Pipeline.Migration(item.Type)
		if known[migration] == nil {
			known[migration], failed[migration] = s.turned(ctx, migration, &b.cost)
		}
		switch err := failed[migration]; {
		case err != nil:
			b.results[i] = tables.Result{Verdict: event.Retry, Cause: err, Refusal: rows.Classify(err).Retry()}
		case known[migration][item.Type] != rows.New:
			b.results[i] = tables.Result{Verdict: event.Rejected, Refusal: &event.Refusal{Verdict: event.Rejected, Reason: event.NotTurned,
				Key: item.Key, Detail: fmt.Sprintf("migration %s has not turned %s yet, so its events are still written to the table that is "+
					"left; the turn sends them again", migration, item.Type)}}
		default:
			b.left = append(b.left, i)
		}
	}
}

// turned reads the states of the types of a migration, consistently.
func (s *Stages) turned(ctx context.Context, migration string, cost *tables.Cost) (map[string]string, error) {
	img, err := s.Get(ctx, rows.ControlKey(migration))
	cost.Requests++
	cost.Read(rows.ImageSize(img))
	return rows.StatesOf(img), err
}
