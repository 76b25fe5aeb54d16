package store_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/ingot-events/ingot/aggregate"
	"github.com/ingot-events/ingot/env"
	"github.com/ingot-events/ingot/envelope"
	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/internal/plan/lanes"
	"github.com/ingot-events/ingot/pipeline"
	"github.com/ingot-events/ingot/store"
	"github.com/ingot-events/ingot/store/query"
	"github.com/ingot-events/ingot/store/repair"
	"github.com/ingot-events/ingot/tables"
)

// The totals are days of one merchant, written through lanes that go to different buckets.
func TestTotalRange(t *testing.T) {
	w := newWorld(t)
	for i := range 24 {
		at := fmt.Sprintf(`"at":"2099-03-%02dT23:59:59.999999999Z"`, 1+i/3)
		item := w.item(`"type":"order"`, fmt.Sprintf(`"id":"%d"`, i), `"merchant":"m#%"`, fmt.Sprintf(`"cents":%d`, i), at)
		w.apply(w.from(aggregate.Marks, fmt.Sprint("shardId-", i), 1, item))
	}
	day := func(d int, more ...time.Duration) time.Time {
		at := time.Date(2099, 3, d, 0, 0, 0, 0, time.UTC)
		for _, m := range more {
			at = at.Add(m)
		}
		return at
	}
	if err := w.store.Start(deadline(t)); err != nil { // without a head, a read says that there is none
		t.Fatal(err)
	}
	by := map[string]string{"merchant": "m#%"}
	for name, c := range map[string]struct {
		from, to time.Time
		want     string // days
	}{
		"all":                        {day(1), day(9), "1 2 3 4 5 6 7 8"},
		"to is not in it":            {day(2), day(4), "2 3"},
		"a nanosecond more is":       {day(2), day(4, 1), "2 3 4"},
		"from is in it":              {day(8), day(30), "8"},
		"a nanosecond later is not":  {day(2, 1), day(4), "3"},
		"nothing":                    {day(9), day(30), ""},
		"inside one second":          {day(2, 100), day(2, 900), ""},
		"inside one second, with 0":  {day(2), day(2, 900), "2"},
		"the beginning of time":      {time.Time{}, day(2), "1"},
		"the end of time":            {day(8), time.Date(12000, 1, 1, 0, 0, 0, 0, time.UTC), "8"},
		"both ends, and more":        {time.Unix(-1<<40, 0), time.Unix(1<<40, 0), "1 2 3 4 5 6 7 8"},
		"another zone, the same day": {day(3).In(time.FixedZone("", 3600)), day(4).In(time.FixedZone("", -3600)), "3"},
	} {
		totals, err := w.query().Total(context.Background(), "daily", by, c.from, c.to)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		var days []string
		for _, total := range totals {
			d := total.Window.Day()
			days = append(days, fmt.Sprint(d))
			if i := 3 * (d - 1); total.Values["revenue"].String() != fmt.Sprint(3*i+3) || total.Values["orders"].String() != "3" ||
				total.N != 3 {
				t.Errorf("%s: %+v", name, total)
			}
		}
		must.Equal(t, strings.Join(days, " "), c.want, name)
	}
	// The buckets are really spread. What is past its time is hidden from reads, but not from
	// scans.
	buckets := map[int]bool{}
	count := func() (n int) {
		for total, err := range w.store.Totals(context.Background()) {
			must.Succeed(t, err)
			if total.Address.Name == "daily" {
				n, buckets[total.Address.Bucket] = n+1, true
			}
		}
		return n
	}
	before := count()
	if len(buckets) < 3 {
		t.Errorf("%d buckets", len(buckets))
	}
	w.Clock.Set(time.Unix(must.Time("2099-03-04T00:00:00Z").Unix(), 0).Add(24*time.Hour + 100*24*time.Hour))
	if totals, err := w.query().Total(context.Background(), "daily", by, day(1), day(30)); err != nil || len(totals) != 4 ||
		totals[0].Window.Day() != 5 {
		t.Errorf("%d totals shown, %v", len(totals), err)
	}
	must.Equal(t, count(), before)
	// The name of another merchant would read the same without escaping. It has no totals.
	for _, other := range []string{"m", "m%23%25", "m#"} {
		if totals, err := w.query().Total(context.Background(), "daily", map[string]string{"merchant": other}, day(1),
			day(30)); err != nil ||
			len(totals) != 0 {
			t.Errorf("%q: %v %v", other, totals, err)
		}
	}
}

