package ingottest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/ingot-events/ingot/aggregate"
	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/handler"
	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/internal/kit/sampleshop"
	"github.com/ingot-events/ingot/internal/local/stack"
	"github.com/ingot-events/ingot/internal/table/rows"
	"github.com/ingot-events/ingot/internal/testworld"
	"github.com/ingot-events/ingot/pipeline"
	"github.com/ingot-events/ingot/store/repair"
	"github.com/ingot-events/ingot/tables"
)

const day = 24 * time.Hour

func spec() pipeline.Spec {
	return pipeline.Spec{Ingot: 1, Epoch: 1, Type: "{type}",
		Events: map[string]pipeline.EventSpec{"order.placed": {ID: "{id}", At: "{at}", Retain: 90 * day,
			Key: pipeline.KeySpec{PK: "ORDER#{id}", SK: "ORDER"}}},
		Aggregates: map[string]pipeline.AggregateSpec{
			"daily": {Since: 1, By: map[string]string{"merchant": "{merchant}"}, Window: day,
				From: map[string]pipeline.FromSpec{"order.placed": {Values: map[string]string{"orders": "count", "cents": "sum cents"}}}},
			"live": {Since: 1, OnExpire: "subtract",
				From: map[string]pipeline.FromSpec{"order.placed": {Values: map[string]string{"orders": "count"}}}}}}
}

// handled sends messages, and lets both functions handle them.
func (w *World) handled(bodies ...string) {
	w.t.Helper()
	w.Send(bodies...)
	w.Drain()
}

func newWorld(t *testing.T, s pipeline.Spec) *World {
	t.Helper()
	return New(t, Config{Pipeline: compile(t, s)})
}

func compile(t *testing.T, s pipeline.Spec) *pipeline.Pipeline {
	t.Helper()
	p, err := pipeline.New(s)
	must.Succeed(t, err)
	return p
}

func order(id, at string, cents int) string {
	return fmt.Sprintf(`{"type":"order.placed","merchant":"m1","id":%q,"at":%q,"cents":%d}`, id, at, cents)
}

// first is the order with which most tests begin.
func first(cents int) string { return order("a", "2026-03-01T10:00:00Z", cents) }

var merchant = map[string]string{"merchant": "m1"}

// book is a TB that records what it is told. Fatalf ends the function that runs in it.
type book struct{ logs, errors, fatal string }

func (*book) Helper()                          {}
func (b *book) Logf(format string, a ...any)   { b.logs += fmt.Sprintf(format, a...) + "\n" }
func (b *book) Errorf(format string, a ...any) { b.errors += fmt.Sprintf(format, a...) + "\n" }
func (b *book) Fatalf(format string, a ...any) {
	b.fatal = fmt.Sprintf(format, a...)
	panic(b)
}

// watched runs a test of a test.
func watched(test func(TB)) (b *book) {
	b = &book{}
	defer func() {
		if r := recover(); r != nil && r != any(b) {
			panic(r)
		}
	}()
	test(b)
	return b
}

// verified is what Verify tells a test.
func (w *World) verified() *book {
	before := w.t
	defer func() { w.t = before }()
	return watched(func(tb TB) {
		w.t = tb
		w.Verify()
	})
}

// counts fails unless so many items are stored, and the orders of the first day add up to this.
func (w *World) counts(t *testing.T, items int, orders string) {
	t.Helper()
	must.Equal(t, len(w.Items()), items)
	must.Equal(t, values(w, "daily", merchant, must.Time("2026-03-01T12:00:00Z")), orders)
}

func values(w *World, name string, by map[string]string, at time.Time) string {
	total := w.Total(name, by, at)
	return fmt.Sprintf("%v orders, %v cents", total.Values["orders"], total.Values["cents"])
}

