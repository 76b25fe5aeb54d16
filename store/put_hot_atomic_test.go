package store_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/table/rows"
	"github.com/ingot-events/ingot/store"
	"github.com/ingot-events/ingot/tables"
)

// hotInTransactions throttles transactions which write to some partition keys. The reasons of a
// cancelled transaction name the item, and not that one key is too hot. Each transaction takes five
// milliseconds of the world's clock.
type hotInTransactions struct {
	w        *world
	keys     map[string]bool // nil: all keys
	requests int
}

func (c *hotInTransactions) throttle(_ string, in any) error {
	tx, ok := in.(*dynamodb.TransactWriteItemsInput)
	if !ok {
		return nil
	}
	c.requests++
	c.w.Clock.Pass(5 * time.Millisecond)
	var hot []int
	for i, one := range tx.TransactItems {
		pk := ""
		switch {
		case one.Put != nil:
			pk = rows.TextOf(one.Put.Item["PK"])
		case one.Update != nil:
			pk = rows.TextOf(one.Update.Key["PK"])
		}
		if pk != "" && (c.keys == nil || c.keys[pk]) {
			hot = append(hot, i)
		}
	}
	if len(hot) == 0 {
		return nil
	}
	return cancelledAt(len(tx.TransactItems), "ThrottlingError", hot...)
}

func newHotInTransactions(t *testing.T, keys ...string) (*hotInTransactions, *store.Store) {
	c := &hotInTransactions{w: newWorld(t, stocked, accounts, quick)}
	for _, key := range keys {
		if c.keys == nil {
			c.keys = map[string]bool{}
		}
		c.keys[key] = true
	}
	c.w.start()
	c.w.onCall = c.throttle
	return c, c.w.open(tables.Config{Env: c.w.Clock.Env(half)})
}

// One key is throttled for good, and it is written in transactions. The first batch waits for it
// for three seconds, and the next ones do not wait. All messages that do not need the key are done.
func TestHotKeyInTransactions(t *testing.T) {
	for name, c := range map[string]struct {
		hot  string
		puts func(w *world, first int) events // the first message is the one with the hot key
		held int                              // messages that need the key
	}{
		"an atomic message": {"ACCOUNT#0", func(w *world, first int) events {
			list := w.events("account 0 0@y 2")
			for i := range 20 {
				id := fmt.Sprint(first + i)
				list = append(list, w.account(id, id+"@y", 2), w.order(id, i))
			}
			return list
		}, 1},
		"the claim of an atomic message": {"EMAIL#0@y", func(w *world, first int) events {
			return events{w.account("0", "0@y", 2), w.order(fmt.Sprint(first), 1)}
		}, 1},
		"among messages that move one total": {"IN#0", func(w *world, first int) events {
			list := w.events("received 0 a 1")
			for i := range 150 {
				list = append(list, w.goods("received", fmt.Sprint(first+i), "a", 1))
			}
			return list
		}, 1},
		"a second payload under its key": {"IN#0", func(w *world, first int) events {
			return events{w.goods("received", "0", "a", 1), w.goods("received", "0", "a", 2), w.order(fmt.Sprint(first), 1)}
		}, 2},
		"a total": {"A#stock#1#0#hot", func(w *world, first int) events {
			list := events{w.goods("received", fmt.Sprint(first, "-0"), "hot", 1),
				w.goods("received", fmt.Sprint(first, "-1"), "hot", 1)}
			for i := range 20 {
				list = append(list, w.goods("received", fmt.Sprint(first+i), fmt.Sprint("cold", i), 1), w.order(fmt.Sprint(first+i), i))
			}
			return list
		}, 2},
	} {
		t.Run(name, func(t *testing.T) {
			client, s := newHotInTransactions(t, c.hot)
			put := func(name string, first int, most time.Duration) {
				t.Helper()
				began, items := client.w.Clock.Now(), c.puts(client.w, first)
				results, _ := s.Put(deadline(t), items)
				if took := client.w.Clock.Now().Sub(began); took > most {
					t.Errorf("%s took %s, want %s at the most", name, took, most)
				}
				for i, r := range results {
					if i >= c.held && !r.Verdict.Stored() || i < c.held &&
						(r.Verdict != event.Retry || r.Refusal.Reason != event.Throttled) {
						t.Errorf("%s: item %d: %s (%v)", name, i, r.Verdict, r.Refusal)
					}
				}
			}
			put("the first batch", 1000, 6*time.Second)
			for n := range 3 {
				put("a batch after it", 2000*(n+1), 500*time.Millisecond)
			}
			client.w.Clock.Pass(time.Minute)
			put("a batch a minute later", 9000, 6*time.Second)
			client.keys = map[string]bool{}
			results, _ := s.Put(deadline(t), c.puts(client.w, 9000))
			if !results[0].Verdict.Stored() {
				t.Errorf("the key is not hot any more: %v", results[0])
			}
			if name != "a total" { // the others are stored now
				return
			}
			client.keys = map[string]bool{c.hot: true} // hot again: that has to be found out anew
			began := client.w.Clock.Now()
			if s.Put(deadline(t), c.puts(client.w, 12000)); client.w.Clock.Now().Sub(began) < 3*time.Second {
				t.Errorf("a key that was written is remembered as hot: %s", client.w.Clock.Now().Sub(began))
			}
		})
	}
}