// If from or to is left out, that end of the windows is open.
func TestTotalWithoutTimes(t *testing.T) {
	w := newWorld(t)
	merchant := map[string]string{"merchant": "m"}
	starts := []time.Time{must.Time("1970-01-01T00:00:00Z"), must.Time("2099-03-01T00:00:00Z"),
		must.Time("9999-12-31T00:00:00Z")}
	daily, _ := w.plan.Definition("daily")
	for _, start := range starts {
		key := lanes.Key(daily, 0, []string{"m"}, start.Unix())
		w.write("totals", key, attrs{"n": numberValue("1")})
	}
	for _, c := range []struct {
		from, to time.Time
		want     []time.Time
	}{
		{time.Time{}, time.Time{}, starts},
		{starts[1], time.Time{}, starts[1:]},
		{time.Time{}, starts[1], starts[:1]},
	} {
		totals, err := w.query().Total(context.Background(), "daily", merchant, c.from, c.to)
		var got []time.Time
		for _, total := range totals {
			got = append(got, total.Window)
		}
		if err != nil || !slices.EqualFunc(got, c.want, time.Time.Equal) {
			t.Errorf("from %v to %v: %v, %v", c.from, c.to, got, err)
		}
	}
}

func TestTotalRefuses(t *testing.T) {
	w := newWorld(t)
	for _, c := range map[string]struct {
		aggregate string
		by        map[string]string
		words     string
	}{
		"unknown aggregate": {"monthly", nil, `no aggregate "monthly"`},
		"no value":          {"daily", nil, "by (merchant)"},
		"empty value":       {"daily", map[string]string{"merchant": ""}, "merchant"},
		"other name":        {"daily", map[string]string{"customer": "x"}, "merchant"},
		"one too many":      {"live", map[string]string{"merchant": "x"}, "by ()"},
	} {
		_, err := w.query().Total(context.Background(), c.aggregate, c.by, epoch, epoch)
		must.Fail(t, err, c.words)
	}
	for name, to := range map[string]time.Time{"an empty range": epoch, "a range turned round": epoch.Add(-time.Hour)} {
		totals, err := w.query().Total(context.Background(), "daily", map[string]string{"merchant": "x"}, epoch, to)
		if err == nil || totals != nil || !strings.Contains(err.Error(), "total of daily: no window starts from 2") ||
			!strings.Contains(err.Error(), "give a later to") {
			t.Errorf("%s: %v %v", name, totals, err)
		}
		if _, err := w.query().Total(context.Background(), "live", nil, epoch, to); err != nil {
			t.Errorf("%s of an aggregate without windows: %v", name, err)
		}
	}
	w.faults = []fault{{API: "Query", Before: &types.ResourceNotFoundException{Message: aws.String("no table")}}}
	_, err := w.query().Total(context.Background(), "live", nil, epoch, epoch)
	must.Fail(t, err, "live")
}

// A scan goes over many pages. It names what it cannot understand, and goes on.
func TestScans(t *testing.T) {
	w := newWorld(t)
	items := w.orders(0, 30, fmt.Sprintf(`"pad":%q`, strings.Repeat("x", 100<<10)))
	w.keep(items...)
	w.write("events", under("FOREIGN", "x"), nil)
	w.write("events", under("ODD", "x"), attrs{"type": textValue("order")})
	w.faults = []fault{{API: "Scan", Before: errThrottled}, {API: "Scan", After: errLost}}
	meter := w.meter()
	seen, odd := map[event.Key]int{}, 0
	for item, err := range w.store.Items(deadline(t)) {
		var o *tables.UnreadableItem
		switch {
		case errors.As(err, &o):
			if odd++; o.Key.PK != "ODD" || o.Unwrap() == nil || !strings.Contains(o.Error(), "ODD") {
				t.Errorf("%v", o)
			}
		case err != nil:
			t.Fatal(err)
		default:
			seen[item.Key]++
		}
	}
	if len(seen) != 30 || odd != 1 {
		t.Errorf("%d items and %d odd ones", len(seen), odd)
	}
	for key, n := range seen {
		must.Equal(t, n, 1, key)
	}
	if pages := meter().Requests["Scan"]; pages < 4 {
		t.Errorf("%d requests: this was to be many pages", pages)
	}
	for range w.store.Items(deadline(t)) { // a caller may stop
		break
	}
	w.faults = []fault{{API: "Scan", Before: &types.ResourceNotFoundException{}}}
	n := 0
	for _, err := range w.store.Items(deadline(t)) {
		if n++; err == nil || !strings.Contains(err.Error(), "events") {
			t.Errorf("%v", err)
		}
	}
	must.Equal(t, n, 1)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	for _, err := range w.store.Totals(ctx) {
		if err == nil {
			t.Error("no error of an ended context")
		}
	}
}

