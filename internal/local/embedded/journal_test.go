package embedded_test

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	sqstypes "github.com/aws/aws-sdk-go-v2/service/sqs/types"
	"github.com/aws/smithy-go"
	"github.com/google/go-cmp/cmp"

	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/internal/local/embedded"
	"github.com/ingot-events/ingot/internal/local/stack"
)

// memory is a journal in memory. It counts the calls of Safe.
type memory struct {
	mu     sync.Mutex
	spaces map[string]map[string]string
	waits  int
	broken error // what Ready says
	lost   error // what Safe says
}

func newMemory() *memory { return &memory{spaces: map[string]map[string]string{}} }

func (m *memory) Keep(changes []embedded.Change) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, c := range changes {
		switch {
		case c.Remove && c.Key == "":
			delete(m.spaces, c.Space)
		case c.Remove:
			delete(m.spaces[c.Space], c.Key)
		default:
			if m.spaces[c.Space] == nil {
				m.spaces[c.Space] = map[string]string{}
			}
			m.spaces[c.Space][c.Key] = c.Value
		}
	}
}

func (m *memory) Safe() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.waits++
	return m.lost
}

func (m *memory) Ready() error { return m.broken }

func (m *memory) Load(space string, give func(key, value []byte) error) error {
	for _, key := range slices.Sorted(maps.Keys(m.spaces[space])) {
		if err := give([]byte(key), []byte(m.spaces[space][key])); err != nil {
			return err
		}
	}
	return nil
}

// picture is everything that can be read from an engine.
func picture(t *testing.T, e *embedded.Engine) map[string]any {
	t.Helper()
	p := map[string]any{}
	must := func(err error) {
		t.Helper()
		held(t, err)
	}
	for _, table := range []string{stack.Events, stack.Aggregates} {
		out, err := e.DynamoDB().Scan(t.Context(), &dynamodb.ScanInput{TableName: &table})
		must(err)
		p["items "+table] = out.Items
		about, err := e.DynamoDB().DescribeTable(t.Context(), &dynamodb.DescribeTableInput{TableName: &table})
		must(err)
		p["table "+table] = about.Table
	}
	index, err := e.DynamoDB().Query(t.Context(), &dynamodb.QueryInput{TableName: aws.String(stack.Events), IndexName: aws.String("GSI1"),
		KeyConditionExpression:    aws.String("GSI1PK = :a"),
		ExpressionAttributeValues: map[string]types.AttributeValue{":a": &types.AttributeValueMemberS{Value: "g"}}})
	must(err)
	p["index"] = index.Items
	streams, err := e.Streams().ListStreams(t.Context(), &dynamodbstreams.ListStreamsInput{})
	must(err)
	for _, s := range streams.Streams {
		about, err := e.Streams().DescribeStream(t.Context(), &dynamodbstreams.DescribeStreamInput{StreamArn: s.StreamArn})
		must(err)
		p["stream "+*s.StreamArn] = about.StreamDescription
		w := &world{T: t, e: e, arn: *s.StreamArn}
		for _, sh := range w.shards() {
			p["records "+*sh.ShardId], _ = w.readShard(sh)
		}
	}
	list, err := e.S3().ListObjectsV2(t.Context(), &s3.ListObjectsV2Input{Bucket: aws.String(stack.Bucket)})
	must(err)
	for _, o := range list.Contents {
		out, err := e.S3().GetObject(t.Context(), &s3.GetObjectInput{Bucket: aws.String(stack.Bucket), Key: o.Key})
		must(err)
		body, err := io.ReadAll(out.Body)
		must(err)
		p["object "+*o.Key] = []any{string(body), *out.ETag, *out.ContentType, out.Metadata, *out.LastModified}
	}
	return p
}

