// Package stage is what all worlds stand on: tasks, invocations of functions that die, requests
// that are lost, late and repeated, and people. It knows nothing of what a world does or promises.
// What happens is drawn, and a seed always makes the same world.
package stage

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/ingot-events/ingot/internal/prove/sim/strand"
)

// World is a stage. Rng must be set.
type World struct {
	strand.Scheduler[*Invocation]
	Rng         *rand.Rand
	Odds        Odds
	Calm        bool // nothing goes wrong
	Late        int  // requests that are still on their way
	Working     int  // people and passes at work
	Invocations []*Invocation
	Failure     *Failure
	Faults      map[string]int   // how often each kind of fault has happened
	Trace       *strings.Builder // nil if nothing is traced
	Steps       int
	// Slow is called after a request to which nothing has happened. It may be nil.
	Slow func()
	// Stepped is called after each step of a task. It may be nil.
	Stepped func()
	ready   []*strand.Task[*Invocation]
}

// Odds are how many requests meet what.
type Odds struct {
	Dies       float64 // the process dies, before the request or after it
	Throttled  float64
	Unanswered float64 // it is carried out, and its answer is lost
	Late       float64 // of writes: it is carried out long after its sender has given it up
	Lost       float64
}

// Fail says what is wrong. The first failure counts, and ends the world.
func (w *World) Fail(check Check, format string, args ...any) {
	if w.Failure == nil {
		w.Failure = &Failure{Check: check, Detail: fmt.Sprintf(format, args...), Step: w.Steps}
		w.Tracef("FAILED %s: %s", check, w.Failure.Detail)
	}
}

// Must says that the world itself has failed, if there is an error.
func (w *World) Must(err error) {
	if err != nil {
		w.Fail(Broken, "%v", err)
	}
}

// Chance draws whether something happens.
func (w *World) Chance(p float64) bool { return p > 0 && w.Rng.Float64() < p }

// Fault notes that something went wrong.
func (w *World) Fault(name, what string) {
	if w.Current != nil && w.Current.Of != nil {
		w.Current.Of.Faults++
	}
	w.Faults[name]++
	w.Tracef("%s %s", name, what)
}

// Tracef writes down what happens.
func (w *World) Tracef(format string, args ...any) {
	if w.Trace == nil {
		return
	}
	who := "world"
	if w.Current != nil {
		who = w.Current.Name
	}
	fmt.Fprintf(w.Trace, "%6d %s %-12s %s\n", w.Steps, w.Now.Format("02T15:04:05.000"), who, fmt.Sprintf(format, args...))
}

// Spend lets the time pass that a request takes.
func (w *World) Spend() { w.Now = w.Now.Add(time.Duration(1+w.Rng.IntN(20)) * time.Millisecond) }

// SleepUpTo lets the running task sleep for less than so many seconds.
func (w *World) SleepUpTo(seconds int) { w.Sleep(time.Duration(w.Rng.IntN(seconds)) * time.Second) }

// People runs what somebody does beside everything else.
func (w *World) People(do func()) {
	w.Working++
	w.Spawn("person", nil, func() { defer func() { w.Working-- }(); do() })
}

// Result is how a world ended. Its trace tells it from others.
type Result struct {
	Failure *Failure // nil if every promise was kept
	Trace   string
}

// Result is how the world ended.
func (w *World) Result() Result {
	return Result{w.Failure, fmt.Sprintf("after %d steps, at %s", w.Steps, w.Now.Format(time.RFC3339Nano))}
}

// mostSteps is far beyond what a world needs.
const mostSteps = 900_000

// Run lets tasks go on, in random order, until a condition holds. at says where a world stands that
// is stuck.
func (w *World) Run(until func() bool, at func() string) {
	for w.Failure == nil && !until() {
		if w.Steps >= mostSteps {
			w.Fail(Stuck, "%s", at())
			return
		}
		w.Step(func() bool { return false })
	}
}

// Step lets a random task go on. If none can, it moves the clock to the time when one can, unless
// the world is at rest. It reports whether the world has failed or is at rest.
func (w *World) Step(rests func() bool) (over bool) {
	w.Steps++
	ready, earliest := w.Runnable(w.ready)
	w.ready = ready
	switch {
	case len(ready) > 0:
		w.Resume(ready[w.Rng.IntN(len(ready))])
		if w.Stepped != nil {
			w.Stepped()
		}
		w.reap()
	case rests():
		return true
	case earliest.IsZero():
		w.Fail(Stuck, "nothing can go on")
	default:
		w.Now = earliest
	}
	return w.Failure != nil
}

// ErrLost says that a request has no answer.
var ErrLost = errors.New("read: connection reset by peer")

var throttled = &types.ProvisionedThroughputExceededException{Message: aws.String("throughput exceeded")}

// Request lets other tasks go first, and decides what becomes of a request. late draws how long a
// write is on its way after its sender has given it up.
func Request[O any](w *World, ctx context.Context, write bool, late func() time.Duration, call func() (O, error)) (O, error) {
	var none O
	if w.Current == nil { // the world is being built
		return call()
	}
	w.Spend()
	w.Pause()
	if err := ctx.Err(); err != nil {
		return none, err
	}
	if w.Calm {
		return call()
	}
	p := w.Rng.Float64()
	within := func(share float64) bool { p -= share; return p < 0 }
	switch {
	case within(w.Odds.Dies) && w.Current.Of != nil:
		if w.Chance(0.5) {
			call()
		}
		w.Crash()
	case within(w.Odds.Throttled):
		return none, throttled
	case within(w.Odds.Unanswered):
		call()
		return none, ErrLost
	case within(w.Odds.Late) && write:
		wait := late()
		w.Late++
		w.Spawn("late", nil, func() { w.Sleep(wait); call(); w.Late-- })
		return none, ErrLost
	case within(w.Odds.Lost):
		return none, ErrLost
	}
	out, err := call()
	if w.Slow != nil {
		w.Slow()
	}
	return out, err
}