// Totals leaves out everything that is not an aggregate item.
func TestTotalsAmongOthers(t *testing.T) {
	w := newWorld(t)
	w.start()
	w.counts(1, w.order("1", 5))
	for _, pk := range []string{"A#", "A#x", "A#x#1", "A#x#y#0", "B#live#1#0", "R#abc"} {
		w.write("totals", under(pk, "-"), attrs{"n": textValue("1")})
	}
	w.write("totals", under("A#live#1#0", "yesterday"), nil)
	names := map[string]int{}
	for total, err := range w.store.Totals(context.Background()) {
		must.Succeed(t, err)
		names[total.Address.Name]++
		if total.N != 1 || total.FP.IsZero() || total.Marks != 1 {
			t.Errorf("%+v", total)
		}
	}
	if len(names) != 3 {
		t.Errorf("%v", names)
	}
}

// A count or a sum that no event has added to is 0, although its item has no attribute for it. A
// least or greatest value is left out, because it is not a number that an event has supplied.
func TestWhatNothingHasAddedToIsZero(t *testing.T) {
	w := newWorld(t, func(s *setup) {
		s.Aggregates = nil
		adds(&s.Spec, `
aggregates:
  leaders:
    since: 1
    by: {merchant: "{merchant}"}
    rank: {value: orders}
    from:
      order:
        values:
          {orders: count, refunds: count where refund = true, refunded: "sum refund_cents?", least: "min refund_cents?"}
`)
	})
	w.start()
	w.counts(1, w.order("1", 5))
	w.Clock.Pass(10 * time.Second) // for the index
	top, err := w.query().Top(deadline(t), "leaders", nil, time.Time{}, 1)
	if err != nil || len(top) != 1 {
		t.Fatal(top, err)
	}
	for _, total := range []query.Total{w.total("leaders", "merchant", "m"), top[0]} {
		must.Equal(t, fmt.Sprint(total.Values), "map[orders:1 refunded:0 refunds:0]")
	}
}

// A read says what the head says.
func TestTotalSaysBuildingAndFlag(t *testing.T) {
	w := newWorld(t)
	w.start()
	w.counts(1, w.order("1", 5))
	def, _ := w.plan.Definition("live")
	w.faults = []fault{{API: "UpdateItem", Before: errThrottled}, {API: "UpdateItem", After: errLost}}
	_, err := w.store.Inside().Heads.MarkBehind(deadline(t), []*aggregate.Definition{def})
	must.Succeed(t, err)
	for _, reason := range []string{"first", "second"} {
		_, err := w.store.Inside().Heads.Flag(deadline(t), []*aggregate.Definition{def}, epoch, reason)
		must.Succeed(t, err)
	}
	total := w.total("live")
	if !total.Building || len(total.Flags) != 1 || total.Flags[0] != "2099-03-01T12:00:00Z first" {
		t.Errorf("%+v", total)
	}
	if other := w.total("by_merchant", "merchant", "m"); other.Building || len(other.Flags) != 0 {
		t.Errorf("%+v", other)
	}
	h := head(t, w.store, def)
	if err := w.repair().ClearBuilding(deadline(t), def, h.Behind); !errors.Is(err, repair.ErrBehind) {
		t.Errorf("complete without a pass: %v", err)
	}
	pass, err := w.repair().BeginPass(deadline(t), def)
	if err != nil || pass.Behind != h.Behind || pass.Definition != def {
		t.Errorf("a pass begins at %+v, %v", pass, err)
	}
	if err := w.repair().ClearBuilding(deadline(t), def, h.Behind-1); !errors.Is(err, repair.ErrBehind) {
		t.Errorf("%v", err)
	}
	if err := w.repair().ClearBuilding(deadline(t), def, h.Behind); err != nil || head(t, w.store, def).Building {
		t.Errorf("%v", err)
	}
	must.Fail(t, w.repair().ClearBuilding(deadline(t), &aggregate.Definition{Name: "nothing", Since: 1}, 0), "no head")
}

