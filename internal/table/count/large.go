package count

import (
	"context"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/base/itemform"
	"github.com/ingot-events/ingot/internal/table/rows"
	"github.com/ingot-events/ingot/tables"
)

// noteLarge notes that an update has found its item large. Callers hold mu.
func (w *markedUpdate) noteLarge() {
	if w.seen.Size < tables.LargeTotal {
		return
	}
	w.Large++
	if !w.seen.Has(rows.SlotLarge) {
		w.large = append(w.large, w)
	}
}

// warn writes on each large item that it is large. It writes the warning once: it leaves an item
// alone if it has seen the warning there. No change depends on the warning. If the write fails, the
// next batch that touches the item tries again. If the item has no room left for the warning, this
// process does not try again.
func (a *apply) warn(ctx context.Context) {
	for _, w := range a.large {
		if ctx.Err() != nil {
			return
		}
		created := w.seen.At
		text := rows.Text(rows.FlagText(created,
			fmt.Sprintf("large: it takes %d KB, and no update is taken from %d KB on; declare it with more spread, as a new generation",
				w.seen.Size>>10, event.MaxItem>>10)))
		_, err := a.store.Client.UpdateItem(ctx, &dynamodb.UpdateItemInput{
			TableName: &a.store.Aggregates, Key: rows.KeyImage(w.update.Key), ConditionExpression: aws.String("attribute_exists(PK)"),
			UpdateExpression:          aws.String("SET #large = if_not_exists(#large, :large)"),
			ExpressionAttributeNames:  map[string]string{"#large": rows.LargeAttribute},
			ExpressionAttributeValues: rows.Image{":large": text},
		})
		a.Cost.Requests++
		switch rows.Classify(err).Outcome {
		case rows.Done:
			a.Cost.WriteUnits += float64(itemform.WriteUnits(w.seen.Size))
		case rows.Invalid:
		default:
			continue
		}
		seen := *w.seen
		seen.Slots |= 1 << rows.SlotLarge
		a.store.seen.Put(w.update.Key, &seen)
	}
}
