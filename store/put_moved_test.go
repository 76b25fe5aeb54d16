package store_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/ingot-events/ingot/aggregate"
	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/internal/kit/replay"
	"github.com/ingot-events/ingot/internal/kit/slow"
	"github.com/ingot-events/ingot/internal/table/rows"
	"github.com/ingot-events/ingot/internal/testworld"
	"github.com/ingot-events/ingot/pipeline"
	"github.com/ingot-events/ingot/store"
	"github.com/ingot-events/ingot/tables"
)

// stocked adds goods that come and go, and transfers between accounts: totals that are moved by the
// put, some with a floor, one that is spread, and one that follows the stream.
func stocked(s *setup) {
	s.Aggregates = nil
	adds(&s.Spec, `
events:
  received: {id: "{id}", at: "{at}", key: {pk: "IN#{id}", sk: X}, retain: 90d}
  reserved: {id: "{id}", at: "{at}", key: {pk: "OUT#{id}", sk: X}, retain: 90d}
  transfer: {id: "{id}", at: "{at}", key: {pk: "TRANSFER#{id}", sk: X}, atomic: true}
  debit: {part: {of: transfer, with: [id, from, amount]}, id: "{id}", key: {pk: "TRANSFER#{id}", sk: DEBIT}}
  credit: {part: {of: transfer, with: [id, to, amount]}, id: "{id}", key: {pk: "TRANSFER#{id}", sk: CREDIT}}
  slip: {part: {of: transfer, with: [slip]}, id: "{slip}", key: {pk: "SLIP#{slip}", sk: CLAIM}}
aggregates:
  stock:
    since: 1
    by: {sku: "{sku}"}
    movedBy: put
    atLeast: {available: 0}
    from:
      received: {values: {available: sum quantity}}
      reserved: {values: {available: sum -quantity, reservations: count}, where: quantity != 0}
  flow:
    {since: 1, window: 24h, spread: 3, movedBy: put,
     from: {received: {values: {events: count}}, reserved: {values: {events: count}}}}
  credits: {since: 1, by: {account: "{to}"}, from: {credit: {values: {credits: count}}}}
  paid: {since: 1, by: {account: "{from}"}, movedBy: put, from: {debit: {values: {paid: sum amount}}}}
  balances:
    {since: 1, movedBy: put, atLeast: {balance: -100},
     from: {debit: {values: {balance: sum -amount}}, credit: {values: {balance: sum amount}}}}
`)
}

// capped limits what is in stock, and counts its goods one by one.
func capped(s *setup) {
	stock := s.Aggregates["stock"]
	stock.AtMost = map[string]event.Decimal{"available": event.DecimalOf(8), "open": event.DecimalOf(2)}
	stock.From["received"].Values["open"], stock.From["reserved"].Values["open"] = "sum -1", "sum 1"
	s.Aggregates["stock"] = stock
}

// quick leaves out the total that all goods share, so that only those of one sku meet.
func quick(s *setup) { delete(s.Aggregates, "flow") }

func (w *world) goods(typ, id, sku string, quantity int, extra ...string) *event.Item {
	return w.item(append([]string{fmt.Sprintf(`"type":%q`, typ), fmt.Sprintf(`"id":%q`, id), fmt.Sprintf(`"sku":%q`, sku),
		fmt.Sprintf(`"quantity":%d`, quantity), `"at":"2099-03-01T10:00:00Z"`}, extra...)...)
}

func (w *world) transfer(id, from, to string, amount int) *event.Item {
	return w.item(`"type":"transfer"`, fmt.Sprintf(`"id":%q,"from":%q,"to":%q,"amount":%d,"slip":%q`, id, from, to, amount, "s"+id),
		`"at":"2099-03-01T10:00:00Z"`)
}

func (w *world) putNow(items ...*event.Item) []tables.Result {
	w.t.Helper()
	results, _ := w.arrive(items...)
	return results
}

