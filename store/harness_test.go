package store_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"reflect"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"

	"github.com/ingot-events/ingot/aggregate"
	"github.com/ingot-events/ingot/env"
	"github.com/ingot-events/ingot/envelope"
	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/internal/local/embedded"
	"github.com/ingot-events/ingot/internal/local/stack"
	"github.com/ingot-events/ingot/internal/plan/declare"
	"github.com/ingot-events/ingot/internal/plan/lanes"
	"github.com/ingot-events/ingot/internal/table/count"
	"github.com/ingot-events/ingot/internal/table/rows"
	"github.com/ingot-events/ingot/internal/testworld"
	"github.com/ingot-events/ingot/pipeline"
	"github.com/ingot-events/ingot/store"
	"github.com/ingot-events/ingot/store/query"
	"github.com/ingot-events/ingot/store/repair"
	"github.com/ingot-events/ingot/tables"
)

// orders is the declaration that these tests use.
func orders() pipeline.Spec {
	return declared(`
events:
  order: {id: "{id}", at: "{at}", key: {pk: "ORDER#{id}", sk: ORDER}, retain: 90d, ignore: [trace]}
  indexed:
    {id: "{id}", at: "{at}", key: {pk: "INDEXED#{id}", sk: X}, retain: 90d,
     indexes: {GSI1: {pk: "CUSTOMER#{customer}", sk: "{@id}"}}}
  parcel: {id: "{id}", at: "{at}", key: {pk: "PARCEL#{id}", sk: PARCEL}, retain: 90d, mode: latest, revision: rev number}
aggregates:
  by_merchant:
    {since: 1, by: {merchant: "{merchant}"},
     from: {order: {values: {orders: count, revenue: sum cents, largest: max cents, least: min cents}}}}
  daily:
    {since: 1, by: {merchant: "{merchant}"}, window: 24h, retain: 100d, spread: 4,
     from: {order: {values: {orders: count, revenue: sum cents}}}}
  live: {since: 1, onExpire: subtract, from: {order: {values: {orders: count, revenue: sum cents}}}}
`)
}

// declared reads a part of a pipeline.yaml.
func declared(text string) (spec pipeline.Spec) {
	text = "ingot: 1\nepoch: 1\ntype: \"{type}\"\n" + text
	if !strings.Contains(text, "\nevents:") {
		text += "\nevents: {}"
	}
	report := declare.NewReport("these tests")
	declare.Decode([]byte(text), report, &declare.Words{Version: "ingot", Format: 1, Example: fieldsOf}, &spec)
	if len(report.Mistakes) > 0 {
		panic(report.Mistakes)
	}
	return spec
}

func fieldsOf(t reflect.Type) string { return t.String() }

// adds declares more in a pipeline: the events, the aggregates and the patterns of a text. They
// take the place of those that have their names.
func adds(s *pipeline.Spec, text string) {
	more := declared(text)
	maps.Copy(s.Events, more.Events)
	if s.Aggregates == nil {
		s.Aggregates = more.Aggregates
	}
	if s.Patterns == nil {
		s.Patterns = more.Patterns
	}
	maps.Copy(s.Aggregates, more.Aggregates)
	maps.Copy(s.Patterns, more.Patterns)
}

// epoch is the time at which these tests begin.
var epoch = must.Time("2099-03-01T12:00:00Z")

// world is a testworld whose sleepers do not move the clock. It has faults, and a store that meets
// them.
type world struct {
	*testworld.World
	t     testing.TB
	plan  *pipeline.Pipeline
	store *store.Store

	mu     sync.Mutex
	rng    *rand.Rand
	slept  int
	faults testworld.Faults
	onCall func(api string, input any) error // runs before every call, also at the same time; an error refuses the call; nil: nobody looks
}

type fault = testworld.Fault

// events is a batch, or some other list of events, as they are planned.
type events = []*event.Item

// attrs is an item, or a part of one, as a request has it.
type attrs = map[string]types.AttributeValue

// These make values and keys as requests have them.
var textValue, numberValue, itemKey = rows.Text, rows.Number, rows.KeyImage

// setup is what an option may change of a world.
type setup struct {
	pipeline.Spec
	engine embedded.Config
	tables tables.Config
}

type option func(*setup)

