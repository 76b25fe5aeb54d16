package env

import (
	"context"
	"time"
)

// Retries end with the caller's deadline. A caller without one gets maxRounds of them, about half a minute.
const (
	firstWait = 25 * time.Millisecond
	maxWait   = 2 * time.Second
	maxRounds = 20
)

// Wait waits before round number round (from 1) of asking again, and reports whether to ask again. The wait doubles
// with each round and is spread over the whole interval, so that callers who collided do not collide again. It ends
// with ctx; without a deadline there are 20 rounds.
func (e Env) Wait(ctx context.Context, round int) bool {
	if _, bounded := ctx.Deadline(); !bounded && round > maxRounds {
		return false
	}
	wait := min(firstWait<<min(round-1, 10), maxWait)
	return e.Sleep(ctx, time.Duration(e.Rand()*float64(wait))) == nil
}
