package store_test

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/internal/kit/replay"
	"github.com/ingot-events/ingot/internal/kit/slow"
	"github.com/ingot-events/ingot/internal/local/embedded"
	"github.com/ingot-events/ingot/keys"
	"github.com/ingot-events/ingot/pipeline"
	"github.com/ingot-events/ingot/store/query"
)

// note is one event of these tests, with its fields as a person sees them.
type note struct {
	typ, id, a, b string
	n             int
	at            time.Time
	item          *event.Item
}

// twin is a random pipeline with one pattern, its events, and the answer as somebody would compute
// it who knows nothing of keys.
type twin struct {
	rng    *rand.Rand
	spec   pipeline.Spec
	pk, sk string // shapes, by name
	index  string
	types  []string
	newest bool
	before *pipeline.Pipeline // as it was under an earlier key of the index; nil if there was none
	notes  []note
	fixedB bool // the question gives b, so that the order is that of what follows it
}

var (
	pkShapes = map[string]string{
		"one": "C#{a}", "day": "D#{@at | day}#{@id | shard:3}", "month": "C#{a}#M#{@at | month}", "hour": "H#{@at | hour}#{a | lower}",
		"all": "ALL#{@id | shard:4 | pad:2}", "hashed": "P#{a | hmac}", "type": "T#{@type}#{a}",
	}
	skShapes = map[string]string{
		"time": "{@at | time}#{@id}", "rev": "R#{@at | time | rev}#{@id}", "number": "{n | pad:3}#{@id}",
		"run":  "{b}#{n | pad:3 | rev}#{@id}",
		"ties": "{b}#{@at | time}", "many": "X#{@at | day}", "text": "{b}#{@id}", "unix": "{@at | unix | pad:12}#{@id}",
	}
	someA = []string{"a", "A", "b", "x#y", "50%", "\x01"}
	someB = []string{"1", "10", "#", "é"}
)

func pick[T any](rng *rand.Rand, list []T) T { return list[rng.IntN(len(list))] }

func sortedKeys(m map[string]string) []string {
	var list []string
	for k := range m {
		list = append(list, k)
	}
	slices.Sort(list)
	return list
}

func newTwin(rng *rand.Rand) *twin {
	tw := &twin{rng: rng, pk: pick(rng, sortedKeys(pkShapes)), sk: pick(rng, sortedKeys(skShapes)), newest: rng.IntN(2) == 0,
		types: []string{"t1", "t2"}}
	pk, sk := pkShapes[tw.pk], skShapes[tw.sk]
	if rng.IntN(3) > 0 {
		tw.index = "GSI1"
	} else if strings.Contains(sk, "@id") && !strings.Contains(sk, "unix") {
		tw.types = tw.types[:1+rng.IntN(2)] // their own keys: the same templates in both would clash
	} else {
		tw.index = "GSI1"
	}
	tw.spec = pipeline.Spec{Ingot: 1, Epoch: 1, Type: "{type}", Events: map[string]pipeline.EventSpec{}}
	for _, name := range []string{"t1", "t2", "t3"} {
		e := pipeline.EventSpec{ID: "{id}", At: "{at}", Retain: 90 * 24 * time.Hour, Key: pipeline.KeySpec{PK: name + "#{id}", SK: "-"}}
		mine := pk
		if name == "t2" {
			mine = strings.ReplaceAll(pk, "{a", "{who.a")
			e.Retain = 24 * time.Hour
		}
		if tw.index != "" {
			e.Indexes = map[string]pipeline.IndexSpec{"GSI1": {PK: mine, SK: sk}}
			if rng.IntN(4) == 0 {
				e.Indexes["GSI1"] = pipeline.IndexSpec{PK: mine, SK: sk, Where: "n > 3"}
			}
		} else {
			e.Key = pipeline.KeySpec{PK: mine, SK: sk}
		}
		tw.spec.Events[name] = e
	}
	if tw.index == "" {
		tw.types = tw.types[:1] // one type: two with equal keys do not compile
		own := tw.spec.Events["t1"]
		for _, other := range []string{"t2", "t3"} {
			e := tw.spec.Events[other]
			e.Key = pipeline.KeySpec{PK: other + "#{id}", SK: "-"}
			tw.spec.Events[other] = e
		}
		tw.spec.Events["t1"] = own
	}
	if tw.index != "" && rng.IntN(3) == 0 {
		tw.keyWas(rng)
	}
	p := pipeline.PatternSpec{Read: slices.Clone(tw.types), Index: tw.index, Newest: tw.newest}
	if len(tw.types) == 2 && strings.Contains(pk, "{a") {
		p.As = map[string][]string{"a": {"a", "who.a"}}
	}
	tw.spec.Patterns = map[string]pipeline.PatternSpec{"p": p}
	return tw
}

