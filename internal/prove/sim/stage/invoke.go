package stage

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"time"

	"github.com/ingot-events/ingot/internal/local/iam"
	"github.com/ingot-events/ingot/internal/prove/sim/tasks"
)

// FunctionTimeout is the timeout of a function for which a world needs no other.
const FunctionTimeout = time.Minute

// Invocation is one run of a function. Its tasks run until it answers, crashes or is given up.
type Invocation struct {
	Name     string
	Role     *iam.Role // by which its requests are judged; nil: nothing is denied
	Deadline time.Time
	Skew     time.Duration // of its clock
	Answer   any
	Err      error
	Done     bool
	Crashed  bool
	Faults   int // those that it met
	Notes    any // what its world keeps of it
}

// Begin runs an invocation in a task of its own.
func (w *World) Begin(inv *Invocation, do func(context.Context) (any, error)) {
	ctx := w.Deadline(context.Background(), inv.Deadline.Add(inv.Skew), inv.Skew)
	ctx = iam.As(ctx, inv.Role)
	w.Invocations = append(w.Invocations, inv)
	w.Spawn(inv.Name, inv, func() {
		inv.Answer, inv.Err = do(ctx)
		inv.Done = true
	})
}

// Wait waits until an invocation has answered or died, or until its deadline. It may go on after
// that.
func (w *World) Wait(inv *Invocation) {
	w.Park(inv.Deadline, func() bool { return inv.Done || inv.Crashed })
}

// Invoke runs a function of this role until it answers, dies or has no time left.
func (w *World) Invoke(role *iam.Role, do func(context.Context) (any, error)) ([]byte, error) {
	inv := &Invocation{Name: "function", Role: role, Deadline: w.Now.Add(FunctionTimeout)}
	w.Begin(inv, do)
	w.Wait(inv)
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

// Crash ends the invocation of the current task where it is. Its other tasks are killed before
// anything else runs.
func (w *World) Crash() {
	if inv := w.Current.Of; inv != nil {
		inv.Crashed = true
		panic(tasks.Killed{})
	}
}

// reap kills the tasks of crashed invocations, and finds invocations that go on after their answer.
func (w *World) reap() {
	if len(w.Invocations) == 0 {
		return
	}
	for _, t := range w.Tasks {
		if t.Of == nil || t.Ended {
			continue
		}
		if t.Of.Crashed {
			w.Kill(t)
		} else if t.Of.Done {
			w.Fail(Afterwards, "%s has answered and still runs", t.Of.Name)
		}
	}
	w.Invocations = slices.DeleteFunc(w.Invocations, func(inv *Invocation) bool { return inv.Done || inv.Crashed })
}
