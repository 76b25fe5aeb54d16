package quarantine_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	dynamodbtypes "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
	"go.uber.org/goleak"

	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/esm"
	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/internal/local/embedded"
	"github.com/ingot-events/ingot/internal/local/stack"
	"github.com/ingot-events/ingot/internal/testworld"
	"github.com/ingot-events/ingot/internal/testworld/written"
	"github.com/ingot-events/ingot/internal/tool/quarantine"
	"github.com/ingot-events/ingot/pipeline"
	"github.com/ingot-events/ingot/store"
	"github.com/ingot-events/ingot/store/query"
	"github.com/ingot-events/ingot/verify"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const spec = `ingot: 1
epoch: 1
batches: [{each: .}, {each: "deliveries[].gifts"}, {each: "deliveries[].more"}, {each: "lists[].gifts"}]
type: "{type}"
events:
  sale:
    id: "{id}"
    at: "{at}"
    key: {pk: "SALE#{id}", sk: "-"}
    retain: 30d
  gift:
    id: "{id}"
    at: "{at}"
    key: {pk: "GIFT#{id}", sk: "-"}
  parcel:
    mode: latest
    revision: rev number
    id: "{id}"
    at: "{at}"
    key: {pk: "PARCEL#{id}", sk: "-"}
aggregates:
  sales: {since: 1, onExpire: keep, from: {sale: {values: {sales: count, cents: sum cents}}, gift: {values: {sales: count, cents: sum cents}}}}
  best:  {since: 1, onExpire: keep, from: {gift: {values: {best: max cents}}}}
  parcels: {since: 1, onExpire: subtract, from: {parcel: {values: {parcels: count, weight: sum weight}}}}
`

var start = must.Time("2030-01-02T03:04:05Z")

// world is a deployment whose functions run when it is drained.
type world struct {
	*testworld.World
	t      *testing.T
	plan   *pipeline.Pipeline
	store  *store.Store
	queue  *esm.Queue
	stream *esm.Stream
	dir    quarantine.Dir
	faults testworld.Faults
	sent   int
}

func newWorld(t *testing.T) *world { return newWorldWith(t, stack.Config{}, spec) }

func newWorldWith(t *testing.T, c stack.Config, text string) *world {
	t.Helper()
	w := &world{t: t}
	var err error
	w.World, err = testworld.New(t.Context(), testworld.Config{Start: start, Stack: c, Engine: embedded.Config{RollAfter: -1,
		Intercept: func(_ context.Context, api string, in any, call func() (any, error)) (any, error) {
			fault := w.faults.Take(api, in)
			return fault.Befall(call)
		}}})
	w.must(err)
	w.dir, err = quarantine.MakeDir(t.TempDir() + "/letters")
	w.must(err)
	w.deploy(text)
	return w
}

// deploy makes the functions run a pipeline.yaml.
func (w *world) deploy(text string) {
	w.t.Helper()
	w.plan = written.Pipeline(w.t, text)
	var err error
	w.store, err = w.Store(w.plan)
	w.must(err)
	w.must(w.store.Start(w.t.Context()))
	w.queue, err = w.MapQueue(w.t.Context(),
		esm.QueueConfig{BatchSize: 10, Function: esm.Function{Handler: lambda.NewHandler(w.Ingest(w.store).Handle).Invoke}})
	w.must(err)
	w.stream,
		err = w.MapStream(esm.StreamConfig{BatchSize: 10, Window: w.Window(),
		Function: esm.Function{Handler: lambda.NewHandler(w.Streams(w.store).Handle).Invoke}})
	w.must(err)
}

func (w *world) must(err error) {
	w.t.Helper()
	must.Succeed(w.t, err)
}

// send puts a message into the queue of events and lets both functions work.
func (w *world) send(bodies ...string) {
	w.t.Helper()
	for _, body := range bodies {
		w.post(&sqs.SendMessageInput{QueueUrl: &w.Queue, MessageBody: &body})
	}
	w.drain()
}