// twin is what the totals that move with the put must be: a naive sum over the stored items that
// say that their put was counted. It returns the differences.
func (w *world) twin() (wrong []string) {
	w.t.Helper()
	type sum struct {
		n      int64
		fp     event.Decimal
		values map[string]event.Decimal
	}
	key := func(def *aggregate.Definition, by []string, window int64) string {
		return fmt.Sprint(def.Name, " ", by, " ", window)
	}
	want, has := map[string]*sum{}, map[string]*sum{}
	at := func(m map[string]*sum, k string) *sum {
		if m[k] == nil {
			m[k] = &sum{values: map[string]event.Decimal{}}
		}
		return m[k]
	}
	for page, err := range w.store.ItemPages(context.Background(), tables.Segment{}) {
		must.Succeed(w.t, err)
		for _, item := range page.All {
			moved := false
			for _, c := range w.plan.Contributions(item).List {
				if c.Def.MovedBy != aggregate.Put {
					continue
				}
				moved = true
				s := at(want, key(c.Def, c.By, c.Window))
				s.n++
				s.fp = s.fp.Add(event.DecimalOf(c.Term))
				for i, v := range c.Values {
					if v.Set {
						s.values[c.Def.Values[i].Name] = s.values[c.Def.Values[i].Name].Add(v.Number)
					}
				}
			}
			if moved != (item.Put == 1) {
				wrong = append(wrong, fmt.Sprintf("%s moves totals: %v, and i:put is %d", item.Key, moved, item.Put))
			}
		}
	}
	for page, err := range w.store.TotalPages(context.Background(), tables.Segment{}) {
		must.Succeed(w.t, err)
		for _, t := range page.All {
			def, _ := w.plan.Definition(t.Address.Name)
			if def == nil || def.MovedBy != aggregate.Put {
				continue
			}
			s := at(has, key(def, t.Address.By, t.Address.Window))
			s.n += t.N
			s.fp = s.fp.Add(t.FP)
			for name, v := range t.Values {
				s.values[name] = s.values[name].Add(v)
				for _, b := range def.Bounds {
					if def.Values[b.Value].Name == name && !b.Holds(v) {
						wrong = append(wrong, fmt.Sprintf("%s of %s is %s, %s", name, def.Name, v, b.Beyond()))
					}
				}
			}
		}
	}
	for k := range has {
		at(want, k)
	}
	for k, w := range want {
		h := at(has, k)
		if h.n != w.n || h.fp.Cmp(w.fp) != 0 || fmt.Sprint(h.values) != fmt.Sprint(w.values) {
			wrong = append(wrong, fmt.Sprintf("%s has %d %s %v, want %d %s %v", k, h.n, h.fp, h.values, w.n, w.fp, w.values))
		}
	}
	return wrong
}

// agree fails unless every total is the sum over the stored items.
func (w *world) agree(when string) {
	w.t.Helper()
	for _, wrong := range w.twin() {
		w.t.Errorf("%s: %s", when, wrong)
	}
}

// A total moves once with the put of each event that feeds it, however often it comes. The item
// says so.
func TestPutMovesTotals(t *testing.T) {
	w := newWorld(t, stocked)
	w.start()
	w.says("received 1 a 10, reserved 1 a 4, received 1 a 10, reserved 2 b 0, order 1 5",
		"Inserted Inserted Duplicate Inserted Inserted")
	w.agree("put")
	total := w.total("stock", "sku", "a")
	if fmt.Sprint(total.Values) != "map[available:6 reservations:1]" || total.N != 2 {
		t.Errorf("%+v", total)
	}
	if item := w.stored("events", w.goods("received", "1", "a", 10).Key); rows.NumberOf(item["i:put"]) != "1" {
		t.Errorf("%v", item)
	}
	if item := w.stored("events", w.order("1", 5).Key); item["i:put"] != nil {
		t.Errorf("an order moves nothing with its put, and has %v", item["i:put"])
	}
	w.says("received 1 a 11, received 1 a 10, reserved 1 a 4", "Conflict Duplicate Duplicate")
	w.agree("delivered again")
}

// An event that would bring a sum below its floor is Rejected, and nothing of it is stored. It can
// be sent again when there is enough. What is stored is a Duplicate, whatever the floor says.
func TestFloor(t *testing.T) {
	w := newWorld(t, stocked)
	w.start()
	results := w.puts("reserved 1 a 4")
	if r := results[0].Refusal; results[0].Verdict != event.Rejected || r.Reason != event.BelowFloor ||
		r.Detail != "stock of sku=\"a\": available is 0, and with this event it would be -4, which is below its floor of 0" ||
		r.Key.PK != "OUT#1" {
		t.Errorf("%+v", r)
	}
	if w.stored("events", w.goods("reserved", "1", "a", 4).Key) != nil {
		t.Error("a rejected event is stored")
	}
	// What comes in goes first, in whatever order a batch brings it. Of two that take the same, one
	// is left.
	w.says("reserved 1 a 4, reserved 2 a 4, received 1 a 5, reserved 3 b 1, received 4 b 1", "Inserted Rejected Inserted Inserted Inserted")
	w.agree("put")
	w.says("reserved 1 a 4, reserved 1 a 5, reserved 5 a 1", "Duplicate Conflict Inserted")
	w.agree("put again")
	// An amount may be negative: then the words say the opposite of what happens, and the floor
	// holds.
	w.says("received 9 b -1, reserved 9 b -1", "Inserted Inserted")
	w.agree("negative amounts")
}

