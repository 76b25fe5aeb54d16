package store_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"

	"github.com/ingot-events/ingot/aggregate"
	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/internal/plan/lanes"
	"github.com/ingot-events/ingot/internal/testworld"
	"github.com/ingot-events/ingot/pipeline"
	"github.com/ingot-events/ingot/store"
	"github.com/ingot-events/ingot/tables"
)

// oneByOne sets how many totals go as UpdateItems.
func oneByOne(n int) option {
	return func(s *setup) { s.tables.OneByOne = n }
}

// perMerchant returns orders of so many merchants. Each order touches a total of its merchant, a
// total of its merchant's day, and a total of all.
func (w *world) perMerchant(merchants, from int) events {
	var items events
	for i := range merchants {
		items = append(items, w.orderOf(fmt.Sprint("m", i), fmt.Sprint(from+i), 5+from))
	}
	return items
}

// This test shows what many totals cost. If nothing is known, it takes one look for a hundred of
// them, and one statement each, 25 in a request. When they are redelivered, what was counted is
// dropped, by the look or by the items that the refusals bring.
func TestCostsOfManyTotals(t *testing.T) {
	for _, returns := range []bool{true, false} {
		w := newWorld(t, func(s *setup) { s.engine.PartiQLReturnsItem = returns })
		batch := func() *lanes.Batch { return w.batch(aggregate.Marks, 1, w.perMerchant(100, 1)...) } // 201 totals
		spend := func(name string, b *lanes.Batch, looks, requests int64, writes, reads float64, dropped int) {
			t.Helper()
			meter := w.meter()
			a := w.apply(b)
			used := meter()
			if used.Requests["BatchGetItem"] != looks || used.Requests["BatchExecuteStatement"] != requests ||
				used.TotalRequests() != looks+requests {
				t.Errorf("%s (returns %v): %v", name, returns, used.Requests)
			}
			if used.WriteUnits() != writes || used.ReadUnits() != reads || a.Cost.WriteUnits != writes || a.Cost.ReadUnits != reads ||
				int64(a.Cost.Requests) != looks+requests {
				t.Errorf("%s (returns %v): %v write and %v read units, own accounts %+v", name, returns, used.WriteUnits(),
					used.ReadUnits(), a.Cost)
			}
			if a.Dropped != dropped || !a.Unproven.IsZero() {
				t.Errorf("%s: %d dropped, unproven %s (%v)", name, a.Dropped, a.Unproven, a.Err)
			}
		}
		spend("new", batch(), 3, 9, 201, 100.5, 0)
		spend("known", w.batch(aggregate.Marks, 1000, w.perMerchant(100, 1000)...), 0, 9, 201, 0, 0)
		again := w.batch(aggregate.Marks, 1000, w.perMerchant(100, 1000)...)
		if returns {
			spend("again", again, 0, 9, 201, 0, 300)
		} else {
			spend("again", again, 9, 9, 201, 201, 300)
		}
		w.store = w.open(tables.Config{Aggregates: "totals"})
		spend("again, by a cold function", batch(), 3, 0, 0, 100.5, 300)
	}
}

