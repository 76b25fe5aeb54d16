package sim

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/ingot-events/ingot/internal/prove/sim/stage"
	"github.com/ingot-events/ingot/internal/prove/sim/survey"
)

// Result is the outcome of a world.
type Result struct {
	Plan    Plan
	Stats   survey.Stats
	Failure *Failure // nil if every promise was kept
	Trace   string
}

// NewSurvey returns a survey of the worlds of this package.
func NewSurvey() *survey.Survey { return survey.New(FaultNames()) }

// Run makes the world of a seed and lives it to its end.
func Run(seed uint64) Result { return Live(NewPlan(seed), false) }

// Live lives a plan to its end. If trace is set, it also writes down what happens.
func Live(p Plan, trace bool) Result {
	w := newWorld(p, trace)
	defer w.KillAll()
	w.live()
	w.stats.Steps, w.stats.Hours = w.Steps, w.Now.Sub(stage.Origin).Hours()
	w.stats.Shards, w.stats.Inserted, w.stats.Expired = len(w.model.Shards), w.model.Inserted, w.model.Expired
	w.stats.Rolls = max(0, len(w.shards)-w.partitions())
	w.stats.Aggregates, w.stats.Totals = w.model.Aggregates(), len(w.model.Slots)
	r := Result{Plan: p, Stats: w.stats, Failure: w.Failure}
	if trace {
		r.Trace = w.Trace.String()
	}
	return r
}

// These are the bounds of a world. They are far beyond what a world needs.
const (
	phaseSteps = 3000
	calmSteps  = 60000
	lookSteps  = 300000 // a verifier waits for the stream by the clock, while producers and faults go on
	redrives   = 50     // in a row, without faults
)

// strangers is how many items of others the table begins with. There are so many that, in a world
// with one shard, the sequence numbers have grown by their digit before the first event.
const strangers = 40

func (w *World) live() {
	if w.liveBursts() && w.settle(nil) && w.rest.checkDrained() && w.operators.finishUpgrade() && w.states.bringBack() && !w.plan.Still {
		if w.expireAll(); w.Failure == nil && w.looks.lookTwice() {
			mendTotals(context.Background(), w)
		}
	}
}

// liveBursts lives the days on which events come, and the hours between them.
func (w *World) liveBursts() bool {
	for _, q := range w.queues {
		w.Spawn("queue", nil, func() { w.PollQueue(q) })
	}
	w.Spawn("stream", nil, w.pollers.pollStream)
	w.people.strangers(strangers)
	for phase := range w.plan.Phases {
		w.phase = phase + 1
		if w.phase == w.plan.Upgrade {
			w.operators.othersStart()
		}
		if w.phase == w.plan.Longer {
			w.lifetime.lengthen()
		}
		sending := true
		w.Spawn("producer", nil, func() { w.produce(w.phase); sending = false })
		if w.plan.People && w.Chance(0.5) {
			w.Spawn("eraser", nil, w.erasures.erasure)
		}
		w.strays.clean()
		w.run(phaseSteps, func() bool { return !sending && w.quiet() })
		if w.Failure != nil {
			return false
		}
		if w.plan.People && w.Chance(0.5) {
			w.people.person()
		}
		if w.plan.People && w.Chance(0.5) {
			w.Spawn("eraser", nil, w.erasures.erasure) // while a rebuild runs
		}
		if w.plan.Upgrade > 0 && w.phase > w.plan.Upgrade && w.Chance(0.3) {
			w.operators.careless([]int64{hasty, letGo}[w.Rng.IntN(2)])
		}
		if w.plan.Redrive {
			w.dead.redrive()
		}
		if w.phase > w.plan.Upgrade && w.plan.Upgrade > 0 && w.Chance(0.5) {
			w.Spawn("rebuild", nil, func() { w.operators.rebuild(operator{w.client()}) })
		}
		if w.plan.Parts == 1 && w.wholes.draw.IntN(4) == 0 {
			w.Spawn("putter", nil, func() { w.wholes.putParts(1) })
		}
		if !w.settle(func() bool { return !sending }) || !w.rest.checkHead() {
			return false
		}
		w.Now = w.Now.Add(time.Hour * time.Duration(3+w.Rng.IntN(int(w.plan.Gap/time.Hour))))
		if w.phase == w.plan.Weekend {
			w.Now = w.Now.Add(time.Duration(70+w.Rng.IntN(10)) * time.Hour)
		}
		if !w.requires.sweepsLater() {
			w.pollers.sweep()
		}
		w.requires.resend()
		if w.phase+1 == w.plan.Withdrawn && !w.operators.rebuildInPeace() {
			return false
		}
	}
	return true
}

// settle stops the faults and waits for the world to come to rest. Hours pass between bursts, and
// nothing is promised for a record that stays blocked for a day.
func (w *World) settle(also func() bool) bool {
	if w.Failure != nil {
		return false
	}
	w.Calm, w.stream.Idle = true, 0
	w.pointers.bringBack()
	defer w.byPut.keepBuilding()()
	defer func() { w.Calm = false }()
	for range redrives {
		if !w.run(calmSteps, func() bool { return w.quiet() && (also == nil || also()) }) && w.Failure == nil {
			w.Fail(Stuck, "the world does not come to rest: %d messages in the queue, %d in the dead-letter queue",
				w.dead.depth(w.ingot.Queue),
				w.dead.depth(w.ingot.DeadLetters))
		}
		if w.Failure != nil {
			return false
		}
		if w.dead.depth(w.ingot.DeadLetters) == 0 {
			return true
		}
		w.dead.triage()
		w.dead.redrive()
		w.stream.Idle = 0
	}
	w.Fail(Stuck, "%d dead letters come again and again, with no fault in the world", w.dead.depth(w.ingot.DeadLetters))
	return false
}

// quiet reports whether nothing is under way.
func (w *World) quiet() bool {
	return w.stream.Idle >= 3 && len(w.Invocations) == 0 && len(w.Tasks) <= len(w.queues)+1+w.byPut.asleep &&
		w.dead.depth(w.ingot.Queue) == 0
}

// run resumes tasks, one at a time, until done holds at rest or the steps are used up.
func (w *World) run(most int, done func() bool) bool {
	for range most {
		if w.Failure != nil || w.Step(done) {
			return w.Failure == nil
		}
	}
	return done()
}

// stepped follows each step of a task.
func (w *World) stepped() {
	w.wrote()
	w.reader.step()
}

// expireAll moves the clock past every expiry.
func (w *World) expireAll() {
	w.Now = w.Now.Add(20 * time.Hour)
	for at := w.Now; w.Now.Sub(at) < w.lifetime.longestLife(); {
		w.pollers.sweep()
		w.strays.clean()
		for _, m := range w.copies(w.plan.Phases + 1) {
			w.send(m)
		}
		if !w.settle(nil) {
			return
		}
		w.Now = w.Now.Add(w.plan.retain() / 3)
	}
	w.pollers.sweep()
	if w.settle(nil) && w.rest.checkDrained() {
		w.archive.checkArchive()
	}
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