// A ceiling refuses what would bring a sum above it, and nothing that lowers the sum. With a floor
// beside it, messages of one batch make room for each other.
func TestCeiling(t *testing.T) {
	w := newWorld(t, stocked, capped)
	w.start()
	results := w.says("received 1 a 9, received 2 a 7", "Rejected Inserted")
	if r := results[0].Refusal; r.Reason != event.AboveCeiling ||
		r.Detail != `stock of sku="a": available is 7, and with this event it would be 16, which is above its ceiling of 8` {
		t.Errorf("%+v", r)
	}
	w.says("received 3 a 2, reserved 1 a 3", "Inserted Inserted")
	w.says("received 1 a 9, reserved 2 a 7, received 4 a 1", "Rejected Inserted Inserted")
	w.says("received 4 a 1, reserved 3 a 8", "Duplicate Rejected")
	w.says("received 5 a 8", "Inserted") // up to the ceiling
	if total := w.total("stock", "sku", "a"); fmt.Sprint(total.Values) != "map[available:8 open:-2 reservations:2]" {
		t.Errorf("%+v", total)
	}
	w.agree("put")
}

// What comes in may be taken by the same transaction, to the last piece, even if the total is not
// there yet.
func TestFloorOfANewTotal(t *testing.T) {
	w := newWorld(t, stocked, quick)
	w.start()
	w.puts("received 1 a 4, reserved 1 a 4") // afterwards it is known that older events are in the totals
	for _, c := range []struct {
		in, out  int
		want     string
		requests int
	}{{4, 4, "Inserted Inserted", 1}, {4, 3, "Inserted Inserted", 1}, {4, 5, "Rejected Inserted", 0}} {
		sku := fmt.Sprintf("%d-%d", c.in, c.out)
		results, cost := w.arrive(w.goods("reserved", sku, sku, c.out), w.goods("received", sku, sku, c.in))
		if got := verdicts(results); got != c.want || c.requests > 0 && cost.Requests != c.requests {
			t.Errorf("%d come in and %d go: %s with %d requests", c.in, c.out, got, cost.Requests)
		}
	}
	w.agree("put")
}

// What is true of a rejected event is true of its copies in the same batch: their letters say that
// nothing is stored, so none of them may be stored, even if the total has risen meanwhile. An item
// that only has the same key is not a copy, and one with another time may move another total. Both
// are tried.
func TestCopyOfARejectedEvent(t *testing.T) {
	for name, c := range map[string]struct {
		quantity int
		later    time.Duration
		want     event.Verdict
	}{
		"a copy":                   {4, 0, event.Rejected},
		"another payload":          {5, 0, event.Inserted},
		"a copy with another time": {4, 24 * time.Hour, event.Inserted},
	} {
		w := newWorld(t, stocked, quick)
		w.start()
		first, second := w.goods("reserved", "1", "a", 4), w.goods("reserved", "1", "a", c.quantity)
		second.At = second.At.Add(c.later)
		heads := 0
		w.onCall = func(api string, in any) error {
			if get, is := in.(*dynamodb.GetItemInput); is && strings.HasPrefix(rows.TextOf(get.Key["PK"]), "G#") {
				if heads++; heads == 2 { // the first one is below the floor, and is about to be rejected
					w.onCall = nil
					w.puts("received 0 a 9")
				}
			}
			return nil
		}
		results := w.putNow(first, second)
		if results[0].Verdict != event.Rejected || results[1].Verdict != c.want {
			t.Errorf("%s: %v", name, results)
		}
		if c.want == event.Rejected && (results[1].Refusal.Reason != event.BelowFloor || results[1].Refusal.Key != second.Key ||
			results[1].Units != 0) {
			t.Errorf("%s: %+v", name, results[1])
		}
		must.Equal(t, w.stored("events", first.Key) != nil, (c.want == event.Inserted), name)
		if again := w.putNow(second); !again[0].Verdict.Stored() {
			t.Errorf("%s: it is delivered again, and is %v", name, again)
		}
		w.agree(name)
	}
}

// A transfer moves both sides or none, and its claim. What both sides move in one total is one
// update.
func TestTransfers(t *testing.T) {
	w := newWorld(t, stocked)
	w.start()
	w.says("transfer 1 x y 70, transfer 2 y x 130, transfer 1 x y 70, transfer 3 x x 10", "Inserted Inserted Duplicate Inserted")
	w.agree("put")
	for _, part := range w.transfer("1", "x", "y", 70).Parts.Items {
		if there := w.stored("events", part.Key); (there["i:put"] == nil) != (part.Type == "slip") {
			t.Errorf("%s: %v", part.Key, there)
		}
	}
	// A second owner of the slip is a Conflict, and moves nothing.
	other := w.item(`"type":"transfer"`, `"id":"4","from":"x","to":"y","amount":1,"slip":"s1"`, `"at":"2099-03-01T10:00:00Z"`)
	must.Equal(t, told(w.putNow(other, w.transfer("5", "y", "z", 1))), "Conflict claimed, Inserted (Inserted, Inserted, Inserted)")
	w.agree("a claim that is taken")
	must.Equal(t, told(w.puts("transfer 1 x y 70")), "Duplicate (Duplicate, Duplicate, Duplicate)")
	// A part that an older function has stored by itself was not counted by its put: the stream
	// does that.
	late := w.transfer("6", "x", "y", 5)
	debit := *late.Parts.Items[1]
	if debit.Type != "debit" {
		t.Fatal(debit.Type)
	}
	debit.Put = 0
	w.keep(&debit)
	must.Equal(t, told(w.putNow(late)), "Inserted (Inserted, Duplicate, Inserted)")
	if there := w.stored("events", debit.Key); there["i:put"] != nil {
		t.Error("a stored item says that a later transaction has counted it")
	}
}

