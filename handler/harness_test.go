package handler_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"reflect"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	sqstypes "github.com/aws/aws-sdk-go-v2/service/sqs/types"
	"github.com/aws/smithy-go"

	"github.com/ingot-events/ingot/aggregate"
	"github.com/ingot-events/ingot/env"
	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/handler"
	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/internal/local/embedded"
	"github.com/ingot-events/ingot/internal/local/iam"
	"github.com/ingot-events/ingot/internal/local/stack"
	"github.com/ingot-events/ingot/internal/testworld"
	"github.com/ingot-events/ingot/pipeline"
	"github.com/ingot-events/ingot/store"
	"github.com/ingot-events/ingot/tables"
)

// orders is the declaration that most of these tests use.
func orders() pipeline.Spec {
	return pipeline.Spec{
		Ingot: 1, Epoch: 3, Type: "{type}",
		Events: map[string]pipeline.EventSpec{
			"order": {ID: "{id}", At: "{at}", Key: pipeline.KeySpec{PK: "ORDER#{id}", SK: "ORDER"}, Retain: 90 * 24 * time.Hour},
			"parcel": {ID: "{id}", At: "{at}", Key: pipeline.KeySpec{PK: "PARCEL#{id}", SK: "PARCEL"}, Mode: "latest",
				Revision: "rev number", Retain: 90 * 24 * time.Hour},
		},
		Aggregates: map[string]pipeline.AggregateSpec{
			"totals": {Since: 1,
				From: map[string]pipeline.FromSpec{"order": {Values: map[string]string{"orders": "count", "revenue": "sum cents",
					"largest": "max cents"}}}},
			"live": {Since: 2, OnExpire: "subtract",
				From: map[string]pipeline.FromSpec{"order": {Values: map[string]string{"orders": "count", "revenue": "sum cents"}}}},
		},
	}
}

// epoch is the time at which these tests begin.
var epoch = must.Time("2099-03-01T12:00:00Z")

// world is a testworld with both functions and faults. Its sleepers do not move the clock.
type world struct {
	*testworld.World
	t       testing.TB
	plan    *pipeline.Pipeline
	store   *store.Store
	ingest  *handler.Ingest
	streams *handler.Streams
	log     bytes.Buffer

	outcomes []handler.Outcome
	batches  []handler.IngestReport
	counted  []handler.StreamsReport

	mu     sync.Mutex
	faults testworld.Faults
	calls  map[string]int
	seen   func(api string, input any) // told of every call; nil: nobody looks
}

type fault = testworld.Fault

type setup struct {
	spec     pipeline.Spec
	load     func() (*pipeline.Pipeline, error)
	counting aggregate.Counting
	env      func(*testworld.Clock) env.Env // nil: the clock's own, whose sleepers do not move it
	now      time.Time
	store    tables.Config // what is set in addition to the world's own
}

// loaded returns what loads the text of a pipeline.yaml.
func loaded(text string, options ...pipeline.Option) func() (*pipeline.Pipeline, error) {
	return func() (*pipeline.Pipeline, error) {
		return pipeline.Load(fstest.MapFS{"pipeline.yaml": {Data: []byte(text)}}, "pipeline.yaml", options...)
	}
}

func newWorld(t testing.TB, options ...func(*setup)) *world {
	t.Helper()
	s := setup{spec: orders(), now: epoch}
	for _, o := range options {
		o(&s)
	}
	w := &world{t: t, calls: map[string]int{}}
	var err error
	if s.load == nil {
		s.load = func() (*pipeline.Pipeline, error) { return pipeline.New(s.spec) }
	}
	w.plan, err = s.load()
	must.Succeed(t, err)
	w.World, err = testworld.New(context.Background(),
		testworld.Config{Start: s.now, Counting: s.counting, Stack: stack.Config{Indexes: w.plan.Indexes(), Offload: w.plan.UsesOffload()},
			Engine: embedded.Config{Intercept: w.intercept, Behind: embedded.Oldest},
			Env: func(clock *testworld.Clock) env.Env {
				if s.env != nil {
					return s.env(clock)
				}
				return env.Env{Now: clock.Now, Rand: func() float64 {
					return 0.5
				}, Sleep: func(ctx context.Context, _ time.Duration) error { return ctx.Err() }}
			}})
	must.Succeed(t, err)
	config := w.StoreConfig(w.plan)
	config.OneByOne, config.Concurrency, config.Region = s.store.OneByOne, s.store.Concurrency, s.store.Region
	w.store, err = store.New(config)
	must.Succeed(t, err)
	w.ingest = w.Ingest(w.store)
	w.ingest.Log = slog.New(slog.NewTextHandler(&w.log, nil))
	w.ingest.OnResult = func(_ context.Context, o handler.Outcome) { w.outcomes = append(w.outcomes, o) }
	w.ingest.OnBatch = func(_ context.Context, r handler.IngestReport) { w.batches = append(w.batches, r) }
	w.restart(w.store)
	t.Cleanup(func() {
		for _, role := range []*iam.Role{w.IngestRole, w.StreamsRole} {
			if denied := role.Denied(); len(denied) > 0 {
				t.Errorf("%s does not allow %s", role.Name, denied[0])
			}
		}
	})
	return w
}