func newWorld(t testing.TB, options ...option) *world {
	t.Helper()
	w := &world{t: t, rng: rand.New(rand.NewPCG(7, 7))}
	s := &setup{Spec: orders(), engine: embedded.Config{Intercept: w.intercept, Behind: embedded.Oldest}}
	s.tables.Env = env.Env{
		Sleep: func(ctx context.Context, _ time.Duration) error {
			w.mu.Lock()
			defer w.mu.Unlock()
			w.slept++
			return ctx.Err()
		},
		Rand: func() float64 {
			w.mu.Lock()
			defer w.mu.Unlock()
			return w.rng.Float64()
		},
	}
	for _, o := range options {
		o(s)
	}
	c := s.tables
	var err error
	w.World, err = testworld.New(context.Background(),
		testworld.Config{Start: epoch, Engine: s.engine, Stack: stack.Config{Indexes: []string{"GSI1"}},
			Env: func(clock *testworld.Clock) env.Env {
				c.Env.Now = clock.Now
				return c.Env
			}})
	must.Succeed(t, err)
	w.plan = w.compile(s.Spec)
	if w.plan.UsesOffload() {
		must.Succeed(t, stack.CreateArchive(context.Background(), w.Engine.S3(), stack.Payloads))
		c.Objects, c.PayloadBucket = w.Engine.S3(), stack.Payloads
	}
	c.Client, c.Pipeline, c.Events, c.Aggregates, c.Env = w.Engine.DynamoDB(), w.plan, stack.Events, stack.Aggregates, w.Env
	w.store = w.open(c)
	return w
}

func (w *world) compile(spec pipeline.Spec) *pipeline.Pipeline {
	w.t.Helper()
	p, err := pipeline.New(spec, pipeline.Secret([]byte("the secret of these tests")))
	must.Succeed(w.t, err)
	return p
}

// open opens a store. What its settings leave out is the world's own, also both tables if they name
// none.
func (w *world) open(c tables.Config) *store.Store {
	w.t.Helper()
	if c.Client == nil {
		c.Client = w.Engine.DynamoDB()
	}
	if c.Pipeline == nil {
		c.Pipeline = w.plan
	}
	if c.Events == "" && c.Aggregates == "" {
		c.Events, c.Aggregates = stack.Events, stack.Aggregates
	}
	s, err := store.New(c)
	must.Succeed(w.t, err)
	return s
}

// intercept applies the faults that wait for this call.
func (w *world) intercept(_ context.Context, api string, in any, call func() (any, error)) (any, error) {
	if w.onCall != nil {
		if err := w.onCall(api, in); err != nil {
			return nil, err
		}
	}
	w.mu.Lock()
	f := w.faults.Take(api, in)
	w.mu.Unlock()
	return f.Befall(call)
}

// item plans the payload that is given as member: value pairs of JSON text.
func (w *world) item(members ...string) *event.Item {
	w.t.Helper()
	return w.itemOf(w.plan, members...)
}

func (w *world) itemOf(p *pipeline.Pipeline, members ...string) *event.Item {
	w.t.Helper()
	item, err := p.Plan(envelope.Message{Body: "{" + strings.Join(members, ",") + "}"})
	must.Succeed(w.t, err)
	return item
}

// order returns an order of merchant m. Extra members override nothing and come last.
func (w *world) order(id string, cents int, extra ...string) *event.Item {
	return w.orderOf("m", id, cents, extra...)
}

// orders returns so many orders, numbered from first. The first has no cents, and each later one
// has one more.
func (w *world) orders(first, n int, extra ...string) (items events) {
	for i := range n {
		items = append(items, w.order(fmt.Sprint(first+i), i, extra...))
	}
	return items
}

func (w *world) orderOf(merchant, id string, cents int, extra ...string) *event.Item {
	return w.item(append([]string{fmt.Sprintf(`"type":"order","id":%q,"merchant":%q,"cents":%d`, id, merchant, cents),
		`"at":"2099-03-01T10:00:00Z"`}, extra...)...)
}

func (w *world) parcel(id string, rev int, extra ...string) *event.Item {
	return w.item(append([]string{`"type":"parcel"`, fmt.Sprintf(`"id":%q`, id), fmt.Sprintf(`"rev":%d`, rev),
		`"at":"2099-03-01T10:00:00Z"`}, extra...)...)
}

// events makes a list of events from a text, such as "order 1 5, received 7 a 10". The words of an
// event are the arguments of the method that makes it. Or it is a payload: an object without others
// in it.
func (w *world) events(text string) (items events) {
	w.t.Helper()
	number := func(word string) int {
		n, err := strconv.Atoi(word)
		must.Succeed(w.t, err)
		return n
	}
	if text == "" {
		return nil
	}
	for _, one := range strings.Split(text, ", ") {
		word := strings.Fields(one)
		var item *event.Item
		switch word[0] {
		case "order":
			item = w.order(word[1], number(word[2]))
		case "parcel":
			item = w.parcel(word[1], number(word[2]))
		case "received", "reserved":
			item = w.goods(word[0], word[1], word[2], number(word[3]))
		case "transfer":
			item = w.transfer(word[1], word[2], word[3], number(word[4]))
		case "account":
			item = w.account(word[1], word[2], number(word[3]))
		case "visit":
			var stops []any
			for i := 4; i < len(word); i += 2 {
				stops = append(stops, word[i], number(word[i+1]))
			}
			item = w.visit(word[1], word[2], number(word[3]), stops...)
		default: // a payload
			item = w.item(strings.Trim(one, "{}"))
		}
		items = append(items, item)
	}
	return items
}

