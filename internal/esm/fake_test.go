package esm

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/types"
)

const streamARN = "arn:aws:dynamodb:us-east-1:123456789012:table/T/stream/2099-01-01T00:00:00.000"

// fakeStream is a stream in memory. A test fills, closes and trims its shards by hand. An iterator
// is "shard/position".
type fakeStream struct {
	order   []string
	shards  map[string]*fakeShard
	page    int // records for each GetRecords; 0 means that only the request limits them
	expired bool
	calls   map[string]int
}

type fakeShard struct {
	parent  string
	records []types.Record
	trimmed int // how many of the oldest records are gone
	closed  bool
}

func newFakeStream() *fakeStream {
	return &fakeStream{shards: map[string]*fakeShard{}, calls: map[string]int{}}
}

func (f *fakeStream) shard(id, parent string) *fakeShard {
	sh := &fakeShard{parent: parent}
	f.order = append(f.order, id)
	f.shards[id] = sh
	return sh
}

// put appends the records from to to. Each number stands for a sequence number of 21 digits, and
// the record was created at that second.
func (sh *fakeShard) put(from, to int) {
	for i := from; i <= to; i++ {
		sh.putAt(i, time.Unix(int64(i), 0))
	}
}

func (sh *fakeShard) putAt(i int, created time.Time) {
	key := map[string]types.AttributeValue{"PK": &types.AttributeValueMemberS{Value: strconv.Itoa(i)}}
	sh.records = append(sh.records, types.Record{
		EventID: aws.String(strconv.Itoa(i)), EventName: types.OperationTypeInsert, EventVersion: aws.String("1.1"),
		Dynamodb: &types.StreamRecord{ApproximateCreationDateTime: &created, Keys: key, NewImage: key,
			SequenceNumber: aws.String(number(i)), StreamViewType: types.StreamViewTypeNewAndOldImages},
	})
}

func number(i int) string { return fmt.Sprintf("%021d", i) }

func (f *fakeStream) DescribeStream(_ context.Context, in *dynamodbstreams.DescribeStreamInput,
	_ ...func(*dynamodbstreams.Options)) (*dynamodbstreams.DescribeStreamOutput, error) {
	f.calls["DescribeStream"]++
	// There are two shards on a page, so that paging is always exercised.
	from := 0
	for i, id := range f.order {
		if id == aws.ToString(in.ExclusiveStartShardId) {
			from = i + 1
		}
	}
	out := &types.StreamDescription{StreamArn: in.StreamArn}
	for i := from; i < len(f.order) && i < from+2; i++ {
		listing := types.Shard{ShardId: aws.String(f.order[i])}
		if p := f.shards[f.order[i]].parent; p != "" {
			listing.ParentShardId = &p
		}
		out.Shards = append(out.Shards, listing)
	}
	if from+2 < len(f.order) {
		out.LastEvaluatedShardId = aws.String(f.order[from+1])
	}
	return &dynamodbstreams.DescribeStreamOutput{StreamDescription: out}, nil
}

func (f *fakeStream) GetShardIterator(_ context.Context, in *dynamodbstreams.GetShardIteratorInput,
	_ ...func(*dynamodbstreams.Options)) (*dynamodbstreams.GetShardIteratorOutput, error) {
	f.calls["GetShardIterator"]++
	sh := f.shards[*in.ShardId]
	if sh == nil {
		return nil, &types.ResourceNotFoundException{Message: aws.String("no such shard")}
	}
	at := sh.trimmed
	if in.ShardIteratorType == types.ShardIteratorTypeAfterSequenceNumber {
		at = -1
		for i, r := range sh.records {
			if *r.Dynamodb.SequenceNumber == *in.SequenceNumber {
				at = i + 1
			}
		}
		if at <= sh.trimmed {
			return nil, &types.TrimmedDataAccessException{Message: aws.String("trimmed")}
		}
	}
	return &dynamodbstreams.GetShardIteratorOutput{ShardIterator: aws.String(*in.ShardId + "/" + strconv.Itoa(at))}, nil
}

func (f *fakeStream) GetRecords(_ context.Context, in *dynamodbstreams.GetRecordsInput,
	_ ...func(*dynamodbstreams.Options)) (*dynamodbstreams.GetRecordsOutput, error) {
	f.calls["GetRecords"]++
	if f.expired {
		f.expired = false
		return nil, &types.ExpiredIteratorException{Message: aws.String("expired")}
	}
	id, position, _ := strings.Cut(*in.ShardIterator, "/")
	sh := f.shards[id]
	at, err := strconv.Atoi(position)
	if err != nil {
		return nil, err
	}
	if at < sh.trimmed {
		return nil, &types.TrimmedDataAccessException{Message: aws.String("trimmed")}
	}
	limit := int(*in.Limit)
	if f.page > 0 {
		limit = min(limit, f.page)
	}
	end := min(at+limit, len(sh.records))
	out := &dynamodbstreams.GetRecordsOutput{Records: sh.records[at:end]}
	if !sh.closed || end < len(sh.records) {
		out.NextShardIterator = aws.String(id + "/" + strconv.Itoa(end))
	}
	return out, nil
}

// recorder is a function that writes down its calls and answers as a script says. After the end of
// the script, it answers with success.
type recorder struct {
	t      *testing.T
	calls  []call
	script []string // an answer; "!" is an error
}

// call is one event. The types of aws-lambda-go read it.
type call struct {
	events.TimeWindowProperties
	ShardID        string
	EventSourceARN string
	Records        []int // sequence numbers
	raw            string
}

func (r *recorder) handle(_ context.Context, payload []byte) ([]byte, error) {
	var windowed events.DynamoDBTimeWindowEvent
	if err := json.Unmarshal(payload, &windowed); err != nil {
		r.t.Errorf("payload %s: %v", payload, err)
	}
	c := call{TimeWindowProperties: windowed.TimeWindowProperties, raw: string(payload)}
	c.ShardID, c.EventSourceARN = windowed.ShardID, windowed.EventSourceARN
	for _, record := range windowed.Records {
		n, err := strconv.Atoi(record.Change.SequenceNumber)
		if err != nil {
			r.t.Errorf("sequence number: %v", err)
		}
		c.Records = append(c.Records, n)
	}
	r.calls = append(r.calls, c)
	answer := `{"state":{},"batchItemFailures":[]}`
	if len(r.script) > 0 {
		answer, r.script = r.script[0], r.script[1:]
	}
	if answer == "!" {
		return nil, fmt.Errorf("the function failed")
	}
	return []byte(answer), nil
}

// took writes the calls as "1-3 4 failed..." for comparison. It shows the first and last record of
// each.
func (r *recorder) took() string {
	var list []string
	for _, c := range r.calls {
		switch n := len(c.Records); {
		case n == 0:
			list = append(list, "final")
		case n == 1:
			list = append(list, strconv.Itoa(c.Records[0]))
		default:
			list = append(list, fmt.Sprintf("%d-%d", c.Records[0], c.Records[n-1]))
		}
	}
	r.calls = nil
	return strings.Join(list, " ")
}

func failing(i int) string {
	return fmt.Sprintf(`{"state":{},"batchItemFailures":[{"itemIdentifier":"%s"}]}`, number(i))
}