// If most keys are throttled, the table is short of capacity. Then transactions wait, as other puts
// do.
func TestTransactionsWaitForTheTable(t *testing.T) {
	client, s := newHotInTransactions(t)
	began := client.w.Clock.Now()
	results, _ := s.Put(context.Background(), client.w.events("account 1 1@y 1, account 2 2@y 1, received 1 a 1, received 2 a 1"))
	if took := client.w.Clock.Now().Sub(began); took < 30*time.Second || verdicts(results) != "Retry Retry Retry Retry" {
		t.Errorf("%s after %s", verdicts(results), took)
	}
}

// Half of a batch needs the hot key. The other half is done, with few requests, and the totals are
// right.
func TestManyMessagesOfAHotKey(t *testing.T) {
	seat := func(w *world, hall string, i int) *event.Item {
		return w.item(fmt.Sprintf(`"type":"seat","hall":%q,"id":"%d"`, hall, i), `"at":"2099-03-01T10:00:00Z"`)
	}
	seats := func(s *setup) {
		adds(&s.Spec, `
events:
  seat: {id: "{hall}#{id}", at: "{at}", key: {pk: "HALL#{hall}", sk: "{id}"}, atomic: true}
  claim: {part: {of: seat, with: [hall, id]}, id: "{hall}#{id}", key: {pk: "CLAIM#{hall}#{id}", sk: "-"}}
`)
	}
	for name, c := range map[string]struct {
		declare option
		hot     string
		item    func(w *world, hot bool, i int) *event.Item
		held    int // messages of 100 that need the hot key
	}{
		"atomic messages": {seats, "HALL#hot", func(w *world, hot bool, i int) *event.Item {
			return seat(w, map[bool]string{true: "hot", false: fmt.Sprint(i)}[hot], i)
		}, 50},
		"a total": {stocked, "A#stock#1#0#hot", func(w *world, hot bool, i int) *event.Item {
			return w.goods("received", fmt.Sprint(i), map[bool]string{true: "hot", false: fmt.Sprint(i % 7)}[hot], 1)
		}, 50},
		"one item beside others": {stocked, "IN#hot", func(w *world, hot bool, i int) *event.Item {
			return w.goods("received", map[bool]string{true: "hot", false: fmt.Sprint(i)}[hot], "a", 1)
		}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, c.declare, quick)
			w.start()
			client := &hotInTransactions{w: w, keys: map[string]bool{c.hot: true}}
			w.onCall = client.throttle
			ctx, cancel := context.WithCancel(deadline(t))
			defer cancel()
			began := w.Clock.Now()
			e := w.Clock.Env(half)
			e.Sleep = func(ctx context.Context, d time.Duration) error {
				if w.Clock.Pass(d); w.Clock.Now().Sub(began) > time.Minute {
					cancel()
				}
				return ctx.Err()
			}
			s := w.open(tables.Config{Env: e})
			for batch, most := range []time.Duration{6 * time.Second, time.Second} {
				var items events
				for i := range 100 {
					items = append(items, c.item(w, i < c.held, 1000*batch+i))
				}
				began, client.requests = w.Clock.Now(), 0
				results, _ := s.Put(ctx, items)
				for i, r := range results {
					if want := map[bool]event.Verdict{true: event.Retry, false: event.Inserted}[i < c.held]; r.Verdict != want ||
						want == event.Retry && r.Refusal.Reason != event.Throttled {
						t.Errorf("batch %d, message %d: %s (%v), want %s", batch, i, r.Verdict, r.Refusal, want)
					}
				}
				if took := w.Clock.Now().Sub(began); took > most || client.requests > 150 {
					t.Errorf("batch %d took %s and %d requests", batch, took, client.requests)
				}
			}
			client.keys = map[string]bool{}
			if results, _ := s.Put(ctx, events{c.item(w, true, 5000)}); results[0].Verdict != event.Inserted {
				t.Errorf("the key is not hot any more: %v", results[0])
			}
			w.agree("in the end")
		})
	}
}