// A reader whose secret or definition is not the one that the totals are counted with is refused,
// because it would find nothing, or half of the totals. A reader is accepted if it is older or
// newer than the deployed function, or if it has no secret and brings the hash.
func TestTotalOfAnotherPipeline(t *testing.T) {
	w := newWorld(t)
	open := func(alter func(*pipeline.Spec), options ...pipeline.Option) (*pipeline.Pipeline, *store.Store) {
		spec := orders()
		adds(&spec, `
aggregates:
  customer: {since: 1, by: {merchant: "{merchant | hmac}"}, from: {order: {values: {orders: count, revenue: sum cents}}}}
`)
		alter(&spec)
		p, err := pipeline.New(spec, options...)
		must.Succeed(t, err)
		return p,
			w.open(tables.Config{Pipeline: p,
				Env: env.Env{Now: w.Clock.Now}})
	}
	one, two := pipeline.Secret([]byte("one")), pipeline.Secret([]byte("two"))
	newGeneration := func(s *pipeline.Spec) {
		a := s.Aggregates["customer"]
		s.Epoch, a.Since, a.Spread = 2, 2, 2
		s.Aggregates["customer"] = a
	}
	plan, deployed := open(same, one)
	must.Succeed(t, deployed.Start(deadline(t)))
	item := w.order("1", 5)
	b := lanes.NewBatch(aggregate.Marks, lane)
	b.Add(w.insert(1, item), nil, plan.Contributions(item).List)
	if applied := deployed.Apply(deadline(t), b, nil); !applied.Unproven.IsZero() {
		t.Fatal(applied.Err)
	}
	hashed, err := plan.By("customer", envelope.Message{Body: item.Data})
	must.Succeed(t, err)
	for name, c := range map[string]struct {
		alter   func(*pipeline.Spec)
		options []pipeline.Option
		words   string
		found   int // -1: it says that there is none
	}{
		"the deployed one": {same, []pipeline.Option{one}, "", 1},
		"no secret":        {same, []pipeline.Option{pipeline.CheckOnly()}, "", 1},
		"another secret": {same, []pipeline.Option{two},
			"customer since 1 is grouped by hmac with another secret in the table than INGOT_PII_KEY; go back to", 0},
		"edited": {func(s *pipeline.Spec) {
			a := s.Aggregates["customer"]
			a.Spread = 2
			s.Aggregates["customer"] = a
		}, []pipeline.Option{one}, "customer since 1 is declared differently in pipeline.yaml and in the table; go back to", 0},
		"edited and no secret": {func(s *pipeline.Spec) {
			a := s.Aggregates["customer"]
			a.OnExpire = "subtract"
			s.Aggregates["customer"] = a
		}, []pipeline.Option{pipeline.CheckOnly()}, "declared differently", 0},
		"a generation not deployed yet":                     {newGeneration, []pipeline.Option{one}, "", -1},
		"a generation not deployed yet, with a secret anew": {newGeneration, []pipeline.Option{two}, "", -1},
		"another aggregate edited, which is none of its business": {func(s *pipeline.Spec) {
			a := s.Aggregates["live"]
			a.Spread = 2
			s.Aggregates["live"] = a
		}, []pipeline.Option{one}, "", 1},
	} {
		_, reader := open(c.alter, c.options...)
		meter := w.meter()
		totals, err := query.Of(reader).Total(deadline(t), "customer", hashed, epoch, epoch)
		if c.found < 0 {
			if len(totals) != 1 || !totals[0].Missing || len(totals[0].Flags) != 1 ||
				!strings.Contains(totals[0].Flags[0], "has no head: no streams function has started with it") {
				t.Errorf("%s: %+v", name, totals)
			}
			c.found = 1
		}
		if (err == nil) != (c.words == "") || err != nil && (!strings.HasPrefix(err.Error(), "total: refused, because aggregate ") ||
			!strings.Contains(err.Error(), c.words)) || len(totals) != c.found {
			t.Errorf("%s: %d totals, %v", name, len(totals), err)
		}
		if used := meter().Requests; used["GetItem"] != 1 || c.words != "" && used["Query"] > 0 {
			t.Errorf("%s: %v", name, used)
		}
	}

	// The next generation is deployed, with another secret. Readers of the old generation are
	// older, but not wrong.
	next, newest := open(newGeneration, two)
	must.Succeed(t, newest.Start(deadline(t)))
	if totals, err := query.Of(deployed).Total(deadline(t), "customer", hashed, epoch, epoch); err != nil || len(totals) != 1 ||
		len(totals[0].Flags) != 1 {
		t.Errorf("an older reader: %+v, %v", totals, err)
	}
	if err := deployed.Start(deadline(t)); err != nil { // rolled back
		t.Fatal(err)
	}
	if totals, err := query.Of(deployed).Total(deadline(t), "customer", hashed, epoch, epoch); err != nil || len(totals) != 1 {
		t.Errorf("after going back: %+v, %v", totals, err)
	}
	hashed, err = next.By("customer", envelope.Message{Body: item.Data})
	must.Succeed(t, err)
	if totals, err := query.Of(newest).Total(deadline(t), "customer", hashed, epoch, epoch); err != nil || len(totals) != 1 ||
		!totals[0].Missing ||
		!totals[0].Building {
		t.Errorf("a newer reader after going back: %+v, %v", totals, err)
	}
}

