package store_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/ingot-events/ingot/aggregate"
	"github.com/ingot-events/ingot/env"
	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/internal/kit/replay"
	"github.com/ingot-events/ingot/internal/kit/slow"
	"github.com/ingot-events/ingot/internal/plan/lanes"
	"github.com/ingot-events/ingot/store"
	"github.com/ingot-events/ingot/store/query"
	"github.com/ingot-events/ingot/tables"
	"github.com/ingot-events/ingot/verify"
)

// adversary is a stream with pollers that behave as badly as at-least-once delivery allows. Batches
// have other bounds at every try, and checkpoints go back. Two pollers read one shard, and children
// are read before their parents are done. Invocations crash or linger, and requests are lost or
// arrive late. The adversary keeps only the promise that marks need: a poller moves on only after
// success.
type adversary struct {
	*world
	r       *rand.Rand
	way     aggregate.Counting
	stores  []*store.Store // warm sandboxes, each of which remembers something else
	shards  []*shard
	pollers []*poller
	late    []func() (any, error)
	faulty  float64
	dying   func() // called at every request of an invocation that is to die
}

// shard holds the records of one shard, in order.
type shard struct {
	lane    event.Lane
	records []change
}

type change struct {
	change   event.Change
	old, new []aggregate.Contribution
}

// poller reads one shard. behind is a checkpoint to which it may fall back.
type poller struct {
	shard        *shard
	next, behind int
	leaving      int // how many batches until it finds out that it has been replaced; negative: never
}

func newAdversary(t *testing.T, seed uint64, way aggregate.Counting) *adversary {
	a := &adversary{r: rand.New(rand.NewPCG(seed, 11)), way: way, faulty: 0.15}
	a.world = newWorld(t, counting(way), func(s *setup) {
		whole := s.engine.Intercept
		s.engine.Intercept = func(ctx context.Context, api string, in any, call func() (any, error)) (any, error) {
			if a.dying != nil {
				a.dying()
			}
			if ctx.Err() != nil {
				return nil, ctx.Err()
			}
			if api == "UpdateItem" || api == "TransactWriteItems" {
				switch x := a.r.Float64(); {
				case x < a.faulty*0.4:
					a.late = append(a.late, call)
					return nil, errLost
				case x < a.faulty*0.8:
					_, _ = call()
					return nil, errLost
				case x < a.faulty:
					return nil, errThrottled
				}
			}
			return whole(ctx, api, in, call)
		}
		s.tables.Env.Group = func() env.Group { return inline{} }
	})
	for range 3 {
		a.stores = append(a.stores,
			a.open(tables.Config{Client: a.Engine.DynamoDB(), Pipeline: a.plan, Events: "events", Aggregates: "totals", Counting: way,
				Env: env.Env{Now: func() time.Time { return a.Clock.Now() }, Rand: a.r.Float64, Group: func() env.Group { return inline{} },
					Sleep: func(ctx context.Context, _ time.Duration) error { return ctx.Err() }}}))
	}
	a.live()
	return a
}

// inline runs goroutines one after the other, so that a seed always gives the same run.
type inline struct{}

func (inline) Go(do func()) { do() }
func (inline) Wait()        {}

// live creates, changes and removes items, and deals their changes to shards. The changes of each
// item stay in order, through all shards that its partition has had.
func (a *adversary) live() {
	for i := range 1 + a.r.IntN(5) {
		a.shards = append(a.shards, &shard{lane: event.Lane{StreamARN: lane.StreamARN, ShardID: fmt.Sprint("shard-", i)}})
	}
	stored := map[string]*event.Item{}
	sequence := int64(1) + a.r.Int64N(1000)
	for range 10 + a.r.IntN(40) {
		id := fmt.Sprint(a.r.IntN(12))
		sequence += 1 + a.r.Int64N(90)
		c := change{change: event.Change{Sequence: a.sequence(sequence), Created: a.Clock.Now()}}
		old := stored[id]
		var item *event.Item
		switch {
		case old == nil:
			c.change.Kind, item = event.Insert, a.order(id, a.r.IntN(100)-20, fmt.Sprintf(`"merchant2":%d`, a.r.IntN(2)))
		case a.r.IntN(3) == 0:
			c.change.Kind, c.change.Expired = event.Remove, a.r.IntN(2) == 0
		default:
			c.change.Kind, item = event.Modify, a.order(id, a.r.IntN(100)-20)
		}
		if stored[id] = item; item == nil {
			delete(stored, id)
		}
		c.change.Old, c.change.New = old, item
		c.change.Key = under("ORDER#"+id, "ORDER")
		if old != nil {
			c.old = a.plan.Contributions(old).List
		}
		if item != nil {
			c.new = a.plan.Contributions(item).List
		}
		s := a.shards[a.r.IntN(len(a.shards))]
		c.change.Lane = s.lane
		s.records = append(s.records, c)
	}
	var items events
	for _, item := range stored {
		items = append(items, item)
	}
	slices.SortFunc(items, func(a, b *event.Item) int { return a.Key.Compare(b.Key) })
	a.store.Put(context.Background(), items)
}

