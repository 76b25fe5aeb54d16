package store_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/pipeline"
	"github.com/ingot-events/ingot/store"
	"github.com/ingot-events/ingot/tables"
)

// Every verdict is reached for one item and for many, which go by different requests. It is reached
// with and without the image that a failed statement may bring back.
func TestVerdicts(t *testing.T) {
	type step struct {
		name  string
		items string
		want  string
	}
	steps := []step{
		{"new", "order 1 100", "Inserted"},
		{"again", "order 1 100", "Duplicate"},
		{"same number spelled otherwise, ignored member differs",
			`{"trace":"x","cents":1e2,"merchant":"m","at":"2099-03-01T10:00:00Z","id":"1","type":"order"}`, "Duplicate"},
		{"other payload", "order 1 101", "Conflict"},
		{"copies in one batch: equal, other", "order 2 5, order 2 5, order 2 6", "Inserted Duplicate Conflict"},
		{"a conflict first, then the copy of what is stored", "order 2 6, order 2 5", "Conflict Duplicate"},
		{"first revision", "parcel p 3", "Inserted"},
		{"newer, older, same, same revision with other payload",
			`parcel p 5, parcel p 4, parcel p 5, {"type":"parcel","id":"p","rev":5,"at":"2099-03-01T10:00:00Z","x":1}`,
			"Updated Stale Duplicate Conflict"},
		{"older than stored", "parcel p 1", "Stale"},
		{"many revisions at once, highest last", "parcel q 1, parcel q 2, parcel q 3", "Stale Stale Inserted"},
		{"past its time and not stored",
			`{"type":"order","id":"old","merchant":"m","cents":1,"at":"2098-12-01T12:09:59Z"}`, "Expired"},
		{"ten minutes before its time",
			`{"type":"order","id":"late","merchant":"m","cents":1,"at":"2098-12-01T12:10:00Z"}`, "Expired"},
		{"ten minutes and a second before it",
			`{"type":"order","id":"edge","merchant":"m","cents":1,"at":"2098-12-01T12:10:00.5Z"}`, "Inserted"},
	}
	for _, many := range []bool{false, true} {
		for _, returns := range []bool{false, true} {
			t.Run(fmt.Sprintf("many=%v image=%v", many, returns), func(t *testing.T) {
				w := newWorld(t, func(s *setup) { s.engine.PartiQLReturnsItem = returns })
				for n, step := range steps {
					items := w.events(step.items)
					count := len(items)
					for i := 0; many && i < 30; i++ {
						items = append(items, w.order(fmt.Sprintf("filler-%d-%d", n, i), i))
					}
					results, _ := w.arrive(items...)
					must.Equal(t, verdicts(results[:count]), step.want)
					for i, r := range results[count:] {
						must.Equal(t, r.Verdict, event.Inserted, step.name, i)
					}
					for i, r := range results {
						if (r.Refusal == nil) == r.Verdict.Quarantined() || (r.Refusal != nil && r.Refusal.Verdict != r.Verdict) {
							t.Errorf("%s: result %d is %s with refusal %v", step.name, i, r.Verdict, r.Refusal)
						}
					}
				}
			})
		}
	}
}

func TestStoredPastItsTimeIsADuplicate(t *testing.T) {
	w := newWorld(t)
	item := w.order("1", 1)
	w.arrive(item)
	w.Clock.Set(time.Unix(item.ExpiresAt, 0).Add(time.Hour))
	w.says("order 1 1, order 1 2, order never 1", "Duplicate Conflict Expired")
	if w.Engine.SweepExpired() == 0 {
		t.Fatal("nothing swept")
	}
	w.judges("Expired", w.order("1", 1))
}

func TestForeignItemUnderTheKey(t *testing.T) {
	w := newWorld(t)
	item := w.order("1", 1)
	w.write("events", item.Key, attrs{"hello": textValue("world")})
	must.Equal(t, told(w.putNow(item)), "Conflict key-taken")
	if img := w.stored("events", item.Key); len(img) != 3 {
		t.Errorf("the foreign item was changed: %v", img)
	}
}

// If a path is ignored only since an item was written, the redelivery of that item must not be a
// conflict.
func TestDigestUnderTodaysIgnore(t *testing.T) {
	w := newWorld(t)
	w.arrive(w.order("1", 1, `"sent":"a"`))
	s := w.changed(ofType("order", func(e *pipeline.EventSpec) { e.Ignore = append(e.Ignore, "sent") }))
	today := s.Config().Pipeline
	items := events{
		w.itemOf(today, `"type":"order"`, `"id":"1"`, `"merchant":"m"`, `"cents":1`, `"at":"2099-03-01T10:00:00Z"`, `"sent":"b"`),
		w.itemOf(today, `"type":"order"`, `"id":"1"`, `"merchant":"m"`, `"cents":2`, `"at":"2099-03-01T10:00:00Z"`, `"sent":"a"`)}
	for i, want := range []event.Verdict{event.Duplicate, event.Conflict} {
		if results, _ := s.Put(deadline(t), items[i:i+1]); results[0].Verdict != want {
			t.Errorf("item %d: %s, want %s", i, results[0].Verdict, want)
		}
	}
}

