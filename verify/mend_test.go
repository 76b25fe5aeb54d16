package verify_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/ingot-events/ingot/aggregate"
	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/internal/plan/lanes"
	"github.com/ingot-events/ingot/internal/table/rows"
	"github.com/ingot-events/ingot/internal/testworld"
	"github.com/ingot-events/ingot/pipeline"
	"github.com/ingot-events/ingot/store"
	"github.com/ingot-events/ingot/store/repair"
	"github.com/ingot-events/ingot/tables"
	"github.com/ingot-events/ingot/verify"
	"github.com/ingot-events/ingot/verify/sums"
)

// mend mends all totals with a store, or those of some aggregates. It returns what was mended, and
// why the others were not.
func (w *world) mend(s *store.Store, lag lagFunc, defs ...*aggregate.Definition) (mended int, why []string) {
	w.t.Helper()
	c := verify.Config{Pipeline: w.plan, Config: sums.Config{Segments: 2, Env: w.Clock.Env(func() float64 { return 0.5 })}}
	m, err := verify.Mend(context.Background(), c, s, defs, lag, time.Minute)
	must.Succeed(w.t, err)
	for _, one := range m.Totals {
		if one.Why == "" {
			mended++
			continue
		}
		why = append(why, fmt.Sprintf("%s by %v: %s", one.Def, one.By, one.Why))
	}
	return mended, why
}

// mends fails unless a store mends so many totals, and says of one other for each of the words why
// it does not.
func (w *world) mends(s *store.Store, lag lagFunc, want int, words ...string) {
	w.t.Helper()
	mended, why := w.mend(s, lag)
	if mended != want || len(why) != len(words) || !strings.Contains(strings.Join(why, "\n"), strings.Join(words, "\n")) {
		w.t.Errorf("%d mended, %q; want %d and %q", mended, why, want, words)
	}
}

// sound fails unless nothing differs and nothing is flagged.
func (w *world) sound() {
	w.t.Helper()
	must.Equal(w.t, len(w.ok().Flagged), 0)
}

// proven fails unless nothing differs and nothing is flagged, and unless later events are counted.
func (w *world) proven() {
	w.t.Helper()
	for range 2 {
		w.sound()
		for i, merchant := range []string{"a", "b#c", "d"} {
			w.put(int(w.Clock.Now().Unix())+i, merchant, 5000*i-2500)
		}
		w.drain()
	}
}

// marks are the marks of all totals.
func (w *world) marks() attrs {
	w.t.Helper()
	all := attrs{}
	out, err := w.Engine.DynamoDB().Scan(context.Background(), &dynamodb.ScanInput{TableName: new("totals"), ConsistentRead: new(true)})
	must.Succeed(w.t, err)
	for _, item := range out.Items {
		for name, v := range item {
			if strings.HasPrefix(name, lanes.MarkPrefix) {
				all[fmt.Sprint(item["PK"], item["SK"], name)] = v
			}
		}
	}
	return all
}

func (w *world) drained() (time.Time, error) {
	w.drain()
	return w.Clock.Now(), nil
}

func noLag() (time.Time, error) { return time.Time{}, errors.New("it is not known") }

func order(id int) attrs {
	return itemKey(event.Key{PK: fmt.Sprintf("ORDER#%d", id), SK: "ORDER"})
}

// Each kind of damage is mended, without a mark being lost.
func TestMendDamage(t *testing.T) {
	all := damages()
	all["values gone"] = damage{make: func(w *world) { w.alter(w.key("by_merchant", 0), "REMOVE least, revenue", nil) }}
	all["a value as text"] = damage{make: func(w *world) {
		w.alter(w.key("by_merchant", 1), "SET revenue = :v, n = :v, largest = :v", rows.Text("see the ledger"))
	}}
	all["an expiry"] = damage{make: func(w *world) {
		w.alter(w.key("daily", 0), "ADD fp :v SET expiresAt = :v", number("4102444800"))
	}}
	all["of several totals"] = damage{make: func(w *world) {
		w.add("daily", "n", "1")
		w.add("live", "n", "1")
	}}
	for name, c := range all {
		t.Run(name, func(t *testing.T) {
			w := filled(t)
			daily := w.key("daily", 0)
			expires := w.read(daily)["expiresAt"]
			c.make(w)
			before := w.marks()
			mended, why := w.mend(w.store, w.drained)
			if mended == 0 || len(why) > 0 {
				t.Errorf("%d mended, %q", mended, why)
			}
			must.Match(t, w.marks(), before)
			must.Match(t, w.read(daily)["expiresAt"], expires)
			w.proven()
		})
	}
}

