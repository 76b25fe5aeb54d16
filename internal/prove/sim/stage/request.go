package stage

import (
	"context"
	"errors"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/ingot-events/ingot/internal/local/iam"
	"github.com/ingot-events/ingot/internal/testworld"
)

// Odds are how many requests meet what.
type Odds struct {
	Dies       float64 // the process dies, before the request or after it
	Throttled  float64
	Unanswered float64 // it is carried out, and its answer is lost
	Late       float64 // of writes: it is carried out long after its sender has given it up
	Lost       float64
}

// Fate is what becomes of a request.
type Fate struct {
	testworld.Fault
	Slow bool // its answer takes long
}

// ErrLost says that a request has no answer.
var ErrLost = errors.New("read: connection reset by peer")

// Throttled is the refusal of a request for lack of capacity.
var Throttled = &types.ProvisionedThroughputExceededException{Message: aws.String("throughput exceeded"),
	ThrottlingReasons: []types.ThrottlingReason{{Reason: aws.String("TableWriteKeyRangeThroughputExceeded"),
		Resource: aws.String("table")}}}

// Request lets other tasks go first, and decides what becomes of a request. late draws how long a
// write is on its way after its sender has given it up.
func Request[O any](w *World, ctx context.Context, api string, write bool, late func() time.Duration, call func() (O, error)) (O, error) {
	var none O
	if w.Current == nil { // the world is being built
		return call()
	}
	w.Spend()
	w.Pause()
	if err := ctx.Err(); err != nil {
		return none, err // too late to be sent
	}
	role, known := iam.Of(ctx)
	if !known {
		role = w.Person
	}
	carry := func() (any, error) {
		w.sender = role
		out, err := call()
		w.sender = nil
		if role != nil && len(role.Denied()) > 0 {
			w.Fail(Denied, "%s does not allow %s", role.Name, role.Denied()[0])
		}
		if w.Carried != nil {
			w.Carried()
		}
		return out, err
	}
	draw := w.Fate
	if draw == nil {
		draw = w.fate
	}
	fate := draw(api, write, late, func() { carry() })
	answer, err := fate.Befall(func() (any, error) {
		out, err := carry()
		if w.Answers != nil {
			if late := w.Answers(ctx, fate); late != nil {
				return nil, late
			}
		}
		return out, err
	})
	out, _ := answer.(O) // nil if it is refused, or if its answer is lost
	return out, err
}

// Sent returns the context of the request that is being carried out. It has the role of its sender,
// and no deadline: it may arrive after the sender has stopped waiting.
func (w *World) Sent() context.Context { return iam.As(context.Background(), w.sender) }

// fate draws once for all that may become of a request.
func (w *World) fate(api string, write bool, late func() time.Duration, carry func()) (f Fate) {
	if w.Calm {
		return f
	}
	p := w.Rng.Float64()
	within := func(share float64) bool { p -= share; return p < 0 }
	switch {
	case within(w.Odds.Dies) && w.Current.Of != nil:
		if w.Chance(0.5) {
			carry()
		}
		w.Crash()
	case within(w.Odds.Throttled):
		f.Before = Throttled
	case within(w.Odds.Unanswered):
		f.After = ErrLost
	case within(w.Odds.Late) && write:
		w.Later(api, late(), carry)
		f.Before = ErrLost
	case within(w.Odds.Lost):
		f.Before = ErrLost
	}
	return f
}

// Later carries out a request after its sender has given up on it. Once a request is sent, the
// deadline of its sender no longer matters.
func (w *World) Later(api string, wait time.Duration, carry func()) {
	w.Late++
	w.Spawn("late "+api, nil, func() {
		w.Sleep(wait)
		w.Tracef("a late %s is applied", api)
		carry()
		w.Late--
	})
}