// restart replaces the streams function.
func (w *world) restart(st *store.Store) {
	old := w.streams
	w.streams = w.Streams(st)
	w.streams.Log = w.ingest.Log
	w.streams.OnBatch = func(_ context.Context, r handler.StreamsReport) { w.counted = append(w.counted, r) }
	if old != nil {
		w.streams.Quarantine, w.streams.Archive, w.streams.OnChange = old.Quarantine, old.Archive, old.OnChange
	}
}

// intercept applies the faults that wait for this call.
func (w *world) intercept(_ context.Context, api string, input any, call func() (any, error)) (any, error) {
	w.mu.Lock()
	w.calls[api]++
	if w.seen != nil {
		w.seen(api, input)
	}
	f := w.faults.Take(api, input)
	w.mu.Unlock()
	return f.Befall(call)
}

// real is the real world, or what testing/synctest makes of it.
func real(*testworld.Clock) env.Env { return env.Env{} }

var errDenied = &smithy.GenericAPIError{Code: "AccessDeniedException", Message: "not authorized"}

var errLost = errors.New("connection reset by peer")

const queueARN = "arn:aws:sqs:us-east-1:000000000000:ingest"

// messages makes an SQS event of the bodies, with ids m0, m1, …
func messages(bodies ...string) events.SQSEvent {
	e := events.SQSEvent{Records: []events.SQSMessage{}}
	for i, body := range bodies {
		e.Records = append(e.Records,
			events.SQSMessage{MessageId: fmt.Sprint("m", i), Body: body, EventSource: "aws:sqs", EventSourceARN: queueARN,
				Attributes: map[string]string{"SentTimestamp": fmt.Sprint(epoch.Add(-time.Minute).UnixMilli())}})
	}
	return e
}

// order returns the body of an order. Extra members come last.
func order(id string, cents int, extra ...string) string {
	return fmt.Sprintf(`{"type":"order","id":%q,"cents":%d,"at":"2099-03-01T10:00:00Z"%s}`, id, cents,
		strings.Join(append([]string{""}, extra...), ","))
}

// manyOrders returns the bodies of n orders.
func manyOrders(n int) (bodies []string) {
	for i := range n {
		bodies = append(bodies, order(fmt.Sprint(i), i))
	}
	return bodies
}

func parcel(id string, rev int) string {
	return fmt.Sprintf(`{"type":"parcel","id":%q,"rev":%d,"at":"2099-03-01T10:00:00Z"}`, id, rev)
}

// deadline returns a context that ends by the real clock, long after the test. Lambda's context has
// a deadline too.
func deadline(t testing.TB) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	t.Cleanup(cancel)
	return ctx
}

// timeout returns a context that ends after so long.
func timeout(t *testing.T, after time.Duration) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), after)
	t.Cleanup(cancel)
	return ctx
}

// handleQueue calls the ingest function in its role.
func (w *world) handleQueue(ctx context.Context, e events.SQSEvent) (events.SQSEventResponse, error) {
	return w.ingest.Handle(iam.As(ctx, w.IngestRole), e)
}

// within calls the ingest function with so much time, and ends the test if it does not answer in
// it.
func (w *world) within(t *testing.T, timeout time.Duration, e events.SQSEvent) events.SQSEventResponse {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	answer, err := w.handleQueue(ctx, e)
	if err != nil || ctx.Err() != nil {
		t.Fatalf("it has %s: %v, %v", timeout, err, ctx.Err())
	}
	return answer
}

// untouched reports a message that was not left as it is.
func untouched(t *testing.T, outcomes []handler.Outcome) {
	t.Helper()
	for i, o := range outcomes {
		if o.Item != nil || o.Events != nil || !o.Failed || o.Verdict != event.Retry || o.Refusal.Reason != event.Unattempted {
			t.Errorf("message %d of the rest: %s, %v, planned: %v, %d events", i, o.Verdict, o.Refusal, o.Item != nil, len(o.Events))
		}
	}
}

// handleStream calls the streams function in its role.
func (w *world) handleStream(ctx context.Context, payload json.RawMessage) (handler.StreamResponse, error) {
	return w.streams.Handle(iam.As(ctx, w.StreamsRole), payload)
}