// If nothing is stored, a read still says what the head says about the whole generation. It says
// nothing if the head has nothing to say. A total that exists says the same, and is not missing,
// even if it has come down to nothing.
func TestMissingTotalSaysWhatItsHeadSays(t *testing.T) {
	for _, name := range []string{"live", "daily"} { // without windows and with them
		w := newWorld(t)
		by, item := map[string]string{}, w.order("1", 5)
		if name == "daily" {
			by = map[string]string{"merchant": "m"}
		}
		def, _ := w.plan.Definition(name)
		read := func() string {
			t.Helper()
			totals, err := w.query().Total(deadline(t), name, by, time.Time{}, time.Time{})
			must.Succeed(t, err)
			var list []string
			for _, total := range totals {
				if total.Values == nil || total.Missing && (!total.Window.IsZero() || len(total.Values) > 0) {
					t.Errorf("%s: %+v", name, total)
				}
				list = append(list, fmt.Sprintf("missing %v, n %d, building %v, %q", total.Missing, total.N, total.Building, total.Flags))
			}
			return strings.Join(list, "; ")
		}
		expect := func(when, want string) {
			t.Helper()
			must.Equal(t, read(), want, name, when)
		}
		expect("before a start", `missing true, n 0, building false, ["aggregate `+def.String()+
			` has no head: no streams function has started with it, so nothing is counted yet"]`)
		w.start()
		expect("nothing counted", "")
		_, err := w.store.Inside().Heads.MarkBehind(deadline(t), []*aggregate.Definition{def})
		must.Succeed(t, err)
		expect("building", "missing true, n 0, building true, []")
		_, err = w.store.Inside().Heads.Flag(deadline(t), []*aggregate.Definition{def}, epoch, "odd")
		must.Succeed(t, err)
		expect("flagged", `missing true, n 0, building true, ["2099-03-01T12:00:00Z odd"]`)
		w.counts(1, item)
		expect("counted", `missing false, n 1, building true, ["2099-03-01T12:00:00Z odd"]`)
		w.apply(w.change(2, event.Remove, false, item, nil))
		got := read()
		if !strings.HasPrefix(got, `missing false, n 0, building true, ["2099-03-01T12:00:00Z odd"`) {
			t.Errorf("%s, taken back: %s", name, got)
		}
	}
}

