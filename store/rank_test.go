package store_test

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/ingot-events/ingot/aggregate"
	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/internal/plan/lanes"
	"github.com/ingot-events/ingot/pipeline"
	"github.com/ingot-events/ingot/store/query"
	"github.com/ingot-events/ingot/verify"
)

// ranked declares two aggregates with an order: in one, totals move up and down. In the other, they
// only move up.
func ranked(s *setup) {
	s.Aggregates = nil
	adds(&s.Spec, `
patterns: {leaders: {total: leaders, top: 20}, tallest: {total: tallest, top: 20}}
aggregates:
  leaders:
    {since: 1, by: {merchant: "{merchant}"}, onExpire: subtract, window: 24h, rank: {value: revenue, shards: 3},
     from: {order: {values: {orders: count, revenue: sum cents}}}}
  tallest: {since: 1, by: {merchant: "{merchant}"}, rank: {value: most}, from: {order: {values: {most: max cents?}}}}
`)
}

// standing is what the naive twin knows of one merchant.
type standing struct {
	merchant string
	revenue  int
	most     int
	seen     bool // whether most is set
	n        int  // orders that have not expired
}

// The order is that of a plain sort, whatever moved the totals and however they were written, and
// the own accounts of the cost are those of the engine.
func TestRankAgainstASort(t *testing.T) {
	for _, c := range bothWays {
		for _, single := range []int{0, -1} {
			for seed := range uint64(6) {
				t.Run(fmt.Sprint(c, " ", single, " ", seed), func(t *testing.T) {
					rng := rand.New(rand.NewPCG(seed, 1))
					w := newWorld(t, ranked, counting(c), oneByOne(single))
					w.start()
					twins := map[string]*standing{}
					w.churn(6, 4, rng, func(sequence int64) *event.Item {
						cents := rng.IntN(9) - 2
						return w.orderOf(fmt.Sprint("m#", rng.IntN(30)), fmt.Sprint(sequence), cents)
					}, func(item *event.Item, sign int) { move(twins, item, sign) })
					w.compareRanks(t, twins, rng)
				})
			}
		}
	}
}

// churn counts batches of new events and of the expiry of earlier ones, one in so many. It tells
// what it does, and checks the own accounts of the cost.
func (w *world) churn(batches, oneIn int, rng *rand.Rand, another func(sequence int64) *event.Item, tell func(item *event.Item, sign int)) {
	w.t.Helper()
	var live events
	sequence := int64(1)
	for range batches {
		b := lanes.NewBatch(w.store.Inside().Heads.Counting(), lane)
		for range 1 + rng.IntN(40) {
			sequence++
			if len(live) > 0 && rng.IntN(oneIn) == 0 {
				i := rng.IntN(len(live))
				w.take(b, sequence, live[i], true)
				tell(live[i], -1)
				live = slices.Delete(live, i, i+1)
				continue
			}
			item := another(sequence)
			b.Add(w.insert(sequence, item), nil, w.plan.Contributions(item).List)
			tell(item, 1)
			live = append(live, item)
		}
		meter := w.meter()
		a := w.apply(b)
		must.Equal(w.t, meter().WriteUnits(), a.Cost.WriteUnits)
	}
}

func move(twins map[string]*standing, item *event.Item, sign int) {
	var body struct {
		Merchant string
		Cents    int
	}
	if err := json.Unmarshal([]byte(item.Data), &body); err != nil {
		panic(err)
	}
	s := twins[body.Merchant]
	if s == nil {
		s = &standing{merchant: body.Merchant}
		twins[body.Merchant] = s
	}
	s.revenue, s.n = s.revenue+sign*body.Cents, s.n+sign
	if sign > 0 && (!s.seen || body.Cents > s.most) {
		s.most, s.seen = body.Cents, true
	}
}