// receive passes an event to the ingest function as Lambda does. It returns the bytes of the
// answer.
func (w *world) receive(e events.SQSEvent) string {
	w.t.Helper()
	w.outcomes, w.batches = nil, nil
	answer, err := lambda.NewHandler(w.ingest.Handle).Invoke(iam.As(deadline(w.t), w.IngestRole), marshal(w.t, e))
	must.Succeed(w.t, err)
	if len(w.batches) != 1 || len(w.outcomes) != len(e.Records) {
		w.t.Fatalf("%d reports and %d results for %d messages", len(w.batches), len(w.outcomes), len(e.Records))
	}
	sum := 0
	for _, n := range w.batches[0].Verdicts {
		sum += n
	}
	if sum != len(e.Records) || w.batches[0].Received != sum || w.batches[0].Verdicts[0] != 0 {
		w.t.Fatalf("verdicts %v do not add up to %d received", w.batches[0].Verdicts, len(e.Records))
	}
	return strings.TrimSpace(string(answer))
}

// gets passes an event to the ingest function. It reports what became of the messages if it is
// anything else: of each the verdict, in brackets those of its events, the reason of a refusal, and
// that it goes back.
func (w *world) gets(e events.SQSEvent, want string, besides ...any) {
	w.t.Helper()
	answer := w.receive(e)
	var list, back []string
	for _, o := range w.outcomes {
		one := o.Verdict.String()
		if o.Events != nil {
			one += "(" + of(o) + ")"
		}
		if o.Refusal != nil {
			one += ": " + string(o.Refusal.Reason)
		}
		if o.Failed {
			one += ", back"
			back = append(back, o.Message.MessageId)
		}
		list = append(list, one)
	}
	must.Equal(w.t, strings.Join(list, "; "), want, besides...)
	must.Equal(w.t, answer, failures(back...), besides...)
}

// refuse makes every call of an API fail.
func (w *world) refuse(api string, err error) {
	w.faults = []fault{{API: api, Always: true, Before: err}}
}

// verdicts returns those of the last event, in its order.
func (w *world) verdicts() string {
	var names []string
	for _, o := range w.outcomes {
		names = append(names, o.Verdict.String())
	}
	return strings.Join(names, " ")
}

// quarantined takes all letters out of quarantine.
func (w *world) quarantined() []sqstypes.Message {
	w.t.Helper()
	var all []sqstypes.Message
	for {
		out, err := w.Engine.SQS().ReceiveMessage(context.Background(),
			&sqs.ReceiveMessageInput{QueueUrl: &w.Quarantine, MaxNumberOfMessages: 10, MessageAttributeNames: []string{"All"}})
		must.Succeed(w.t, err)
		if len(out.Messages) == 0 {
			return all
		}
		for _, m := range out.Messages {
			all = append(all, m)
			_, err := w.Engine.SQS().DeleteMessage(context.Background(),
				&sqs.DeleteMessageInput{QueueUrl: &w.Quarantine, ReceiptHandle: m.ReceiptHandle})
			must.Succeed(w.t, err)
		}
	}
}

// tally says how many of each verdict there are, of those of which there are any.
func tally(counts []int) string {
	var list []string
	for _, v := range event.Verdicts {
		if n := counts[v]; n != 0 {
			list = append(list, fmt.Sprint(v, " ", n))
		}
	}
	return strings.Join(list, ", ")
}

// reported returns what the report of the last batch of the streams function counts, without what
// it has nothing of.
func (w *world) reported() string {
	report := reflect.ValueOf(w.counted[len(w.counted)-1])
	var list []string
	for i := range report.NumField() {
		if field := report.Field(i); field.Kind() == reflect.Int && !field.IsZero() {
			list = append(list, fmt.Sprint(report.Type().Field(i).Name, " ", field))
		}
	}
	if report.FieldByName("Unproven").Bool() {
		list = append(list, "Unproven")
	}
	return strings.Join(list, ", ")
}

// items returns the keys in the events table, and how often each was met.
func (w *world) items() map[event.Key]int {
	w.t.Helper()
	found := map[event.Key]int{}
	for item, err := range w.store.Items(context.Background()) {
		must.Succeed(w.t, err)
		found[item.Key]++
	}
	return found
}

func failures(ids ...string) string {
	list := []map[string]string{}
	for _, id := range ids {
		list = append(list, map[string]string{"itemIdentifier": id})
	}
	text, _ := json.Marshal(map[string]any{"batchItemFailures": list})
	return string(text)
}

// attach gives a message attributes that are texts.
func attach(m *events.SQSMessage, texts map[string]string) {
	if m.MessageAttributes == nil {
		m.MessageAttributes = map[string]events.SQSMessageAttribute{}
	}
	for name, text := range texts {
		m.MessageAttributes[name] = events.SQSMessageAttribute{DataType: "String", StringValue: &text}
	}
}