// keyWas lets the index have had another key earlier: other text, or fewer shards.
func (tw *twin) keyWas(rng *rand.Rand) {
	earlier := tw.spec
	earlier.Events = map[string]pipeline.EventSpec{}
	fewer := rng.IntN(2) == 0
	for name, e := range tw.spec.Events {
		today := e.Indexes["GSI1"]
		old := today
		if old.PK = "OLD#" + today.PK; fewer {
			old.PK = strings.NewReplacer("shard:3", "shard:2", "shard:4", "shard:5").Replace(old.PK)
		}
		before := e
		before.Indexes = map[string]pipeline.IndexSpec{"GSI1": old}
		earlier.Events[name] = before
		today.Was = []string{old.PK}
		e.Indexes = map[string]pipeline.IndexSpec{"GSI1": today}
		tw.spec.Events[name] = e
	}
	var err error
	if tw.before, err = pipeline.New(earlier, pipeline.Secret([]byte("the secret of these tests"))); err != nil {
		panic(err)
	}
}

var twinBegin = must.Time("2099-02-27T20:00:00Z")

// fill makes the events.
func (tw *twin) fill(w *world) {
	for i := range 20 + tw.rng.IntN(60) {
		n := note{typ: pick(tw.rng, []string{"t1", "t1", "t2", "t3"}), id: fmt.Sprintf("i%d", i), a: pick(tw.rng, someA),
			b: pick(tw.rng, someB), n: tw.rng.IntN(12),
			at: twinBegin.Add(time.Duration(tw.rng.IntN(300)) * 13 * time.Minute)}
		who := `"a":` + strconv.Quote(n.a)
		if n.a == "\x01" {
			who = `"a":"\u0001"`
		}
		if n.typ == "t2" {
			who = `"who":{` + who + `}`
		}
		plan := w.plan
		if tw.before != nil && tw.rng.IntN(2) == 0 {
			plan = tw.before
		}
		n.item = w.itemOf(plan, `"type":"`+n.typ+`"`, `"id":"`+n.id+`"`, who, `"b":"`+n.b+`"`, `"n":`+fmt.Sprint(n.n), `"at":"`+
			n.at.Format(time.RFC3339)+`"`)
		tw.notes = append(tw.notes, n)
	}
}