func (w *world) compareRanks(t *testing.T, twins map[string]*standing, rng *rand.Rand) {
	t.Helper()
	ctx := context.Background()
	for name, value := range map[string]func(*standing) int{
		"leaders": func(s *standing) int { return s.revenue },
		"tallest": func(s *standing) int { return s.most },
	} {
		def, _ := w.plan.Definition(name)
		var want []string
		for _, s := range slices.SortedFunc(maps.Values(twins), func(a, b *standing) int {
			return cmp.Or(value(b)-value(a), strings.Compare(a.merchant, b.merchant))
		}) {
			if s.n > 0 || name == "tallest" { // which counts what has expired
				want = append(want, fmt.Sprint(s.merchant, " ", value(s)))
			}
		}
		// While the index is behind, what comes is right all the same, and nothing comes twice.
		seen := map[string]bool{}
		for total, err := range w.query().Ranking(ctx, name, nil, epoch) {
			line := standingOf(def, total)
			if err != nil || seen[line] || !slices.Contains(want, line) {
				t.Errorf("%s: %s %v", name, line, err)
			}
			seen[line] = true
		}
		w.Clock.Pass(10 * time.Second) // now the index has caught up
		n := 1 + rng.IntN(len(want))
		for _, n := range []int{n, 1, len(want), 1000} {
			top, err := w.query().Top(ctx, name, nil, epoch, n)
			if n == 1 { // the same, asked by the pattern
				ask := query.Ask{Limit: 1}
				if def.Window != 0 && rng.IntN(2) == 0 {
					ask.From = "2099-03-01T23:59:59Z"
				}
				var page query.Answer
				page, err = w.query().Read(ctx, name, ask)
				top = page.Totals
			}
			got := map[string]bool{}
			for i, total := range top {
				line := standingOf(def, total)
				if got[line] = true; !slices.Contains(want, line) || total.Values[def.Rank.Value].String() != strings.Fields(want[i])[1] {
					t.Errorf("%s, top %d: place %d is %s, and a sort says %s", name, n, i+1, line, want[i])
				}
			}
			if err != nil || len(got) != min(n, len(want)) {
				t.Errorf("%s, top %d: %d of %d totals, %v", name, n, len(got), len(want), err)
			}
		}
	}
}

func standingOf(def *aggregate.Definition, total query.Total) string {
	return fmt.Sprint(total.By["merchant"], " ", total.Values[def.Rank.Value])
}

// A copy that somebody has moved by hand is found, whether or not its events are still there.
func TestVerifyFindsAMovedRank(t *testing.T) {
	for attribute, v := range map[string]types.AttributeValue{
		"i:score": numberValue("1"),
		"i:rank":  textValue("leaders#1#2099-03-01T00:00:00Z#9"),
	} {
		w := newWorld(t, ranked)
		w.start()
		item := w.order("1", 500)
		w.keep(item)
		w.counts(1, item)
		report, err := verify.Totals(context.Background(), w.plan, w.store, w.Clock.Now())
		if err != nil || !report.OK() || report.Totals != 2 {
			t.Fatalf("%+v %v", report, err)
		}
		def, _ := w.plan.Definition("leaders")
		key := lanes.Key(def, 0, []string{"m"}, lanes.WindowStart(def, epoch))
		w.alter(key, attribute, v)
		report, err = verify.Totals(context.Background(), w.plan, w.store, w.Clock.Now())
		if err != nil || len(report.Differences) != 1 || !strings.Contains(report.Differences[0].String(), "it is ranked as ") {
			t.Errorf("%s: %+v %v", attribute, report.Differences, err)
		}
	}
}

// Totals that move with the put keep their order too: the transaction moves the copy with the
// value.
func TestRankOfTotalsThatMoveWithThePut(t *testing.T) {
	w := newWorld(t, stocked, func(s *setup) {
		stock := s.Aggregates["stock"]
		stock.Rank = pipeline.RankSpec{Value: "available", Shards: 2}
		s.Aggregates["stock"] = stock
	})
	w.start()
	for _, step := range []struct {
		items events
		want  string
	}{
		{w.events("received 1 a 5, received 2 b 4, received 3 b 5, received 4 c 1"), "b 9, a 5, c 1"},
		{w.events("reserved 1 b 6, reserved 2 c 2"), "a 5, b 3, c 1"}, // there is too little of c
		{w.events("reserved 3 a 5, received 1 a 5"), "b 3, c 1, a 0"},
	} {
		w.putNow(step.items...)
		w.Clock.Pass(10 * time.Second)
		top, err := w.query().Top(context.Background(), "stock", nil, epoch, 10)
		var got []string
		for _, total := range top {
			got = append(got, fmt.Sprint(total.By["sku"], " ", total.Values["available"]))
		}
		if text := strings.Join(got, ", "); err != nil || text != step.want {
			t.Errorf("%s, %v; want %s", text, err, step.want)
		}
	}
	w.agree("at the end")
	if report, err := verify.Totals(context.Background(), w.plan, w.store, w.Clock.Now()); err != nil || !report.OK() {
		t.Errorf("%+v %v", report, err)
	}
}