// Only the totals of the aggregates that are named are mended.
func TestMendNamedAggregates(t *testing.T) {
	w := filled(t)
	w.add("daily", "n", "1")
	w.add("live", "n", "1")
	mended, why := w.mend(w.store, w.drained, w.definition("live"))
	if r := w.verify(); mended != 1 || len(why) > 0 || len(r.Differences) != 1 || r.Differences[0].Def.Name != "daily" {
		t.Errorf("%d mended, %q; left are %v", mended, why, r.Differences)
	}
}

// kept is a spec with every value that cannot be taken back, one that is ranked, and one with
// buckets.
func kept() pipeline.Spec {
	spec := orders()
	spec.Aggregates["by_merchant"] = pipeline.AggregateSpec{Since: 1, Spread: 7, By: map[string]string{"merchant": "{merchant}"},
		From: map[string]pipeline.FromSpec{"order": {Values: map[string]string{
			"orders": "count", "largest": "max cents", "least": "min cents", "last": "newest id", "first": "oldest id",
			"ids": "distinct id", "spread": "histogram cents", "rare": "max rare?"}}}}
	spec.Aggregates["daily"] = pipeline.AggregateSpec{Since: 1, By: map[string]string{"merchant": "{merchant}"}, Window: day,
		Retain: 100 * day, Rank: pipeline.RankSpec{Value: "largest"},
		From: map[string]pipeline.FromSpec{"order": {Values: map[string]string{"orders": "count", "largest": "max cents"}}}}
	return spec
}

// What cannot be taken back is computed again once its event is gone, whatever its kind, and the
// flag is taken off. It need not be known how far the stream is, because the fingerprint proves
// which events are counted.
func TestMendWhatCannotBeTakenBack(t *testing.T) {
	w := newWorldOf(t, kept())
	for i := range 40 {
		w.put(i, []string{"a", "b#c", "d", "one"}[min(i%3+i/39, 3)], 10*i+1)
	}
	w.drain()
	for _, id := range []int{0, 1, 37, 38, 39} { // the least, the greatest, and the only one of a total
		w.remove("events", order(id))
	}
	w.drain()
	if r := w.verify(); !r.OK() || len(r.Flagged) < 6 {
		t.Fatalf("%+v", r)
	}
	w.Alter(t, "totals", w.of("by_merchant", "d"), "ADD #n :v", number("3"), "h:spread:900") // of no event
	if items := w.items("by_merchant", "a"); len(items) != 2 {
		t.Errorf("the total of a is in %v, and the test needs two", items)
	}
	if mended, why := w.mend(w.store, noLag); mended < 6 || len(why) > 0 {
		t.Errorf("%d mended, %q", mended, why)
	}
	w.proven()
	w.mends(w.store, noLag, 0)
}

// between calls functions before the requests of a client that mends, and may lose the answer to
// the write.
type between struct {
	tables.Client
	items, write func() // before the items are read, once the totals are, and before a write
	written      func() // after the write whose answer is lost
	held         bool   // the totals are read
}

func (b *between) BatchGetItem(ctx context.Context, in *dynamodb.BatchGetItemInput,
	o ...func(*dynamodb.Options)) (*dynamodb.BatchGetItemOutput, error) {
	b.held = true
	return b.Client.BatchGetItem(ctx, in, o...)
}

func (b *between) Scan(ctx context.Context, in *dynamodb.ScanInput, o ...func(*dynamodb.Options)) (*dynamodb.ScanOutput, error) {
	if b.held && b.items != nil {
		b.items()
		b.items = nil
	}
	return b.Client.Scan(ctx, in, o...)
}

func (b *between) TransactWriteItems(ctx context.Context, in *dynamodb.TransactWriteItemsInput,
	o ...func(*dynamodb.Options)) (*dynamodb.TransactWriteItemsOutput, error) {
	if b.write != nil {
		b.write()
	}
	out, err := b.Client.TransactWriteItems(ctx, in, o...)
	if err == nil && b.written != nil {
		b.written()
		b.written = nil
		return nil, errBroken
	}
	return out, err
}

func (w *world) between(b between) *store.Store {
	w.t.Helper()
	c := w.StoreConfig(w.plan)
	b.Client, c.Client = c.Client, &b
	s, err := store.New(c)
	must.Succeed(w.t, err)
	return s
}