// ask makes a question, and the function that says which events answer it.
func (tw *twin) ask(now time.Time) (query.Ask, func(n note) bool) {
	rng := tw.rng
	tw.fixedB = false
	ask := query.Ask{Values: map[string][]string{}, Limit: 1 + rng.IntN(12), MaxUnits: 12 + float64(rng.IntN(20))}
	if rng.IntN(3) == 0 {
		newest := rng.IntN(2) == 0
		ask.Newest = &newest
	}
	tests := []func(n note) bool{func(n note) bool { return slices.Contains(tw.types, n.typ) }}
	add := func(f func(n note) bool) { tests = append(tests, f) }
	if strings.Contains(pkShapes[tw.pk], "{a") {
		values := make([]string, 1+rng.IntN(3))
		for i := range values {
			values[i] = pick(rng, someA)
		}
		ask.Values["a"] = values
		add(func(n note) bool {
			return slices.ContainsFunc(values, func(v string) bool {
				return v == n.a || tw.pk == "hour" && strings.EqualFold(v, n.a)
			})
		})
	}
	unit, form := time.Duration(0), ""
	switch tw.pk {
	case "day":
		unit, form = 24*time.Hour, "2006-01-02"
	case "month":
		form = "2006-01"
	case "hour":
		unit, form = time.Hour, "2006-01-02T15"
	}
	sortOfTime := tw.sk == "time" || tw.sk == "rev" || tw.sk == "unix"
	between := func() (from, to time.Time) {
		from = twinBegin.Add(time.Duration(rng.IntN(70)) * 51 * time.Minute)
		return from, from.Add(time.Duration(1+rng.IntN(40)) * 47 * time.Minute)
	}
	ranged := false
	if form != "" {
		if rng.IntN(2) == 0 || tw.pk == "month" && !sortOfTime && tw.sk != "many" {
			var days []string
			for range 1 + rng.IntN(3) {
				days = append(days, twinBegin.Add(time.Duration(rng.IntN(70))*time.Hour).Format(form))
			}
			if tw.sk == "many" || tw.sk == "ties" || sortOfTime {
				days = days[:1]
			}
			ask.Values["at"] = days
			add(func(n note) bool { return slices.Contains(days, n.at.Format(form)) })
		} else {
			from, to := between()
			if tw.sk == "ties" {
				from, to = from.Truncate(unit), to.Truncate(unit).Add(unit)
			}
			if !sortOfTime && tw.sk != "ties" {
				switch tw.sk {
				case "many":
					from, to = from.Truncate(24*time.Hour), to.Truncate(24*time.Hour).Add(24*time.Hour)
				default:
					from, to = from.Truncate(unit), to.Truncate(unit).Add(unit)
				}
			}
			if tw.pk == "month" && !sortOfTime && tw.sk != "many" {
				from, to = must.Time("2099-02-01T00:00:00Z"), must.Time("2099-03-01T00:00:00Z")
			}
			ranged = true
			ask.From, ask.To = from.Format(time.RFC3339), to.Format(time.RFC3339)
			add(func(n note) bool { return !n.at.Before(from) && n.at.Before(to) })
		}
	}
	if strings.HasPrefix(skShapes[tw.sk], "{b}") && rng.IntN(2) == 0 {
		b := pick(rng, someB)
		ask.Values["b"], tw.fixedB = []string{b}, true
		add(func(n note) bool { return n.b == b })
	}
	switch fixed := len(ask.Values["b"]) > 0; {
	case ranged && tw.sk != "text":
	case tw.sk == "number" && rng.IntN(2) == 0, tw.sk == "run" && fixed && !ranged && rng.IntN(2) == 0:
		least := rng.IntN(10)
		ask.From = fmt.Sprint(least)
		add(func(n note) bool { return n.n >= least })
		if rng.IntN(2) == 0 {
			most := least + 1 + rng.IntN(5)
			ask.To = fmt.Sprint(most)
			add(func(n note) bool { return n.n < most })
		}
	case (sortOfTime && len(ask.Values["at"]) == 0 || tw.sk == "ties" && fixed && len(ask.Values["at"]) == 0) && !ranged &&
		rng.IntN(2) == 0:
		from, to := between()
		ask.From = keys.FormatTime(from)
		add(func(n note) bool { return !n.at.Before(from) })
		if rng.IntN(2) == 0 {
			ask.To = keys.FormatTime(to)
			add(func(n note) bool { return n.at.Before(to) })
		}
	case tw.sk == "text" && fixed && rng.IntN(2) == 0:
		ask.Prefix = pick(rng, []string{"i1", "i2", "i", "i33"})
		add(func(n note) bool { return strings.HasPrefix(n.id, ask.Prefix) })
	case (tw.sk == "text" || tw.sk == "run") && !fixed && !ranged && rng.IntN(2) == 0:
		ask.Prefix = pick(rng, []string{"1", "#"})
		add(func(n note) bool { return strings.HasPrefix(n.b, ask.Prefix) })
	}
	return ask, func(n note) bool {
		for _, test := range tests {
			if !test(n) {
				return false
			}
		}
		if n.item.ExpiresAt <= now.Unix() {
			return false
		}
		if tw.index == "" {
			return true
		}
		return len(n.item.Indexes) > 0 && (tw.spec.Events[n.typ].Indexes["GSI1"].Where == "" || n.n > 3)
	}
}

// place is where an item stands in an answer.
func (tw *twin) place(i *event.Item) (period, sk, pk string) {
	key := i.Key
	if tw.index != "" {
		key = i.Indexes[0].Key
	}
	switch tw.pk {
	case "day":
		period = i.At.Format("2006-01-02")
	case "month":
		period = i.At.Format("2006-01")
	case "hour":
		period = i.At.Format("2006-01-02T15")
	}
	return period, key.SK, key.PK
}

// compare orders two items of an answer. Items whose index keys are equal may come in any order.
func (tw *twin) compare(x, y *event.Item, newest bool) int {
	p1, s1, k1 := tw.place(x)
	p2, s2, k2 := tw.place(y)
	period, sort := cmp.Compare(p1, p2), cmp.Compare(s1, s2)
	if newest {
		period = -period
	}
	if newest != (tw.sk == "rev" || tw.sk == "run" && tw.fixedB) {
		sort = -sort
	}
	return cmp.Or(period, sort, cmp.Compare(k1, k2))
}

// TestReadAgainstNaiveTwin compares the answers to random questions over random pipelines with
// those of a twin that looks at all events, page by page, with stale indexes and expired items.
func TestReadAgainstNaiveTwin(t *testing.T) {
	rounds := 120
	switch {
	case testing.Short():
		rounds = 60
	case slow.All():
		rounds = 400
	}
	seeds := replay.Seeds(t, 1, rounds)
	rounds = len(seeds)
	answered, refused, pages, found := 0, map[string]int{}, 0, 0
	for _, seed := range seeds {
		a, r, p, f := twinRound(t, seed)
		answered, pages, found = answered+a, pages+p, found+f
		for _, err := range r {
			refused[err]++
		}
		if t.Failed() {
			t.Fatal("replay with " + replay.Command(t, seed))
		}
	}
	t.Logf("%d questions answered on %d pages with %d items; refused: %v", answered, pages, found, refused)
	if rounds > 1 && (answered < rounds*5 || found < rounds*10) {
		t.Errorf("%d questions of %d rounds were answered, with %d items: the test has lost its force", answered, rounds, found)
	}
}

