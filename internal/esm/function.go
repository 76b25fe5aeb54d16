package esm

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Handler is a Lambda function as Lambda sees it. It takes bytes, and returns bytes or an error. A
// panic is not caught.
type Handler func(ctx context.Context, payload []byte) ([]byte, error)

// DefaultTimeout is the timeout of a function that sets none. It is Lambda's own default.
const DefaultTimeout = 3 * time.Second

// Function is a handler, with the settings for its invocations.
type Function struct {
	Handler Handler
	// Timeout is how long one invocation may take. 0 means DefaultTimeout. The maximum is 15
	// minutes. An answer that comes at the deadline or later is lost, as when Lambda stops the
	// function.
	Timeout time.Duration
	// Now is the clock; nil means time.Now.
	Now func() time.Time
	// Deadline makes the context of one invocation. nil means context.WithDeadline if Now is nil
	// too. Otherwise the context has a deadline but no timer, because a real timer does not follow
	// another clock.
	Deadline func(context.Context, time.Time) (context.Context, context.CancelFunc)
	// Faults injects faults. The zero value injects none.
	Faults Faults
}

// Faults injects the faults that at-least-once delivery allows. Each func is called once for each
// invocation, and reports whether the fault happens there. nil means that the fault never happens.
// With Concurrency above 1, several goroutines call the funcs.
type Faults struct {
	// Duplicate calls the function a second time with the same payload. The second answer counts.
	Duplicate func(Invocation) bool
	// DropAnswer runs the function but loses its answer. The mapping sees a failure of the batch.
	DropAnswer func(Invocation) bool
	// Forget lets the batch succeed, in whole or in part, but loses what records that: deleting the
	// messages or moving the checkpoint. Everything is delivered again.
	Forget func(Invocation) bool
}

// Invocation is one call of the function.
type Invocation struct {
	Source  string   // ARN of the queue or stream
	ShardID string   // of a stream only
	IDs     []string // message ids, or sequence numbers, in the order of the payload
	Final   bool     // of a stream only: the last invocation of a window
	Payload []byte
}

var (
	errDropped  = errors.New("the answer was lost")
	errTimedOut = errors.New("the function timed out")
)

func (f *Function) check() error {
	switch {
	case f.Handler == nil:
		return errors.New("field Function.Handler is nil")
	case f.Timeout < 0 || f.Timeout > 15*time.Minute:
		return fmt.Errorf("field Function.Timeout is %v; Lambda allows up to 15m", f.Timeout)
	}
	return nil
}

func (f *Function) timeout() time.Duration {
	if f.Timeout == 0 {
		return DefaultTimeout
	}
	return f.Timeout
}

func (f *Function) now() time.Time {
	if f.Now == nil {
		return time.Now()
	}
	return f.Now()
}

func (f *Function) context(ctx context.Context, deadline time.Time) (context.Context, context.CancelFunc) {
	switch {
	case f.Deadline != nil:
		return f.Deadline(ctx, deadline)
	case f.Now == nil:
		return context.WithDeadline(ctx, deadline)
	}
	return withoutTimer(ctx, deadline)
}

// invoke calls the function with the faults around it.
func (f *Function) invoke(ctx context.Context, inv Invocation) ([]byte, error) {
	answer, err := f.call(ctx, inv)
	if happens(f.Faults.Duplicate, inv) {
		answer, err = f.call(ctx, inv)
	}
	if happens(f.Faults.DropAnswer, inv) {
		return nil, errDropped
	}
	return answer, err
}

func (f *Function) call(ctx context.Context, inv Invocation) ([]byte, error) {
	deadline := f.now().Add(f.timeout())
	ctx, cancel := f.context(ctx, deadline)
	defer cancel()
	answer, err := f.Handler(ctx, inv.Payload)
	if err == nil && !f.now().Before(deadline) {
		return nil, errTimedOut
	}
	return answer, err
}

func happens(fault func(Invocation) bool, inv Invocation) bool {
	return fault != nil && fault(inv)
}

// withoutTimer returns a context that has a deadline but no timer. It ends only when its parent
// ends or when it is cancelled. It is for clocks other than the machine's.
func withoutTimer(ctx context.Context, deadline time.Time) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	return untimed{ctx, deadline}, cancel
}

type untimed struct {
	context.Context
	deadline time.Time
}

func (u untimed) Deadline() (time.Time, bool) {
	if outer, ok := u.Context.Deadline(); ok && outer.Before(u.deadline) {
		return outer, true
	}
	return u.deadline, true
}
