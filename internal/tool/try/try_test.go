package try_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	sqstypes "github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"github.com/ingot-events/ingot/env"
	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/examples"
	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/internal/kit/slow"
	"github.com/ingot-events/ingot/internal/local/embedded"
	"github.com/ingot-events/ingot/internal/local/stack"
	"github.com/ingot-events/ingot/internal/tool/dev"
	"github.com/ingot-events/ingot/internal/tool/show"
	"github.com/ingot-events/ingot/internal/tool/try"
	"github.com/ingot-events/ingot/store"
	"github.com/ingot-events/ingot/tables"
)

// living is a deployment that runs, and what is tried of it.
type living struct {
	*testing.T
	*dev.Dev
	config try.Config
}

// live starts the deployment of an example.
func live(t *testing.T, example string) *living {
	t.Helper()
	dir := t.TempDir()
	files, err := fs.Sub(examples.Files, example)
	if err == nil {
		err = os.CopyFS(dir, files)
	}
	must.Succeed(t, err)
	d, err := dev.Start(t.Context(), dev.Config{File: filepath.Join(dir, "pipeline.yaml"), Now: time.Now, Secret: []byte(show.StandIn)})
	must.Succeed(t, err)
	t.Cleanup(func() { d.Close() })
	st, err := store.New(tables.Config{Client: d.Engine().DynamoDB(), Pipeline: d.Pipeline(), Events: stack.Events,
		Aggregates: stack.Aggregates, Counting: d.Counting(), Objects: d.Engine().S3(), PayloadBucket: stack.Payloads})
	must.Succeed(t, err)
	l := d.Local()
	return &living{t, d, try.Config{Pipeline: d.Pipeline(), Store: st, Tables: d.Engine().DynamoDB(), Streams: d.Engine().Streams(),
		Queues: d.Engine().SQS(), Queue: l.QueueURL, Quarantine: l.QuarantineURL, Number: 24, Limit: 20 * time.Second,
		Tell: func(string, ...any) {}, Env: env.Env{Sleep: func(ctx context.Context, d time.Duration) error {
			return env.Env{}.Real().Sleep(ctx, d/20)
		}}}}
}

func (l *living) run() *try.Report {
	l.Helper()
	r, err := try.Run(l.Context(), l.config)
	must.Succeed(l, err)
	return r
}

// result returns how a check ended.
func (l *living) result(r *try.Report, what string) try.Result {
	l.Helper()
	for _, c := range r.Checks {
		if strings.Contains(c.What, what) {
			return c.Result
		}
	}
	l.Fatalf("there is no check of %q in %+v", what, r.Checks)
	return ""
}

// On a stack that is right, everything is right, also the second time. Nothing stays but totals
// without events.
func TestRight(t *testing.T) {
	for _, example := range []string{"shop", "feed", "leaderboard"} {
		t.Run(example, func(t *testing.T) {
			l := live(t, example)
			for range 2 {
				r := l.run()
				shown := 0
				for _, c := range r.Checks {
					if c.Result == try.Wrong {
						t.Errorf("%+v", c)
					}
					if c.Result == try.Right {
						shown++
					}
				}
				if shown < 9 || r.Sent < 30 || len(r.Left) == 0 || !r.Right() {
					t.Errorf("%+v", r)
				}
			}
			if r := l.run(); example == "leaderboard" && !slices.ContainsFunc(r.Left, func(left string) bool {
				return strings.HasSuffix(left, ", without events, but with what the trial has sent in best (max) and last (newest)")
			}) {
				t.Errorf("left behind: %q", r.Left)
			}
			for item, err := range l.config.Store.Items(t.Context()) {
				t.Errorf("%v stays, %v", item, err)
			}
			n, err := l.Engine().SQS().GetQueueAttributes(t.Context(), &sqs.GetQueueAttributesInput{QueueUrl: &l.config.Quarantine,
				AttributeNames: []sqstypes.QueueAttributeName{"All"}})
			if err != nil || n.Attributes["ApproximateNumberOfMessages"] != "0" {
				t.Errorf("%v, %v", n, err)
			}
		})
	}
}

// Floors refuse events of an empty stack. That is not wrong.
func TestFloors(t *testing.T) {
	l := live(t, "ledger")
	if r := l.run(); !r.Right() || l.result(r, "in quarantine") != try.Right {
		t.Errorf("%+v", r)
	}
}

// A stack with events of others is left alone.
func TestBusy(t *testing.T) {
	l := live(t, "shop")
	l.config.Tell = func(format string, _ ...any) {
		if strings.Contains(format, "removed again") {
			t.Error("it goes on")
		}
	}
	l.put("ORDER#other", "x")
	var busy *try.BusyError
	if r, err := try.Run(t.Context(), l.config); !errors.As(err, &busy) || r.Sent != 0 || !strings.Contains(err.Error(), "totals of ") {
		t.Errorf("%+v, %v", r, err)
	}
	said := false
	l.config.Busy, l.config.Tell = true, func(format string, _ ...any) {
		said = said || strings.Contains(format, "as one more reader: a shard has room for two")
	}
	l.run()
	if !said {
		t.Error("it reads the stream, and does not say so")
	}
	if item, err := l.config.Store.Item(t.Context(), event.Key{PK: "ORDER#other", SK: "x"}); err != nil || item == nil {
		t.Errorf("the event of somebody else: %v, %v", item, err)
	}
}

// losing is a queue that loses some messages of a request: each third, or all if each is 1.
type losing struct {
	*embedded.SQS
	each int
}

