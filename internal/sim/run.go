package sim

import (
	"context"
	"math/big"
	"slices"
	"sort"
	"strings"
	"time"

	"github.com/ingot-events/ingot/store"
	"github.com/ingot-events/ingot/verify"
)

// Stats says what happened in a world.
type Stats struct {
	Sent, Deliveries, Acknowledged int
	Invocations, Puts, Updates     int
	Steps                          int
	Shards, Rolls                  int // shards with records; shards that continue others
	Inserted, Expired              int
	Aggregates, Totals             int // aggregates that counted something, and their items
	Faults                         map[string]int
	Verdicts                       map[string]int
	Hours                          float64 // of the world's time
}

// Result is what became of a world.
type Result struct {
	Plan    Plan
	Stats   Stats
	Failure *Failure // nil: every promise was kept
	Trace   string
}

// Run makes the world of a seed and lives it to its end.
func Run(seed uint64) Result { return Live(NewPlan(seed), false) }

// Live lives a plan; with trace it also tells.
func Live(p Plan, trace bool) Result {
	w := newWorld(p, trace)
	defer w.killAll()
	w.live()
	w.stats.Steps, w.stats.Hours = w.steps, w.now.Sub(origin).Hours()
	w.stats.Shards, w.stats.Inserted, w.stats.Expired = len(w.model.shards), w.model.inserted, w.model.expired
	w.stats.Rolls = max(0, len(w.shards)-w.partitions())
	w.stats.Aggregates, w.stats.Totals = w.model.aggregates(), len(w.model.slots)
	r := Result{Plan: p, Stats: w.stats, Failure: w.failure}
	if trace {
		r.Trace = w.trace.String()
	}
	return r
}

// Bounds of a world, far beyond what one needs.
const (
	phaseSteps = 3000
	calmSteps  = 60000
	redrives   = 50 // in a row, without faults
)

// strangers is how many items of others the table begins with: so many that the sequence numbers of a world
// with one shard have grown by their digit before the first event.
const strangers = 40

func (w *World) live() {
	if w.liveBursts() && w.settle(nil) && w.checkDrained() && w.finishUpgrade() && !w.plan.Still {
		w.expireAll()
	}
}

// liveBursts lives the days on which events come, and the hours between.
func (w *World) liveBursts() bool {
	for _, q := range w.queues {
		w.spawn("queue", nil, func() { w.pollQueue(q) })
	}
	w.spawn("stream", nil, w.pollStream)
	w.strangers(strangers)
	for phase := range w.plan.Phases {
		w.phase = phase + 1
		if w.phase == w.plan.Upgrade {
			w.othersStart()
		}
		sending := true
		w.spawn("producer", nil, func() { w.produce(w.phase); sending = false })
		w.run(phaseSteps, func() bool { return !sending && w.quiet() })
		if w.failure != nil {
			return false
		}
		if w.plan.People && w.chance(0.5) {
			w.person()
		}
		if w.plan.Upgrade > 0 && w.phase > w.plan.Upgrade && w.chance(0.3) {
			w.careless([]int64{hasty, letGo}[w.rng.IntN(2)])
		}
		if w.plan.Redrive {
			w.redrive()
		}
		if w.phase > w.plan.Upgrade && w.plan.Upgrade > 0 && w.chance(0.5) {
			w.spawn("rebuild", nil, func() { w.rebuild() })
		}
		if !w.settle(func() bool { return !sending }) || !w.checkHead() {
			return false
		}
		w.now = w.now.Add(time.Hour * time.Duration(3+w.rng.IntN(int(w.plan.Gap/time.Hour))))
		if w.phase == w.plan.Weekend {
			w.now = w.now.Add(time.Duration(70+w.rng.IntN(10)) * time.Hour)
		}
		w.sweep()
		if w.phase+1 == w.plan.Withdrawn && !w.rebuildInPeace() {
			return false
		}
	}
	return true
}

// settle stops the faults and waits for the world to come to rest. Hours pass between bursts, and a record
// that stays blocked for a day is out of what is promised.
func (w *World) settle(also func() bool) bool {
	if w.failure != nil {
		return false
	}
	w.calm, w.idle = true, 0
	defer func() { w.calm = false }()
	for range redrives {
		if !w.run(calmSteps, func() bool { return w.quiet() && (also == nil || also()) }) && w.failure == nil {
			w.fail(Stuck, "the world does not come to rest: %d messages in the queue, %d in the dead-letter queue", w.depth(w.queueURL), w.depth(w.deadURL))
		}
		if w.failure != nil {
			return false
		}
		if w.depth(w.deadURL) == 0 {
			return true
		}
		w.triage()
		w.redrive()
		w.idle = 0
	}
	w.fail(Stuck, "%d dead letters come again and again, with no fault in the world", w.depth(w.deadURL))
	return false
}

// quiet reports whether nothing is under way.
func (w *World) quiet() bool {
	return w.idle >= 3 && len(w.invocations) == 0 && len(w.tasks) <= len(w.queues)+1+w.asleep && w.depth(w.queueURL) == 0
}

