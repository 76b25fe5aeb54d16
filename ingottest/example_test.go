package ingottest_test

import (
	"context"
	"fmt"
	"os"
	"testing"
	"testing/fstest"
	"time"

	"github.com/ingot-events/ingot/envelope"
	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/handler"
	"github.com/ingot-events/ingot/ingottest"
	"github.com/ingot-events/ingot/pipeline"
)

const shopFile = `
ingot: 1
epoch: 1
type: "{type}"
events:
  order.placed: {id: "{order_id}", at: "{placed_at}", retain: 90d, key: {pk: "ORDER#{order_id}", sk: ORDER}}
aggregates:
  daily:
    since: 1
    by: {merchant: "{merchant}"}
    window: 1d
    from: {order.placed: {values: {orders: count, cents: sum cents}}}
`

// shop declares a pipeline. In your tests, load the file itself: pipeline.Load(os.DirFS("."),
// "pipeline.yaml").
func shop() *pipeline.Pipeline {
	p, err := pipeline.Load(fstest.MapFS{"pipeline.yaml": {Data: []byte(shopFile)}}, "pipeline.yaml")
	if err != nil {
		panic(err)
	}
	return p
}

func order(id, at string, cents int) string {
	return fmt.Sprintf(`{"type":"order.placed","merchant":"m1","order_id":%q,"placed_at":%q,"cents":%d}`, id, at, cents)
}

// This is a test of a pipeline. What is sent twice, killed half-way and delivered again counts
// once.
func Example() {
	w := ingottest.New(t, ingottest.Config{Pipeline: shop()})

	w.Send(order("o1", "2026-03-01T09:00:00Z", 1250), order("o2", "2026-03-01T10:00:00Z", 300))
	w.Send(order("o1", "2026-03-01T09:00:00Z", 1250)) // the producer sends it twice
	w.Send(order("o2", "2026-03-01T10:00:00Z", 999))  // the same id with another amount
	w.Crash(ingottest.Ingest, 1)                      // after the write, before the answer
	w.Drain()
	w.Redeliver() // every message and every change comes again
	w.Drain()
	w.Verify()

	for _, item := range w.Items() {
		fmt.Println(item.Key)
	}
	noon := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC) // the events' day: Drain moves w.Now() on
	day := w.Total("daily", map[string]string{"merchant": "m1"}, noon)
	fmt.Println(day.Window.Format(time.DateOnly), day.Values["orders"], "orders", day.Values["cents"], "cents")
	fmt.Println(w.Quarantined()[0].Verdict, w.Quarantined()[0].Key)
	// Output:
	// ORDER#o1 / ORDER
	// ORDER#o2 / ORDER
	// 2026-03-01 2 orders 1550 cents
	// Conflict ORDER#o2 / ORDER
}

// This example loads the pipeline.yaml of your own repository and reads the store that the
// functions have filled.
func Example_store() {
	p, err := pipeline.Load(os.DirFS("testdata"), "pipeline.yaml")
	if err != nil {
		t.Fatal(err)
	}
	visit := `{"type": "visit", "visit_id": "v1", "site": "North", "at": "2026-03-01T09:00:00Z"}`
	w := ingottest.New(t, ingottest.Config{Pipeline: p})
	w.Send(visit, visit)
	w.Verify() // drains first

	by, err := p.By("site_daily", envelope.Message{Body: visit}) // site: north, since the file says {site | lower}
	if err != nil {
		t.Fatal(err)
	}
	day := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	totals, err := w.Reader().Total(context.Background(), "site_daily", by, day, day.AddDate(0, 0, 1))
	if err != nil || len(totals) != 1 || totals[0].Values["visits"].String() != "1" {
		t.Fatalf("%v, %v", totals, err)
	}
	fmt.Println(by["site"], totals[0].Values["visits"])
	// Output: north 1
}

// The values that a total is by come from an event, or from some of its fields. Here one of them is
// hashed with the key.
func Example_by() {
	p, err := pipeline.Load(os.DirFS("../examples/shop"), "pipeline.yaml", pipeline.Secret([]byte("a key of the example's")))
	check(err)
	w, ctx := ingottest.New(t, ingottest.Config{Pipeline: p}), context.Background()
	w.Send(`{"type":"order.placed","merchant_id":"m1","order_id":"o1","customer_id":"c1","product_id":"p1","quantity":2,
		"placed_at":"2026-03-01T10:00:00Z","total_cents":1250,"currency":"EUR"}`)
	w.Verify()

	reader := w.Reader()
	by, err := p.By("customer_recent", envelope.Message{Body: `{"customer_id": "c1", "currency": "EUR"}`})
	check(err)
	// There are no windows, so there is one total, whatever the times.
	totals, err := reader.Total(ctx, "customer_recent", by, time.Time{}, time.Time{})
	check(err)
	fmt.Println(totals[0].Values["orders"], totals[0].Values["spent"], by["customer"] == "c1")
	// Output: 1 1250 false
}