func (w *world) post(in *sqs.SendMessageInput) {
	w.t.Helper()
	if w.sent++; strings.HasSuffix(*in.QueueUrl, ".fifo") {
		in.MessageDeduplicationId = aws.String(fmt.Sprint(w.sent))
	}
	_, err := w.Engine.SQS().SendMessage(w.t.Context(), in)
	w.must(err)
}

func (w *world) drain() {
	w.t.Helper()
	for idle := 0; idle < 2; {
		polled, err := w.queue.Poll(w.t.Context())
		w.must(err)
		streamed, err := w.stream.Poll(w.t.Context())
		w.must(err)
		if idle++; !polled.Idle() || !streamed.Idle() {
			idle = 0
		}
	}
}

func (w *world) letters() quarantine.Queue {
	return quarantine.Queue{Client: w.Engine.SQS(), URL: w.Quarantine, Env: w.Env}
}

func (w *world) work() *quarantine.Work {
	x := quarantine.Examiner{Pipeline: w.plan, Store: w.store}
	return &quarantine.Work{Queue: w.letters(), Dir: w.dir, To: w.Queue,
		Events: &quarantine.Events{Client: w.Engine.DynamoDB(), Table: stack.Events, Examiner: x}}
}

// pulled pulls what the queue has into a folder, and makes it visible again.
func (w *world) pulled(dir quarantine.Dir) (quarantine.Pulled, error) {
	return w.letters().Pull(w.t.Context(), dir, quarantine.Pulling{Most: 100, Once: true})
}

// pull pulls what the queue has into the folder, and returns what is there.
func (w *world) pull() []*quarantine.Letter {
	w.t.Helper()
	_, err := w.pulled(w.dir)
	w.must(err)
	return w.list()
}

func (w *world) list() []*quarantine.Letter {
	w.t.Helper()
	list, err := w.dir.List()
	w.must(err)
	return list
}

// hold returns the letters, hidden from others.
func (w *world) hold(letters ...*quarantine.Letter) []*quarantine.Letter {
	w.t.Helper()
	ready, errs := w.work().Hold(w.t.Context(), letters)
	if len(errs) > 0 {
		w.t.Fatal(errs)
	}
	return ready
}

// held pulls what the queue has, and returns its first message, hidden from others.
func (w *world) held() *quarantine.Letter {
	w.t.Helper()
	return w.hold(w.pull()...)[0]
}

// refuses fails unless a letter that a person has seen replaces nothing, for this reason.
func (w *world) refuses(l *quarantine.Letter, why string) {
	w.t.Helper()
	before := w.data()
	var refused *quarantine.Refused
	if err := w.work().Replace(w.t.Context(), w.hold(l)[0]); !errors.As(err, &refused) || !strings.Contains(err.Error(), why) {
		w.t.Errorf("%v, want %s", err, why)
	}
	if w.data() != before || w.depth(w.Queue) != 0 || w.depth(w.Quarantine) != 1 {
		w.t.Errorf("stored %s, %d sent, %d in quarantine", w.data(), w.depth(w.Queue), w.depth(w.Quarantine))
	}
}

// sends returns what the next message is sent with, once it is sent.
func (w *world) sends() *sqs.SendMessageInput {
	sent := &sqs.SendMessageInput{}
	w.faults = testworld.Faults{{API: "SendMessage", Applies: func(in any) bool {
		*sent = *in.(*sqs.SendMessageInput)
		return true
	}}}
	return sent
}

// seen records that a person was shown what is stored now.
func (w *world) seen(l *quarantine.Letter) *quarantine.Today {
	w.t.Helper()
	today, err := quarantine.Examiner{Pipeline: w.plan, Store: w.store}.Examine(w.t.Context(), l)
	w.must(err)
	if today.Stored != nil {
		l.Seen = today.Digests()
		w.must(w.dir.Save(l))
	}
	return today
}

func (w *world) depth(url string) int {
	w.t.Helper()
	n, err := w.Depth(w.t.Context(), url)
	w.must(err)
	return n
}