// deadline returns a context that ends by the real clock, long after the test. With it, the number
// of rounds does not limit retries.
func deadline(t testing.TB) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	t.Cleanup(cancel)
	return ctx
}

func verdicts(results []tables.Result) string {
	var names []string
	for _, r := range results {
		names = append(names, r.Verdict.String())
	}
	return strings.Join(names, " ")
}

// told is verdicts, with the reason of each refusal, and with what is told of the parts.
func told(results []tables.Result) string {
	var list []string
	for _, r := range results {
		text := r.Verdict.String()
		if r.Refusal != nil {
			text += " " + string(r.Refusal.Reason)
		}
		if len(r.Parts) > 0 {
			text += " (" + told(r.Parts) + ")"
		}
		list = append(list, text)
	}
	return strings.Join(list, ", ")
}

// stored reads an item of a table as it is stored.
func (w *world) stored(table string, key event.Key) attrs {
	w.t.Helper()
	return w.Get(w.t, table, itemKey(key))
}

// put stores an item of a table as it is.
func (w *world) put(table string, item attrs) {
	w.t.Helper()
	w.Put(w.t, table, item)
}

// write stores an item that has nothing but a key and these attributes.
func (w *world) write(table string, key event.Key, rest attrs) {
	w.t.Helper()
	item := itemKey(key)
	maps.Copy(item, rest)
	w.Put(w.t, table, item)
}

var errDenied = &smithy.GenericAPIError{Code: "AccessDeniedException", Message: "not authorized"}

var errLost = errors.New("connection reset by peer")

var errThrottled = &types.ProvisionedThroughputExceededException{Message: aws.String("slow down"),
	ThrottlingReasons: []types.ThrottlingReason{
		{Reason: aws.String("TableWriteKeyRangeThroughputExceeded"), Resource: aws.String("arn:table/events")}}}

// lane is the shard from which the changes of these tests come.
var lane = event.Lane{StreamARN: "arn:aws:dynamodb:us-east-1:000000000000:table/events/stream/1", ShardID: "shardId-1"}

// batch routes inserts of the items as one batch of a lane. The records are numbered from first.
func (w *world) batch(counting aggregate.Counting, first int64, items ...*event.Item) *lanes.Batch {
	w.t.Helper()
	return w.from(counting, lane.ShardID, first, items...)
}

// from is batch, of another shard.
func (w *world) from(counting aggregate.Counting, shard string, first int64, items ...*event.Item) *lanes.Batch {
	w.t.Helper()
	from := event.Lane{StreamARN: lane.StreamARN, ShardID: shard}
	b := lanes.NewBatch(counting, from)
	for i, item := range items {
		c := w.insert(first+int64(i), item)
		c.Lane = from
		b.Add(c, nil, w.plan.Contributions(item).List)
	}
	return b
}

// take adds the removal of an item to a batch of the lane.
func (w *world) take(b *lanes.Batch, sequence int64, item *event.Item, expired bool) {
	c := w.insert(sequence, item)
	c.Kind, c.Old, c.New, c.Expired = event.Remove, item, nil, expired
	b.Add(c, w.plan.Contributions(item).List, nil)
}

// marks returns how many marks the only total of live has.
func (w *world) marks() (n int) {
	for total, err := range w.store.Totals(context.Background()) {
		must.Succeed(w.t, err)
		if total.Address.Name == "live" {
			n = total.Marks
		}
	}
	return n
}

func (w *world) insert(sequence int64, item *event.Item) *event.Change {
	return &event.Change{Kind: event.Insert, Lane: lane, Sequence: w.sequence(sequence), Created: w.Clock.Now(), Key: item.Key, New: item}
}

func (w *world) sequence(n int64) event.Sequence {
	w.t.Helper()
	s, err := event.ParseSequence(fmt.Sprintf("%021d", n))
	must.Succeed(w.t, err)
	return s
}

func noQuarantine(t testing.TB) lanes.Quarantine {
	return func(_ context.Context, u *lanes.Update, cause error) error {
		t.Errorf("update of %s refused: %v", u.Key, cause)
		return nil
	}
}

// keeping is a quarantine that takes everything, and notes the keys of the totals.
func keeping(keys *[]string) lanes.Quarantine {
	return func(_ context.Context, u *lanes.Update, _ error) error {
		*keys = append(*keys, u.Key.String())
		return nil
	}
}

// answering is a quarantine that always answers the same.
func answering(err error) lanes.Quarantine {
	return func(context.Context, *lanes.Update, error) error { return err }
}