// Whatever happens to a request, every total is the sum over what is stored, and the next delivery
// settles what is left.
func TestEveryFaultOfMovedPuts(t *testing.T) {
	for name, f := range map[string]fault{
		"lost before": {Before: errLost}, "lost after": {After: errLost}, "throttled": {Before: errThrottled},
		"contended": {Before: cancelledFor("TransactionConflict", 5)}, "one contended": {Before: cancelledFor("TransactionConflict", 3)},
		"no reasons": {Before: &types.TransactionCanceledException{}}, "stale": {Before: cancelledFor("ConditionalCheckFailed", 5)},
		"stale alone": {Before: cancelledFor("ConditionalCheckFailed", 3)},
		"invalid":     {Before: cancelledAt(5, "ValidationError", 3)},
	} {
		for _, always := range []bool{false, true} {
			for skip := range 3 {
				w := newWorld(t, stocked)
				w.start()
				w.puts("received 0 a 10")
				one := f
				one.API, one.Always = "TransactWriteItems", always
				batch := func() events {
					return w.events("reserved 1 a 8, received 2 a 1, reserved 3 a 8, reserved 1 a 8")
				}
				var sent atomic.Int64
				w.onCall = func(api string, _ any) error {
					if api == "TransactWriteItems" {
						if sent.Add(1) == int64(skip+1) {
							w.mu.Lock()
							w.faults = append(w.faults, one)
							w.mu.Unlock()
						}
					}
					return nil
				}
				results, _ := w.store.Put(context.Background(), batch()) // bounded by rounds
				w.faults, w.onCall = nil, nil
				when := fmt.Sprintf("%s, always %v, after %d", name, always, skip)
				w.agree(when)
				for i, item := range batch() {
					if results[i].Verdict.Stored() != (w.stored("events", item.Key) != nil) && name != "lost after" {
						t.Errorf("%s: %s is %v", when, item.Key, results[i])
					}
				}
				again := w.putNow(batch()...)
				w.agree(when + ", delivered again")
				rejected := 0
				for i, r := range again {
					if r.Verdict == event.Rejected {
						rejected++
					} else if !r.Verdict.Stored() {
						t.Errorf("%s: delivered again, %d is %v", when, i, r)
					}
				}
				if rejected < 1 || rejected > 2 { // one of the two, and its copy
					t.Errorf("%s: %d are rejected: %v", when, rejected, again)
				}
			}
		}
	}
}

// A try without an answer may still be carried out. So a floor that refuses the next one proves
// nothing, and the event is Retry. It is stored by the late try, and a Duplicate when it comes
// again.
func TestLateTryIsNotRejected(t *testing.T) {
	w := newWorld(t, stocked)
	w.start()
	w.puts("received 0 a 5")
	arrives := w.late(5)
	w.says("reserved 2 a 5", "Retry")
	w.puts("received 3 a 5")
	arrives()
	w.agree("after the late try")
	w.says("reserved 2 a 5", "Duplicate")
	w.agree("delivered again")
}

// late loses the answer of the next transaction, and lets somebody else take so many meanwhile. It
// returns what carries the transaction out.
func (w *world) late(taken int) (arrives func()) {
	var late *dynamodb.TransactWriteItemsInput
	w.onCall = func(_ string, in any) error {
		if tx, ok := in.(*dynamodb.TransactWriteItemsInput); ok {
			late, w.onCall = tx, nil
			w.putNow(w.goods("reserved", "meanwhile", "a", taken))
			return errLost
		}
		return nil
	}
	return func() {
		_, err := w.Engine.DynamoDB().TransactWriteItems(context.Background(), late)
		must.Succeed(w.t, err)
	}
}

