// Package stage is what all worlds are made of: tasks, invocations of functions that die, requests
// that are lost, late and repeated, and people. It knows nothing of what a world does or promises.
// What happens is drawn, and a seed always makes the same world.
package stage

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/ingot-events/ingot/internal/local/iam"
	"github.com/ingot-events/ingot/internal/prove/sim/tasks"
)

// World is the part that all worlds have. Rng must be set.
type World struct {
	tasks.Scheduler[*Invocation]
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
	sender      *iam.Role // of the request that is being carried out
	// Person is the role of the people who run commands. nil: nothing is denied to them.
	Person *iam.Role
	// Fate draws what becomes of a request, which carry carries out. nil: [Odds] say it.
	Fate func(api string, write bool, late func() time.Duration, carry func()) Fate
	// Carried is called when a request has been carried out. It may be nil.
	Carried func()
	// Answers passes the time between a request and its answer. Its error replaces the answer. It
	// may be nil.
	Answers func(context.Context, Fate) error
	// Stepped is called after each step of a task. It may be nil.
	Stepped func()
	ready   []*tasks.Task[*Invocation]
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