func (q losing) SendMessageBatch(ctx context.Context, in *sqs.SendMessageBatchInput, o ...func(*sqs.Options)) (*sqs.SendMessageBatchOutput,
	error) {
	some := *in
	some.Entries = nil
	out := &sqs.SendMessageBatchOutput{}
	for i, e := range in.Entries {
		if i%q.each != 0 {
			some.Entries = append(some.Entries, e)
			continue
		}
		out.Successful = append(out.Successful, sqstypes.SendMessageBatchResultEntry{Id: e.Id})
	}
	if len(some.Entries) == 0 {
		return out, nil
	}
	sent, err := q.SQS.SendMessageBatch(ctx, &some, o...)
	if err == nil {
		sent.Successful = append(sent.Successful, out.Successful...)
	}
	return sent, err
}

// forgetful is a stream that leaves out the third record of an answer.
type forgetful struct{ *embedded.Streams }

func (s forgetful) GetRecords(ctx context.Context, in *dynamodbstreams.GetRecordsInput,
	o ...func(*dynamodbstreams.Options)) (*dynamodbstreams.GetRecordsOutput, error) {
	out, err := s.Streams.GetRecords(ctx, in, o...)
	if err == nil && len(out.Records) > 2 {
		out.Records = slices.Delete(slices.Clone(out.Records), 2, 3)
	}
	return out, err
}

// Whatever is wrong with a stack is found, by the check that is meant for it.
func TestWrong(t *testing.T) {
	slow.Test(t, "it waits for what never comes")
	for name, c := range map[string]struct {
		when  string // it is told
		spoil func(*living)
		found string
	}{
		"a queue that loses messages": {"", func(l *living) { l.config.Queues = losing{l.Engine().SQS(), 3} }, "events are stored"},
		"functions that cannot start": {"", func(l *living) { l.config.Queues = losing{l.Engine().SQS(), 1} }, "events are stored"},
		"letters that vanish": {"in quarantine", func(l *living) {
			l.purge()
		}, "in quarantine"},
		"an item that says something else": {"in quarantine", func(l *living) { l.alter("expiresAt", "77") }, "each item is what"},
		"a total that is changed by hand":  {"totals are the sums", func(l *living) { l.raise() }, "every total is the sum over"},
		"a stream that loses changes": {"", func(l *living) { l.config.Streams = forgetful{l.Engine().Streams()} },
			"the stream has each change once"},
	} {
		t.Run(name, func(t *testing.T) {
			l := live(t, "shop")
			l.config.Limit = 6 * time.Second
			once := false
			l.config.Tell = func(format string, _ ...any) {
				if !once && c.when != "" && strings.Contains(format, c.when) {
					once = true
					c.spoil(l)
				}
			}
			if c.when == "" {
				c.spoil(l)
			}
			r, err := try.Run(t.Context(), l.config)
			must.Succeed(t, err)
			if r.Right() || l.result(r, c.found) != try.Wrong {
				t.Errorf("%+v", r.Checks)
			}
		})
	}
}

// all reads a table.
func (l *living) all(table string) []map[string]types.AttributeValue {
	l.Helper()
	out, err := l.Engine().DynamoDB().Scan(l.Context(), &dynamodb.ScanInput{TableName: &table})
	must.Succeed(l, err)
	return out.Items
}

// alter changes an attribute of an event by hand.
func (l *living) alter(name, number string) {
	l.Helper()
	for _, item := range l.all(stack.Events) {
		if item["type"] != nil {
			item[name] = &types.AttributeValueMemberN{Value: number}
			l.replace(stack.Events, item)
			return
		}
	}
	l.Fatal("there is no event")
}

// raise changes a total by hand.
func (l *living) raise() {
	l.Helper()
	for {
		for _, item := range l.all(stack.Aggregates) {
			if n, is := item["n"].(*types.AttributeValueMemberN); is && strings.HasPrefix(text(item["PK"]), "A#") {
				item["n"] = &types.AttributeValueMemberN{Value: n.Value + "7"}
				l.replace(stack.Aggregates, item)
				return
			}
		}
	}
}

func (l *living) replace(table string, item map[string]types.AttributeValue) {
	l.Helper()
	_, err := l.Engine().DynamoDB().PutItem(l.Context(), &dynamodb.PutItemInput{TableName: &table, Item: item})
	must.Succeed(l, err)
}

// purge takes what is in quarantine, until something was there.
func (l *living) purge() {
	l.Helper()
	for taken := 0; taken < 5; {
		out, err := l.Engine().SQS().ReceiveMessage(l.Context(), &sqs.ReceiveMessageInput{QueueUrl: &l.config.Quarantine,
			MaxNumberOfMessages: 10})
		must.Succeed(l, err)
		for _, m := range out.Messages {
			taken++
			_, err := l.Engine().SQS().DeleteMessage(l.Context(), &sqs.DeleteMessageInput{QueueUrl: &l.config.Quarantine,
				ReceiptHandle: m.ReceiptHandle})
			must.Succeed(l, err)
		}
	}
}

// put stores an event of somebody else.
func (l *living) put(pk, sk string) {
	l.Helper()
	l.replace(stack.Events, map[string]types.AttributeValue{"PK": s(pk), "SK": s(sk), "type": s("order.placed"), "id": s("1"),
		"at": s("2031-05-05T06:00:00.000000000Z"), "digest": &types.AttributeValueMemberB{Value: make([]byte, 32)},
		"epoch": &types.AttributeValueMemberN{Value: "1"}, "data": s("{}")})
}

func s(text string) types.AttributeValue { return &types.AttributeValueMemberS{Value: text} }

func text(v types.AttributeValue) string {
	s, _ := v.(*types.AttributeValueMemberS)
	if s == nil {
		return ""
	}
	return s.Value
}
