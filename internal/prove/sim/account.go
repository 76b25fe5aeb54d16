package sim

import (
	"errors"
	"math/rand/v2"
	"time"
)

// atATime is how many calls a new account runs at a time
// (https://docs.aws.amazon.com/lambda/latest/dg/gettingstarted-limits.html).
const atATime = 10

// account is what all functions of all stacks share. Lambda throttles the calls beyond. A batch of
// the queue then comes back when it is visible again, received once more
// (https://docs.aws.amazon.com/lambda/latest/dg/services-sqs-errorhandling.html). A batch of the
// stream is tried again.
type account struct {
	*World
	draw   *rand.Rand
	others int       // calls of other stacks
	until  time.Time // for so long
}

// planAccount decides whether the account is new. Its draw is its own, so that other worlds stay as
// they are.
func (p *Plan) planAccount() { p.Small = rand.New(rand.NewPCG(p.Seed, 18)).IntN(5) == 0 }

var errThrottled = errors.New("TooManyRequestsException: Rate Exceeded")

// throttles reports whether Lambda refuses a call.
func (w *account) throttles() bool {
	if !w.plan.Small {
		return false
	}
	if !w.Now.Before(w.until) {
		w.others = max(0, w.draw.IntN(2*atATime)-atATime/2)
		w.until = w.Now.Add(time.Duration(1+w.draw.IntN(180)) * time.Second)
	}
	running := 0
	for _, inv := range w.Invocations {
		if w.Now.Before(inv.Deadline) {
			running++
		}
	}
	if !w.Calm {
		running += w.others
	}
	if running < atATime {
		return false
	}
	w.Fault(throttled, "")
	return true
}