// While older events are not in a total, nothing is taken from it. What is stored is judged all the
// same.
func TestNothingIsTakenWhileItIsBuilt(t *testing.T) {
	w := newWorld(t, stocked)
	if results := w.puts("reserved 0 a 1"); verdicts(results) != "Retry" ||
		!strings.Contains(results[0].Refusal.Detail,
			"aggregate stock since 1 may refuse the event, and no function has started with it yet") {
		t.Errorf("before the start: %v", results)
	}
	w.start()
	w.puts("received 1 a 5, reserved 1 a 1")
	building := func(is bool) { w.building("stock", is) }
	building(true)
	// For five minutes it is believed that it is complete. But nothing is rejected for that.
	w.says("reserved 2 a 1, reserved 3 a 9", "Inserted Retry")
	w.Clock.Pass(6 * time.Minute)
	w.says("reserved 1 a 1, reserved 1 a 2, reserved 4 a 1, received 4 a 1", "Duplicate Conflict Retry Inserted")
	building(false)
	w.says("reserved 4 a 1, reserved 3 a 9", "Inserted Rejected")
	building(true) // it is remembered that it is complete, and the floor refuses several together
	w.says("reserved 5 a 9, reserved 6 a 9, reserved 7 a 9", "Retry Retry Retry")
	w.building("balances", true)
	one, at := w.transfer("1", "x", "y", 5), `"at":"2099-03-01T10:00:00Z"`
	other := w.item(`"type":"transfer"`, `"id":"2","from":"x","to":"y","amount":5,"slip":"s1"`, at)
	for i, r := range w.putNow(one, other) { // they claim the same slip, and nobody has it
		const why = "aggregate balances since 1 may refuse the event, and older events"
		if r.Verdict != event.Retry || !strings.HasPrefix(r.Refusal.Detail, why) {
			t.Errorf("transfer %d: %v", i+1, r)
		}
	}
	w.agree("in the end")
}

// A total that is damaged or full takes no update. Its events are Rejected, it is flagged, and
// others go on.
func TestRefusedTotalRejects(t *testing.T) {
	for name, damage := range map[string]attrs{
		"text in place of a floored sum": {"available": textValue("many")},
		"text in place of a count": {"reservations": textValue("many"),
			"available": numberValue("9")},
		"full": {"available": numberValue("9"),
			"x": textValue(strings.Repeat("x", 400<<10-30))},
	} {
		w := newWorld(t, stocked, quick)
		w.start()
		total := under("A#stock#1#0#a", "-")
		w.write("totals", total, damage)
		results := w.puts("reserved 1 a 1, received 2 b 5, reserved 2 b 1")
		if verdicts(results) != "Rejected Inserted Inserted" || results[0].Refusal.Reason != event.TotalRefused ||
			!strings.HasPrefix(results[0].Refusal.Detail, "stock of sku=\"a\" cannot be updated: ") {
			t.Errorf("%s: %v", name, results)
			continue
		}
		must.Equal(t, told(w.puts("reserved 3 a 1, reserved 4 a 1, reserved 5 a 2")),
			"Rejected total-refused, Rejected total-refused, Rejected total-refused", name)
		if w.stored("events", w.goods("reserved", "1", "a", 1).Key) != nil {
			t.Errorf("%s: it is stored", name)
		}
		flag := w.stored("totals", total)["flag"]
		if name == "full" {
			flag = w.stored("totals", under("G#stock#1", "-"))["flag"]
		}
		if !strings.Contains(rows.TextOf(flag), "2099-03-01T12:00:00Z ") {
			t.Errorf("%s: the flag is %v", name, flag)
		}
	}
}

// What it costs: an event and its total cost two units each, and events of one total pay for it
// once. Of messages that come again, only those go alone whose items are in the way of others.
func TestCostOfMovedPuts(t *testing.T) {
	for _, c := range []struct {
		name             string
		events, totals   int
		requests, writes float64
	}{
		{"one event", 1, 1, 1, 4},
		{"two of one total", 2, 1, 1, 6},
		{"25 of one total", 25, 1, 1, 52},
		{"99 of one total", 99, 1, 1, 200},
		{"100 of one total", 100, 1, 2, 204},
		{"25 of 25 totals", 25, 25, 25, 100},
		{"25 of 5 totals", 25, 5, 5, 60},
	} {
		for _, again := range []bool{false, true} {
			w := newWorld(t, stocked, quick)
			w.start()
			batch := func() (items events) {
				for i := range c.events {
					items = append(items, w.goods("received", fmt.Sprint(i), fmt.Sprint(i%c.totals), 1))
				}
				return items
			}
			want := event.Inserted
			if again {
				w.putNow(batch()...)
				want = event.Duplicate
			}
			meter := w.meter()
			results, cost := w.arrive(batch()...)
			used := meter()
			for _, r := range results {
				if r.Verdict != want {
					t.Fatalf("%s: %v", c.name, r)
				}
			}
			must.Equal(t, charges(used), fmt.Sprintf("map[TransactWriteItems:%v], %v written, 0 read", c.requests, c.writes), c.name, again)
			w.accounted(cost, used, c.name, again)
		}
	}
}

// Under contention the transaction is sent again, after a wait, and the batch says how often.
func TestConflictsOfMovedPuts(t *testing.T) {
	w := newWorld(t, stocked, quick)
	w.start()
	left := 3
	w.onCall = refusing(func(items []types.TransactWriteItem) error {
		if left--; left < 0 {
			return nil
		}
		return cancelledAt(len(items), "TransactionConflict", len(items)-1)
	})
	results, cost := w.arrive(w.events("received 1 a 1, received 2 a 1")...)
	if verdicts(results) != "Inserted Inserted" || cost.Conflicts != 3 || cost.Retries != 3 || cost.Requests != 4 || w.slept != 3 {
		t.Errorf("%v, %+v, %d waits", results, cost, w.slept)
	}
	w.agree("after the conflicts")
}

