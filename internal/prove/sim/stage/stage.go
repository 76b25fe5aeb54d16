// Package stage is what the worlds of packages moving and chain stand on: invocations of functions
// that die, requests that are lost, late and repeated, and people. What happens there is drawn, and
// a seed always makes the same world.
package stage

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/ingot-events/ingot/internal/prove/sim/strand"
)

// Invocation is one call of a function.
type Invocation struct {
	Answer   any
	Err      error
	Done     bool
	Crashed  bool
	deadline time.Time
}

// World is a stage. Rng and Odds must be set.
type World struct {
	strand.Scheduler[*Invocation]
	Rng     *rand.Rand
	Odds    Odds
	Calm    bool // nothing goes wrong
	Late    int  // requests that are still on their way
	Working int  // people and passes at work
	Failure *Failure
	// Slow is called after a request to which nothing has happened. It may be nil.
	Slow  func()
	steps int
}

// Odds are how many requests meet what.
type Odds struct {
	Dies       float64 // the process dies, before the request or after it
	Throttled  float64
	Unanswered float64 // it is carried out, and its answer is lost
	Late       float64 // of writes: it is carried out long after its sender has given it up
	Lost       float64
}

// FunctionTimeout is the timeout of all functions.
const FunctionTimeout = time.Minute

// Fail says what is wrong. The first failure counts, and ends the world.
func (w *World) Fail(check Check, format string, args ...any) {
	if w.Failure == nil {
		w.Failure = &Failure{Check: check, Detail: fmt.Sprintf(format, args...), Step: w.steps}
	}
}

// Must says that the world itself has failed, if there is an error.
func (w *World) Must(err error) {
	if err != nil {
		w.Fail(Broken, "%v", err)
	}
}

// Chance draws whether something happens.
func (w *World) Chance(p float64) bool { return w.Rng.Float64() < p }

// SleepUpTo lets the running task sleep for less than so many seconds.
func (w *World) SleepUpTo(seconds int) { w.Sleep(time.Duration(w.Rng.IntN(seconds)) * time.Second) }

// People runs what somebody does beside everything else.
func (w *World) People(do func()) {
	w.Working++
	w.Spawn("person", nil, func() { defer func() { w.Working-- }(); do() })
}

// Invoke runs a function in a task of its own, until it answers, dies or has no time left. It may
// go on for a while after that.
func (w *World) Invoke(do func(context.Context) (any, error)) ([]byte, error) {
	inv := &Invocation{deadline: w.Now.Add(FunctionTimeout)}
	w.Spawn("function", inv, func() {
		inv.Answer, inv.Err = do(w.Deadline(context.Background(), inv.deadline, 0))
		inv.Done = true
	})
	w.Park(inv.deadline, func() bool { return inv.Done || inv.Crashed })
	switch {
	case !inv.Done:
		return nil, errors.New("the function was killed or ran out of time")
	case !w.Calm && w.Chance(0.05):
		return nil, errors.New("the answer was lost")
	case inv.Err != nil:
		return nil, inv.Err
	}
	return json.Marshal(inv.Answer)
}

// Result is how a world ended. Its trace tells it from others.
type Result struct {
	Failure *Failure // nil if every promise was kept
	Trace   string
}

// Result is how the world ended.
func (w *World) Result() Result {
	return Result{w.Failure, fmt.Sprintf("after %d steps, at %s", w.steps, w.Now.Format(time.RFC3339Nano))}
}

// mostSteps is far beyond what a world needs.
const mostSteps = 900_000

// Run lets tasks go on, in random order, until a condition holds. at says where a world stands that
// is stuck.
func (w *World) Run(until func() bool, at func() string) {
	var buffer []*strand.Task[*Invocation]
	for w.Failure == nil && !until() {
		if w.steps++; w.steps > mostSteps {
			w.Fail(Stuck, "%s", at())
			return
		}
		ready, earliest := w.Runnable(buffer)
		buffer = ready
		if len(ready) == 0 {
			if earliest.IsZero() {
				w.Fail(Stuck, "nothing can go on")
				return
			}
			w.Now = earliest
			continue
		}
		w.Resume(ready[w.Rng.IntN(len(ready))])
		w.reap()
	}
}

// reap kills the tasks of crashed invocations.
func (w *World) reap() {
	for _, t := range w.Tasks {
		if t.Of != nil && t.Of.Crashed && !t.Ended {
			w.Kill(t)
		}
	}
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
	w.Now = w.Now.Add(time.Duration(1+w.Rng.IntN(20)) * time.Millisecond)
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
		w.Current.Of.Crashed = true
		panic(strand.Killed{})
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
