package ingottest

import (
	"time"

	"github.com/ingot-events/ingot/internal/local/stack"
)

// maxIdleRounds bounds how often queue and stream are polled without getting anything done. A
// message that always fails needs fewer rounds to reach the dead-letter queue.
const maxIdleRounds = 50

// Drain delivers until the queue is empty and the stream is read to its end. If messages come back
// only after the visibility timeout, it moves the clock. A change that fails again and again ends
// the test, with the function's error or that of OnChange. A message that fails again and again
// goes to the dead-letter queue, as template.yaml says.
func (w *World) Drain() {
	w.t.Helper()
	w.post()
	for stuck := 0; stuck < maxIdleRounds; stuck++ {
		polled, err := w.queue.Poll(w.ctx)
		if err != nil {
			w.t.Fatalf("ingottest: queue: %v", err)
		}
		streamed, err := w.stream.Poll(w.ctx)
		if err != nil {
			w.t.Fatalf("ingottest: stream: %v", err)
		}
		if polled.Deleted > 0 || streamed.Done > 0 {
			stuck = 0
		}
		if !polled.Idle() || !streamed.Idle() {
			continue
		}
		left, err := w.world.Depth(w.ctx, w.world.Queue)
		if err != nil {
			w.t.Fatalf("ingottest: queue: %v", err)
		}
		if left == 0 {
			return
		}
		w.world.Clock.Reach(w.world.Clock.Now().Add(stack.Visibility))
	}
	w.t.Fatalf("ingottest: queue and stream got nothing done in %d rounds; the last failure was: %v", maxIdleRounds, w.lastError)
}

// Advance moves the clock. Call Drain first. As in the services, a change that nobody has read for
// 24 hours is gone, and so is a message that was in the queue for 4 days. Verify then says which
// totals are wrong, and how many messages are gone. A total past its own retain is hidden at once.
// An event past its retain stays, and counts, until Sweep removes it. Under onExpire subtract, its
// share leaves the total at the Drain after that.
func (w *World) Advance(d time.Duration) {
	w.t.Helper()
	w.post()
	w.collect() // letters too would be deleted after 14 days
	w.dated = true
	w.world.Clock.Reach(w.world.Clock.Now().Add(d))
}

// Sweep lets time to live remove what has expired, as DynamoDB does at some time within days. It
// returns how many items of both tables it removed. The changes wait for Drain. Totals under
// onExpire subtract fall only then.
func (w *World) Sweep() int { return w.world.Engine.SweepExpired() }

// RollShards closes every open shard of the stream and opens its child, as DynamoDB does every few
// hours.
func (w *World) RollShards() {
	w.t.Helper()
	w.must(w.world.Engine.RollShards(stack.Events))
}