// visible returns how many messages a receive could get now.
func (w *world) visible(url string) string {
	w.t.Helper()
	out, err := w.Engine.SQS().GetQueueAttributes(w.t.Context(),
		&sqs.GetQueueAttributesInput{QueueUrl: &url, AttributeNames: []types.QueueAttributeName{types.QueueAttributeNameAll}})
	w.must(err)
	return out.Attributes[string(types.QueueAttributeNameApproximateNumberOfMessages)]
}

// total returns the values of a total as text.
func (w *world) total(name string) string {
	w.t.Helper()
	totals, err := query.Of(w.store).Total(w.t.Context(), name, nil, time.Time{}, time.Time{})
	w.must(err)
	var parts []string
	for _, t := range totals {
		for value, n := range t.Values {
			parts = append(parts, value+" "+n.String())
		}
		if len(t.Flags) > 0 {
			parts = append(parts, "flagged")
		}
	}
	slices.Sort(parts)
	return strings.Join(parts, ", ")
}

// proven fails unless every total is what its items add up to.
func (w *world) proven() {
	w.t.Helper()
	report, err := verify.Totals(w.t.Context(), w.plan, w.store, w.Clock.Now())
	w.must(err)
	if len(report.Differences) > 0 {
		w.t.Errorf("totals differ: %v", report.Differences)
	}
}

// data returns the payloads that are stored.
func (w *world) data() string {
	w.t.Helper()
	var list []string
	for item, err := range w.store.Items(w.t.Context()) {
		w.must(err)
		list = append(list, item.Data)
	}
	slices.Sort(list)
	return strings.Join(list, " ")
}

// body makes an event. It keeps the order of the members.
func body(typ string, id int, members ...any) string {
	text := fmt.Sprintf(`{"type":%q,"id":%d,"at":"2030-01-02T03:00:00Z"`, typ, id)
	for i := 0; i < len(members); i += 2 {
		value, _ := json.Marshal(members[i+1])
		text += fmt.Sprintf(`,%q:%s`, members[i], value)
	}
	return text + "}"
}

// conflict stores one event and brings another one with the same key into quarantine.
func (w *world) conflict(typ string) *quarantine.Letter {
	w.t.Helper()
	var more []any
	if typ == "parcel" {
		more = []any{"rev", 4, "weight", 1}
	}
	w.send(body(typ, 1, append([]any{"cents", 100}, more...)...), body(typ, 1, append([]any{"cents", 250}, more...)...))
	list := w.pull()
	if len(list) != 1 || list[0].Note == nil || list[0].Note.Verdict != event.Conflict.String() {
		w.t.Fatalf("%+v", list)
	}
	return list[0]
}

// clash is a conflict that is hidden from others.
func (w *world) clash(typ string) *quarantine.Letter {
	w.t.Helper()
	return w.hold(w.conflict(typ))[0]
}

// remove deletes an item, as a person does.
func (w *world) remove(key event.Key) {
	w.t.Helper()
	_, err := w.Engine.DynamoDB().DeleteItem(w.t.Context(),
		&dynamodb.DeleteItemInput{TableName: aws.String(stack.Events), Key: itemKey(key)})
	w.must(err)
}

// expires gives a stored item another expiry.
func (w *world) expires(key event.Key) {
	w.t.Helper()
	at := map[string]dynamodbtypes.AttributeValue{":v": &dynamodbtypes.AttributeValueMemberN{Value: "4102444800"}}
	_, err := w.Engine.DynamoDB().UpdateItem(w.t.Context(), &dynamodb.UpdateItemInput{TableName: aws.String(stack.Events),
		Key: itemKey(key), UpdateExpression: aws.String("SET expiresAt = :v"), ExpressionAttributeValues: at})
	w.must(err)
}

func itemKey(key event.Key) map[string]dynamodbtypes.AttributeValue {
	return map[string]dynamodbtypes.AttributeValue{"PK": &dynamodbtypes.AttributeValueMemberS{Value: key.PK},
		"SK": &dynamodbtypes.AttributeValueMemberS{Value: key.SK}}
}
