package try

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/ingot-events/ingot/aggregate"
	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/esm"
	"github.com/ingot-events/ingot/internal/plan/lanes"
	"github.com/ingot-events/ingot/internal/table/rows"
)

// statement looks at what a refused statement of a batch brings back.
func (t *trial) statement(ctx context.Context) error {
	const what = "a refused INSERT says so, and what holds its key"
	key, item := t.one(ctx)
	if item == nil {
		t.found(what, NotShown, "nothing is stored")
		return nil
	}
	text := fmt.Sprintf(`INSERT INTO "%s" VALUE {'PK': ?, 'SK': ?}`, t.Store.Config().Events)
	out, err := t.Tables.BatchExecuteStatement(ctx, &dynamodb.BatchExecuteStatementInput{Statements: []types.BatchStatementRequest{{
		Statement: &text, Parameters: []types.AttributeValue{rows.Text(key.PK), rows.Text(key.SK)},
		ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld}}})
	if err != nil {
		return err
	}
	refused := out.Responses[0].Error
	switch {
	case refused == nil || refused.Code != types.BatchStatementErrorCodeEnumDuplicateItem:
		t.found(what, Wrong, "it answers %+v", refused)
	case !holds(refused.Item, item):
		t.found(what, NotShown, "it is %s, without the item; Ingot then reads it", refused.Code)
	default:
		t.found(what, Right, "%s, with the item", refused.Code)
	}
	return nil
}

// transaction looks at what a cancelled transaction brings back.
func (t *trial) transaction(ctx context.Context) error {
	const what = "a cancelled transaction says which part failed, and what holds its key"
	key, item := t.one(ctx)
	if item == nil {
		t.found(what, NotShown, "nothing is stored")
		return nil
	}
	name := t.Store.Config().Events
	_, err := t.Tables.TransactWriteItems(ctx, &dynamodb.TransactWriteItemsInput{TransactItems: []types.TransactWriteItem{{
		Put: &types.Put{TableName: &name, Item: rows.KeyImage(key), ConditionExpression: aws.String("attribute_not_exists(PK)"),
			ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld}}}})
	cancelled := (*types.TransactionCanceledException)(nil)
	switch {
	case err == nil:
		return errors.New("a put on condition that the key is free has replaced a stored event")
	case !errors.As(err, &cancelled):
		return err
	case len(cancelled.CancellationReasons) != 1 || aws.ToString(cancelled.CancellationReasons[0].Code) != "ConditionalCheckFailed":
		t.found(what, Wrong, "its reasons are %+v", cancelled.CancellationReasons)
	case !holds(cancelled.CancellationReasons[0].Item, item):
		t.found(what, Wrong, "the item is not there")
	default:
		t.found(what, Right, "ConditionalCheckFailed, with the item")
	}
	return nil
}

// one returns an event that is stored.
func (t *trial) one(ctx context.Context) (event.Key, *event.Item) {
	for key := range t.stored {
		if item, err := t.Store.Item(ctx, key); err == nil && item != nil {
			return key, item
		}
	}
	return event.Key{}, nil
}

// holds reports whether an image is that of an item.
func holds(image rows.Image, item *event.Item) bool {
	return bytes.Equal(rows.BytesOf(image["digest"]), item.Digest[:])
}

// seen is what the stream says of one key.
type seen struct {
	names []string // what happened, in order
	shard string
	moved bool // to another shard
	actor string
}