// items are the keys of the items that an aggregate has of a merchant.
func (w *world) items(def, merchant string) (keys []attrs) {
	w.t.Helper()
	for total, err := range w.store.Totals(context.Background()) {
		must.Succeed(w.t, err)
		if a := total.Address; a.Name == def && (len(a.By) == 0 || a.By[0] == merchant) {
			keys = append(keys, w.keyOf(a))
		}
	}
	return keys
}

func (w *world) of(def, merchant string) attrs {
	return w.items(def, merchant)[0]
}

// addsOf makes a function that adds 1 to a total of a merchant by hand.
func addsOf(def, merchant, name string) func(*world) {
	return func(w *world) {
		w.t.Helper()
		w.alter(w.of(def, merchant), "ADD "+name+" :v", number("1"))
	}
}

// What happens to a total just before the write lets the write fail, also in another of its items.
// The next call mends it, unless an event has expired.
func TestMendMeetsAChange(t *testing.T) {
	flag := rows.Text("2099-03-01T12:00:00Z an update was refused")
	damaged := addsOf("live", "", "revenue")
	for name, c := range map[string]struct {
		damage, meets func(*world)
		then          int
	}{
		"a change, and damage": {addsOf("by_merchant", "a", "fp"), nil, 1},
		"a change, and a flag": {func(w *world) { w.gone(39) }, nil, 1},
		"a new flag":           {damaged, func(w *world) { w.alter(w.of("live", ""), "SET flag = :v", flag) }, 1},
		"a revision":           {damaged, addsOf("live", "", "fp"), 1},
		"an expiry":            {damaged, addsOf("live", "", "fpx"), 0},
		"a change of another item": {addsOf("by_merchant", "a", "revenue"),
			func(w *world) { // which another lane has made
				def := w.definition("by_merchant")
				for bucket := range def.Spread {
					key := itemKey(lanes.Key(def, bucket, []string{"a"}, aggregate.NoWindow))
					if len(w.read(key)) == 0 {
						w.alter(key, "ADD n :v, fp :v", number("1"))
						return
					}
				}
			}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			w := filled(t)
			c.damage(w)
			n := 100
			if c.meets == nil {
				c.meets = func(w *world) { w.put(n, "a", 7); w.drain() }
			}
			w.mends(w.between(between{write: func() {
				if n++; n == 101 {
					c.meets(w)
				}
			}}), w.drained, 0, "changes of its events were on their way")
			if mended, why := w.mend(w.store, w.drained); mended != c.then || len(why) != 1-c.then {
				t.Errorf("then %d mended, %q", mended, why)
			}
			if c.then == 1 {
				w.proven()
			}
		})
	}
}

// An event is stored while the items are read, and is removed again after it was read. The total
// has the same fingerprint as before then, and only its mark shows that something was on its way.
func TestMendWhileAnEventComesAndGoes(t *testing.T) {
	w := filled(t)
	addsOf("daily", "a", "fp")(w)
	came := func() { w.put(500, "a", 7) }
	w.mends(w.between(between{items: came}), func() (time.Time, error) {
		w.remove("events", order(500))
		return w.drained()
	}, 0, "changes of its events were on their way")
	w.mends(w.store, w.drained, 2)
	w.proven()
}

// If the answer to the write is lost, the total itself tells that it is mended, or that it has a
// new flag.
func TestMendLosesAnAnswer(t *testing.T) {
	for name, damage := range map[string]func(*world){
		"damage": addsOf("by_merchant", "a", "fp"),
		"a flag": func(w *world) { w.gone(39) },
	} {
		t.Run(name, func(t *testing.T) {
			w := filled(t)
			damage(w)
			w.mends(w.between(between{written: func() {}}), w.drained, 1)
			w.proven()
			addsOf("by_merchant", "a", "n")(w)
			flag := rows.Text("2099-03-01T12:00:00Z an update was refused")
			w.mends(w.between(between{written: func() { w.alter(w.of("by_merchant", "a"), "SET flag = :v", flag) }}), w.drained, 0, "")
		})
	}
}

// building says of an aggregate that it is not complete.
func (w *world) building(name string) {
	w.t.Helper()
	_, err := testworld.Writers(w.store).Heads.MarkBehind(context.Background(), []*aggregate.Definition{w.definition(name)})
	must.Succeed(w.t, err)
}

