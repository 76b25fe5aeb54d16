package store_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/ingot-events/ingot/aggregate"
	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/internal/plan/lanes"
	"github.com/ingot-events/ingot/pipeline"
	"github.com/ingot-events/ingot/store"
	"github.com/ingot-events/ingot/store/repair"
	"github.com/ingot-events/ingot/tables"
)

// As many aggregates as a file may declare start, start again, and go up an epoch. Half of them are
// new generations then, which is as many as one transaction retires and begins.
func TestMostAggregatesStart(t *testing.T) {
	most := func(epoch int64) func(*pipeline.Spec) {
		return func(s *pipeline.Spec) {
			s.Epoch, s.Aggregates = epoch, map[string]pipeline.AggregateSpec{}
			for i := range pipeline.MaxAggregates {
				since := epoch
				if i >= pipeline.MaxAggregates/2 {
					since = 1
				}
				s.Aggregates[fmt.Sprint("a", i)] = pipeline.AggregateSpec{Since: since,
					From: map[string]pipeline.FromSpec{"order": {Values: map[string]string{"orders": "count"}}}}
			}
		}
	}
	w := newWorld(t)
	for _, epoch := range []int64{1, 1, 2} {
		s := w.with(most(epoch), aggregate.Marks)
		must.Succeed(t, s.Start(deadline(t)))
		must.Equal(t, w.epoch(), fmt.Sprint(epoch), epoch)
	}
}

// longest is the largest update and the largest condition of all requests.
type longest struct{ update, condition, operators int }

// measure records the expressions of every write of a total.
func (l *longest) measure(_ string, in any) error {
	note := func(update, condition *string) {
		c := aws.ToString(condition)
		l.update, l.condition = max(l.update, len(aws.ToString(update))), max(l.condition, len(c))
		operators := 0
		for _, word := range []string{" AND ", " OR ", " < ", " > ", " <= ", " >= ", " = ",
			"("} { // a function and a group have one ( each
			operators += strings.Count(c, word)
		}
		l.operators = max(l.operators, operators)
	}
	switch in := in.(type) {
	case *dynamodb.UpdateItemInput:
		note(in.UpdateExpression, in.ConditionExpression)
	case *dynamodb.TransactWriteItemsInput:
		for _, item := range in.TransactItems {
			if item.Update != nil {
				note(item.Update.UpdateExpression, item.Update.ConditionExpression)
			}
		}
	}
	return nil
}

// This test makes the longest expressions that an update can have: all values of one kind, the
// expired part, flag, expiry, the mark, and as many marks to prune as one update takes. The service
// refuses expressions of more than 4 KB and more than 300 operators, and so does the engine. The
// test counts both. It also counts groups in parentheses, because what the service counts is not
// documented.
func TestLongestExpressions(t *testing.T) {
	for _, op := range []string{"max cents", "sum cents", "histogram cents"} {
		for _, way := range bothWays {
			t.Run(op+" "+way.String(), func(t *testing.T) {
				var got longest
				w := newWorld(t, counting(way), func(s *setup) {
					values := map[string]string{}
					for i := range pipeline.MaxValues {
						values[fmt.Sprint("value_", i)] = op
					}
					s.Aggregates = map[string]pipeline.AggregateSpec{"wide": {Since: 1, Window: 24 * time.Hour,
						Retain: 100 * 24 * time.Hour,
						From:   map[string]pipeline.FromSpec{"order": {Values: values}}}}
				})
				w.onCall = got.measure
				deliver := func(shard string, sequence int64) {
					l := event.Lane{StreamARN: lane.StreamARN, ShardID: shard}
					b := lanes.NewBatch(way, l)
					fresh, gone, swept := w.order(fmt.Sprint(shard, sequence), int(sequence)), w.order(fmt.Sprint("gone", shard), 1),
						w.order(fmt.Sprint("swept", shard), 1)
					for i, c := range []*event.Change{
						{Kind: event.Insert, New: fresh}, {Kind: event.Remove, Old: gone}, {Kind: event.Remove, Expired: true, Old: swept},
					} {
						c.Lane, c.Sequence, c.Created = l, w.sequence(sequence+int64(i)), w.Clock.Now()
						var before, after []aggregate.Contribution
						if c.Old != nil {
							c.Key, before = c.Old.Key, w.plan.Contributions(c.Old).List
						} else {
							c.Key, after = c.New.Key, w.plan.Contributions(c.New).List
						}
						b.Add(c, before, after)
					}
					w.apply(b)
				}
				for i := range 14 {
					deliver(fmt.Sprint("old-", i), 100)
				}
				w.Clock.Pass(80 * time.Hour)
				deliver("new", 200) // beyond what is stored, and with marks to prune
				t.Logf("update %d bytes, condition %d bytes, %d operators", got.update, got.condition, got.operators)
				if got.update > 4096 || got.condition > 4096 || got.operators > 300 {
					t.Errorf("%+v", got)
				}
				if op == "max cents" && (got.condition < 2300 || way == aggregate.Marks && got.operators < 250) {
					t.Errorf("%+v: not the longest", got)
				}
			})
		}
	}
}

