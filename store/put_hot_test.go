package store_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/ingot-events/ingot/env"
	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/internal/table/rows"
	"github.com/ingot-events/ingot/internal/testworld"
	"github.com/ingot-events/ingot/store"
	"github.com/ingot-events/ingot/tables"
)

// throttling is a client that throttles writes of some partition keys. Each request takes five
// milliseconds of the world's clock, and each wait takes its full time on that clock.
type throttling struct {
	tables.Client
	w      *world
	keys   map[string]bool // nil: all keys
	reason string          // as the refusal of a whole request names it; the refusal of a statement names none
	widths []int           // how many requests ran at the same time in each round
}

func newThrottling(t *testing.T, reason string, keys ...string) (*throttling, *store.Store) {
	c := &throttling{w: newWorld(t), reason: reason}
	for _, key := range keys {
		if c.keys == nil {
			c.keys = map[string]bool{}
		}
		c.keys[key] = true
	}
	c.Client = c.w.Engine.DynamoDB()
	e := c.w.Clock.Env(half)
	e.Group = func() env.Group {
		c.widths = append(c.widths, 0)
		return counted{&c.widths[len(c.widths)-1]}
	}
	return c, c.w.open(tables.Config{Client: c, Pipeline: c.w.plan, Events: "events", Env: e})
}

func half() float64 { return 0.5 }

// counted runs one function after the other, and counts them.
type counted struct{ n *int }

func (c counted) Go(do func()) { *c.n++; do() }
func (c counted) Wait()        {}

func (c *throttling) throttles(pk types.AttributeValue) bool {
	text := rows.TextOf(pk)
	return c.keys == nil && strings.Contains(text, "#") || c.keys[text]
}

func (c *throttling) PutItem(ctx context.Context, in *dynamodb.PutItemInput, _ ...func(*dynamodb.Options)) (*dynamodb.PutItemOutput,
	error) {
	c.w.Clock.Pass(5 * time.Millisecond)
	if c.throttles(in.Item["PK"]) {
		return nil, &types.ProvisionedThroughputExceededException{ThrottlingReasons: []types.ThrottlingReason{{Reason: &c.reason}}}
	}
	return c.Client.PutItem(ctx, in)
}

func (c *throttling) BatchExecuteStatement(ctx context.Context, in *dynamodb.BatchExecuteStatementInput,
	_ ...func(*dynamodb.Options)) (*dynamodb.BatchExecuteStatementOutput, error) {
	c.w.Clock.Pass(5 * time.Millisecond)
	throttled := make([]bool, len(in.Statements))
	for i, s := range in.Statements {
		throttled[i] = slices.ContainsFunc(s.Parameters, c.throttles)
	}
	return testworld.RefuseStatements(in, throttled, testworld.Throttled(""), func() (*dynamodb.BatchExecuteStatementOutput, error) {
		return c.Client.BatchExecuteStatement(ctx, in)
	})
}

const hotReason = "TableWriteKeyRangeThroughputExceeded"

// One key of a thousand is throttled for good. The batch ends in seconds with all others stored.
// The next batches do not wait for that key at all, and the key does not lower the number of
// requests in flight.
func TestHotKey(t *testing.T) {
	c, s := newThrottling(t, hotReason, "ORDER#7")
	first := c.w.orders(0, 1000)
	s.Put(deadline(t), first[500:]) // half of them are duplicates, which are read while the hot key is tried again
	put := func(name string, most time.Duration, items events) {
		t.Helper()
		began := c.w.Clock.Now()
		c.widths = nil
		results, _ := s.Put(deadline(t), items)
		if took := c.w.Clock.Now().Sub(began); took > most {
			t.Errorf("%s took %s, want %s at the most", name, took, most)
		}
		for i, r := range results {
			if items[i].Key.PK == "ORDER#7" {
				if r.Verdict != event.Retry || r.Refusal.Reason != event.Throttled {
					t.Errorf("%s: the hot key: %s (%v)", name, r.Verdict, r.Refusal)
				}
			} else if !r.Verdict.Stored() {
				t.Errorf("%s: item %d: %s (%v)", name, i, r.Verdict, r.Refusal)
			}
		}
		for round, width := range c.widths {
			if width < 4 {
				t.Errorf("%s: round %d had %d requests at a time", name, round, width)
			}
		}
	}
	put("the first batch", 6*time.Second, first)
	for n := range 5 {
		put("a batch after it", 250*time.Millisecond, append(c.w.orders(1000*(n+1), 999), first[7]))
	}
	c.w.Clock.Pass(time.Minute)
	put("a batch a minute later", 6*time.Second, append(c.w.orders(9000, 999), first[7]))
	c.keys = map[string]bool{}
	if results, _ := s.Put(deadline(t), append(c.w.orders(10000, 9), first[7])); results[9].Verdict != event.Inserted {
		t.Errorf("the key is not hot any more: %v", results[9])
	}
	c.keys = map[string]bool{"ORDER#7": true} // hot again: that has to be found out anew
	again := c.w.order("7", 7)
	began := c.w.Clock.Now()
	if s.Put(deadline(t), events{again}); c.w.Clock.Now().Sub(began) < 3*time.Second {
		t.Errorf("a key that was written is remembered as hot: %s", c.w.Clock.Now().Sub(began))
	}
}

// The table shows what waits, and for how long.
func TestPatience(t *testing.T) {
	for name, c := range map[string]struct {
		hot, all int
		reason   string
		patient  bool // it tries as often as a put without a deadline may
	}{
		"a hot key alone":                  {1, 1, hotReason, false},
		"hot keys alone":                   {3, 3, hotReason, false},
		"a few of ten":                     {3, 10, "TableWriteProvisionedThroughputExceeded", false},
		"a tenth, of which no reason says": {30, 300, "", false},
		"more than that":                   {31, 300, "", true},
		"the table, for one event":         {1, 1, "TableWriteProvisionedThroughputExceeded", true},
		"the table, for all":               {200, 200, "TableWriteProvisionedThroughputExceeded", true},
	} {
		t.Run(name, func(t *testing.T) {
			var keys []string
			for i := range c.hot {
				keys = append(keys, fmt.Sprint("ORDER#", i))
			}
			client, s := newThrottling(t, c.reason, keys...)
			began := client.w.Clock.Now()
			results, _ := s.Put(context.Background(), client.w.orders(0, c.all))
			for i, r := range results {
				must.Equal(t, (r.Verdict == event.Retry), (i < c.hot), i)
			}
			if took := client.w.Clock.Now().Sub(began); (took > 10*time.Second) != c.patient {
				t.Errorf("it took %s", took)
			}
			if width := client.widths; c.all == 200 && (width[0] != 4 || width[len(width)-1] != 1) {
				t.Errorf("a table short of capacity is asked less at a time: %v", width)
			}
		})
	}
}

// A request that hangs is not throttled. What it carried is sent again, however few items that are
// and however long it took.
func TestLostAnswersAreNotHot(t *testing.T) {
	c, s := newThrottling(t, "", "none")
	c.w.faults = []fault{{API: "PutItem", Before: errLost}, {API: "PutItem", Before: errLost}, {API: "PutItem", Before: errLost}}
	c.w.onCall = requests("PutItem", func(any) { c.w.Clock.Pass(5 * time.Second) })
	results, _ := s.Put(deadline(t), append(c.w.orders(0, 1), c.w.orders(1, 1)...))
	must.Equal(t, verdicts(results), "Inserted Inserted")
}
