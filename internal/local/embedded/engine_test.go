package embedded_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
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
	"github.com/aws/smithy-go"

	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/internal/local/embedded"
)

// TestEveryCall shows that the engine's clients have methods of the SDK's clients, and that every
// call refuses every input field that it does not implement. It also calls each of them once with
// an empty input, which checks the lists of fields against the SDK's types.
func TestEveryCall(t *testing.T) {
	e := embedded.New(embedded.Config{})
	for sdk, client := range map[any]any{new(dynamodb.Client): e.DynamoDB(), new(dynamodbstreams.Client): e.Streams(),
		new(sqs.Client): e.SQS(), new(s3.Client): e.S3()} {
		engine := reflect.ValueOf(client)
		for i := range engine.NumMethod() {
			name, method := engine.Type().Method(i).Name, engine.Method(i)
			if real := reflect.ValueOf(sdk).MethodByName(name); !real.IsValid() || real.Type() != method.Type() {
				t.Errorf("%s: the engine has %s, and the SDK %s", name, method.Type(), real)
			}
			in := reflect.New(method.Type().In(1).Elem())
			out := method.Call([]reflect.Value{reflect.ValueOf(background), in})
			err, _ := out[1].Interface().(error)
			var op *smithy.OperationError
			if strings.Contains("ListBackups ListBuckets ListQueues ListStreams ListTables", name) {
				if err != nil {
					t.Errorf("%s: %v", name, err)
				}
				continue
			}
			if !errors.As(err, &op) || op.OperationName != name || !out[0].IsNil() {
				t.Errorf("%s of nothing: %v, %v", name, out[0], err)
			}
			refused := 0
			for f := range in.Elem().NumField() {
				if !in.Elem().Type().Field(f).IsExported() {
					continue
				}
				one := reflect.New(in.Elem().Type())
				if !fill(one.Elem().Field(f)) {
					continue
				}
				out := method.Call([]reflect.Value{reflect.ValueOf(background), one})
				err, _ := out[1].Interface().(error)
				var u *embedded.UnsupportedError
				if errors.As(err, &u) && u.What == in.Elem().Type().Field(f).Name {
					refused++
				}
			}
			if strings.Contains("PutItem UpdateItem Query Scan CreateTable SendMessage PutObject", name) && refused == 0 {
				t.Errorf("%s refuses no field", name)
			}
		}
	}
}

// fill sets a field to something that is not zero.
func fill(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.String:
		v.SetString("x")
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int32, reflect.Int64:
		v.SetInt(1)
	case reflect.Pointer:
		p := reflect.New(v.Type().Elem())
		fill(p.Elem())
		v.Set(p)
	case reflect.Map:
		m := reflect.MakeMap(v.Type())
		m.SetMapIndex(reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem())
		v.Set(m)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
	default:
		return false
	}
	return true
}

func TestIntercept(t *testing.T) {
	var before, after error
	var seen []string
	w := newWorld(t, func(c *embedded.Config) {
		c.Intercept = func(_ context.Context, api string, input any, call func() (any, error)) (any, error) {
			seen = append(seen, fmt.Sprintf("%s %T", api, input))
			if before != nil {
				return nil, before
			}
			out, err := call()
			if err == nil && after != nil {
				return nil, after
			}
			return out, err
		}
	})
	put := func(pk string) error {
		_, err := w.db.PutItem(background, &dynamodb.PutItemInput{TableName: aws.String("events"), Item: item(pk, "1", nil)})
		return err
	}
	usage := w.e.Usage()
	before = &types.ProvisionedThroughputExceededException{Message: aws.String("slow down")}
	var throttled *types.ProvisionedThroughputExceededException
	var op *smithy.OperationError
	if err := put("refused"); !errors.As(err, &throttled) || !errors.As(err, &op) || op.OperationName != "PutItem" ||
		op.ServiceID != "DynamoDB" {
		t.Errorf("refused: %v", err)
	}
	if used := w.e.Usage().Sub(usage); used.Requests["PutItem"] != 1 || used.WriteUnits() != 0 {
		t.Errorf("a refused call used %+v", used)
	}
	lost := errors.New("connection reset by peer")
	before, after = nil, lost
	if err := put("lost"); !errors.Is(err, lost) {
		t.Errorf("lost: %v", err)
	}
	after = nil
	if w.get("refused", "1") != nil || w.get("lost", "1") == nil {
		t.Error("a refused call was done, or one whose answer was lost was not")
	}
	must.Equal(t, seen[len(seen)-1], "GetItem *dynamodb.GetItemInput")
	if _, err := w.db.PutItem(background, &dynamodb.PutItemInput{TableName: aws.String("nosuch"), Item: key("a", "1")}); err == nil ||
		strings.Count(err.Error(), "operation error") != 1 {
		t.Errorf("an error that passes through is wrapped once: %v", err)
	}
}

