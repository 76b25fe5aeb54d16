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
	OnBatch func(context.Context, Captured)
}

// Captured is what a batch of capture did.
type Captured struct {
	Synced
	Received int           // records
	Lag      time.Duration // the age of the first record
	Took     time.Duration
}

// CaptureResponse is the answer to Lambda.
type CaptureResponse struct {
	BatchItemFailures []events.DynamoDBBatchItemFailure `json:"batchItemFailures"`
}

// captureMargin is how long before the function's deadline work stops. Nothing is sent more than
// captureLife after the look at the control item, so that a turn need not wait for long.
const (
	captureMargin = 3 * time.Second
	captureLife   = 20 * time.Second
)

// streamBatch is what capture reads of a batch.
type streamBatch struct {
	Records []struct {
		DynamoDB struct {
			Keys           map[string]events.DynamoDBAttributeValue
			NewImage       map[string]events.DynamoDBAttributeValue
			OldImage       map[string]events.DynamoDBAttributeValue
			SequenceNumber string
			Created        events.SecondsEpochTime `json:"ApproximateCreationDateTime"`
		} `json:"dynamodb"`
	}
}

// Handle processes a batch as Lambda sends it. If the copy of a row is not proven to be equal to
// it, the answer names the first such record, and the batch comes again from there. An error fails
// the whole batch: it is not a batch of a stream, or the migration may not write now (see
// [Sync.Open]).
func (c *Capture) Handle(ctx context.Context, payload json.RawMessage) (CaptureResponse, error) {
	response := CaptureResponse{BatchItemFailures: []events.DynamoDBBatchItemFailure{}}
	var batch streamBatch
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
	began := e.Now()
	life := captureLife
	if deadline, ok := ctx.Deadline(); ok {
		left := deadline.Sub(began)
		life = min(life, left-min(captureMargin, left/2))
	}
	ctx, stop := e.Deadline(ctx, began.Add(life))
	defer stop()
	if err := c.Sync.Open(ctx); err != nil {
		return response, fmt.Errorf("migrate: %w", err)
	}
	done := c.Sync.Do(ctx, Always, list)
	if c.OnBatch != nil {
		report := Captured{Synced: done, Received: len(list), Took: e.Now().Sub(began)}
		if len(list) > 0 {
			report.Lag = max(0, began.Sub(batch.Records[0].DynamoDB.Created.Time))
		}
		c.OnBatch(ctx, report)
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
