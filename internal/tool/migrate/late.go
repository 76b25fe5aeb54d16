package migrate

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/types"

	"github.com/ingot-events/ingot/internal/base/itemform"
	"github.com/ingot-events/ingot/migrate"
)

// Late returns a function that counts the rows of the old table that somebody has changed after a
// time, by its stream, but not those that capture has put right since, on the way back. A stream
// remembers 24 hours.
func Late(ends Ends, old *migrate.Table) func(context.Context, time.Time) (int, error) {
	return func(ctx context.Context, since time.Time) (rows int, err error) {
		if old.Stream == "" {
			return 0, &migrate.StopError{Why: fmt.Sprintf("table %s has no stream, so nothing tells whether something still writes "+
				"there: switch one on, wait for a day, and retire, or write --unwatched", old.Table)}
		}
		since = since.Truncate(time.Second)                      // a record has no parts of a second
		theirs, ours := map[string]string{}, map[string]string{} // by row: the last change of each
		r := ends.reading()
		r.take = func(list []types.Record) {
			for _, record := range list {
				d := record.Dynamodb
				name, at := keyText(d.Keys), aws.ToString(d.SequenceNumber)
				switch {
				case wentBack(d.OldImage, d.NewImage):
					ours[name] = later(ours[name], at)
				case !aws.ToTime(d.ApproximateCreationDateTime).Before(since):
					theirs[name] = later(theirs[name], at)
				}
			}
		}
		err = r.until(ctx, []string{old.Stream}, proofTime)
		for lane, sh := range r.shards {
			if err == nil && !sh.ended {
				err = &migrate.StopError{Why: fmt.Sprintf("shard %s of the stream of table %s is not read to its end: retire again",
					lane.ShardID, old.Table)}
			}
		}
		for name, at := range theirs {
			if later(at, ours[name]) == at {
				rows++
			}
		}
		return rows, err
	}
}

// later returns the later of two sequence numbers. The empty text is before all.
func later(a, b string) string {
	if cmp.Or(cmp.Compare(len(a), len(b)), strings.Compare(a, b)) < 0 {
		return b
	}
	return a
}

// keyText returns a text that tells the key of a row from every other one.
func keyText(key map[string]types.AttributeValue) (text string) {
	for _, name := range slices.Sorted(maps.Keys(key)) {
		switch v := key[name].(type) {
		case *types.AttributeValueMemberS:
			text += fmt.Sprintf("%q", v.Value)
		case *types.AttributeValueMemberN:
			text += v.Value + " "
		case *types.AttributeValueMemberB:
			text += fmt.Sprintf("%q", v.Value)
		}
	}
	return text
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