// Under receipts a change and its totals are one transaction. A change that cannot fit is refused
// before anything is counted.
func TestTooManyTotalsForReceipts(t *testing.T) {
	spec := orders()
	spec.Aggregates = map[string]pipeline.AggregateSpec{}
	for i := range 60 {
		spec.Aggregates[fmt.Sprint("a", i)] = pipeline.AggregateSpec{Since: 1, OnExpire: "subtract",
			By:   map[string]string{"depot": "{depot}"},
			From: map[string]pipeline.FromSpec{"parcel": {Values: map[string]string{"parcels": "count"}}}}
	}
	w := newWorld(t)
	config := tables.Config{Client: w.Engine.DynamoDB(), Pipeline: w.compile(spec), Events: "events", Aggregates: "totals",
		Counting: aggregate.Receipts}
	if _, err := store.New(config); err == nil ||
		!strings.HasPrefix(err.Error(), "store: one change of event type parcel can touch 120 totals of 60 aggregates, ") {
		t.Errorf("receipts: %v", err)
	}
	config.Aggregates = "" // this store only puts events
	if _, err := store.New(config); err != nil {
		t.Errorf("without totals: %v", err)
	}
	config.Aggregates, config.Counting = "totals", aggregate.Marks
	if _, err := store.New(config); err != nil {
		t.Errorf("marks: %v", err)
	}
}

// fill grows an item of the events table until so many bytes of DynamoDB's 400 KB are left. A
// program other than Ingot can do that.
func (w *world) fill(item *event.Item, room int) {
	w.t.Helper()
	note := textValue(strings.Repeat("x", event.MaxItem-room-item.Size()-len("note")))
	w.Alter(w.t, "events", itemKey(item.Key), "SET note = :v", note)
}

// Items of exactly 400 KB have no room for a longer epoch. The pass stamps all other items and then
// names these.
func TestTouchOfFullItems(t *testing.T) {
	w := newWorld(t)
	items := w.events("order 1 1, order 2 2, order 3 3, order 4 4")
	w.keep(items...)
	w.fill(items[0], 0)
	w.fill(items[2], 0)
	s := w.started(added(101, 101))
	touched, err := repair.Of(s).Touch(deadline(t))
	if touched.Scanned != 4 || touched.Touched != 2 || len(touched.Refused) != 2 {
		t.Errorf("%+v", touched)
	}
	if err == nil || !strings.Contains(err.Error(), "2 of the items could not be updated") ||
		!strings.Contains(err.Error(), `item "ORDER#1 / ORDER": `) ||
		!strings.Contains(err.Error(), `item "ORDER#3 / ORDER": `) || strings.Contains(err.Error(), "ORDER#2") ||
		!strings.Contains(err.Error(), "maximum allowed size") {
		t.Errorf("%v", err)
	}
	w.removes(under("ORDER#1", "ORDER"))
	w.fill(items[2], 1)
	if touched, err := repair.Of(s).Touch(deadline(t)); err != nil || touched.Touched != 1 {
		t.Errorf("once there is room: %+v, %v", touched, err)
	}
}

// A pass in which no item can be stamped ends soon, because the items are then not the reason.
func TestTouchEndsWhenAllAreRefused(t *testing.T) {
	w := newWorld(t)
	items := w.orders(0, 150)
	w.arrive(items...)
	s := w.started(added(2, 2))
	for range 6 {
		w.faults = append(w.faults, fault{API: "BatchExecuteStatement", Before: errUnforeseen})
	}
	for range 150 {
		w.faults = append(w.faults, fault{API: "UpdateItem", Before: errUnforeseen})
	}
	touched, err := repair.Of(s).Touch(deadline(t))
	if err == nil || touched.Touched != 0 || len(touched.Refused) != 100 || len(w.faults) != 50 {
		t.Errorf("%d refused, %d touched, %.200v", len(touched.Refused), touched.Touched, err)
	}
}

// wideEvent declares an event type whose items have every attribute that Ingot itself can add.
// Declared attributes fill an INSERT statement to the last character. over adds that many more
// characters.
func wideEvent(over int) option {
	return func(s *setup) {
		e := pipeline.EventSpec{ID: "{id}", At: "{at}", Key: pipeline.KeySpec{PK: "WIDE#{id}", SK: "-"}, Retain: 90 * 24 * time.Hour,
			Mode: "latest", Revision: "rev number",
			Indexes:    map[string]pipeline.IndexSpec{"GSI1": {PK: "{id}", SK: "{@source}"}},
			Attributes: map[string]string{strings.Repeat("x", 18+over): "id"}}
		for i := range 30 {
			e.Attributes[fmt.Sprintf("%s%02d", strings.Repeat("w", 249), i)] = "id"
		}
		s.Events["wide"] = e
	}
}

// The pipeline's bound on names is the service's bound on statements, for the longest name that a
// table can have.
func TestWidestItemFitsAStatement(t *testing.T) {
	longest, statements := 0, 0
	w := newWorld(t, wideEvent(0))
	w.onCall = requests("BatchExecuteStatement", func(in any) {
		for _, s := range in.(*dynamodb.BatchExecuteStatementInput).Statements {
			statements++
			longest = max(longest, len(*s.Statement)-len("events")+255)
		}
	})
	var items events
	for i := range 8 {
		item, err := w.plan.PlanEvent(w.eventFrom("here", fmt.Sprintf(`{"type":"wide","id":"%d","rev":1,"at":"2099-03-01T10:00:00Z"}`, i)))
		must.Succeed(t, err)
		items = append(items, item)
	}
	if results, _ := w.arrive(items...); verdicts(results) != strings.TrimSpace(strings.Repeat("Inserted ", 8)) {
		t.Errorf("%s: %v", verdicts(results), results[0].Refusal)
	}
	if statements != 8 || longest != 8192 {
		t.Errorf("%d statements, the longest of %d characters; the bound is for 8192", statements, longest)
	}
	s := &setup{Spec: orders()}
	wideEvent(1)(s)
	_, err := pipeline.New(s.Spec)
	must.Fail(t, err, "8193 characters")
}