// attempts is a client that notes how often the SDK would send each put.
type attempts struct {
	tables.Client
	of []int
}

func (a *attempts) TransactWriteItems(ctx context.Context, in *dynamodb.TransactWriteItemsInput,
	options ...func(*dynamodb.Options)) (*dynamodb.TransactWriteItemsOutput, error) {
	a.note(options)
	return a.Client.TransactWriteItems(ctx, in, options...)
}

func (a *attempts) PutItem(ctx context.Context, in *dynamodb.PutItemInput, options ...func(*dynamodb.Options)) (*dynamodb.PutItemOutput,
	error) {
	a.note(options)
	return a.Client.PutItem(ctx, in, options...)
}

func (a *attempts) BatchExecuteStatement(ctx context.Context, in *dynamodb.BatchExecuteStatementInput,
	options ...func(*dynamodb.Options)) (*dynamodb.BatchExecuteStatementOutput, error) {
	a.note(options)
	return a.Client.BatchExecuteStatement(ctx, in, options...)
}

func (a *attempts) note(options []func(*dynamodb.Options)) {
	o := dynamodb.Options{Retryer: retry.NewStandard()}
	for _, option := range options {
		option(&o)
	}
	a.of = append(a.of, o.Retryer.MaxAttempts())
}

// Whether a message may be Rejected or Expired depends on whether all tries were answered. So the
// SDK must not repeat a put, whatever the client's own settings are.
func TestPutsAreSentOnce(t *testing.T) {
	w := newWorld(t, stocked, accounts)
	w.start()
	client := &attempts{Client: w.Engine.DynamoDB()}
	s := w.open(tables.Config{Client: client, Env: w.Env})
	for _, items := range []events{
		{w.goods("received", "1", "a", 1)},
		{w.goods("received", "2", "a", 1), w.goods("received", "3", "a", 1)}, // one transaction for both
		{w.transfer("1", "x", "y", 1)},
		{w.account("1", "1@y", 1)},
		{w.order("1", 1)},
		{w.order("2", 1), w.order("3", 1), w.order("4", 1), w.order("5", 1), w.order("6", 1)}, // statements
	} {
		client.of = nil
		if results, _ := s.Put(deadline(t), items); !results[0].Verdict.Stored() || fmt.Sprint(client.of) != "[1]" {
			t.Errorf("%s: %v, and the SDK would send %v times", items[0].Key, results[0].Refusal, client.of)
		}
	}
}

// Parts of a whole that is not atomic move totals one by one. If a floor refuses one of them, the
// others are stored, and the message is Rejected. When it comes again, only the part that was
// refused is put. If a total cannot be updated at all, that is the reason, because an alarm rings
// for it alone.
func TestFloorOfParts(t *testing.T) {
	w := newWorld(t, stocked, quick, func(s *setup) {
		adds(&s.Spec, `
events:
  picked: {id: "{id}", at: "{at}", key: {pk: "PICKED#{id}", sk: X}}
  pick: {part: {of: picked, each: picks, with: [id]}, id: "{id}#{sku}", key: {pk: "PICKED#{id}", sk: "{sku}"}}
`)
		s.Aggregates["stock"].From["pick"] = pipeline.FromSpec{Values: map[string]string{"available": "sum -quantity"}}
	})
	w.start()
	picked := func(id string, skus ...string) *event.Item {
		var picks []string
		for _, sku := range skus {
			picks = append(picks, fmt.Sprintf(`{"sku":%q,"quantity":2}`, sku))
		}
		return w.item(`"type":"picked"`, fmt.Sprintf(`"id":%q`, id), `"at":"2099-03-01T10:00:00Z"`, `"picks":[`+
			strings.Join(picks, ",")+`]`)
	}
	w.puts("received 1 a 1, received 2 b 5")
	must.Equal(t, told(w.putNow(picked("1", "a", "b"))), "Rejected below-floor (Rejected below-floor, Inserted)")
	w.agree("one part is refused")
	w.puts("received 3 a 5")
	must.Equal(t, told(w.putNow(picked("1", "a", "b"))), "Duplicate (Inserted, Duplicate)")
	w.agree("it has come again")

	w.write("totals", under("A#stock#1#0#d", "-"), attrs{"available": textValue("many")})
	must.Equal(t, told(w.putNow(picked("2", "c", "d"))), "Rejected total-refused (Rejected below-floor, Rejected total-refused)",
		"a floor, and a total that is not a number")
}

