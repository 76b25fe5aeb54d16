package migrate

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/ingot-events/ingot/internal/base/awserr"
	"github.com/ingot-events/ingot/internal/table/rows"
	"github.com/ingot-events/ingot/migrate/rowmap"
)

// Capture makes the copies of what changes equal to their source. Its batches come from the stream
// of the old table, which may have any kind of images, and for the way back also from that of the
// new one. Handle is safe for concurrent use.
type Capture struct {
	Migration *Migration
	Log       *slog.Logger // nil: no log
	// OnBatch is called with what a batch did, before the answer.
	OnBatch func(context.Context, Captured)
}

// Captured is what a batch of capture did.
type Captured struct {
	Synced
	Received int           // records
	PutRight []string      // the names of rows of the old table that somebody has written after the turn
	Lag      time.Duration // the age of the first record
	Took     time.Duration
}

// CaptureResponse is the answer to Lambda.
type CaptureResponse struct {
	BatchItemFailures []events.DynamoDBBatchItemFailure `json:"batchItemFailures"`
	State             *WindowState                      `json:"state,omitempty"` // if and only if the event has a window
}

// captureMargin is how long before the function's deadline work stops. Nothing is sent more than
// captureLife after the look at the control item, so that a turn need not wait for long.
const (
	captureMargin = 3 * time.Second
	captureLife   = 20 * time.Second
)

// stopWait is how long a batch waits before it fails because no side may be written.
const stopWait = 5 * time.Second

// mostLogged is how many rows a line of the log names.
const mostLogged = 20

// streamBatch is what capture reads of a batch.
type streamBatch struct {
	window
	Records []struct {
		ARN      string `json:"eventSourceARN"`
		DynamoDB struct {
			Keys           map[string]events.DynamoDBAttributeValue
			NewImage       map[string]events.DynamoDBAttributeValue
			OldImage       map[string]events.DynamoDBAttributeValue
			SequenceNumber string
			Created        events.SecondsEpochTime `json:"ApproximateCreationDateTime"`
		} `json:"dynamodb"`
	}
}