// TestEveryFaultFindsTheSame shows that each event is stored once and counted once, whatever goes
// wrong, in every way of counting and through both kinds of queue.
func TestEveryFaultFindsTheSame(t *testing.T) {
	for name, c := range map[string]Config{"marks": {}, "receipts": {Counting: aggregate.Receipts}, "fifo": {FIFO: true, BatchSize: 3}} {
		t.Run(name, func(t *testing.T) {
			c.Pipeline = compile(t, spec())
			EveryFault(t, c, func(t *testing.T, w *World) {
				w.Send(first(100), order("b", "2026-03-01T11:00:00Z", 20),
					first(100),
					order("b", "2026-03-01T11:00:00Z", 21), "not JSON")
				w.Drain()
				w.RollShards()
				w.Send(order("c", "2026-03-02T00:00:00Z", 3))
				w.Redeliver()
				w.Drain()
				must.Equal(t, len(w.Items()), 3)
				first, second := must.Time("2026-03-01T23:59:59.000000999Z"), must.Time("2026-03-02T00:00:00Z")
				must.Equal(t, values(w, "daily", merchant, first)+"; "+
					values(w, "daily", merchant, second), "2 orders, 120 cents; 1 orders, 3 cents")
				if n := len(w.Quarantined()); n < 4 {
					t.Errorf("%d letters for two messages that came twice", n)
				}
				w.Advance(91 * day)
				if n := w.Sweep(); n < 3 {
					t.Errorf("%d swept", n)
				}
				w.Drain()
				if live := w.Total("live", nil, w.Now()); live.N != 0 || !live.Values["orders"].IsZero() ||
					values(w, "daily", merchant, first) != "2 orders, 120 cents" {
					t.Errorf("after expiry: live %+v, daily %s", live, values(w, "daily", merchant, first))
				}
				must.Equal(t, len(w.Archived()), 3)
				must.Equal(t, len(w.DeadLetters()), 0)
			})
		})
	}
}

// TestEveryFaultIsTried shows that a hook that must not be repeated is found out, and that each
// fault happens once.
func TestEveryFaultIsTried(t *testing.T) {
	told, crashes, runs := 0, 0, 0
	c := Config{Pipeline: compile(t, spec()), OnChange: func(context.Context, event.Change) error { told++; return nil }}
	EveryFault(t, c, func(t *testing.T, w *World) {
		runs++
		before := told
		w.handled(first(100))
		if told > before+1 {
			crashes++
		}
	})
	// Ingest sends one request. Streams asks for its heads, notes in one how long events live, and
	// moves two totals. A crash after either move delivers the change again, so the hook is told
	// twice. A crash before that does not. A lost answer does not either, because the function asks
	// again in the same invocation.
	if runs != 1+3*(1+4) || crashes != 2 {
		t.Errorf("%d runs, %d of them told the hook twice", runs, crashes)
	}
}

// TestStaleRead shows that what a hook reads may be stale, unless it asks for a consistent read.
// EveryFault tries it.
func TestStaleRead(t *testing.T) {
	read := func(consistent bool) func(context.Context, tables.Client, event.Key) (int, error) {
		return func(ctx context.Context, db tables.Client, k event.Key) (int, error) {
			in := &dynamodb.GetItemInput{TableName: aws.String(EventsTable), Key: key(k), ConsistentRead: &consistent}
			out, err := db.GetItem(ctx, in)
			if err != nil {
				return 0, err
			}
			return len(out.Item), nil
		}
	}
	for name, tt := range map[string]struct {
		read func(context.Context, tables.Client, event.Key) (int, error)
		want string // what the hook finds in each run of EveryFault: without a fault, then those with a stale read
	}{
		"get":            {read(false), "found, stale: missing"},
		"consistent get": {read(true), "found"},
		"index": {func(ctx context.Context, db tables.Client, k event.Key) (int, error) {
			out, err := db.Query(ctx,
				&dynamodb.QueryInput{TableName: aws.String(EventsTable), IndexName: aws.String("GSI1"),
					KeyConditionExpression:    aws.String("GSI1PK = :pk"),
					ExpressionAttributeValues: map[string]types.AttributeValue{":pk": rows.Text("CUSTOMER#a")}})
			if err != nil {
				return 0, err
			}
			return len(out.Items), nil
		}, "found, stale: missing"},
	} {
		t.Run(name, func(t *testing.T) {
			s := spec()
			placed := s.Events["order.placed"]
			placed.Indexes = map[string]pipeline.IndexSpec{"GSI1": {PK: "CUSTOMER#{id}", SK: "{@id}"}}
			s.Events["order.placed"] = placed
			var w *World
			var found []string
			c := Config{Pipeline: compile(t, s), OnChange: func(ctx context.Context, c event.Change) error {
				n, err := tt.read(ctx, w.DynamoDB(), c.Key)
				if err != nil {
					return err
				}
				found = append(found, map[bool]string{true: "found", false: "missing"}[n > 0])
				return nil
			}}
			var runs []string
			EveryFault(t, c, func(t *testing.T, world *World) {
				w, found = world, nil
				w.handled(first(100))
				switch fault := path.Base(t.Name()); {
				case fault == "no_fault":
					runs = append(runs, found...)
				case strings.HasPrefix(fault, "StaleRead"):
					runs = append(runs, "stale: "+strings.Join(found, " "))
				}
				n, err := read(false)(context.Background(), w.DynamoDB(), event.Key{PK: "ORDER#a", SK: "ORDER"})
				if err != nil || n == 0 {
					t.Errorf("a read outside of the functions misses the item: %v", err)
				}
			})
			must.Equal(t, strings.Join(runs, ", "), tt.want)
		})
	}
}