func (w *world) alter(key event.Key, attribute string, v types.AttributeValue) {
	w.t.Helper()
	w.Alter(w.t, "totals", itemKey(key), "SET #n = :v", v, attribute)
}

// Every page of every shard is read: 300 totals are more than one page of any of them.
func TestTopOfManyPages(t *testing.T) {
	const totals = 300
	w := newWorld(t, ranked)
	w.start()
	var items events
	for i := range totals {
		items = append(items, w.orderOf(fmt.Sprint("m", i), fmt.Sprint(i), i))
	}
	w.counts(1, items...)
	w.Clock.Pass(10 * time.Second)
	for name, value := range map[string]string{"leaders": "revenue", "tallest": "most"} { // three shards, and one
		for _, n := range []int{totals - 1, 1000} {
			top, err := w.query().Top(context.Background(), name, nil, epoch, n)
			if err != nil || len(top) != min(n, totals) {
				t.Errorf("%s, top %d: %d of %d totals, %v", name, n, len(top), totals, err)
			}
			for i, total := range top {
				if got, want := total.Values[value].String(), fmt.Sprint(totals-1-i); got != want {
					t.Fatalf("%s, top %d: place %d has %s, not %s", name, n, i+1, got, want)
				}
			}
		}
		var all int
		for _, err := range w.query().Ranking(context.Background(), name, nil, epoch) {
			if all++; err != nil {
				t.Fatal(err)
			}
		}
		must.Equal(t, all, totals, name)
	}
}

// The index is behind the totals. It decides which totals come, and their values decide the order.
func TestTopIsSortedByWhatIsRead(t *testing.T) {
	w := newWorld(t, ranked)
	w.start()
	add := func(sequence int, merchant string, cents int) {
		w.counts(int64(sequence),
			w.item(`"type":"order"`, fmt.Sprintf(`"id":"%d","merchant":%q,"cents":%d`, sequence, merchant, cents),
				`"at":"2099-03-01T10:00:00Z"`))
	}
	add(1, "a", 10)
	add(2, "b", 5)
	w.Clock.Pass(10 * time.Second)
	add(3, "b", 100)
	for name, want := range map[string]string{"leaders": "b 105, a 10", "tallest": "b 100, a 10"} {
		top, err := w.query().Top(context.Background(), name, nil, epoch, 2)
		def, _ := w.plan.Definition(name)
		var got []string
		for _, total := range top {
			got = append(got, standingOf(def, total))
		}
		if text := strings.Join(got, ", "); err != nil || text != want {
			t.Errorf("%s: %s, %v; want %s", name, text, err, want)
		}
	}
}

// A total that falls while it is read is met again further down the index. It comes once.
func TestRankingOfATotalThatFalls(t *testing.T) {
	const totals = 150 // more than a page
	w := newWorld(t, ranked)
	w.start()
	var items events
	for i := range totals {
		items = append(items, w.orderOf(fmt.Sprint("m", i), fmt.Sprint(i), 1000-i))
	}
	w.counts(1, items...)
	w.Clock.Pass(10 * time.Second)
	def, _ := w.plan.Definition("tallest")
	seen := map[string]int{}
	for total, err := range w.query().Ranking(context.Background(), "tallest", nil, epoch) {
		must.Succeed(t, err)
		if len(seen) == 0 {
			w.alter(lanes.Key(def, 0, []string{"m0"}, lanes.WindowStart(def, epoch)), "i:score", numberValue("1"))
			w.Clock.Pass(10 * time.Second)
		}
		seen[total.By["merchant"]]++
	}
	if len(seen) != totals || seen["m0"] != 1 {
		t.Errorf("%d of %d totals came, and the one that falls %d times", len(seen), totals, seen["m0"])
	}
}