// Random batches under random trouble: at every moment each total is the sum over what is stored,
// and no sum is beyond its floor or its ceiling.
func TestMovedPutsAgainstANaiveTwin(t *testing.T) {
	seed := replay.Seed(t, 0)
	for run := range uint64(slow.Number(20, 60)) {
		rng := rand.New(rand.NewPCG(seed, run))
		w := newWorld(t, stocked, []option{func(*setup) {}, capped}[run%2])
		w.start()
		var late []*dynamodb.TransactWriteItemsInput
		var mu sync.Mutex // a batch has several requests under way
		w.onCall = func(api string, in any) error {
			mu.Lock()
			defer mu.Unlock()
			tx, ok := in.(*dynamodb.TransactWriteItemsInput)
			if !ok || rng.IntN(3) > 0 {
				return nil
			}
			reasons := make([]types.CancellationReason, len(tx.TransactItems))
			for i := range reasons {
				reasons[i].Code = aws.String([]string{"None", "TransactionConflict"}[rng.IntN(2)])
			}
			f := []fault{{Before: errLost}, {After: errLost}, {Before: errThrottled},
				{Before: &types.TransactionCanceledException{CancellationReasons: reasons}},
				{Before: cancelledFor("ConditionalCheckFailed", len(reasons))}}[rng.IntN(5)]
			if f.Before == errLost && rng.IntN(2) == 0 {
				late = append(late, tx)
			}
			f.API = api
			w.mu.Lock()
			w.faults = append(w.faults, f)
			w.mu.Unlock()
			return nil
		}
		for step := range 12 {
			var items events
			for range 1 + rng.IntN(8) {
				id, sku := fmt.Sprint(rng.IntN(12)), string(rune('a'+rng.IntN(3)))
				switch rng.IntN(3) {
				case 0:
					items = append(items, w.goods("received", id, sku, rng.IntN(6)))
				case 1:
					items = append(items, w.goods("reserved", id, sku, rng.IntN(6)))
				default:
					items = append(items, w.transfer(id, sku, "z", 10*rng.IntN(6)))
				}
			}
			results, _ := w.store.Put(context.Background(), items)
			when := fmt.Sprintf("run %d, step %d", run, step)
			w.agree(when)
			for i, r := range results {
				there := w.stored("events", items[i].Key)
				if r.Verdict.Stored() && there == nil || r.Verdict == event.Rejected && there != nil &&
					items[i].Digest == event.Digest(there["digest"].(*types.AttributeValueMemberB).Value) {
					t.Errorf("%s: %s is %v, and stored is %v", when, items[i].Key, r, there != nil)
				}
			}
			if len(late) > 0 && rng.IntN(2) == 0 {
				_, _ = w.Engine.DynamoDB().TransactWriteItems(context.Background(), late[0]) // done or refused
				late = late[1:]
				w.agree(when + ", after a late try")
			}
			if t.Failed() {
				return
			}
		}
	}
}

// Messages of one total are patient together. If it is held all the time, the batch ends after
// three seconds, however many of them there are, and events of other totals are stored.
func TestHeldTotal(t *testing.T) {
	w := newWorld(t, stocked, quick)
	w.start()
	w.puts("received 0 b 1")
	tries := 0
	w.onCall = func(api string, in any) error {
		tx, ok := in.(*dynamodb.TransactWriteItemsInput)
		if !ok || !strings.HasSuffix(rows.TextOf(tx.TransactItems[len(tx.TransactItems)-1].Update.Key["PK"]),
			"#a") {
			return nil
		}
		if tries++; tries == 1 { // so they go one by one
			return &types.TransactionCanceledException{}
		}
		n := len(tx.TransactItems)
		return cancelledAt(n, "TransactionConflict", n-1)
	}
	var items events
	for i := range 30 {
		items = append(items, w.goods("received", fmt.Sprint("held ", i), "a", 1))
	}
	items = append(items, w.events("received 1 b 1")...)
	st := w.open(tables.Config{Env: w.Clock.Env(func() float64 { return 1 })})
	began := w.Clock.Now()
	results, _ := st.Put(context.Background(), items)
	for i, r := range results {
		if want := event.Retry; i < 30 && r.Verdict != want || i == 30 && r.Verdict != event.Inserted {
			t.Errorf("%d: %v", i, r)
		}
	}
	if took := w.Clock.Now().Sub(began); took > 6*time.Second || tries > 45 {
		t.Errorf("it took %s and %d tries", took, tries)
	}
}

// baskets adds an atomic event whose lines may take almost all of a transaction, because each of
// them has its text too. Each line moves a total.
func baskets(s *setup) {
	adds(&s.Spec, `
events:
  basket: {id: "{id}", at: "{at}", key: {pk: "BASKET#{id}", sk: X}, atomic: true}
  line: {part: {of: basket, each: lines, with: [id, text]}, id: "{id}#{n}", key: {pk: "BASKET#{id}", sk: "LINE#{n}"}}
aggregates:
  sold: {since: 1, by: {place: "{n}"}, movedBy: put, from: {line: {values: {sold: count}}}}
`)
}