// A batch leaves the same totals whether they are written one by one or by statements. It does not
// matter what else is in the table, or who has changed what was seen of it.
func TestStatementsAreUpdateItems(t *testing.T) {
	for seed := range uint64(40) {
		rng := rand.New(rand.NewPCG(seed, 5))
		var worlds [2]*world
		for i, few := range []int{-1, 1} {
			worlds[i] = newWorld(t, oneByOne(few), func(s *setup) {
				s.engine.PartiQLReturnsItem = seed%2 == 0
			})
		}
		sequence := int64(1)
		for range 8 {
			merchants, cents, removal, swept, shard := 1+rng.IntN(12), rng.IntN(40), rng.IntN(3) == 0, rng.IntN(2) == 0,
				fmt.Sprint(rng.IntN(3))
			cold, gone, passed := rng.IntN(3) == 0, rng.IntN(4) == 0, time.Duration(rng.IntN(60))*time.Hour
			for _, w := range worlds {
				if cold {
					w.store = w.open(tables.Config{Aggregates: "totals",
						OneByOne: map[*world]int{worlds[0]: -1, worlds[1]: 1}[w]})
				}
				w.Clock.Pass(passed)
				b := lanes.NewBatch(aggregate.Marks, event.Lane{StreamARN: lane.StreamARN, ShardID: shard})
				for i, item := range w.perMerchant(merchants, cents) {
					c := w.insert(sequence+int64(i), item)
					if removal {
						c.Kind, c.Old, c.New, c.Expired = event.Remove, item, nil, swept
						b.Add(c, w.plan.Contributions(item).List, nil)
						continue
					}
					b.Add(c, nil, w.plan.Contributions(item).List)
				}
				if a := w.apply(b); !a.Unproven.IsZero() || a.Refused > 0 {
					t.Fatalf("seed %d: %+v", seed, a)
				}
				if gone { // by hand, or by time to live, so what a warm store remembers is no longer true
					w.removesFrom("totals", under("A#by_merchant#1#0#m0", "-"))
				}
			}
			sequence += int64(merchants)
		}
		if one, many := worlds[0].dump(), worlds[1].dump(); one != many {
			t.Fatalf("seed %d: one by one\n%s\nby statements\n%s", seed, one, many)
		}
	}
}

// dump returns the aggregates table as text, without marks. When a mark is pruned depends on when
// it is seen.
func (w *world) dump() string {
	out, err := w.Engine.DynamoDB().Scan(context.Background(), &dynamodb.ScanInput{TableName: aws.String("totals")})
	must.Succeed(w.t, err)
	var lines []string
	for _, item := range out.Items {
		var parts []string
		for name, v := range item {
			if !strings.HasPrefix(name, lanes.MarkPrefix) {
				parts = append(parts, name+"="+show(v))
			}
		}
		slices.Sort(parts)
		lines = append(lines, strings.Join(parts, " "))
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

// If one total refuses its update for good, it does not hold back the others in its request. It
// alone is quarantined and flagged, after the answer to an UpdateItem. The same holds if the
// request as a whole is refused.
func TestRefusedAmongMany(t *testing.T) {
	for name, whole := range map[string]bool{"a statement": false, "the request": true} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.write("totals", under("A#by_merchant#1#0#m3", "-"), attrs{"revenue": textValue("text")})
			if whole {
				w.faults = []fault{{API: "BatchExecuteStatement", Before: &smithy.GenericAPIError{Code: "ValidationException"}}}
			}
			var refused []string
			a := w.store.Apply(deadline(t), w.batch(aggregate.Marks, 1, w.perMerchant(20, 1)...), keeping(&refused))
			if !a.Unproven.IsZero() || a.Refused != 1 || len(refused) != 1 || !strings.Contains(refused[0], "m3") || a.Updates != 41 {
				t.Fatalf("%+v, refused %v", a, refused)
			}
			for i := range 20 {
				total := w.total("by_merchant", "merchant", fmt.Sprintf("m%d", i))
				if want := map[bool]int64{true: 0, false: 1}[i == 3]; total.N != want || (len(total.Flags) > 0) != (i == 3) {
					t.Errorf("m%d: %+v", i, total)
				}
			}
		})
	}
}

// Each statement has its own answer. If one is throttled or gets no answer, it is sent again
// without the others. If the whole answer is lost, each asks again under its own condition.
func TestStatementsAreAnsweredOneByOne(t *testing.T) {
	w := newWorld(t)
	refuse := func(code types.BatchStatementErrorCodeEnum) func(any) {
		return func(output any) {
			out := output.(*dynamodb.BatchExecuteStatementOutput)
			for i := range 5 {
				out.Responses[i] = types.BatchStatementResponse{Error: &types.BatchStatementError{Code: code, Message: aws.String("again")}}
			}
		}
	}
	w.faults = []fault{
		{API: "BatchExecuteStatement",
			Edit: refuse(types.BatchStatementErrorCodeEnumThrottlingError)}, // the answer says throttled, but the statement is done
		{API: "BatchExecuteStatement", Edit: refuse(types.BatchStatementErrorCodeEnumInternalServerError)},
		{API: "BatchExecuteStatement", After: errors.New("connection reset")},
		{API: "BatchGetItem", Edit: func(output any) { leaveUnprocessed(output) }},
	}
	a := w.counts(1, w.perMerchant(40, 1)...)
	if !a.Unproven.IsZero() || a.Cost.Throttles["ThrottlingError"] != 5 {
		t.Fatalf("%+v", a)
	}
	if len(a.Cost.Hot) != 5 {
		t.Errorf("refused: %v", a.Cost.Hot)
	}
	for i := range 40 {
		if total := w.total("by_merchant", "merchant", fmt.Sprintf("m%d", i)); total.N != 1 ||
			total.Values["revenue"].String() != "6" || len(total.Flags) > 0 {
			t.Errorf("m%d: %+v", i, total)
		}
	}
	w.expect("live", "orders 40")
}

