package verify_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/ingot-events/ingot/envelope"
	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/internal/kit/replay"
	"github.com/ingot-events/ingot/internal/kit/slow"
	"github.com/ingot-events/ingot/pipeline"
	"github.com/ingot-events/ingot/store"
	"github.com/ingot-events/ingot/tables"
	"github.com/ingot-events/ingot/verify"
	"github.com/ingot-events/ingot/verify/sums"
)

// parcels is the version of a file: how many parcels of each shop are open. A parcel opens and
// closes again and again.
func parcels(version int64) pipeline.Spec {
	return pipeline.Spec{Ingot: 1, Epoch: version, Type: "parcel",
		Events: map[string]pipeline.EventSpec{
			"parcel": {Mode: "latest", Revision: "rev number", ID: "{id}", At: "{at}", Key: pipeline.KeySpec{PK: "P#{id}", SK: "P"}},
		},
		Aggregates: map[string]pipeline.AggregateSpec{
			"open": {Since: version, By: map[string]string{"shop": "{shop}"}, OnExpire: "subtract",
				From: map[string]pipeline.FromSpec{"parcel": {Where: `status = "open"`, Values: map[string]string{"parcels": "count"}}}},
		}}
}

// weeks is a sound pipeline that is verified every week, while all sorts of things happen.
type weeks struct {
	*world
	draw    *rand.Rand
	version int64
	rev     int
	paused  bool
	calm    bool // only shop 0 has events, and nobody deploys
	old     func(id int, status string)
	pass    *tables.Pass // of the rebuild under way
}

// newWeeks begins a pipeline.
func newWeeks(t *testing.T, seed uint64) *weeks {
	w := &weeks{world: newWorldOf(t, parcels(1)), draw: rand.New(rand.NewPCG(seed, 0)), version: 1}
	for id := range 4 {
		w.move(w.plan, w.store, id, "open")
	}
	w.drain()
	return w
}

// move stores a parcel. Parcels 0 and 1 are of shop 0, and 2 and 3 of shop 1.
func (w *weeks) move(p *pipeline.Pipeline, st *store.Store, id int, status string) {
	w.t.Helper()
	w.rev++
	item, err := p.Plan(envelope.Message{Body: fmt.Sprintf(`{"id":"%d","rev":%d,"status":%q,"shop":"%d","at":"2099-03-01T09:00:00Z"}`, id,
		w.rev, status, id/2)})
	must.Succeed(w.t, err)
	if r, _ := st.Put(context.Background(), []*event.Item{item}); !r[0].Verdict.Stored() {
		w.t.Fatalf("%+v", r[0])
	}
}

// happens lets none, one or several things happen.
func (w *weeks) happens() {
	w.t.Helper()
	for range w.draw.IntN(4) {
		switch n := w.draw.IntN(20); {
		case n < 11:
			id, status := w.draw.IntN(4), []string{"open", "closed"}[w.draw.IntN(2)]
			switch {
			case w.calm:
				w.move(w.plan, w.store, id%2, status)
			case w.old != nil && n == 0: // a function of the version before, which still runs
				w.old(id, status)
			default:
				w.move(w.plan, w.store, id, status)
			}
		case n < 15 && !w.paused:
			_, err := w.mapping.Poll(context.Background())
			must.Succeed(w.t, err)
		case n < 17 && !w.paused:
			w.drain()
		case n < 18 && !w.calm:
			w.paused = !w.paused
		case n < 20 && !w.calm:
			w.rebuild()
		}
	}
}

// rebuild does one step of what a new definition takes: it is deployed, older items are brought in,
// and it is declared complete.
func (w *weeks) rebuild() {
	w.t.Helper()
	def := w.definition("open")
	switch {
	case w.head(def).Building && w.pass == nil:
		pass := w.begin(def)
		w.pass = &pass
		_, err := verify.Touch(context.Background(), verify.Config{Pipeline: w.plan}, w.store)
		must.Succeed(w.t, err)
	case w.pass != nil && !w.paused:
		w.drain()
		_, _ = finish(w.world, *w.pass) // it may find that old code has stored more: another rebuild follows
		w.pass = nil
	case !w.head(def).Building && w.draw.IntN(4) == 0:
		p, st := w.plan, w.store
		w.old = func(id int, status string) { w.move(p, st, id, status) }
		w.version++
		w.deploy(parcels(w.version))
	}
}

// run is one run of the schedule. It returns the totals that are wrong, and whether it has proved
// anything.
func (w *weeks) run() (damaged []verify.Difference, proved bool) {
	w.t.Helper()
	ctx, plan, st := context.Background(), w.plan, w.store
	look := func() *verify.Report {
		r, err := verify.Run(ctx, verify.Config{Pipeline: plan, Source: halfway{verify.SourceOf(st), w.happens}, Looks: true,
			Config: sums.Config{Segments: 1, Buckets: 1, Env: w.Clock.Env(w.draw.Float64)}})
		must.Succeed(w.t, err)
		w.happens()
		return r
	}
	first := look()
	if len(first.Differences) == 0 {
		return nil, true
	}
	held, err := verify.Hold(ctx, plan, st, first)
	must.Succeed(w.t, err)
	w.happens()
	second := look()
	if w.paused {
		return nil, false
	}
	w.drain()
	w.happens()
	looks := verify.Judge(first, second, "")
	_, err = looks.Prove(ctx, plan, st, held)
	must.Succeed(w.t, err)
	return looks.Damaged, true
}

// No run calls a total of a sound pipeline wrong, although states flap, aggregates are rebuilt,
// functions of two versions run and the stream is paused. What somebody spoils in a total at rest
// is found in one run, whatever other totals do.
func TestWeeks(t *testing.T) {
	const each = 10 // weeks of a pipeline
	stats := map[string]int{}
	for _, seed := range replay.Seeds(t, 0, slow.Number(30, 10_000/each)) {
		w := newWeeks(t, seed)
		for n := range each {
			damaged, proved := w.run()
			if len(damaged) > 0 {
				t.Fatalf("week %d: %v; replay with %s", n, damaged, replay.Command(t, seed))
			}
			stats["weeks"]++
			if proved {
				stats["proved"]++
			}
			w.paused = false
			w.drain() // the stream forgets after a day
			w.Clock.Pass(7 * 24 * time.Hour)
		}
		stats["deployments"] += int(w.version) - 1
		def := w.definition("open")
		if w.head(def).Building || w.verify().Below[def] > 0 {
			continue
		}
		w.calm = true
		w.alter(w.of("open", "1"), "ADD parcels :v", number("1"))
		damaged, _ := w.run()
		if len(damaged) != 1 || damaged[0].By["shop"] != "1" {
			t.Fatalf("a spoilt total of shop 1: %v; replay with %s", damaged, replay.Command(t, seed))
		}
		stats["planted"]++
	}
	t.Logf("%v", stats)
	if stats["proved"]*2 < stats["weeks"] || stats["deployments"] == 0 || stats["planted"] == 0 {
		t.Errorf("too little happens: %v", stats)
	}
}