// A total keeps more than numbers: quantiles, an estimate, and the newest value. And totals with
// rank have an order.
func Example_values() {
	p, err := pipeline.Load(os.DirFS("../examples/leaderboard"), "pipeline.yaml")
	check(err)
	w, ctx := ingottest.New(t, ingottest.Config{Pipeline: p}), context.Background()
	for i, player := range []string{"ada", "bob", "ada", "eve"} {
		w.Send(fmt.Sprintf(
			`{"type":"match.scored","match_id":"m%d","player_id":%q,"ended_at":"2026-03-01T1%d:00:00Z","points":%d,"seconds":%d}`,
			i, player, i, 100*(4-i), 60*(i+1)))
	}
	w.Verify()
	w.Advance(10 * time.Second) // the index of ranked totals has caught up

	reader, day := w.Reader(), time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	totals, err := reader.Total(ctx, "game_daily", nil, day, day.AddDate(0, 0, 1))
	check(err)
	seconds, _ := totals[0].Buckets("seconds")
	median, _ := seconds.Quantile(0.5) // at most aggregate.BucketError off
	players, _ := totals[0].Distinct("players")
	fmt.Println(median, players.Estimate()) // the standard error is aggregate.DistinctError

	best, err := reader.Top(ctx, "records", nil, day, 10) // the greatest first
	check(err)
	for _, t := range best {
		last, _ := t.Dated("last")
		fmt.Println(t.By["player"], t.Values["best"], last.JSON, last.At.Hour())
	}
	// Output:
	// 118.7 3
	// ada 400 "m2" 12
	// bob 300 "m1" 11
	// eve 100 "m3" 13
}

// Your own hooks run inside the real functions.
func Example_hooks() {
	shipped := map[event.Key]int{}
	w := ingottest.New(t, ingottest.Config{
		Pipeline: shop(),
		OnResult: func(_ context.Context, o handler.Outcome) { fmt.Println("message:", o.Verdict) },
		OnChange: func(_ context.Context, c event.Change) error {
			if c.Kind == event.Insert {
				shipped[c.Key]++ // at least once for each order, so it must bear to be repeated
			}
			return nil
		},
	})
	w.Send(order("o1", "2026-03-01T09:00:00Z", 1250))
	w.Crash(ingottest.Streams, 3) // its first two are the check at its start, its third moves the total
	w.Verify()                    // drains first
	fmt.Println("told of it", shipped[event.Key{PK: "ORDER#o1", SK: "ORDER"}], "times")
	// Output:
	// message: Inserted
	// told of it 2 times
}

// After 90 days the orders are gone and archived, and the totals stand.
func Example_expiry() {
	w := ingottest.New(t, ingottest.Config{Pipeline: shop()})
	w.Send(order("o1", "2026-03-01T09:00:00Z", 1250))
	w.Drain()
	w.Advance(91 * 24 * time.Hour)
	fmt.Println("swept:", w.Sweep())
	w.Verify()

	day := w.Total("daily", map[string]string{"merchant": "m1"}, time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC))
	fmt.Println("items:", len(w.Items()), "archived:", len(w.Archived()), "orders:", day.Values["orders"])

	w.Redeliver() // too late: storing it again could count it twice
	w.Drain()
	fmt.Println(w.Quarantined()[0].Verdict)
	// Output:
	// swept: 1
	// items: 0 archived: 1 orders: 1
	// Expired
}

// EveryFault tries each fault alone, at each request.
func TestEveryFaultOfTheExample(t *testing.T) {
	p, err := pipeline.Load(os.DirFS("testdata"), "pipeline.yaml")
	if err != nil {
		t.Fatal(err)
	}
	visit := `{"type": "visit", "visit_id": "v1", "site": "North", "at": "2026-03-01T09:00:00Z"}`
	ingottest.EveryFault(t, ingottest.Config{Pipeline: p}, func(t *testing.T, w *ingottest.World) {
		w.Send(visit, visit)
		w.Drain()
		if n := len(w.Items()); n != 1 {
			t.Errorf("%d items are stored of one event", n)
		}
	})
}
