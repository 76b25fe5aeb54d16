package migrate

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/ingot-events/ingot/internal/base/awserr"
)

// Capture makes the copies of changed rows equal to the rows. Its batches come from the stream of
// the old table, which may have any kind of images. Handle is safe for concurrent use.
type Capture struct {
	Sync *Sync
	Log  *slog.Logger // nil: no log
	// OnBatch is called with what a batch did, before the answer.
	OnBatch func(context.Context, Synced)
}

// CaptureResponse is the answer to Lambda.
type CaptureResponse struct {
	BatchItemFailures []events.DynamoDBBatchItemFailure `json:"batchItemFailures"`
}

// captureMargin is how long before the function's deadline work stops.
const captureMargin = 3 * time.Second

// captured is what capture reads of a record.
type captured struct {
	Records []struct {
		DynamoDB struct {
			Keys           map[string]events.DynamoDBAttributeValue
			NewImage       map[string]events.DynamoDBAttributeValue
			OldImage       map[string]events.DynamoDBAttributeValue
			SequenceNumber string
		} `json:"dynamodb"`
	}
}

// Handle processes a batch as Lambda sends it. If the copy of a row is not proven to be equal to
// it, the answer names the first such record, and the batch comes again from there. An error fails
// the whole batch: it is not a batch of a stream, or the migration may not write now (see
// [Sync.Open]).
func (c *Capture) Handle(ctx context.Context, payload json.RawMessage) (CaptureResponse, error) {
	response := CaptureResponse{BatchItemFailures: []events.DynamoDBBatchItemFailure{}}
	var batch captured
	if err := json.Unmarshal(payload, &batch); err != nil {
		return response, fmt.Errorf("migrate: the event is not a stream batch: %w", err)
	}
	list := make([]Changed, len(batch.Records))
	for i, r := range batch.Records {
		list[i].Key = RowOf(r.DynamoDB.Keys)
		if len(r.DynamoDB.Keys) == 0 || r.DynamoDB.SequenceNumber == "" {
			return response, errors.New("migrate: the event is not a stream batch: a record has no keys or no sequence number")
		}
		list[i].Images = []Row{list[i].Key}
		for _, image := range []map[string]events.DynamoDBAttributeValue{r.DynamoDB.OldImage, r.DynamoDB.NewImage} {
			if len(image) > 0 {
				list[i].Images = append(list[i].Images, RowOf(image))
			}
		}
	}
	e := c.Sync.store.Env
	if deadline, ok := ctx.Deadline(); ok {
		left := deadline.Sub(e.Now())
		var stop context.CancelFunc
		ctx, stop = e.Deadline(ctx, deadline.Add(-min(captureMargin, left/2)))
		defer stop()
	}
	if err := c.Sync.Open(ctx); err != nil {
		return response, fmt.Errorf("migrate: %w", err)
	}
	done := c.Sync.Do(ctx, Always, list)
	if c.OnBatch != nil {
		c.OnBatch(ctx, done)
	}
	if len(done.Left) > 0 {
		at := batch.Records[done.Left[0]].DynamoDB.SequenceNumber
		response.BatchItemFailures = append(response.BatchItemFailures, events.DynamoDBBatchItemFailure{ItemIdentifier: at})
		if c.Log != nil {
			c.Log.WarnContext(ctx, "rows are not copied yet; the batch comes again", "from", at, "rows", len(done.Left),
				"error", awserr.Quiet(done.Err))
		}
	}
	return response, nil
}

// RowOf converts the attributes of a row as DynamoDB writes them in JSON.
func RowOf(image map[string]events.DynamoDBAttributeValue) Row {
	row := make(Row, len(image))
	for name, v := range image {
		row[name] = valueOf(v)
	}
	return row
}

func valueOf(v events.DynamoDBAttributeValue) types.AttributeValue {
	switch v.DataType() {
	case events.DataTypeBinary:
		return &types.AttributeValueMemberB{Value: v.Binary()}
	case events.DataTypeBoolean:
		return &types.AttributeValueMemberBOOL{Value: v.Boolean()}
	case events.DataTypeBinarySet:
		return &types.AttributeValueMemberBS{Value: v.BinarySet()}
	case events.DataTypeList:
		list := make([]types.AttributeValue, len(v.List()))
		for i, e := range v.List() {
			list[i] = valueOf(e)
		}
		return &types.AttributeValueMemberL{Value: list}
	case events.DataTypeMap:
		return &types.AttributeValueMemberM{Value: RowOf(v.Map())}
	case events.DataTypeNumber:
		return &types.AttributeValueMemberN{Value: v.Number()}
	case events.DataTypeNumberSet:
		return &types.AttributeValueMemberNS{Value: v.NumberSet()}
	case events.DataTypeString:
		return &types.AttributeValueMemberS{Value: v.String()}
	case events.DataTypeStringSet:
		return &types.AttributeValueMemberSS{Value: v.StringSet()}
	}
	return &types.AttributeValueMemberNULL{Value: true}
}
