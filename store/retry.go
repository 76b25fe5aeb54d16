package store

import (
	"context"
	"time"
)

// Retries end with the caller's deadline. A caller without one gets maxRounds of them, about half a minute.
const (
	firstBackoff = 25 * time.Millisecond
	maxBackoff   = 2 * time.Second
	maxRounds    = 20
)

// askAgain waits before round number round, unless the answer says that asking again cannot help. False: do not ask
// again.
func (s *Store) askAgain(ctx context.Context, a answer, round int) bool {
	return a.outcome != refused && a.outcome != invalid && s.backoff(ctx, round)
}

// backoff waits before round number round (from 1) of asking again: doubled each time and spread over the
// whole interval, so that callers who collided do not collide again. False: do not ask again.
func (s *Store) backoff(ctx context.Context, round int) bool {
	if _, bounded := ctx.Deadline(); !bounded && round > maxRounds {
		return false
	}
	wait := min(firstBackoff<<min(round-1, 10), maxBackoff)
	return s.env.Sleep(ctx, time.Duration(s.env.Rand()*float64(wait))) == nil
}