// TestStaleReadOfOneRequest plants the fault by hand: the hook's request is the first that the
// streams function sends for a change, because the hook is called before anything is counted.
func TestStaleReadOfOneRequest(t *testing.T) {
	var w *World
	found := map[string]int{}
	w = New(t, Config{Pipeline: compile(t, spec()), OnChange: func(ctx context.Context, c event.Change) error {
		out, err := w.DynamoDB().GetItem(ctx, &dynamodb.GetItemInput{TableName: aws.String(EventsTable), Key: key(c.Key)})
		if err != nil {
			return err
		}
		found[c.Key.PK] = len(out.Item)
		return nil
	}})
	w.handled(first(100))
	w.StaleRead(Streams, 1)
	w.handled(order("b", "2026-03-01T10:00:00Z", 100))
	if found["ORDER#a"] == 0 || found["ORDER#b"] != 0 {
		t.Errorf("the hook found %v; want a, and not b, whose read is stale", found)
	}
	w.Verify()
}

func key(k event.Key) map[string]types.AttributeValue {
	return testworld.Key(k.PK, k.SK)
}

func TestSampleShop(t *testing.T) {
	p, err := pipeline.Load(os.DirFS(".."), sampleshop.Pipeline, pipeline.Secret([]byte("a test's")))
	must.Succeed(t, err)
	w := New(t, Config{Pipeline: p})
	shipped := func(status, at string) string {
		return fmt.Sprintf(
			`{"type":"order.shipped","merchant_id":"m1","order_id":"o1","shipment_id":"s1","shipped_at":"2026-03-01T10:00:00Z","updated_at":%q,"status":%q}`, at, status)
	}
	w.handled(shipped("travelling", "2026-03-01T12:00:00Z"), shipped("packed", "2026-03-01T11:00:00Z"))
	w.handled(shipped("delivered", "2026-03-02T12:00:00Z"))
	w.Send(shipped("travelling", "2026-03-01T12:00:00Z"))
	w.Verify()
	must.Match(t, w.Verdicts(), map[event.Verdict]int{event.Inserted: 1, event.Updated: 1, event.Stale: 2})
	for status, want := range map[string]string{"packed": "0", "travelling": "0", "delivered": "1"} {
		total := w.Total("merchant_parcels", map[string]string{"merchant": "m1", "status": status}, w.Now())
		must.Equal(t, total.Values["parcels"].String(), want, status)
	}
}

// TestSubtract shows that an expired item counts until time to live has removed it.
func TestSubtract(t *testing.T) {
	w := newWorld(t, spec())
	w.handled(first(1))
	live := func() string { return w.Total("live", nil, time.Time{}).Values["orders"].String() }
	w.Advance(91 * day)
	expired := live()
	w.Sweep()
	swept := live()
	w.Drain()
	if expired != "1" || swept != "1" || live() != "0" {
		t.Errorf("expired: %s, swept: %s, drained: %s", expired, swept, live())
	}
}