// stream reads the events table's stream, which holds the last 24 hours, and looks at what it says
// about the trial's events.
func (t *trial) stream(ctx context.Context) error {
	table, err := t.Tables.DescribeTable(ctx, &dynamodb.DescribeTableInput{TableName: aws.String(t.Store.Config().Events)})
	if err != nil {
		return err
	}
	arn := aws.ToString(table.Table.LatestStreamArn)
	keys, last, ordered := map[event.Key]*seen{}, map[string]event.Sequence{}, true
	read := func(_ context.Context, payload []byte) ([]byte, error) {
		var batch struct {
			ShardID string `json:"shardId"`
			Records []struct {
				EventName    string
				UserIdentity *struct{ Type, PrincipalID string }
				DynamoDB     struct {
					SequenceNumber string
					Keys           map[string]struct{ S string }
				} `json:"dynamodb"`
			}
		}
		if err := json.Unmarshal(payload, &batch); err != nil {
			return nil, err
		}
		for _, r := range batch.Records {
			sequence, err := event.ParseSequence(r.DynamoDB.SequenceNumber)
			if err != nil {
				return nil, err
			}
			if !last[batch.ShardID].IsZero() && sequence.Compare(last[batch.ShardID]) <= 0 {
				ordered = false
			}
			last[batch.ShardID] = sequence
			key := event.Key{PK: r.DynamoDB.Keys["PK"].S, SK: r.DynamoDB.Keys["SK"].S}
			if t.stored[key] == nil {
				continue
			}
			k := keys[key]
			if k == nil {
				k = &seen{shard: batch.ShardID}
				keys[key] = k
			}
			k.names, k.moved = append(k.names, r.EventName), k.moved || k.shard != batch.ShardID
			if r.UserIdentity != nil {
				k.actor = r.UserIdentity.PrincipalID
			}
		}
		return []byte(`{"batchItemFailures":[],"state":{}}`), nil
	}
	s, err := esm.NewStream(esm.StreamConfig{Client: t.Streams, ARN: arn, BatchSize: 1000, Window: time.Minute,
		ReportBatchItemFailures: true, Function: esm.Function{Handler: read, Timeout: time.Minute, Now: t.Env.Now}})
	if err != nil {
		return err
	}
	t.Tell("reading the stream, which holds the changes of 24 hours, as one more reader: a shard has room for two, and of a " +
		"table in several Regions for one")
	for began := t.Env.Now(); t.Env.Now().Sub(began) < t.Limit; {
		if _, err := s.Poll(ctx); err != nil {
			return err
		}
		if s.Drained() {
			break
		}
		if err := t.Env.Sleep(ctx, 200*time.Millisecond); err != nil {
			return err
		}
	}
	t.judgeStream(keys, ordered)
	return t.marks(ctx, arn, keys)
}

// judgeStream compares what the stream says with what was stored and removed.
func (t *trial) judgeStream(keys map[event.Key]*seen, ordered bool) {
	whole, odd, moved, actor, there := 0, "", 0, "", 0
	for key := range t.stored {
		if t.removed[key] {
			there++
		}
		k := keys[key]
		if k == nil {
			continue
		}
		switch strings.Join(k.names, " ") {
		case "INSERT REMOVE":
			whole++
		default:
			odd = fmt.Sprintf("; of one key it says %s", strings.Join(k.names, ", "))
		}
		if k.moved {
			moved++
		}
		actor += k.actor
	}
	result := rightIf(odd == "" && ordered)
	switch {
	case result == Wrong:
	case whole < there:
		result, odd = Wrong, fmt.Sprintf("; of %d keys it says nothing", there-whole)
	case there == 0:
		result = NotShown
	}
	t.found("the stream has each change once, in order inside its shard", result, "%d keys, %d of them in two shards%s", whole, moved, odd)
	switch {
	case whole == 0:
		t.found("a removal by a person names nobody", NotShown, "")
	case actor == "":
		t.found("a removal by a person names nobody", Right, "")
	default:
		t.found("a removal by a person names nobody", Wrong, "it names %q", actor)
	}
	t.found("a removal by time to live names dynamodb.amazonaws.com", NotShown, "it takes hours to days. Ingot does not ask for it: what "+
		"has expired is told by its own time")
}

// marks makes sure that totals carry marks of the shards that the stream names.
func (t *trial) marks(ctx context.Context, arn string, keys map[event.Key]*seen) error {
	const what = "the mapping names the shard of each batch"
	if t.report.Counting == aggregate.Receipts.String() {
		t.found(what, NotShown, "the stack counts by receipts, which need no shard")
		return nil
	}
	wanted := map[string]bool{}
	for key, k := range keys {
		if item := t.stored[key]; item == nil || len(t.Pipeline.Contributions(item).List) == 0 {
			continue
		}
		wanted[lanes.LaneIDOf(event.Lane{StreamARN: arn, ShardID: k.shard}).MarkAttribute()] = true
	}
	of := len(wanted)
	if of == 0 || len(t.Pipeline.Definitions()) == 0 {
		t.found(what, NotShown, "nothing is counted")
		return nil
	}
	for in := (&dynamodb.ScanInput{TableName: aws.String(t.Store.Config().Aggregates)}); len(wanted) > 0; {
		out, err := t.Tables.Scan(ctx, in)
		if err != nil {
			return err
		}
		for _, item := range out.Items {
			for name := range item {
				delete(wanted, name)
			}
		}
		if in.ExclusiveStartKey = out.LastEvaluatedKey; len(in.ExclusiveStartKey) == 0 {
			break
		}
	}
	t.found(what, rightIf(len(wanted) == 0), "totals carry the marks of %d of %d shards", of-len(wanted), of)
	return nil
}
