package verify_test

import (
	"context"
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/ingot-events/ingot/aggregate"
	"github.com/ingot-events/ingot/handler/quarantine"
	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/internal/table/rows"
	"github.com/ingot-events/ingot/pipeline"
	"github.com/ingot-events/ingot/store/query"
	"github.com/ingot-events/ingot/store/repair"
	"github.com/ingot-events/ingot/tables"
	"github.com/ingot-events/ingot/verify"
)

func filled(t *testing.T) *world {
	w := newWorld(t)
	for i := range 40 {
		w.put(i, []string{"a", "b#c", "d"}[i%3], 10*i+1)
	}
	w.drain()
	return w
}

// later adds orders of a merchant, of which none has expired when those of [filled] have.
func (w *world) later() {
	w.t.Helper()
	w.Clock.Pass(60 * day)
	for i := 40; i < 50; i++ {
		w.put(i, "a", 7)
	}
	w.drain()
}

func TestNothingDiffers(t *testing.T) {
	w := filled(t)
	r := w.verify()
	if !r.OK() || r.Items != 40 || r.Totals != 3+3+1 || r.Partly != 0 || len(r.Flagged) != 0 || len(r.Unreadable) != 0 {
		t.Errorf("%+v", r)
	}
}

// damage is one kind of damage to the totals, and what verify says of it.
type damage struct {
	make func(w *world)
	what string // of the differences, in their order; empty: it is not compared
	in   string
}

func damages() map[string]damage {
	return map[string]damage{
		"a sum":                     {adds("live", "revenue", "1"), "revenue", "live since 1"},
		"a sum, unnoticeably small": {adds("live", "revenue", "0.000000001"), "revenue", "live"},
		"a count":                   {adds("daily", "orders", "-1"), "orders", "daily"},
		"n":                         {adds("daily", "n", "1"), "n", "daily"},
		"the fingerprint":           {adds("live", "fp", "1"), "fp", "live"},
		"a maximum":                 {adds("by_merchant", "largest", "1000"), "largest", "by_merchant"},
		"a minimum":                 {adds("by_merchant", "least", "-1000"), "least", "by_merchant"},
		"a value gone":              {func(w *world) { w.alter(w.key("live", 0), "REMOVE revenue", nil) }, "revenue", "live"},
		"a total deleted":           {func(w *world) { w.remove("totals", w.key("daily", 0)) }, "missing", "daily"},
		"a bucket deleted":          {func(w *world) { w.remove("totals", w.key("by_merchant", 0)) }, "", "by_merchant"},
		"a total that no item makes": {func(w *world) {
			key := w.key("daily", 0)
			key["PK"] = rows.Text("A#daily#1#0#nobody")
			w.alter(key, "ADD n :v, fp :v, orders :v", number("5"))
		}, "fp n orders", "nobody"},
		"two totals swapped": {func(w *world) {
			a, b := w.key("daily", 0), w.key("daily", 1)
			left, right := w.read(a), w.read(b)
			w.write(right, a)
			w.write(left, b)
		}, "", "daily"},
		"a contribution moved between two totals": {func(w *world) {
			w.alter(w.key("daily", 0), "ADD n :v, orders :v", number("1"))
			w.alter(w.key("daily", 1), "ADD n :v, orders :v", number("-1"))
		}, "n orders n orders", "daily"},
	}
}

// Each kind of damage is found, and named.
func TestDamage(t *testing.T) {
	all := damages()
	all["an item deleted that the stream has not told"] = damage{func(w *world) { w.remove("events", order(7)) }, "", ""}
	for name, c := range all {
		t.Run(name, func(t *testing.T) {
			w := filled(t)
			c.make(w)
			r := w.verify()
			if r.OK() {
				t.Fatal("nothing found")
			}
			for _, d := range r.Differences {
				must.Say(t, d.String(), c.in)
			}
			if c.what != "" {
				must.Equal(t, whats(r), c.what)
			}
		})
	}
}

func (w *world) read(key attrs) attrs {
	w.t.Helper()
	return w.Get(w.t, "totals", key)
}

func (w *world) write(item, key attrs) {
	w.t.Helper()
	maps.Copy(item, key)
	w.Put(w.t, "totals", item)
}