// An aggregate that begins to build while the stream is waited for is left alone.
func TestMendMeetsARebuild(t *testing.T) {
	w := filled(t)
	w.add("daily", "fp", "1")
	w.mends(w.store, func() (time.Time, error) { w.building("daily"); return w.drained() }, 0,
		"older items are not counted in its aggregate yet")
}

// What cannot be mended says why, and is not changed.
func TestWhatCannotBeMended(t *testing.T) {
	for name, c := range map[string]struct {
		make func(*world)
		lag  lagFunc
		why  string
	}{
		"an expired event": {func(w *world) {
			w.put(100, "a", 9999)
			w.drain()
			w.swept(91 * day)
			w.put(101, "a", 5)
			w.drain()
			w.gone(101)
		}, noLag, "it holds events that have expired, so it cannot be computed again"},
		"an unknown lag": {adds("daily", "fp", "1"), noLag, "nobody can tell how far the streams function is: it is not known"},
		"receipts": {func(w *world) {
			w.add("daily", "fp", "1")
			head := lanes.HeadKey(&aggregate.Definition{Name: "daily", Since: 1})
			w.alter(itemKey(head), "SET counting = :v", rows.Text("receipts"))
		}, func() (time.Time, error) { return epoch.Add(day), nil }, "counted by receipts"},
		"an aggregate that is building": {func(w *world) {
			w.add("daily", "fp", "1")
			w.building("daily")
		}, noLag, "older items are not counted in its aggregate yet"},
		"older items": {func(w *world) {
			w.add("live", "fp", "1")
			w.Alter(w.t, "events", order(1), "SET epoch = :v", number("0"))
		}, func() (time.Time, error) { return epoch.Add(day), nil }, "older items are not counted in its aggregate yet"},
	} {
		t.Run(name, func(t *testing.T) {
			w := filled(t)
			c.make(w)
			before := fmt.Sprint(w.verify())
			mended, why := w.mend(w.store, c.lag)
			if mended != 0 || len(why) == 0 || slices.ContainsFunc(why, func(text string) bool { return !strings.Contains(text, c.why) }) {
				t.Errorf("%d mended, %q", mended, why)
			}
			must.Equal(t, fmt.Sprint(w.verify()), before)
		})
	}
}

// A total that is below its floor, because somebody has removed an event, is right and stays
// flagged.
func TestMendBelowAFloor(t *testing.T) {
	spec := orders()
	spec.Aggregates["stock"] = pipeline.AggregateSpec{Since: 1, MovedBy: "put", AtLeast: map[string]event.Decimal{"cents": {}},
		By:   map[string]string{"merchant": "{merchant}"},
		From: map[string]pipeline.FromSpec{"order": {Values: map[string]string{"cents": "sum cents"}}}}
	w := newWorldOf(t, spec)
	for id, cents := range []int{10, 20, -25} {
		w.put(id, "a", cents)
	}
	w.drain()
	w.gone(0)
	w.alter(w.of("stock", "a"), "ADD cents :v", number("3"))
	before := fmt.Sprint(w.read(w.of("stock", "a"))["flag"])
	w.mends(w.store, noLag, 1, "its values are right, and its flag stays, because cents is below its floor")
	if total := w.read(w.of("stock", "a")); fmt.Sprint(total["flag"]) != before || !reflect.DeepEqual(total["cents"], number("-5")) {
		t.Errorf("%v", total)
	}
	w.put(3, "a", 5)
	w.drain()
	w.mends(w.store, noLag, 1)
	w.sound()
}

// A flag that a person accepts is not a new reason to mend or to call the total different. If the
// total is flagged again, that is seen.
func TestAcceptedFlag(t *testing.T) {
	w := filled(t)
	w.gone(39)
	accept := func(want bool, flag string) {
		t.Helper()
		for total, err := range w.store.Totals(context.Background()) {
			must.Succeed(t, err)
			if total.Flag == "" {
				continue
			}
			a := total.Address
			key := lanes.Key(w.definition(a.Name), a.Bucket, a.By, a.Window)
			is, err := repair.Of(w.store).Accept(context.Background(), key, flag+total.Flag, "jo")
			must.Succeed(t, err)
			must.Equal(t, is, want)
		}
	}
	accept(false, "another ")
	accept(true, "")
	w.flagged(": accepted 2099-03-01T12:08:00Z by jo: 2099-03-01T")
	w.gone(36)
	must.Equal(t, len(w.ok().Flagged), 2)
	w.mends(w.store, noLag, 1)
	w.proven()
}