// Every write fails in two ways: not applied, and applied with the answer lost. In both cases the
// event is stored once in the end, and only a proof is called a proof.
func TestFaultsOfEveryCall(t *testing.T) {
	for _, n := range []int{1, 30} {
		for _, api := range []string{"PutItem", "BatchExecuteStatement", "BatchGetItem"} {
			for name, f := range map[string]fault{
				"refused":   {API: api, Before: errThrottled},
				"no answer": {API: api, Before: errLost},
				"lost":      {API: api, After: errLost},
			} {
				t.Run(fmt.Sprintf("%d %s %s", n, api, name), func(t *testing.T) {
					w := newWorld(t)
					w.arrive(w.order("0", 0)) // the first is a duplicate, so there are reads
					w.faults = []fault{f, f}
					items := w.orders(0, n)
					results, _ := w.arrive(items...)
					for i, r := range results {
						if !r.Verdict.Stored() {
							t.Errorf("item %d: %s (%v)", i, r.Verdict, r.Refusal)
						}
						if len(w.stored("events", items[i].Key)) == 0 {
							t.Errorf("item %d: %s, and it is not there", i, r.Verdict)
						}
					}
				})
			}
		}
	}
}

func TestStatementsThrottledInsideASuccess(t *testing.T) {
	w := newWorld(t)
	throttle := func(output any) {
		out := output.(*dynamodb.BatchExecuteStatementOutput)
		for i := range out.Responses {
			hot := &types.BatchStatementError{Code: types.BatchStatementErrorCodeEnumThrottlingError, Message: aws.String("hot")}
			out.Responses[i] = types.BatchStatementResponse{Error: hot}
		}
	}
	w.faults = []fault{{API: "BatchExecuteStatement", Edit: throttle}}
	items := w.orders(0, 20)
	results, cost := w.arrive(items...)
	for i, r := range results {
		// The engine had applied them. An answer that says throttled, and lies, must not make a
		// conflict.
		must.Equal(t, r.Verdict, event.Duplicate, i)
	}
	if cost.Retries != 20 || cost.Throttles["ThrottlingError"] != 20 || w.slept == 0 {
		t.Errorf("retries %d, throttles %v, waits %d", cost.Retries, cost.Throttles, w.slept)
	}
	refused := 0
	for partition, n := range cost.Hot {
		if partition.Of == "order" && partition.Index == "" {
			refused += n
		}
	}
	if refused != 20 || cost.Hot[tables.Partition{Of: "order", Key: items[7].Key.PK}] != 1 {
		t.Errorf("refused: %v", cost.Hot)
	}
}

// If a request is refused as invalid because of one statement, each other event costs one more
// request. These events are stored, and only the wrong one comes back.
func TestRefusedRequestOfMany(t *testing.T) {
	wide := func(i *event.Item) {
		for n := range 40 {
			i.Attributes = append(i.Attributes, event.Attribute{Name: fmt.Sprintf("%s%02d", strings.Repeat("w", 250), n),
				Kind: event.BoolAttribute, Text: "true"})
		}
	}
	wrong := func(i *event.Item) {
		i.Attributes = []event.Attribute{{Name: "n", Kind: event.NumberAttribute, Text: "one"}}
	}
	for name, c := range map[string]struct {
		n        int
		spoil    func(*event.Item)
		all      bool
		want     event.Verdict // for the spoiled event
		requests int
	}{
		"a statement that is too long":   {25, wide, false, event.Inserted, 1 + 25},
		"an invalid number":              {25, wrong, false, event.Retry, 1 + 25},
		"every one of them":              {25, wrong, true, event.Retry, 1 + 25},
		"another request stays as it is": {50, wrong, false, event.Retry, 2 + 25},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			var items events
			for i := range c.n {
				items = append(items, w.order(fmt.Sprint(i), i))
				if i == 7 || c.all {
					c.spoil(items[i])
				}
			}
			results, cost := w.arrive(items...)
			for i, r := range results {
				want := event.Inserted
				if i == 7 || c.all {
					want = c.want
				}
				if r.Verdict != want || (want == event.Inserted) != (len(w.stored("events", items[i].Key)) > 0) {
					t.Errorf("item %d: %s, want %s: %v", i, r.Verdict, want, r.Refusal)
				}
				if want == event.Retry && r.Refusal.Reason != event.Refused {
					t.Errorf("item %d: %v", i, r.Refusal)
				}
			}
			if cost.Requests != c.requests || cost.Retries != 25 || w.slept != 0 {
				t.Errorf("%d requests with %d sent again and %d waits, want %d, 25 and none", cost.Requests, cost.Retries, w.slept,
					c.requests)
			}
		})
	}
}