// Kept totals outlive their items, subtracted ones fall, and verify knows which is which: before
// the sweep, half-way, after it, and when the totals themselves have gone.
func TestAfterExpiry(t *testing.T) {
	w := filled(t)
	w.later()
	for range 2 { // first a part expires, and then the rest
		w.Clock.Pass(45 * day)
		w.ok()
		w.swept(0)
		w.ok()
	}
	must.Equal(t, w.verify().Items, 0)
	totals, err := query.Of(w.store).Total(context.Background(), "by_merchant", map[string]string{"merchant": "a"}, epoch, epoch)
	if err != nil || len(totals) != 1 || totals[0].Values["orders"].String() != "24" || totals[0].FP.Cmp(totals[0].FPX) != 0 {
		t.Errorf("the kept total: %+v %v", totals, err)
	}
	// A kept total whose live part is altered is found even now.
	w.add("by_merchant", "fp", "1")
	must.Equal(t, whats(w.verify()), "fp")
	w.add("by_merchant", "fp", "-1")
	w.add("live", "n", "1")
	must.Equal(t, whats(w.verify()), "n")
}

// Of a kept total, some of whose events have expired, the fingerprint alone can be compared: what
// that sees and what it does not. The report says how many such totals there are.
func TestPartlyCompared(t *testing.T) {
	for name, c := range map[string]struct {
		expression, by, what string // what: the difference; empty: it is not seen
	}{
		"untouched":                   {"", "", ""},
		"the fingerprint":             {"ADD fp :v", "1", "fp"},
		"its expired part":            {"ADD fpx :v", "1", "fp"},
		"both alike":                  {"ADD fp :v, fpx :v", "1", ""},
		"n":                           {"ADD n :v", "1", ""},
		"a sum":                       {"ADD revenue :v", "1", ""},
		"a maximum":                   {"ADD largest :v", "1000", ""},
		"its expired part, forgotten": {"ADD fp :v SET fpx = :v", "0", "fp"},
	} {
		t.Run(name, func(t *testing.T) {
			w := filled(t)
			w.later()
			w.swept(45 * day)
			if c.expression != "" {
				w.alter(w.partly("a"), c.expression, number(c.by))
			}
			r := w.verify()
			must.Equal(t, whats(r), c.what, r.Differences)
			must.Equal(t, r.Partly, 3)
		})
	}
}

// partly is the key of a kept total of the merchant that has an expired part.
func (w *world) partly(merchant string) attrs {
	w.t.Helper()
	for total, err := range w.store.Totals(context.Background()) {
		must.Succeed(w.t, err)
		if a := total.Address; a.Name == "by_merchant" && a.By[0] == merchant && !total.FPX.IsZero() {
			return w.keyOf(a)
		}
	}
	w.t.Fatal("no total with an expired part")
	return nil
}

// A total that cannot be taken back says so, and is not a difference for it.
func TestFlagged(t *testing.T) {
	w := filled(t)
	w.gone(39)
	w.flagged("by_merchant", "largest")
}

// flagged fails unless nothing differs, and one flag says these words.
func (w *world) flagged(words ...string) {
	w.t.Helper()
	flags := w.ok().Flagged
	must.Equal(w.t, len(flags), 1)
	must.Say(w.t, strings.Join(flags, ""), words...)
}

// A generation of which nothing can be proven says so on its head, and verify with it.
func TestFlaggedHead(t *testing.T) {
	w := filled(t)
	def := w.definition("live")
	_, err := repair.Of(w.store).Flag(context.Background(), []*aggregate.Definition{def}, epoch,
		"a record was not understood")
	must.Succeed(t, err)
	w.flagged("live since 1", "not understood")
}

// Items that cannot be understood, or computed, are named and hold nothing up.
func TestOddItems(t *testing.T) {
	w := filled(t)
	put := func(pk, digest string) {
		w.odd(pk, attrs{"epoch": number("1"),
			"at":     rows.Text("2099-03-01T10:00:00.000000000Z"),
			"data":   rows.Text(`{"merchant":"a","cents":"five"}`),
			"digest": rows.Binary([]byte(digest))})
	}
	put("NO DIGEST", "short")
	put("NO NUMBER", strings.Repeat("d", 32))
	r := w.verify()
	if !r.OK() || len(r.Unreadable) != 4 || r.Items != 41 {
		t.Errorf("%+v", r)
	}
}

func TestReadsThatFail(t *testing.T) {
	w := filled(t)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if r, err := totals(ctx, w); err == nil {
		t.Errorf("%+v without an error", r)
	}
}

// withAgain is orders in their second epoch, which brings by_merchant once more.
func withAgain() pipeline.Spec {
	spec := orders()
	spec.Epoch = 2
	a := spec.Aggregates["by_merchant"]
	a.Since = 2
	spec.Aggregates["again"] = a
	return spec
}