// messages receives all messages of a queue, with their attributes.
func messages(t *testing.T, e *embedded.Engine, url string) []string {
	t.Helper()
	var all []string
	for {
		out, err := e.SQS().ReceiveMessage(t.Context(),
			&sqs.ReceiveMessageInput{QueueUrl: &url, MaxNumberOfMessages: 10, MessageAttributeNames: []string{"All"},
				MessageSystemAttributeNames: []sqstypes.MessageSystemAttributeName{"All"}})
		held(t, err)
		if len(out.Messages) == 0 {
			slices.Sort(all)
			return all
		}
		for _, m := range out.Messages {
			var attributes []string
			for name, a := range m.MessageAttributes {
				attributes = append(attributes, name+"="+aws.ToString(a.StringValue)+string(a.BinaryValue))
			}
			slices.Sort(attributes)
			all = append(all, fmt.Sprint(*m.MessageId, " ", *m.Body, " ", attributes, " ", aws.ToString(m.MD5OfMessageAttributes), " ",
				m.Attributes))
		}
	}
}

// TestJournalHoldsEverything makes random calls to an engine with a journal, and reads the journal
// into another engine. Both engines must hold the same.
func TestJournalHoldsEverything(t *testing.T) {
	for seed := range uint64(20) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) { keepAndOpen(t, rand.New(rand.NewPCG(seed, 1))) })
	}
}