func TestStart(t *testing.T) {
	p := compile(t, spec())
	for name, c := range map[string]struct {
		start time.Time
		body  string
		now   string
		want  event.Verdict
	}{
		"the first event's time": {body: order("a", "2026-03-01T10:00:00+02:00", 1), now: "2026-03-01T08:00:00Z", want: event.Inserted},
		"the oldest event":       {body: order("a", "1970-01-01T00:00:00Z", 1), now: "1970-01-02T00:00:00Z", want: event.Inserted},
		"the newest event":       {body: order("a", "9999-01-01T00:00:00Z", 1), now: "2100-01-01T00:00:00Z", want: event.Inserted},
		"set, and long after it": {start: must.Time("2026-06-01T00:00:00Z"), body: first(1),
			now: "2026-06-01T00:00:00Z", want: event.Expired},
		"set, and long before it": {start: must.Time("2025-06-01T00:00:00Z"), body: first(1),
			now: "2025-06-01T00:00:00Z", want: event.Inserted},
		"not an event": {body: "{}", now: "1970-01-02T00:00:00Z", want: event.Poison},
	} {
		t.Run(name, func(t *testing.T) {
			w := New(t, Config{Pipeline: p, Start: c.start})
			w.Send(c.body)
			w.Verify()
			must.Equal(t, w.Now().Format(time.RFC3339), c.now)
			if w.Verdicts()[c.want] != 1 {
				t.Errorf("verdicts %v, want %s", w.Verdicts(), c.want)
			}
		})
	}
}

func TestQuarantine(t *testing.T) {
	w := newWorld(t, spec())
	w.SendMessage(Message{Body: `{"merchant":"m1"}`, Attributes: map[string]string{"trace": "t1", "ce-specversion": "1.0", "ce-id": "1",
		"ce-source": "s", "ce-type": "order.lost"}})
	w.handled(first(1), first(2))
	w.Advance(200 * day) // letters are kept longer than SQS's own 14 days
	letters := w.Quarantined()
	if len(letters) != 2 || !reflect.DeepEqual(letters, w.Quarantined()) {
		t.Fatalf("letters %+v, and then %+v", letters, w.Quarantined())
	}
	if l := letters[0]; l.Verdict != "Poison" || l.Reason != event.UnknownType || l.Body != `{"merchant":"m1"}` || len(l.Attributes) != 5 ||
		l.Attributes["trace"] != "t1" || !strings.Contains(l.Detail, "order.lost") {
		t.Errorf("first letter %+v", l)
	}
	if l := letters[1]; l.Verdict != "Conflict" || l.Reason != event.DigestDiffers || l.Key != (event.Key{PK: "ORDER#a", SK: "ORDER"}) ||
		l.Body != first(2) {
		t.Errorf("second letter %+v", l)
	}
}

// TestDeadLetters shows what happens with ten attributes. There is no room for the reason, so
// quarantine cannot take the message.
func TestDeadLetters(t *testing.T) {
	for _, fifo := range []bool{false, true} {
		w := New(t, Config{Pipeline: compile(t, spec()), FIFO: fifo})
		m := Message{Body: "poison", Attributes: map[string]string{}}
		for i := range 10 {
			m.Attributes[fmt.Sprint("a", i)] = "x"
		}
		if fifo {
			m.Group = "g1"
		}
		w.SendMessage(m)
		w.Verify()
		if got := w.DeadLetters(); len(got) != 1 || !reflect.DeepEqual(got[0], m) {
			t.Errorf("dead letters %+v", got)
		}
		must.Equal(t, w.Verdicts()[event.Poison], stack.MaxReceives)
	}
}

// TestDeploy shows that a new aggregate counts what comes after it.
func TestDeploy(t *testing.T) {
	w := newWorld(t, spec())
	w.handled(first(1))
	s := spec()
	s.Epoch = 2
	s.Aggregates["all"] = pipeline.AggregateSpec{Since: 2,
		From: map[string]pipeline.FromSpec{"order.placed": {Values: map[string]string{"orders": "count"}}}}
	w.Deploy(compile(t, s))
	w.Drain()
	if all := w.Total("all", nil, w.Now()); !all.Missing || !all.Building {
		t.Errorf("before anything is counted: %+v", all)
	}
	b := w.verified()
	must.Equal(t, b.errors+b.fatal, "")
	must.Equal(t, b.logs, "ingottest: all since 2 is building: events from before it was deployed may not be counted in it\n")
	w.handled(order("b", "2026-03-01T10:00:00Z", 1))
	if all := w.Total("all", nil, w.Now()); all.Values["orders"].String() != "1" || !all.Building {
		t.Errorf("before the touch pass: %+v", all)
	}
	_, err := repair.Of(w.Store()).Touch(context.Background())
	must.Succeed(t, err)
	w.Verify()
	if all := w.Total("all", nil, w.Now()); all.Values["orders"].String() != "2" {
		t.Errorf("after the touch pass: %+v", all)
	}
	s.Aggregates["all"] = pipeline.AggregateSpec{Since: 2, Spread: 2, From: s.Aggregates["all"].From}
	changed := compile(t, s)
	must.Say(t, watched(func(tb TB) { w.t = tb; w.Deploy(changed) }).fatal, "all", "epoch")
}