// A new aggregate on a full table becomes exact through the stream, while writes go on by both
// versions.
func TestNewAggregateOnAFullTable(t *testing.T) {
	w := filled(t)
	oldPlan, oldStore := w.plan, w.store
	spec := withAgain()
	w.deploy(spec)
	def := w.definition("again")
	ctx := context.Background()

	// Both versions of the ingest function write.
	for i := 100; i < 110; i++ {
		w.putBy(oldPlan, oldStore, i, "a", i)
		w.put(100+i, "a", i)
	}
	w.drain()
	h := w.head(def)
	if !h.Building || h.Behind == 0 {
		t.Fatalf("%+v", h)
	}
	pass := w.begin(def)
	if r := w.verify(); r.Below[def] != 50 || len(r.Building) != 1 || r.Building[0] != def {
		t.Fatalf("%d items below, building %v", r.Below[def], r.Building)
	}
	_, err := finish(w, pass)
	must.Fail(t, err, "50 items")

	// The pass, with the old version writing on: what it wrote meanwhile is found.
	touched := w.touched()
	must.Equal(t, touched.Touched, 50)
	must.Equal(t, touched.Scanned, 60)
	w.putBy(oldPlan, oldStore, 300, "d", 3)
	_, err = finish(w, pass)
	must.Fail(t, err, "1 items")
	must.Equal(t, w.touched().Touched, 1)
	// Everything is touched and the stream has not brought it: differences stand in the way.
	if standing, err := finish(w, pass); err != nil || len(standing) == 0 {
		t.Errorf("finished before the stream: %v %v", standing, err)
	}
	w.drain()
	// Everything is there, but images below were met since the pass began: begin again.
	if _, err := finish(w, pass); err == nil || !w.head(def).Building {
		t.Errorf("finished although behind has moved: %v", err)
	}
	pass = w.begin(def)
	must.Equal(t, w.touched().Touched, 0)
	w.finished(pass)
	must.Equal(t, w.head(def).Building, false)
	must.Equal(t, len(w.ok().Building), 0)
	// The same numbers as the aggregate that was there from the start.
	for _, merchant := range []string{"a", "b#c", "d"} {
		by := map[string]string{"merchant": merchant}
		x, _ := query.Of(w.store).Total(ctx, "by_merchant", by, epoch, epoch)
		y, _ := query.Of(w.store).Total(ctx, "again", by, epoch, epoch)
		if len(x) != 1 || len(y) != 1 || fmt.Sprint(x[0].Values, x[0].N, x[0].FP) != fmt.Sprint(y[0].Values, y[0].N, y[0].FP) {
			t.Errorf("%s: %+v and %+v", merchant, x, y)
		}
	}
	// The old version writes once more: building again.
	w.putBy(oldPlan, oldStore, 400, "d", 3)
	w.drain()
	if h := w.head(def); !h.Building {
		t.Error("an image below the generation was met, and the head does not say so")
	}
	if r := w.verify(); len(r.Building) != 1 || r.Building[0] != def {
		t.Errorf("building %v", r.Building)
	}
}

// An item that nobody can read keeps no generation from being complete, and its head says that it
// is missing; another pipeline's definition of that name is not taken for ours.
func TestFinishWithAnOddItem(t *testing.T) {
	w := filled(t)
	w.odd("ODD", nil)
	w.streams.Quarantine = keepsAll{}
	w.drain()
	spec := withAgain()
	w.deploy(spec)
	def := w.definition("again")
	must.Equal(t, w.touched().Unreadable, 1)
	w.drain()
	for _, foreign := range []*aggregate.Definition{{Name: "again", Since: 1}, {Name: "nobody", Since: 2}} {
		_, err := finish(w, tables.Pass{Definition: foreign})
		must.Fail(t, err, "does not declare it")
	}
	same := *def
	w.finished(tables.Pass{Definition: &same, Behind: w.begin(def).Behind})
	if h := w.head(def); h.Building || !strings.Contains(h.Flag, `an item is not in it: item "ODD`) {
		t.Errorf("%+v", h)
	}
}

type keepsAll struct{}

func (keepsAll) Send(_ context.Context, letters []quarantine.Letter) []error {
	return make([]error, len(letters))
}

