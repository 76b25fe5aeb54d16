package migrating

import (
	"context"
	"encoding/json"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"github.com/ingot-events/ingot/internal/local/lambda/esm"
	"github.com/ingot-events/ingot/migrate"
)

// Late returns a function that counts the changes of the old table after a time, by its stream, but
// not those that capture has made on the way back. A stream remembers 24 hours.
func Late(client esm.StreamClient, old *migrate.Table) func(context.Context, time.Time) (int, error) {
	return func(ctx context.Context, since time.Time) (int, error) {
		if old.Stream == "" {
			return 0, &migrate.StopError{Why: fmt.Sprintf("table %s has no stream, so nothing tells whether something still writes "+
				"there: switch one on, wait for a day, and retire, or write --unwatched", old.Table)}
		}
		var late atomic.Int64
		f := esm.Function{Timeout: captureTimeout, Handler: func(_ context.Context, payload []byte) ([]byte, error) {
			var batch struct {
				Records []struct {
					DynamoDB struct {
						Created  events.SecondsEpochTime `json:"ApproximateCreationDateTime"`
						NewImage map[string]events.DynamoDBAttributeValue
						OldImage map[string]events.DynamoDBAttributeValue
					} `json:"dynamodb"`
				}
			}
			if err := json.Unmarshal(payload, &batch); err != nil {
				return nil, err
			}
			for _, r := range batch.Records {
				d := r.DynamoDB
				// A record has no parts of a second.
				if !d.Created.Before(since.Truncate(time.Second)) && !migrate.WentBack(d.OldImage, d.NewImage) {
					late.Add(1)
				}
			}
			return []byte(`{"batchItemFailures":[]}`), nil
		}}
		stream, err := esm.NewStream(esm.StreamConfig{Client: client, ARN: old.Stream, BatchSize: 1000, ReportBatchItemFailures: true,
			Function: f, Concurrency: 8})
		for err == nil && !stream.Drained() {
			_, err = stream.Poll(ctx)
		}
		if err != nil {
			return 0, fmt.Errorf("reading the stream of table %s: %w", old.Table, err)
		}
		return int(late.Load()), nil
	}
}
