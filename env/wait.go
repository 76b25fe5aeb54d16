package env

import (
	"context"
	"time"
)

// Retries end with the caller's deadline. A caller without a deadline gets maxRounds retries, which
// take about half a minute.
const (
	firstWait = 25 * time.Millisecond
	maxWait   = 2 * time.Second
	maxRounds = 20
)

// Wait waits before a request is repeated, and reports whether to repeat it. round counts the
// repetitions, from 1. The wait is random, so that callers who collided do not collide again. It is
// at most 25 ms in the first round, and this bound doubles with each round, up to 2 s. There are
// rounds until ctx ends. If ctx has no deadline, there are 20 rounds.
func (e Env) Wait(ctx context.Context, round int) bool {
	if _, bounded := ctx.Deadline(); !bounded && round > maxRounds {
		return false
	}
	wait := min(firstWait<<min(round-1, 10), maxWait)
	return e.Sleep(ctx, time.Duration(e.Rand()*float64(wait))) == nil
}