// TestDeterminism shows that the same calls under the same seed give the same answers, down to the
// last random id.
func TestDeterminism(t *testing.T) {
	run := func(seed uint64) string {
		w := newWorld(t, func(c *embedded.Config) { c.Seed, c.RollAfter = seed, time.Minute })
		mail := w.e.SQS()
		q, err := mail.CreateQueue(background,
			&sqs.CreateQueueInput{QueueName: aws.String("in.fifo"),
				Attributes: map[string]string{"FifoQueue": "true", "ContentBasedDeduplication": "true"}})
		held(t, err)
		var log strings.Builder
		r := rand.New(rand.NewPCG(7, 7))
		for i := range 300 {
			w.clock.advance(time.Second)
			w.put(item(fmt.Sprint("p", r.IntN(50)), fmt.Sprint(i),
				attrs{"v": n(fmt.Sprint(r.IntN(9))), "GSI1PK": s("g"), "GSI1SK": s(fmt.Sprint(r.IntN(5)))}))
			sent, err := mail.SendMessage(background, &sqs.SendMessageInput{QueueUrl: q.QueueUrl, MessageBody: aws.String(fmt.Sprint(i)),
				MessageGroupId: aws.String(fmt.Sprint(i % 7))})
			held(t, err)
			fmt.Fprintln(&log, *sent.MessageId)
		}
		got, err := mail.ReceiveMessage(background, &sqs.ReceiveMessageInput{QueueUrl: q.QueueUrl, MaxNumberOfMessages: 10})
		held(t, err)
		for _, m := range got.Messages {
			fmt.Fprintln(&log, *m.MessageId, *m.ReceiptHandle)
		}
		for _, sh := range w.shards() {
			records, _ := w.readShard(sh)
			fmt.Fprintln(&log, *sh.ShardId, len(records))
			for _, rec := range records {
				fmt.Fprintln(&log, *rec.EventID, *rec.Dynamodb.SequenceNumber, streamText(rec.Dynamodb.Keys["SK"]))
			}
		}
		scan, err := w.db.Scan(background, &dynamodb.ScanInput{TableName: aws.String("events")})
		held(t, err)
		for _, it := range scan.Items {
			fmt.Fprintln(&log, text(it["PK"]), text(it["SK"]))
		}
		return log.String()
	}
	first := run(1)
	must.Equal(t, run(1), first)
	if run(2) == first {
		t.Error("two seeds, one trace")
	}
}

// TestConcurrency lets writers race for the same keys. One writer wins each insert, and no ADD is
// lost.
func TestConcurrency(t *testing.T) {
	e := embedded.New(embedded.Config{})
	db := e.DynamoDB()
	_, err := eventsTable("events").Create(background, db)
	held(t, err)
	const writers, keys = 8, 60
	var wg sync.WaitGroup
	won := make([]int, writers)
	for i := range writers {
		wg.Go(func() {
			for k := range keys {
				_, err := db.PutItem(background,
					&dynamodb.PutItemInput{TableName: aws.String("events"), Item: item(fmt.Sprint(k), "1", nil),
						ConditionExpression: aws.String("attribute_not_exists(PK)")})
				var failed *types.ConditionalCheckFailedException
				switch {
				case err == nil:
					won[i]++
				case !errors.As(err, &failed):
					t.Errorf("put: %v", err)
				}
				if _, err := db.UpdateItem(background, &dynamodb.UpdateItemInput{TableName: aws.String("events"), Key: key("sum", "1"),
					UpdateExpression: aws.String("ADD n1 :n"), ExpressionAttributeValues: attrs{":n": n("0.1")}}); err != nil {
					t.Errorf("update: %v", err)
				}
				if _, err := db.Scan(background, &dynamodb.ScanInput{TableName: aws.String("events"), Limit: aws.Int32(5)}); err != nil {
					t.Errorf("scan: %v", err)
				}
			}
		})
	}
	wg.Wait()
	total := 0
	for _, n := range won {
		total += n
	}
	out, err := db.GetItem(background, &dynamodb.GetItemInput{TableName: aws.String("events"), Key: key("sum", "1")})
	if err != nil || total != keys || number(out.Item["n1"]) != "48" {
		t.Errorf("%d inserts won, want %d; sum %s, want 48; %v", total, keys, number(out.Item["n1"]), err)
	}
	if used := e.Usage(); used.Requests["PutItem"] != writers*keys || used.Requests["UpdateItem"] != writers*keys {
		t.Errorf("counted %v", used.Requests)
	}
}