// Handle processes a batch as Lambda sends it, from the stream of either table. While the old table
// is the source, it makes copies of rows. Once the types have turned, and if migration.yaml has
// back, it makes rows of events, and puts right what somebody has still written to the old table.
// If a copy is not proven to be equal, the answer names the first such record, and the batch comes
// again from there. An error fails the whole batch: it is not a batch of a stream, or no side may
// be written now (see [Migration.Open]).
func (c *Capture) Handle(ctx context.Context, payload json.RawMessage) (CaptureResponse, error) {
	response := CaptureResponse{BatchItemFailures: []events.DynamoDBBatchItemFailure{}}
	var batch streamBatch
	if err := json.Unmarshal(payload, &batch); err != nil {
		return response, fmt.Errorf("migrate: the event is not a stream batch: %w", err)
	}
	list, err := batch.changes()
	if err == nil && len(list) == 0 {
		response.State, err = c.proven(ctx, &batch, nil)
	}
	if err != nil || len(list) == 0 {
		return response, err
	}
	e := c.Migration.store.Env
	began := e.Now()
	life := captureLife
	if deadline, ok := ctx.Deadline(); ok {
		left := deadline.Sub(began)
		life = min(life, left-min(captureMargin, left/2))
	}
	ctx, stop := e.Deadline(ctx, began.Add(life))
	defer stop()
	done, err := c.copy(ctx, strings.Contains(batch.Records[0].ARN, "/"+c.Migration.store.Events+"/stream/"), list, &batch)
	if err != nil {
		if stop := (*StopError)(nil); errors.As(err, &stop) { // Lambda delivers the batch again at once
			_ = e.Sleep(ctx, stopWait)
		}
		return response, fmt.Errorf("migrate: %w", err)
	}
	if c.OnBatch != nil {
		c.OnBatch(ctx, Captured{Synced: done.Synced, PutRight: done.PutRight, Received: len(list), Took: e.Now().Sub(began),
			Lag: max(0, began.Sub(batch.Records[0].DynamoDB.Created.Time))})
	}
	if n := len(done.PutRight); n > 0 && c.Log != nil {
		c.Log.WarnContext(ctx, "somebody has written the old table after the turn; its rows are as their events say again",
			"rows", n, "names", done.PutRight[:min(n, mostLogged)], "from", batch.Records[0].DynamoDB.SequenceNumber)
	}
	if done.Refused+done.Collisions > 0 && c.Log != nil {
		c.Log.WarnContext(ctx, "some changes have no place on the other side; `ingot migrate compare` names them",
			"refused", done.Refused, "collisions", done.Collisions, "from", batch.Records[0].DynamoDB.SequenceNumber)
	}
	if response.State, err = c.proven(ctx, &batch, done.Left); err != nil {
		if batch.Final { // nothing comes after it that would note it
			return response, err
		}
		if c.Log != nil {
			c.Log.WarnContext(ctx, "what is done is not noted yet", "error", awserr.Quiet(err))
		}
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

// changes returns the keys and the images of the records.
func (b *streamBatch) changes() ([]Changed, error) {
	list := make([]Changed, len(b.Records))
	for i, r := range b.Records {
		if len(r.DynamoDB.Keys) == 0 || r.DynamoDB.SequenceNumber == "" {
			return nil, errors.New("migrate: the event is not a stream batch: a record has no keys or no sequence number")
		}
		list[i].Key = RowOf(r.DynamoDB.Keys)
		list[i].Images = []Row{list[i].Key}
		for _, image := range []map[string]events.DynamoDBAttributeValue{r.DynamoDB.OldImage, r.DynamoDB.NewImage} {
			if len(image) > 0 {
				list[i].Images = append(list[i].Images, RowOf(image))
			}
		}
	}
	return list, nil
}

// theirs reports whether somebody else than capture has made a change, at a time or after it. A
// change that capture has made draws a new mark.
func (b *streamBatch) theirs(i int, since time.Time) bool {
	d := b.Records[i].DynamoDB
	was, is := tokenOf(RowOf(d.OldImage)), tokenOf(RowOf(d.NewImage))
	return (is == "" || is == was) && !d.Created.Before(since.Truncate(time.Second)) // a record has no parts of a second
}

// copy makes copies of what changed in one of the tables.
func (c *Capture) copy(ctx context.Context, ofNew bool, list []Changed, batch *streamBatch) (done Captured, err error) {
	s := c.Migration
	last := batch.Records[len(list)-1].DynamoDB.Created.Time
	if err := s.heads.CheckHome(ctx); err != nil {
		return done, err
	}
	if err := s.heads.CheckSecret(ctx); err != nil {
		return done, err
	}
	control, err := s.Control(ctx)
	if err != nil {
		return done, err
	}
	way, err := s.allows(control)
	if err != nil {
		return done, err
	}
	if control.Stream == "" {
		if err := s.NoteStream(ctx, s.Streams(control)); err != nil {
			return done, err
		}
	}
	if ofNew == (way == Backward) && last.After(control.Changed.Add(changedStep)) {
		if err := s.NoteChanged(ctx, last); err != nil {
			return done, err
		}
	}
	switch {
	case way == Backward && ofNew:
		items := make([]changedItem, len(list))
		for i, l := range list {
			items[i] = changedItem{rows.KeyOf(l.Key), l.Images[1:]}
		}
		done.Synced = s.bring(ctx, Always, nil, items)
	case way == Backward:
		done.Synced = s.bring(ctx, IfDifferent, list, nil)
		for i, l := range list {
			if name := rowmap.NameOf(l.Key, s.old.Keys); slices.Contains(done.wrote, name) && batch.theirs(i, control.Turned) &&
				!slices.Contains(done.PutRight, name) {
				done.PutRight = append(done.PutRight, name)
			}
		}
	case !ofNew: // what changes in a copy does not concern its source
		done.Synced = s.inPieces(ctx, list)
	}
	if done.Collisions+done.Refused > 0 {
		err = s.noteUntidy(ctx, control, done.met)
	}
	return done, err
}

// What capture makes equal at once is bounded: so many items and bytes, or a single row. So memory
// is, and a batch that is not done within its time has at least done its first rows.
const (
	pieceItems = 500
	pieceBytes = 4 << 20
)

// inPieces makes copies in the order of the records. What follows the first that is left is left,
// too.
func (s *Migration) inPieces(ctx context.Context, list []Changed) (done Synced) {
	for at, n := 0, 0; at < len(list); at += n {
		items, bytes := 0, 0
		for n = 0; at+n < len(list) && (n == 0 || items < pieceItems && bytes < pieceBytes); n++ {
			if len(list[at+n].Images) == 1 { // its key alone: nothing is known of its size
				bytes += pieceBytes / 10
			}
			for _, image := range list[at+n].Images {
				for _, item := range s.mapping.Map(image).Items {
					items, bytes = items+1, bytes+item.Size()
				}
			}
		}
		piece := s.Do(ctx, Always, list[at:at+n])
		done.add(piece)
		done.met = append(done.met, piece.met...)
		if len(piece.Left) == 0 {
			continue
		}
		for i := range piece.Left {
			done.Left = append(done.Left, at+piece.Left[i])
		}
		for i := at + n; i < len(list); i++ {
			done.Left = append(done.Left, i)
		}
		done.Err = piece.Err
		break
	}
	return done
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
