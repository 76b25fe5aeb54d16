package env_test

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ingot-events/ingot/env"
)

// The waits double up to two seconds. They end with the context, or after 20 rounds if the context
// has no deadline.
func TestWait(t *testing.T) {
	var slept []time.Duration
	world := env.Env{Rand: func() float64 { return 1 }, Sleep: func(ctx context.Context, d time.Duration) error {
		slept = append(slept, d)
		return ctx.Err()
	}}.Real()
	for round := 1; world.Wait(context.Background(), round); round++ {
	}
	if len(slept) != 20 || slept[0] != 25*time.Millisecond || slept[1] != 50*time.Millisecond || slept[7] != 2*time.Second ||
		slept[19] != 2*time.Second {
		t.Errorf("%v", slept)
	}
	bounded, stop := context.WithTimeout(context.Background(), time.Hour)
	defer stop()
	if !world.Wait(bounded, 21) {
		t.Error("a deadline bounds the rounds")
	}
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	if world.Wait(ended, 1) {
		t.Error("it goes on after the end")
	}
}

// Each calls once for every index, as many at a time as it may, and returns after the last call.
func TestEach(t *testing.T) {
	for _, c := range []struct{ n, limit, most int }{{0, 4, 0}, {1, 4, 1}, {3, 8, 3}, {40, 4, 4}, {40, 0, 1}, {40, -1, 1}} {
		synctest.Test(t, func(t *testing.T) {
			var mu sync.Mutex
			calls, running, most := make([]int, c.n), 0, 0
			env.Env{}.Real().Each(c.n, c.limit, func(i int) {
				mu.Lock()
				running++
				most = max(most, running)
				calls[i]++
				mu.Unlock()
				time.Sleep(time.Second) // on the bubble's clock: all that may run are now running
				mu.Lock()
				running--
				mu.Unlock()
			})
			if running != 0 || most != c.most {
				t.Errorf("%d calls, %d at a time: %d ran at the same time, and %d had not ended", c.n, c.limit, most, running)
			}
			for i, n := range calls {
				if n != 1 {
					t.Errorf("%d calls, %d at a time: index %d was called %d times", c.n, c.limit, i, n)
				}
			}
		})
	}
}