func twinRound(t *testing.T, seed uint64) (answered int, refused []string, pages, found int) {
	rng := rand.New(rand.NewPCG(seed, 14))
	tw := newTwin(rng)
	w := newWorld(t, func(s *setup) {
		s.Spec = tw.spec
		lag := rand.New(rand.NewPCG(seed, 15))
		s.engine.Behind = func(r embedded.Read) int {
			if r.Index == "" && tw.index != "" {
				t.Errorf("seed %d: %s of the table, and not of the index", seed, r.API)
			}
			return lag.IntN(r.Writes + 1)
		}
		if rng.IntN(2) == 0 {
			s.tables.TokenKey = []byte("sixteen bytes of")
		}
	})
	tw.fill(w)
	items := make(events, len(tw.notes))
	for i, n := range tw.notes {
		items[i] = n.item
	}
	w.Clock.Set(twinBegin)
	results, _ := w.arrive(items...)
	for i, r := range results {
		if r.Verdict != event.Inserted {
			t.Fatalf("seed %d: %s: %v", seed, items[i].Key, r)
		}
	}
	tw.whileItLags(t, w, seed)
	w.Clock.Set(twinBegin.Add(27 * time.Hour)) // longer than any index lags; some of t2 expire
	for range 12 {
		ask, matches := tw.ask(w.Clock.Now())
		newest := tw.newest
		if ask.Newest != nil {
			newest = *ask.Newest
		}
		var want, got events
		for _, n := range tw.notes {
			if matches(n) {
				want = append(want, n.item)
			}
		}
		failed := ""
		for n := 0; ; n++ {
			page, err := w.query().Read(context.Background(), "p", ask)
			if err != nil {
				failed = err.Error()
				break
			}
			if len(page.Items) > ask.Limit || n > 500 {
				t.Errorf("seed %d: page %d has %d items, and %d are allowed", seed, n, len(page.Items), ask.Limit)
				return
			}
			pages++
			got = append(got, page.Items...)
			if ask.Page = page.Next; ask.Page == "" {
				break
			}
		}
		if failed != "" {
			refused = append(refused, failed)
			continue
		}
		answered++
		found += len(got)
		if !slices.IsSortedFunc(got, func(x, y *event.Item) int { return tw.compare(x, y, newest) }) {
			t.Errorf("seed %d: %s %s, %+v: the answer is not in order: %s", seed, pkShapes[tw.pk], skShapes[tw.sk], ask, tw.names(got))
		}
		exact := func(x, y *event.Item) int { return cmp.Or(tw.compare(x, y, newest), strings.Compare(x.ID, y.ID)) }
		slices.SortFunc(got, exact)
		slices.SortFunc(want, exact)
		if tw.names(got) != tw.names(want) {
			t.Errorf("seed %d: index %q of %v, pk %s, sk %s, newest %v, question %+v:\ngot  %s\nwant %s", seed, tw.index, tw.types,
				pkShapes[tw.pk], skShapes[tw.sk], newest, ask, tw.names(got), tw.names(want))
		}
	}
	return answered, refused, pages, found
}

// whileItLags reads while each answer may lack any of the latest writes. What comes must be right,
// in order, and only once. It need not be all.
func (tw *twin) whileItLags(t *testing.T, w *world, seed uint64) {
	for range 3 {
		ask, matches := tw.ask(w.Clock.Now())
		newest := tw.newest
		if ask.Newest != nil {
			newest = *ask.Newest
		}
		wanted, seen := map[string]bool{}, map[string]bool{}
		for _, n := range tw.notes {
			wanted[n.id] = matches(n)
		}
		var got events
		for item, err := range w.query().ReadAll(context.Background(), "p", ask) {
			if err != nil {
				t.Errorf("seed %d: %+v: %v", seed, ask, err)
				return
			}
			if !wanted[item.ID] || seen[item.ID] {
				t.Errorf("seed %d: %+v: %s must not come, or comes twice (%v)", seed, ask, item.ID, seen[item.ID])
			}
			seen[item.ID] = true
			got = append(got, item)
		}
		if !slices.IsSortedFunc(got, func(x, y *event.Item) int { return tw.compare(x, y, newest) }) {
			t.Errorf("seed %d: %+v: while the index lags, the answer is not in order", seed, ask)
		}
	}
}

func (tw *twin) names(items events) string {
	var list []string
	for _, i := range items {
		list = append(list, i.ID)
	}
	return strings.Join(list, " ")
}