// run resumes tasks, one at a time, until done holds or the steps are used up.
func (w *World) run(most int, done func() bool) bool {
	var buffer []*task
	for range most {
		if w.failure != nil {
			return false
		}
		w.steps++
		ready, earliest := w.runnable(buffer)
		if len(ready) == 0 {
			if done() {
				return true
			}
			if earliest.IsZero() {
				w.fail(Stuck, "nothing can go on")
				return false
			}
			w.now = earliest
			continue
		}
		buffer = ready
		w.resume(ready[w.rng.IntN(len(ready))])
		w.wrote()
		w.reap()
	}
	return done()
}

// expireAll jumps beyond everything's time.
func (w *World) expireAll() {
	w.now = w.now.Add(20 * time.Hour)
	for range 3 {
		w.sweep()
		for _, m := range w.copies(w.plan.Phases + 1) {
			w.send(m)
		}
		if !w.settle(nil) {
			return
		}
		w.now = w.now.Add(16 * time.Hour)
	}
	w.sweep()
	if w.settle(nil) && w.checkDrained() {
		w.checkArchive()
	}
}

// checkDrained checks a world at rest.
func (w *World) checkDrained() bool {
	for _, key := range sortedKeys(w.model.slots) {
		s := w.model.slots[key]
		if s.unmarked {
			s.applyAll()
			w.checkSlot(key)
		}
		if s.damaged && w.model.marks {
			w.checkLeftOut(s)
			continue
		}
		if s.applied != s.steps {
			w.fail(Uncounted, "%s: %d of %d changes are counted", s.key, s.applied, s.steps)
			return false
		}
	}
	for _, body := range sortedKeys(w.sent) {
		if why := w.unsettled(w.sent[body]); why != "" {
			w.fail(Lost, "%s is in no queue any more, and %s", body, why)
			return false
		}
	}
	w.checkOdd()
	w.checkTotals()
	w.checkLive()
	w.checkCost()
	return w.failure == nil
}

// checkTotals lets the verifier that users have judge the tables.
func (w *World) checkTotals() {
	plan := pipelineOf(1, w.plan.Spread)
	if w.plan.Upgrade > 0 && w.phase > w.plan.Upgrade {
		plan = pipelineOf(2, w.plan.Spread)
	}
	s, err := store.New(store.Config{Client: w.engine.DynamoDB(), Pipeline: plan, Events: eventsTable, Aggregates: totals, Counting: w.plan.Counting, Env: w.env()})
	if err != nil {
		w.fail(Broken, "store: %v", err)
		return
	}
	report, err := verify.Totals(context.Background(), plan, s, w.now)
	if err != nil {
		w.fail(Broken, "verify: %v", err)
		return
	}
	w.checkReport(report)
	report.Differences = slices.DeleteFunc(report.Differences, w.spoiledTotal)
	if !report.OK() {
		w.fail(Wrong, "verify: %s (and %d more)", report.Differences[0], len(report.Differences)-1)
		return
	}
	w.checkHead()
}

// checkHead checks, at rest, that a generation which says it is complete has no item below it.
func (w *World) checkHead() bool {
	if w.plan.Upgrade == 0 || w.phase <= w.plan.Upgrade {
		return true
	}
	plan := pipelineOf(2, w.plan.Spread)
	def, _ := plan.Definition("status")
	s, err := store.New(store.Config{Client: w.engine.DynamoDB(), Pipeline: plan, Events: eventsTable, Aggregates: totals, Counting: w.plan.Counting, Env: w.env()})
	if err != nil {
		w.fail(Broken, "store: %v", err)
		return false
	}
	head, err := s.Head(context.Background(), def)
	switch {
	case err != nil:
		w.fail(Broken, "head: %v", err)
	case head == nil && w.phase > w.plan.Upgrade+1:
		w.fail(Generation, "the new generation has no head")
	case head != nil && !head.Building && len(w.odds.live) > 0 && head.Flag == "":
		w.fail(Unkept, "the head says complete, an item cannot be understood, and no flag says so")
	case head != nil && !head.Building:
		for _, key := range sortedKeys(w.model.keys) {
			if live := w.model.keys[key].live; live != nil && live.epoch < 2 {
				w.fail(Generation, "the head says complete, and %s is stamped %d", key, live.epoch)
				break
			}
		}
	}
	return w.failure == nil
}

// checkLive adds up what is live, and compares it with what is counted: the model against itself.
func (w *World) checkLive() {
	live := map[string]*big.Int{}
	for _, h := range w.model.keys {
		for _, p := range w.model.parts(h.live) {
			key := p.name + "|" + strings.ReplaceAll(p.by, "#", "%23") + "|" + p.window
			if live[key] == nil {
				live[key] = new1()
			}
			live[key].Add(live[key], big.NewInt(p.term))
		}
	}
	counted := map[string]*big.Int{}
	for _, s := range w.model.slots {
		name, by, window := slotName(s.key)
		key := name + "|" + by + "|" + window
		if counted[key] == nil {
			counted[key] = new1()
		}
		counted[key].Add(counted[key], s.fp)
		counted[key].Sub(counted[key], s.fpx)
	}
	for _, s := range w.damaged {
		name, by, window := slotName(s.key)
		delete(counted, name+"|"+by+"|"+window) // it counts what it took
	}
	for _, key := range sortedKeys(counted) {
		want := live[key]
		if want == nil {
			want = new1()
		}
		if counted[key].Cmp(want) != 0 {
			w.fail(Wrong, "%s counts %s live, and its items add up to %s", key, counted[key], want)
			return
		}
	}
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	return keys
}