// TestWhatFailsATest shows that a world that goes wrong says so.
func TestWhatFailsATest(t *testing.T) {
	p := compile(t, spec())
	plain := func(tb TB) *World { return New(tb, Config{Pipeline: p}) }
	stuck := errors.New("the mail server is down")
	for name, c := range map[string]struct {
		test         func(TB)
		errors, dies string
	}{
		"no pipeline": {func(tb TB) { New(tb, Config{}) }, "", "Config.Pipeline is nil"},
		"start":       {func(tb TB) { New(tb, Config{Pipeline: p, Start: time.Unix(0, 0)}) }, "", "Config.Start is 1970-01-01T00:00:00Z"},
		"batch size":  {func(tb TB) { New(tb, Config{Pipeline: p, FIFO: true, BatchSize: 100}) }, "", "10"},
		"no message":  {func(tb TB) { plain(tb).Send(first(1), "") }, "", `message ""`},
		"a fault that never comes about": {func(tb TB) {
			w := plain(tb)
			w.handled(first(1))
			w.Throttle(Ingest, 2)
			w.Redeliver()
			w.Verify()
		}, "Throttle(Ingest, 2) never came about: the function sent only 1 requests", ""},
		"request 0":   {func(tb TB) { plain(tb).Crash(Streams, 0) }, "", "Crash(Streams, 0)"},
		"no function": {func(tb TB) { plain(tb).LoseAnswer(7, 1) }, "", "LoseAnswer(Function(7), 1)"},
		"a hook that always fails": {func(tb TB) {
			w := New(tb, Config{Pipeline: p, OnChange: func(context.Context, event.Change) error { return stuck }})
			w.handled(first(1))
		}, "", "the last failure was: Config.OnChange, told that ORDER#a / ORDER was inserted: the mail server is down"},
		"changes that nobody read": {func(tb TB) {
			w := New(tb, Config{Pipeline: p, OnResult: func(context.Context, handler.Outcome) {}})
			w.Send(first(1))
			_, err := w.queue.Poll(w.ctx)
			must.Succeed(t, err)
			w.Advance(2 * day)
			w.Verify()
		}, "live since 1: missing", ""},
		"a message that nobody read": {func(tb TB) {
			w := plain(tb)
			w.Send(first(1))
			w.Advance(5 * day)
			w.Verify()
		}, "1 message was in the queue for 4 days, not done with: SQS has deleted what is so old; call Drain before Advance", ""},
		"messages of a FIFO queue that nobody read": {func(tb TB) {
			w := New(tb, Config{Pipeline: p, FIFO: true})
			w.Send(first(1))
			w.Verify()
			w.Redeliver()
			w.Send(order("b", "2026-03-01T10:00:00Z", 1))
			w.Advance(3 * day)
			w.Send(order("c", "2026-03-01T10:00:00Z", 1)) // young enough
			w.Advance(2 * day)
			w.Drain()
			w.Verify()
		}, "2 messages were in the queue for 4 days", ""},
		"a total at no time": {func(tb TB) {
			plain(tb).Total("daily", merchant, time.Time{})
		}, "", "aggregate daily has windows of 24h0m0s, and Total was given no time"},
		"a total that is wrong": {func(tb TB) {
			w := plain(tb)
			w.handled(first(1))
			w.world.Alter(t, stack.Aggregates, testworld.Key("A#daily#1#0#m1", "2026-03-01T00:00:00Z"), "ADD cents :v", rows.Number("1"))
			w.Verify()
		}, "cents is 2, and its items add up to 1", ""},
		"no such aggregate": {func(tb TB) { plain(tb).Total("weekly", nil, earliest) }, "", `no aggregate "weekly"`},
		"a by that is never made": {func(tb TB) {
			s := spec()
			daily := s.Aggregates["daily"]
			daily.By = map[string]string{"merchant": "{merchant | lower}"}
			s.Aggregates["daily"] = daily
			New(tb, Config{Pipeline: compile(t, s)}).Total("daily", map[string]string{"merchant": "M1"}, earliest)
		}, "", `total of daily: merchant: `},
		"no such by": {func(tb TB) { plain(tb).Total("daily", nil, earliest) }, "", "merchant"},
	} {
		t.Run(name, func(t *testing.T) {
			b := watched(c.test)
			must.Say(t, b.errors, c.errors)
			must.Equal(t, b.errors == "", c.errors == "", b.errors)
			must.Say(t, b.fatal, c.dies)
			must.Equal(t, b.fatal == "", c.dies == "", b.fatal)
		})
	}
}