// What an answer leaves out is asked for again: at once if the answer had something, and after a
// wait if it had nothing.
func TestTopAsksAgainForWhatIsLeftOut(t *testing.T) {
	w := newWorld(t, ranked)
	w.start()
	var items events
	for i := range 5 {
		items = append(items, w.orderOf(fmt.Sprint("m", i), fmt.Sprint(i), 1))
	}
	w.counts(1, items...)
	w.Clock.Pass(10 * time.Second)
	for _, c := range []struct {
		answered []int // how many totals each of the first answers has
		waits    int
	}{{nil, 0}, {[]int{2, 1}, 0}, {[]int{0}, 1}, {[]int{3, 0, 0, 1}, 2}} {
		w.slept = 0
		for _, n := range c.answered {
			w.faults = append(w.faults, fault{API: "BatchGetItem", Edit: leaveAllBut(n)})
		}
		meter := w.meter()
		top, err := w.query().Top(context.Background(), "leaders", nil, epoch, 10)
		names := map[string]bool{}
		for _, total := range top {
			names[total.By["merchant"]] = true
		}
		reads := meter().Requests["BatchGetItem"]
		if err != nil || len(top) != 5 || len(names) != 5 || w.slept != c.waits || reads != int64(len(c.answered)+1) {
			t.Errorf("%v: %d totals of %v, %d waits, %d reads: %v", c.answered, len(top), names, w.slept, reads, err)
		}
	}
}

// leaveAllBut changes an answer so that only n items have been read of its table.
func leaveAllBut(n int) func(any) {
	return func(output any) {
		out := output.(*dynamodb.BatchGetItemOutput)
		for table, items := range out.Responses {
			left := types.KeysAndAttributes{}
			for _, img := range items[min(n, len(items)):] {
				left.Keys = append(left.Keys, attrs{"PK": img["PK"], "SK": img["SK"]})
			}
			out.Responses[table] = items[:min(n, len(items))]
			out.UnprocessedKeys = map[string]types.KeysAndAttributes{table: left}
		}
	}
}

func TestTopRefuses(t *testing.T) {
	w := newWorld(t, ranked)
	for name, c := range map[string]struct {
		aggregate string
		n         int
		want      string
	}{
		"no such aggregate": {"leader", 1, "ranking of leader: the pipeline has no aggregate of this name"},
		"none":              {"leaders", 0, "top of leaders: 0 totals were asked for; ask for 1 to 1000"},
		"too many":          {"leaders", 1001, "top of leaders: 1001 totals were asked for; ask for 1 to 1000"},
	} {
		if _, err := w.query().Top(context.Background(), c.aggregate, nil, epoch, c.n); err == nil || err.Error() != c.want {
			t.Errorf("%s: %v, want %s", name, err, c.want)
		}
	}
	plain := newWorld(t)
	_, err := query.Of(plain.store).Top(context.Background(), "by_merchant", nil, epoch, 1)
	must.Fail(t, err, "to list them would need a Scan; write rank: {value: largest}")
	for name, c := range map[string]struct {
		ask  query.Ask
		want string
	}{
		"a parameter": {query.Ask{Values: map[string][]string{"merchant": {"m"}}},
			"leaders reads the top of all totals, and no parameter chooses among them; leave merchant out"},
		"to":     {query.Ask{To: "2026-03-01"}, "leaders reads one window: give from, any time in it, and leave to out"},
		"from":   {query.Ask{From: "March"}, "from: "},
		"a page": {query.Ask{Page: "x"}, "leaders reads totals, which come on one page, the greatest first"},
	} {
		_, err := w.query().Read(context.Background(), "leaders", c.ask)
		if _, _, explained := w.query().Explain("leaders", c.ask); err == nil || !strings.Contains(err.Error(), c.want) ||
			explained == nil {
			t.Errorf("%s: %v, and explained %v; want %s", name, err, explained, c.want)
		}
	}
	// Nothing is counted yet, and that is said.
	if top, err := w.query().Top(context.Background(), "leaders", nil, epoch, 3); err != nil || len(top) != 1 || !top[0].Missing {
		t.Errorf("%+v %v", top, err)
	}
}