func keepAndOpen(t *testing.T, die *rand.Rand) {
	now := must.Time("2026-03-01T09:00:00Z")
	j := newMemory()
	cfg := embedded.Config{Seed: die.Uint64(), Now: func() time.Time { return now }, Journal: j, RollAfter: 5 * time.Hour}
	e := embedded.New(cfg)
	s, err := stack.New(t.Context(), e, stack.Config{Indexes: []string{"GSI1"}})
	held(t, err)
	db := e.DynamoDB()
	text := func(s string) types.AttributeValue { return &types.AttributeValueMemberS{Value: s} }
	item := func() map[string]types.AttributeValue {
		it := map[string]types.AttributeValue{"PK": text(fmt.Sprint("p", die.IntN(6))), "SK": text(fmt.Sprint("s", die.IntN(3))),
			"n": &types.AttributeValueMemberN{Value: fmt.Sprint(die.IntN(4))}, "b": &types.AttributeValueMemberB{Value: []byte{0, 255}},
			"l": &types.AttributeValueMemberL{Value: []types.AttributeValue{text(""), &types.AttributeValueMemberBOOL{Value: true},
				&types.AttributeValueMemberBOOL{}, &types.AttributeValueMemberNULL{Value: true}}},
			"m": &types.AttributeValueMemberM{Value: map[string]types.AttributeValue{"x": text("y"),
				"z": &types.AttributeValueMemberNS{Value: []string{"1", "2"}}}},
			"s": &types.AttributeValueMemberSS{Value: []string{"a", "b"}}, "t": &types.AttributeValueMemberBS{Value: [][]byte{{1}, {2}}}}
		if die.IntN(2) == 0 {
			it["GSI1PK"], it["GSI1SK"] = text("g"), text(fmt.Sprint(die.IntN(9)))
		}
		if die.IntN(4) == 0 {
			it["expiresAt"] = &types.AttributeValueMemberN{Value: fmt.Sprint(now.Add(time.Duration(die.IntN(20)) * time.Hour).Unix())}
		}
		return it
	}
	for range 200 {
		switch events := aws.String(stack.Events); die.IntN(13) {
		case 0, 1, 2, 3:
			_, err = db.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: events, Item: item()})
		case 4, 5:
			it := item()
			_, err = db.UpdateItem(t.Context(),
				&dynamodb.UpdateItemInput{TableName: events, Key: map[string]types.AttributeValue{"PK": it["PK"], "SK": it["SK"]},
					UpdateExpression:          aws.String("ADD n :one"),
					ExpressionAttributeValues: map[string]types.AttributeValue{":one": &types.AttributeValueMemberN{Value: "1"}}})
		case 6:
			it := item()
			_, err = db.DeleteItem(t.Context(),
				&dynamodb.DeleteItemInput{TableName: events, Key: map[string]types.AttributeValue{"PK": it["PK"], "SK": it["SK"]}})
		case 7:
			_, err = db.TransactWriteItems(t.Context(),
				&dynamodb.TransactWriteItemsInput{ClientRequestToken: aws.String(fmt.Sprint("token", die.IntN(1e9))),
					TransactItems: []types.TransactWriteItem{
						{Put: &types.Put{TableName: events, Item: item()}},
						{Put: &types.Put{TableName: aws.String(stack.Aggregates), Item: item()}}}})
		case 8:
			e.SweepExpired()
			now = now.Add(time.Duration(die.IntN(5)) * time.Hour)
		case 9:
			if e.RollShards(stack.Events) != nil {
				continue // its stream is off
			}
		case 10:
			_, err = e.S3().PutObject(t.Context(),
				&s3.PutObjectInput{Bucket: aws.String(stack.Bucket), Key: aws.String(fmt.Sprint("k", die.IntN(9))),
					Body:        strings.NewReader(fmt.Sprint(die.IntN(100))),
					ContentType: aws.String("text/plain"), Metadata: map[string]string{"a": "b"}})
			if die.IntN(4) == 0 {
				_, gone := e.S3().DeleteObject(t.Context(),
					&s3.DeleteObjectInput{Bucket: aws.String(stack.Bucket), Key: aws.String(fmt.Sprint("k", die.IntN(9)))})
				err = errors.Join(err, gone)
			}
		case 11:
			_, err = e.SQS().SendMessage(t.Context(),
				&sqs.SendMessageInput{QueueUrl: &s.Queue, MessageBody: aws.String(fmt.Sprint("body ", die.IntN(100))),
					MessageAttributes: map[string]sqstypes.MessageAttributeValue{"a": {DataType: aws.String("String"),
						StringValue: aws.String("v")}, "b": {DataType: aws.String("Binary"), BinaryValue: []byte{1, 2}}}})
			if out, received := e.SQS().ReceiveMessage(t.Context(),
				&sqs.ReceiveMessageInput{QueueUrl: &s.Queue, MaxNumberOfMessages: 2}); received == nil && len(out.Messages) == 2 {
				_, err = e.SQS().DeleteMessage(t.Context(),
					&sqs.DeleteMessageInput{QueueUrl: &s.Queue, ReceiptHandle: out.Messages[0].ReceiptHandle})
			}
		case 12: // the stream goes off, and later on again
			about, found := db.DescribeTable(t.Context(), &dynamodb.DescribeTableInput{TableName: events})
			if found != nil {
				t.Fatal(found)
			}
			spec := &types.StreamSpecification{StreamEnabled: aws.Bool(about.Table.LatestStreamArn == nil)}
			if *spec.StreamEnabled {
				spec.StreamViewType = types.StreamViewTypeNewAndOldImages
			}
			_, err = db.UpdateTable(t.Context(), &dynamodb.UpdateTableInput{TableName: events, StreamSpecification: spec})
		}
		held(t, err)
	}
	cfg.Seed++
	again, err := embedded.Open(cfg)
	held(t, err)
	must.Equal(t, cmp.Diff(picture(t, e), picture(t, again), cmp.Exporter(func(reflect.Type) bool { return true })), "")
	now = now.Add(stack.Visibility) // the other one still has messages in flight
	was, is := messages(t, e, s.Queue), messages(t, again, s.Queue)
	must.Equal(t, cmp.Diff(was, is), "")
	if n := j.waits; n == 0 {
		t.Error("no call waited for the journal")
	}
}

func TestWhatTheJournalCannotKeepIsRefused(t *testing.T) {
	j := newMemory()
	e := embedded.New(embedded.Config{Journal: j})
	s, err := stack.New(t.Context(), e, stack.Config{})
	held(t, err)
	send := func() error {
		_, err := e.SQS().SendMessage(t.Context(), &sqs.SendMessageInput{QueueUrl: &s.Queue, MessageBody: aws.String("m")})
		return err
	}
	depth := func() int { return len(j.spaces["messages/events"]) }
	j.broken = errors.New("the disk is full")
	var api smithy.APIError
	if err := send(); !errors.As(err, &api) || api.ErrorFault() != smithy.FaultServer || api.ErrorMessage() != "the disk is full" ||
		depth() != 0 {
		t.Errorf("before anything changes: %v, %d messages", err, depth())
	}
	j.broken, j.lost = nil, errors.New("the disk is full")
	if err := send(); !errors.As(err, &api) || api.ErrorFault() != smithy.FaultServer {
		t.Errorf("afterwards: %v", err)
	}
	j.lost = nil
	if err := send(); err != nil || depth() != 2 {
		t.Errorf("once it works again: %v, %d messages", err, depth())
	}
}