// Of the statements of one request, some are done, some are throttled, and some are told of an
// internal error, whether they are done or not. All stand in an answer that is a success. Each
// total counts the batch once, whether it is inserted or updated.
func TestHalfAppliedStatements(t *testing.T) {
	trouble := false
	w := newWorld(t, oneByOne(1), func(s *setup) {
		s.engine.Intercept = func(_ context.Context, _ string, in any, call func() (any, error)) (any, error) {
			request, is := in.(*dynamodb.BatchExecuteStatementInput)
			if !is || !trouble {
				return call()
			}
			trouble = false
			refused := make([]bool, len(request.Statements))
			for i := range refused {
				refused[i] = i%5 == 1 || i%5 == 2
			}
			out, err := testworld.RefuseStatements(request, refused, testworld.Throttled("no capacity"), call)
			for i := range refused {
				if i%5 == 2 || i%5 == 3 {
					out.(*dynamodb.BatchExecuteStatementOutput).Responses[i] = types.BatchStatementResponse{
						Error: &types.BatchStatementError{Code: types.BatchStatementErrorCodeEnumInternalServerError}}
				}
			}
			return out, err
		}
	})
	for i, orders := range []string{"1", "2"} {
		trouble = true
		if a := w.counts(int64(100*i+1), w.perMerchant(8, 100*i)...); trouble || a.Updates == 0 {
			t.Fatalf("no trouble, or no update: %+v", a)
		}
		for n := range 8 {
			for _, name := range []string{"by_merchant", "daily"} {
				total := w.total(name, "merchant", fmt.Sprintf("m%d", n))
				must.Equal(t, total.Values["orders"].String(), orders, name, n)
			}
		}
		w.expect("live", fmt.Sprint("orders ", 8*(i+1)))
	}
}

// What another function has just made of a value, which was not there or was another, is not
// overwritten by a function that does not know it. Each value is in a total of its own, so that no
// condition of another one helps.
func TestStatementsMeetOtherValues(t *testing.T) {
	w := newWorld(t, oneByOne(1), func(s *setup) {
		for name, value := range map[string]string{"tips": "sum tip?", "least": "min tip?", "most": "max tip?", "kinds": "distinct tip?"} {
			s.Aggregates[name] = pipeline.AggregateSpec{Since: 1,
				From: map[string]pipeline.FromSpec{"order": {Values: map[string]string{name: value, "orders": "count"}}}}
		}
	})
	apply := func(s *store.Store, sequence int64, tip string) {
		b := w.batch(aggregate.Marks, sequence, w.order(fmt.Sprint(sequence), 5, `"tip":`+tip))
		if a := s.Apply(deadline(t), b, noQuarantine(t)); !a.Unproven.IsZero() {
			t.Fatal(a.Err)
		}
	}
	apply(w.store, 1, "null")
	for i, tips := range [][2]string{{"9", "7"}, {"5", "11"}} {
		w.faults = []fault{{API: "BatchExecuteStatement", Run: func() { apply(w.sandbox(1), int64(20*i+11), tips[0]) }}}
		apply(w.store, int64(20*i+21), tips[1])
	}
	kinds := w.total("kinds")
	sketch, _ := kinds.Distinct("kinds")
	got := fmt.Sprint(w.total("tips").Values["tips"], w.total("least").Values["least"], w.total("most").Values["most"],
		sketch.Estimate())
	must.Equal(t, got, "32 5 11 4")
}
