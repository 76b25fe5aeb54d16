package migrating

import (
	"context"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/types"

	"github.com/ingot-events/ingot/env"
	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/base/itemform"
	"github.com/ingot-events/ingot/internal/local/lambda/esm"
	"github.com/ingot-events/ingot/migrate"
)

// Late returns a function that counts the changes of the old table after a time, by its stream, but
// not those that capture has made on the way back. A stream remembers 24 hours.
func Late(client esm.StreamClient, old *migrate.Table, clock env.Env) func(context.Context, time.Time) (int, error) {
	return func(ctx context.Context, since time.Time) (late int, err error) {
		if old.Stream == "" {
			return 0, &migrate.StopError{Why: fmt.Sprintf("table %s has no stream, so nothing tells whether something still writes "+
				"there: switch one on, wait for a day, and retire, or write --unwatched", old.Table)}
		}
		since = since.Truncate(time.Second) // a record has no parts of a second
		r := &reading{client: client, clock: clock.Real(), shards: map[event.Lane]*shardEnd{}, take: func(list []types.Record) {
			for _, record := range list {
				d := record.Dynamodb
				if !aws.ToTime(d.ApproximateCreationDateTime).Before(since) && !wentBack(d.OldImage, d.NewImage) {
					late++
				}
			}
		}}
		r.moment = r.clock.Now()
		err = r.until(ctx, []string{old.Stream}, proofTime)
		for lane, sh := range r.shards {
			if err == nil && !sh.ended {
				err = &migrate.StopError{Why: fmt.Sprintf("shard %s of the stream of table %s is not read to its end: retire again",
					lane.ShardID, old.Table)}
			}
		}
		return late, err
	}
}

// wentBack reports whether capture has made a change of the old table, on the way back: it has
// drawn a new mark, or deleted a row that had one.
func wentBack(was, is map[string]types.AttributeValue) bool {
	mark := func(image map[string]types.AttributeValue) string {
		if v, ok := image[itemform.Migrated].(*types.AttributeValueMemberS); ok {
			return v.Value
		}
		return ""
	}
	if len(is) == 0 {
		return mark(was) != ""
	}
	return mark(is) != "" && mark(is) != mark(was)
}
