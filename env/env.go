package env

import (
	"context"
	"math/rand/v2"
	"sync"
	"time"
)

// Env is everything that store and handler take from the world besides the client: the clock,
// waiting, chance and goroutines. The zero value is the real world. Simulations and tests set their
// own functions, so that a run depends only on its seed.
type Env struct {
	// Now returns the time.
	Now func() time.Time
	// Sleep waits for d or until ctx is done. If ctx is done, it returns the error of ctx.
	Sleep func(ctx context.Context, d time.Duration) error
	// Rand returns a number that is uniform in [0, 1), for the jitter of retries.
	Rand func() float64
	// Group returns a [Group], which runs functions at the same time and waits for them.
	Group func() Group
	// Deadline does what context.WithDeadline does, by the clock of this world.
	Deadline func(ctx context.Context, at time.Time) (context.Context, context.CancelFunc)
}

// Group is the part of [sync.WaitGroup] that is used.
type Group interface {
	Go(func())
	Wait()
}

// Real returns the Env with every zero field filled with the real thing.
func (e Env) Real() Env {
	if e.Now == nil {
		e.Now = time.Now
	}
	if e.Sleep == nil {
		e.Sleep = sleep
	}
	if e.Rand == nil {
		e.Rand = rand.Float64
	}
	if e.Group == nil {
		e.Group = func() Group { return new(sync.WaitGroup) }
	}
	if e.Deadline == nil {
		e.Deadline = context.WithDeadline
	}
	return e
}

func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Each calls do for every index below n, at most limit at a time, and returns when all calls have
// returned. A limit below one means one.
func (e Env) Each(n, limit int, do func(i int)) {
	if n == 1 {
		do(0)
		return
	}
	var mu sync.Mutex
	next := 0
	take := func() int {
		mu.Lock()
		defer mu.Unlock()
		next++
		return next - 1
	}
	group := e.Group()
	for range min(n, max(1, limit)) {
		group.Go(func() {
			for i := take(); i < n; i = take() {
				do(i)
			}
		})
	}
	group.Wait()
}