// What is not proven by the deadline is Retry, with the reason.
func TestNothingProven(t *testing.T) {
	for name, c := range map[string]struct {
		err    error
		reason event.Reason
	}{
		"throttled": {errThrottled, event.Throttled},
		"no answer": {errLost, event.Unproven},
		"no table":  {&types.ResourceNotFoundException{Message: aws.String("no such table")}, event.Refused},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			for range 200 {
				w.faults = append(w.faults, fault{API: "PutItem", Before: c.err}, fault{API: "BatchExecuteStatement", Before: c.err})
			}
			ctx := context.Background() // bounded by rounds
			for _, items := range []events{{w.order("1", 1), w.order("1", 2)},
				{w.order("1", 1), w.order("2", 2), w.order("3", 2), w.order("4", 2)}} {
				results, _ := w.store.Put(ctx, items)
				for i, r := range results {
					if r.Verdict != event.Retry || r.Refusal.Reason != c.reason {
						t.Errorf("item %d: %s (%v), want Retry (%s)", i, r.Verdict, r.Refusal, c.reason)
					}
				}
			}
		})
	}
	t.Run("no time", func(t *testing.T) {
		w := newWorld(t)
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		results, cost := w.store.Put(ctx, w.events("order 1 1"))
		if r := results[0]; r.Verdict != event.Retry || r.Refusal.Reason != event.Unattempted || cost.Requests != 0 {
			t.Errorf("%s %v after %d requests", r.Verdict, r.Refusal, cost.Requests)
		}
	})
}

// If a read finds nothing after a put found the key taken, that proves nothing.
func TestSweptBetweenPutAndRead(t *testing.T) {
	w := newWorld(t)
	item := w.order("1", 1)
	w.arrive(item)
	w.faults = []fault{
		{API: "BatchGetItem", Edit: func(output any) { clear(output.(*dynamodb.BatchGetItemOutput).Responses) }},
	}
	items := w.events("order 1 1, order a 1, order b 1, order c 1")
	w.judges("Retry Inserted Inserted Inserted", items...)
}

// Cost is behaviour. This test compares requests and write units with those that the engine counts.
func TestCosts(t *testing.T) {
	w := newWorld(t)
	var fresh events
	for i := range 1000 {
		fresh = append(fresh, w.order(fmt.Sprintf("cost-%d", i), i))
	}
	for _, c := range []struct {
		name          string
		items         events
		requests      string
		writes, reads float64
	}{
		{"one new event", w.events("order one 1"), "PutItem:1", 1, 0},
		{"one duplicate", w.events("order one 1"), "PutItem:1", 1, 0},
		{"one conflict", w.events("order one 2"), "PutItem:1", 1, 0},
		{"one new event in one index",
			events{w.item(`"type":"indexed"`, `"id":"i"`, `"customer":"c"`, `"at":"2099-03-01T10:00:00Z"`)},
			"PutItem:1", 2, 0},
		{"the same without the index's field", events{w.item(`"type":"indexed"`, `"id":"j"`, `"at":"2099-03-01T10:00:00Z"`)},
			"PutItem:1", 1, 0},
		{"a thousand new events", fresh, "BatchExecuteStatement:40", 1000, 0},
		{"redelivered", fresh, "BatchExecuteStatement:40 BatchGetItem:10", 1000, 1000},
		{"a newer revision", w.events("parcel p 1, parcel p 2"), "PutItem:1", 1, 0},
		{"and over it", w.events("parcel p 3"), "PutItem:2", 2, 0},
	} {
		meter := w.meter()
		_, cost := w.arrive(c.items...)
		used := meter()
		must.Equal(t, charges(used), fmt.Sprintf("map[%s], %v written, %v read", c.requests, c.writes, c.reads), c.name)
		w.accounted(cost, used, c.name)
	}
}

func TestNewRefusesWhatIsMissing(t *testing.T) {
	w := newWorld(t)
	for name, c := range map[string]tables.Config{
		"Client":      {Pipeline: w.plan, Events: "events"},
		"Pipeline":    {Client: w.Engine.DynamoDB(), Events: "events"},
		"Events":      {Client: w.Engine.DynamoDB(), Pipeline: w.plan},
		"Concurrency": {Client: w.Engine.DynamoDB(), Pipeline: w.plan, Events: "events", Concurrency: -1},
	} {
		_, err := store.New(c)
		must.Fail(t, err, name)
	}
}