// invoke delivers one batch to one sandbox and returns how many records are done.
func (a *adversary) invoke(s *shard, at, n int) int {
	batch := lanes.NewBatch(a.way, s.lane)
	for _, c := range s.records[at : at+n] {
		batch.Add(&c.change, c.old, c.new)
	}
	ctx := context.Background()
	if a.r.Float64() < a.faulty/2 { // the invocation dies after a few requests
		var die context.CancelFunc
		ctx, die = context.WithCancel(ctx)
		left := a.r.IntN(4)
		a.dying = func() {
			if left--; left < 0 {
				die()
			}
		}
		defer func() { a.dying = nil; die() }()
	}
	applied := a.stores[a.r.IntN(len(a.stores))].Apply(ctx, batch, noQuarantine(a.t))
	if applied.Unproven.IsZero() {
		return n
	}
	for i, c := range s.records[at : at+n] {
		if c.change.Sequence == applied.Unproven {
			return i
		}
	}
	a.t.Fatalf("unproven from %s, which is not in the batch", applied.Unproven)
	return 0
}

func (a *adversary) step(p *poller) (finished bool) {
	if p.leaving == 0 || p.next == len(p.shard.records) {
		return true
	}
	p.leaving--
	n := min(1+a.r.IntN(6), len(p.shard.records)-p.next)
	done := a.invoke(p.shard, p.next, n)
	if a.r.Float64() < a.faulty { // the answer is lost, so the poller knows of no success
		done = 0
	}
	p.next += done
	if a.r.IntN(2) == 0 {
		p.behind = p.next
	}
	if a.r.Float64() < 0.05 { // another poller takes over from an older checkpoint, and this one lingers
		a.pollers = append(a.pollers, &poller{shard: p.shard, next: p.behind, behind: p.behind, leaving: -1})
		p.leaving = a.r.IntN(4)
	}
	return false
}

func (a *adversary) run() {
	for _, s := range a.shards {
		for range 1 + a.r.IntN(2) {
			a.pollers = append(a.pollers, &poller{shard: s, leaving: -1})
		}
	}
	for len(a.pollers) > 0 {
		i := a.r.IntN(len(a.pollers))
		if a.step(a.pollers[i]) {
			a.pollers = slices.Delete(a.pollers, i, i+1)
		}
		if len(a.late) > 0 && a.r.Float64() < 0.1 {
			n := a.r.IntN(len(a.late))
			_, _ = a.late[n]()
			a.late = slices.Delete(a.late, n, n+1)
		}
	}
	a.faulty = 0
	for _, request := range a.late {
		_, _ = request()
	}
}

// Totals are exact whatever the adversary does, in both ways of counting.
func TestAdversary(t *testing.T) {
	for _, seed := range replay.Seeds(t, 0, slow.Number(50, 150)) {
		for _, way := range bothWays {
			a := newAdversary(t, seed, way)
			a.run()
			report, err := verify.Totals(context.Background(), a.plan, a.store, a.Clock.Now())
			must.Succeed(t, err)
			for _, d := range report.Differences {
				t.Errorf("%s: %s", way, d)
			}
			live := 0
			for item, err := range a.store.Items(context.Background()) {
				must.Succeed(t, err)
				if live++; item.Type != "order" {
					t.Errorf("%+v", item)
				}
			}
			if totals, err := query.Of(a.store).Total(context.Background(), "live", nil, epoch, epoch); err != nil || len(totals) != 1 ||
				totals[0].N != int64(live) {
				t.Errorf("%s: %+v %v, want n %d", way, totals, err, live)
			}
			if t.Failed() {
				t.Fatal("replay with " + replay.Command(t, seed))
			}
		}
	}
}