// Both functions go back to an older version for a while: it counts what it writes, and knows of
// the newer aggregate only that it is there and misses all that. If somebody cleared its head by
// hand, verify would see it all the same.
func TestOldVersionAlone(t *testing.T) {
	w := filled(t)
	spec, older := withAgain(), orders()
	w.deploy(spec)
	def := w.definition("again")
	w.touch()
	w.finished(w.begin(def))

	w.deploy(older)
	w.put(500, "d", 3)
	w.drain()
	w.deploy(spec)
	h := w.head(def)
	if !h.Building {
		t.Fatal("the older version let an item in, and the head of the newer aggregate does not say so")
	}
	must.Succeed(t, repair.Of(w.store).ClearBuilding(context.Background(), def, w.begin(def).Behind))
	must.Equal(t, fmt.Sprint(w.verify().Differences),
		"[again since 2, all totals: its head says that it is complete, and 1 items are stamped below it; touch them]")
	w.touch()
	w.ok()
	must.Equal(t, w.head(def).Building, false)
}

// Another secret or an edited definition is a mistake of who verifies: it is said, and not taken
// for damage.
func TestVerifyWithAnotherPipeline(t *testing.T) {
	deployed, edited := withAgain(), withAgain()
	a := deployed.Aggregates["again"]
	a.By = map[string]string{"merchant": "{merchant | hmac}"}
	deployed.Aggregates["again"] = a
	hashed := func(spec pipeline.Spec) pipeline.Spec { spec.Aggregates["again"] = a; return spec }
	hashed(edited)
	live := edited.Aggregates["live"]
	live.Spread = 2
	edited.Aggregates["live"] = live
	newer := hashed(withAgain())
	newer.Epoch = 3
	daily := newer.Aggregates["daily"]
	daily.Since, daily.Spread = 3, 2
	newer.Aggregates["daily"] = daily

	w := filled(t)
	secret := func(text string) pipeline.Option { return pipeline.Secret([]byte(text)) }
	w.deploy(deployed, secret("one"))
	def := w.definition("again")
	pass := w.begin(def)
	w.touch()
	const otherSecret,
		otherDefinition = "aggregate again since 2 is grouped by hmac with another secret in the table than INGOT_PII_KEY; go back to",
		"aggregate live since 1 is declared differently in pipeline.yaml and in the table; go back to"
	for name, c := range map[string]struct {
		spec   pipeline.Spec
		option pipeline.Option
		words  []string
	}{
		"another secret":      {deployed, secret("two"), []string{otherSecret}},
		"no secret":           {deployed, pipeline.CheckOnly(), []string{otherSecret}},
		"edited":              {edited, secret("one"), []string{otherDefinition}},
		"both":                {edited, secret("two"), []string{otherSecret, otherDefinition}},
		"older":               {orders(), secret("two"), nil},
		"newer, not deployed": {newer, secret("one"), nil},
	} {
		p, s := w.open(c.spec, c.option)
		refused := func(what string, err error) {
			if (err == nil) != (c.words == nil) || err != nil &&
				!strings.HasPrefix(err.Error(), "verify: refused, because a difference would not mean damage:\n") {
				t.Errorf("%s, %s: %v", name, what, err)
				return
			}
			for _, words := range c.words {
				if !strings.Contains(err.Error(), words) {
					t.Errorf("%s, %s: %q is not in %v", name, what, words, err)
				}
			}
		}
		r, err := verify.Totals(context.Background(), p, s, w.Clock.Now())
		if refused("totals", err); err == nil && !r.OK() {
			t.Errorf("%s: %v", name, r.Differences)
		}
		if d, declared := p.Definition("again"); declared && c.words != nil {
			_, err = verify.Finish(context.Background(), p, s, tables.Pass{Definition: d, Behind: pass.Behind}, w.Clock.Now())
			refused("finish", err)
		}
	}
	if !w.head(def).Building {
		t.Error("a rebuild with another pipeline was finished")
	}
	w.finished(w.begin(def))
	must.Equal(t, w.head(def).Building, false)
}

func totals(ctx context.Context, w *world) (*verify.Report, error) {
	return verify.Totals(ctx, w.plan, w.store, w.Clock.Now())
}

// begin begins a touch pass.
func (w *world) begin(def *aggregate.Definition) tables.Pass {
	w.t.Helper()
	pass, err := repair.Of(w.store).BeginPass(context.Background(), def)
	must.Succeed(w.t, err)
	return pass
}

func finish(w *world, pass tables.Pass) ([]verify.Difference, error) {
	return verify.Finish(context.Background(), w.plan, w.store, pass, w.Clock.Now())
}