// total reads the only total of an aggregate. It is grouped by a name and its value, if any.
func (w *world) total(name string, grouped ...string) query.Total {
	w.t.Helper()
	var by map[string]string
	if len(grouped) > 0 {
		by = map[string]string{grouped[0]: grouped[1]}
	}
	totals, err := w.query().Total(context.Background(), name, by, epoch.AddDate(0, -1, 0), epoch.AddDate(0, 1, 0))
	must.Succeed(w.t, err)
	if len(totals) != 1 {
		w.t.Fatalf("%d totals of %s, want 1", len(totals), name)
	}
	return totals[0]
}

// eventFrom returns an event that names its source, as an envelope does.
func (w *world) eventFrom(source, body string) event.Event {
	w.t.Helper()
	doc, err := event.ParseDocument(body)
	must.Succeed(w.t, err)
	return event.Event{Data: doc, Source: source}
}

func envelopeOf(body string) envelope.Message { return envelope.Message{Body: body} }

// leaveUnprocessed changes an answer so that nothing has been read.
func leaveUnprocessed(output any) {
	out := output.(*dynamodb.BatchGetItemOutput)
	left := types.KeysAndAttributes{}
	for _, id := range []string{"1", "2"} {
		left.Keys = append(left.Keys, itemKey(under("ORDER#"+id, "ORDER")))
	}
	out.Responses, out.UnprocessedKeys = nil, map[string]types.KeysAndAttributes{"events": left}
}

// meter returns a function that says what the service has been asked for since now.
func (w *world) meter() func() embedded.Usage {
	before := w.Engine.Usage()
	return func() embedded.Usage { return w.Engine.Usage().Sub(before) }
}

// meanwhile does something once, before the next request of an API.
func (w *world) meanwhile(api string, do func()) {
	w.onCall = requests(api, func(any) {
		w.onCall = nil
		do()
	})
}

// charges says what the service has been asked for.
func charges(used embedded.Usage) string {
	return fmt.Sprintf("%v, %v written, %v read", used.Requests, used.WriteUnits(), used.ReadUnits())
}

// accounted fails unless the own accounts are those of the service.
func (w *world) accounted(cost tables.Cost, used embedded.Usage, besides ...any) {
	w.t.Helper()
	const form = "%d requests, %v written, %v read"
	own := fmt.Sprintf(form, cost.Requests, cost.WriteUnits, cost.ReadUnits)
	must.Equal(w.t, own, fmt.Sprintf(form, used.TotalRequests(), used.WriteUnits(), used.ReadUnits()), besides...)
}

// query reads from the store of the world.
func (w *world) query() *query.Reader { return query.Of(w.store) }

// repair repairs what the store of the world holds.
func (w *world) repair() *repair.Repairer { return repair.Of(w.store) }

// counts counts inserts of the items as the next batch of the lane.
func (w *world) counts(first int64, items ...*event.Item) count.Applied {
	w.t.Helper()
	return w.apply(w.batch(aggregate.Marks, first, items...))
}

// under is the key of an item.
func under(pk, sk string) event.Key { return event.Key{PK: pk, SK: sk} }

// errorOf leaves out what a call returns besides its error.
func errorOf[T any](_ T, err error) error { return err }

// fails lets the next request of an API fail before it is done, and no other.
func (w *world) fails(api string, err error) { w.faults = []fault{{API: api, Before: err}} }

// keepsFailing lets all requests of an API fail before they are done.
func (w *world) keepsFailing(api string, err error) {
	w.faults = append(w.faults, fault{API: api, Before: err, Always: true})
}

// start starts the store of the world, which has to work.
func (w *world) start() {
	w.t.Helper()
	must.Succeed(w.t, w.store.Start(deadline(w.t)))
}

// arrive puts events with the store of the world.
func (w *world) arrive(items ...*event.Item) ([]tables.Result, tables.Cost) {
	return w.store.Put(deadline(w.t), items)
}

// erase erases the item under a key.
func (w *world) erase(key event.Key) (bool, error) {
	return w.repair().Erase(deadline(w.t), key)
}

// judged puts events with the store of the world and returns their verdicts.
func (w *world) judged(items ...*event.Item) string {
	results, _ := w.arrive(items...)
	return verdicts(results)
}

// judges puts events and fails unless their verdicts are these.
func (w *world) judges(want string, items ...*event.Item) []tables.Result {
	w.t.Helper()
	results, _ := w.arrive(items...)
	must.Equal(w.t, verdicts(results), want)
	return results
}

// puts puts the events of a text.
func (w *world) puts(text string) []tables.Result {
	w.t.Helper()
	return w.putNow(w.events(text)...)
}

// says puts the events of a text and fails unless their verdicts are these.
func (w *world) says(text, want string) []tables.Result {
	w.t.Helper()
	return w.judges(want, w.events(text)...)
}