// TestDeployIndexes checks what the comment of Deploy says about indexes.
func TestDeployIndexes(t *testing.T) {
	with := func(indexes ...string) *pipeline.Pipeline {
		s := spec()
		placed := s.Events["order.placed"]
		placed.Indexes = map[string]pipeline.IndexSpec{}
		for _, name := range indexes {
			placed.Indexes[name] = pipeline.IndexSpec{PK: name + "#{merchant}", SK: "{@id}"}
		}
		s.Events["order.placed"] = placed
		return compile(t, s)
	}
	w := New(t, Config{Pipeline: with("GSI1")})
	count := func(index string) string {
		out, err := w.world.Engine.DynamoDB().Query(w.ctx,
			&dynamodb.QueryInput{TableName: aws.String(stack.Events), IndexName: &index,
				KeyConditionExpression:    aws.String(index + "PK = :pk"),
				ExpressionAttributeValues: map[string]types.AttributeValue{":pk": &types.AttributeValueMemberS{Value: index + "#m1"}}})
		if err != nil {
			return "no such index"
		}
		return fmt.Sprint(out.Count)
	}
	w.Send(first(1))
	w.Verify()
	w.Deploy(with("GSI2"))
	w.Send(order("b", "2026-03-01T10:00:00Z", 1))
	w.Verify()
	for i, want := range []string{"GSI1", "GSI2"} {
		if got := w.Items()[i].Indexes; len(got) != 1 || got[0].Name != want {
			t.Errorf("item %d is in %v, want %s", i, got, want)
		}
	}
	must.Equal(t, count("GSI1")+", "+count("GSI2"), "1, no such index")
}

// TestSameSeedSameRun shows that nothing depends on the machine.
func TestSameSeedSameRun(t *testing.T) {
	run := func(seed uint64) string {
		var trace strings.Builder
		w := New(t, Config{Pipeline: compile(t, spec()), Seed: seed, BatchSize: 4,
			OnResult: func(_ context.Context, o handler.Outcome) { fmt.Fprintln(&trace, o.Message.MessageId, o.Verdict) },
			OnChange: func(_ context.Context, c event.Change) error {
				fmt.Fprintln(&trace, c.Lane, c.Sequence, c.Key)
				return nil
			}})
		for i := range 20 {
			w.Send(order(fmt.Sprint(i%15), "2026-03-01T10:00:00Z", 1))
		}
		w.Throttle(Ingest, 2)
		w.Crash(Ingest, 4)
		w.LoseAnswer(Streams, 4)
		w.Verify()
		fmt.Fprintln(&trace, w.Now())
		return trace.String()
	}
	if first, again := run(1), run(1); first != again {
		t.Error("two runs of one seed differ")
	}
	if run(1) == run(2) {
		t.Error("two seeds give one run")
	}
}

// TestPanicOfAHook shows that a panic of a hook belongs to the test, and is not a crash of the
// function.
func TestPanicOfAHook(t *testing.T) {
	w := New(t, Config{Pipeline: compile(t, spec()), OnResult: func(context.Context, handler.Outcome) { panic("the hook's") }})
	w.Send("{}")
	defer func() {
		must.Equal(t, recover(), "the hook's")
	}()
	w.Drain()
	t.Error("the panic was swallowed")
}