func (w *world) basket(id string, lines, bytes int, extra ...string) *event.Item {
	var list []string
	for n := range lines {
		list = append(list, fmt.Sprintf(`{"n":%d}`, n))
	}
	return w.item(append([]string{`"type":"basket"`, fmt.Sprintf(`"id":%q,"text":%q`, id, strings.Repeat("x", bytes)),
		`"at":"2099-03-01T10:00:00Z"`, `"lines":[` + strings.Join(list, ",") + `]`}, extra...)...)
}

// sizeOf is about how many bytes an item takes.
func sizeOf(item attrs) (n int) {
	for name, v := range item {
		n += len(name)
		if s, ok := v.(*types.AttributeValueMemberS); ok {
			n += len(s.Value)
		}
	}
	return n
}

// A transaction takes 4 MB. If the service counts the totals that it moves, however it says so, a
// message that takes almost all of that is Rejected for its largest total. Nothing of it is stored,
// and it is stored once that total is small. Other messages with these totals go on.
func TestTotalsLeaveNoRoomForAMessage(t *testing.T) {
	for name, refusal := range map[string]func(n int) error{
		"invalid":         func(int) error { return errUnforeseen },
		"without reasons": func(int) error { return &types.TransactionCanceledException{} },
		"no item named":   func(n int) error { return testworld.Cancelled(n) },
	} {
		w := newWorld(t, stocked, baskets)
		w.start()
		large := func(bytes int) {
			for n := range 3 {
				key := itemKey(under(fmt.Sprintf("A#sold#1#0#%d", n), "-"))
				w.Alter(t, "totals", key, "SET #n = :v", textValue(strings.Repeat("x", bytes+n)), "i:x")
			}
		}
		w.onCall = refusing(func(items []types.TransactWriteItem) error {
			size := 0
			for _, item := range items {
				if item.Put != nil {
					size += sizeOf(item.Put.Item)
				} else if item.Update != nil {
					size += sizeOf(w.Get(t, "totals", item.Update.Key))
				}
			}
			if size > 4_000_000 {
				return refusal(len(items))
			}
			return nil
		})
		huge := func() *event.Item { return w.basket("1", 9, 380_000) }
		w.putNow(w.basket("0", 3, 1))
		large(100_000)
		results := w.putNow(huge(), w.basket("2", 3, 1))
		if verdicts(results) != "Rejected Inserted" || results[0].Refusal.Reason != event.TotalRefused ||
			!strings.Contains(results[0].Refusal.Detail, "sold of place=\"2\" cannot be updated: the items of the message take 38") {
			t.Errorf("%s: %v", name, results)
			continue
		}
		for _, item := range append(huge().Parts.Items, huge()) {
			if w.stored("events", item.Key) != nil {
				t.Fatalf("%s: %s is stored", name, item.Key)
			}
		}
		if flag := w.stored("totals", under("A#sold#1#0#2", "-"))["flag"]; flag == nil {
			t.Errorf("%s: the total is not flagged", name)
		}
		large(1)
		must.Equal(t, w.judged(huge(), huge()), "Inserted Duplicate", name)
		large(100_000)
		must.Equal(t, w.judged(w.basket("1", 9, 380_000, `"by":"hand"`), huge()), "Conflict Duplicate", name)
		w.agree(name)
	}
}

// Several messages that share transactions may be too large together with their totals, and not
// alone.
func TestTotalsLeaveNoRoomForAPack(t *testing.T) {
	w := newWorld(t, stocked, baskets)
	w.start()
	alone := 0
	w.onCall = refusing(func(items []types.TransactWriteItem) error {
		if len(items) > 7 { // two baskets
			return testworld.Cancelled(len(items))
		}
		alone++
		return nil
	})
	w.judges("Inserted Inserted Inserted", w.basket("1", 3, 1000), w.basket("2", 3, 1000), w.basket("3", 3, 1000))
	must.Equal(t, alone, 3)
	w.agree("one by one")
}

// The totals that refuse a message may be too large to come with the refusal. They are read then.
func TestRefusalOfLargeTotals(t *testing.T) {
	w := newWorld(t, stocked)
	w.start()
	var short atomic.Int64
	w.onCall = refusing(func(items []types.TransactWriteItem) error {
		for _, item := range items {
			if item.Update != nil &&
				item.Update.ReturnValuesOnConditionCheckFailure == types.ReturnValuesOnConditionCheckFailureAllOld {
				short.Add(1)
				return store.ErrTooLarge
			}
		}
		return nil
	})
	results := w.puts("reserved 1 x 1, reserved 2 y 1, received 3 y 1")
	must.Equal(t, told(results), "Rejected below-floor, Inserted, Inserted")
	must.Equal(t, short.Load(), 3)
}