// Touch raises every lower stamp once, and never creates an item.
func TestTouch(t *testing.T) {
	w := newWorld(t)
	items := w.orders(0, 5)
	w.arrive(items...)
	w.write("events", under("FOREIGN", "x"), nil)
	w.write("events", under("ODD", "x"), attrs{"type": textValue("order")})
	s := w.started(added(2, 3))
	w.faults = []fault{{API: "BatchExecuteStatement", Before: errThrottled}, {API: "BatchExecuteStatement", Edit: func(output any) {
		for i, code := range []types.BatchStatementErrorCodeEnum{"ThrottlingError", "InternalServerError"} { // both are done all the same
			output.(*dynamodb.BatchExecuteStatementOutput).Responses[i].Error = &types.BatchStatementError{Code: code,
				Message: aws.String("again")}
		}
	}}}
	touched, err := repair.Of(s).Touch(deadline(t))
	if err != nil || touched.Scanned != 5 || touched.Unreadable != 1 || touched.Touched != 3 ||
		len(w.faults) > 0 { // what was asked again was stamped already
		t.Errorf("%+v %v", touched, err)
	}
	for _, item := range items {
		img := w.stored("events", item.Key)
		if show(img["epoch"]) != "N 3" || show(img["data"]) != "S "+item.Data {
			t.Errorf("%s: %v", item.Key, show(img["epoch"]))
		}
	}
	must.Equal(t, len(w.stored("events", under("FOREIGN", "x"))), 2)
	if touched, err = repair.Of(s).Touch(deadline(t)); err != nil || touched.Touched != 0 {
		t.Errorf("again: %+v %v", touched, err)
	}
	if touched, err = w.repair().Touch(deadline(t)); err != nil || touched.Touched != 0 {
		t.Errorf("by a lower epoch: %+v %v", touched, err)
	}
	s = w.started(added(2, 4))
	w.faults = []fault{{API: "BatchExecuteStatement", After: errLost}}
	if touched, err = repair.Of(s).Touch(deadline(t)); err != nil || touched.Touched != 0 ||
		show(w.stored("events", items[4].Key)["epoch"]) != "N 4" {
		t.Errorf("after a lost answer: %+v %v", touched, err)
	}
	s = w.started(added(2, 5))
	w.faults = []fault{{API: "BatchExecuteStatement", Before: &types.ResourceNotFoundException{}}}
	if _, err := repair.Of(s).Touch(deadline(t)); err == nil || len(w.faults) > 0 || !strings.Contains(err.Error(), "and 4 other items") {
		t.Errorf("%v; %d faults left", err, len(w.faults))
	}
	w.faults = []fault{{API: "BatchExecuteStatement", Edit: func(output any) {
		output.(*dynamodb.BatchExecuteStatementOutput).Responses[2].Error = &types.BatchStatementError{Code: "AccessDenied",
			Message: aws.String("not yours")}
	}}}
	_, err = repair.Of(s).Touch(deadline(t))
	must.Fail(t, err, "not yours")
}

// Many items go 25 in a request, and the last few alone. It costs no more than if each went alone.
func TestTouchMany(t *testing.T) {
	w := newWorld(t)
	items := w.orders(0, 52)
	w.arrive(items...)
	s := w.started(added(2, 2))
	meter := w.meter()
	units := 0.0
	for page, err := range repair.Of(s).TouchPages(deadline(t), tables.Segment{}) {
		if err != nil || page.Touched.Touched != 52 {
			t.Fatalf("%+v %v", page, err)
		}
		units += page.Writes
	}
	if used := meter(); used.Requests["BatchExecuteStatement"] != 2 || used.Requests["UpdateItem"] != 2 ||
		units != 52 || used.WriteUnits() != 52 {
		t.Errorf("%v, %v units", used, units)
	}
}

// A touch pass never raises an epoch. If it stamped items above the deployed epoch, they would stop
// every shard. It is refused before it reads or writes an item, and costs a single consistent read.
func TestTouchAboveTheTablesEpoch(t *testing.T) {
	w := newWorld(t)
	w.arrive(w.order("1", 1))
	ahead := w.with(added(2, 2), aggregate.Marks)
	for _, step := range []struct {
		name, words string
		before      func()
		touched     int
	}{
		{"fresh tables", "no streams function has started with the aggregates table totals", func() {}, 0},
		{"the deployed function is older", "the aggregates table totals is at epoch 1 and this pipeline.yaml at 2", func() {
			w.started(same)
		}, 0},
		{"an epoch that cannot be read", "no streams function has started", func() {
			w.write("totals", lanes.EpochKey, attrs{"epoch": textValue("2")})
		}, 0},
		{"it has started", "", func() {
			w.write("totals", lanes.EpochKey, attrs{"epoch": numberValue("1")})
			w.started(added(2, 2))
		}, 1},
		{"again", "", func() {}, 0},
		{"a newer one has started", "", func() { w.started(added(2, 7)) }, 0},
	} {
		step.before()
		meter := w.meter()
		touched, err := repair.Of(ahead).Touch(deadline(t))
		used := meter().Requests
		if step.words != "" && (err == nil || !strings.HasPrefix(err.Error(), "touch: refused") ||
			!strings.Contains(err.Error(), step.words) || !strings.Contains(err.Error(), "deploy it with this pipeline.yaml")) ||
			step.words == "" && err != nil {
			t.Errorf("%s: %v", step.name, err)
		}
		if touched.Touched != step.touched || used["GetItem"] != 1 || (used["Scan"] > 0) != (step.words == "") ||
			used["UpdateItem"] != int64(step.touched) {
			t.Errorf("%s: %+v with %v", step.name, touched, used)
		}
	}
	must.Equal(t, show(w.stored("events", under("ORDER#1", "ORDER"))["epoch"]), "N 2")
}

// The epoch is asked for until it is answered. An error that cannot get better is reported at once.
func TestTouchReadsTheEpoch(t *testing.T) {
	w := newWorld(t)
	w.arrive(w.order("1", 1))
	s := w.started(added(2, 2))
	w.faults = []fault{{API: "GetItem", Before: errThrottled}, {API: "GetItem", After: errLost}}
	if touched, err := repair.Of(s).Touch(deadline(t)); err != nil || touched.Touched != 1 || len(w.faults) > 0 {
		t.Errorf("%+v %v", touched, err)
	}
	w.fails("GetItem", errDenied)
	if _, err := repair.Of(s).Touch(deadline(t)); err == nil || !strings.Contains(err.Error(),
		"reading the epoch of the aggregates table totals") ||
		len(w.faults) > 0 {
		t.Error(err)
	}
	alone := w.open(tables.Config{Events: "events"})
	_, err := repair.Of(alone).Touch(deadline(t))
	must.Fail(t, err, "Config.Aggregates")
}

// A read of totals repeats its requests after a throttle or a lost answer, but not after a denial.
func TestReadsAskAgain(t *testing.T) {
	w := newWorld(t)
	w.start()
	w.counts(1, w.order("1", 5))
	def, _ := w.plan.Definition("by_merchant")
	head := func() error {
		h, err := w.store.Head(deadline(t), def)
		if err == nil && h == nil {
			t.Error("no head")
		}
		return err
	}
	total := func() error {
		totals, err := w.query().Total(deadline(t), "by_merchant", map[string]string{"merchant": "m"}, epoch, epoch)
		if err == nil && len(totals) != 1 {
			t.Errorf("%d totals", len(totals))
		}
		return err
	}
	begin := func() error {
		_, err := w.repair().BeginPass(deadline(t), def)
		return err
	}
	must.Succeed(t, begin())
	clear := func() error { return w.repair().ClearBuilding(deadline(t), def, 0) }
	for _, c := range []struct {
		api  string
		read func() error
	}{{"GetItem", head}, {"GetItem", total}, {"Query", total}, {"UpdateItem", clear}} {
		w.faults, w.slept = []fault{{API: c.api, Before: errThrottled}, {API: c.api, After: errLost}}, 0
		if err := c.read(); err != nil || len(w.faults) > 0 || w.slept != 2 {
			t.Errorf("%s: %v after %d waits", c.api, err, w.slept)
		}
		w.faults,
			w.slept = []fault{{API: c.api, Before: errDenied}}, 0
		if err := c.read(); err == nil || w.slept != 0 {
			t.Errorf("%s: %v after %d waits", c.api, err, w.slept)
		}
	}
}
