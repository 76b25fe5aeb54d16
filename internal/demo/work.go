package demo

import (
	"context"
	"fmt"

	"github.com/ingot-events/ingot/internal/esm"
	"github.com/ingot-events/ingot/internal/stack"
)

// maxIdleRounds bounds how often queue and stream are polled without getting anything done: far more than
// trouble can need.
const maxIdleRounds = 300

// work polls queue and stream until nothing is left in either, with trouble around them. What comes back to
// the queue is waited for: the clock moves by the visibility timeout.
func (w *world) work(ctx context.Context) error {
	rolled := !w.trouble.chance(shardsRolled, chanceRolled)
	before := w.stream.Checkpoint()
	for stuck := 0; stuck < maxIdleRounds; stuck++ {
		if err := ctx.Err(); err != nil {
			return err
		}
		polled, err := w.queue.Poll(ctx)
		if err != nil {
			return fmt.Errorf("demo: queue: %w", err)
		}
		streamed, err := w.stream.Poll(ctx)
		if err != nil {
			return fmt.Errorf("demo: stream: %w", err)
		}
		if !rolled && streamed.Records > 0 {
			rolled = true
			w.ledger.happened(shardsRolled, 0)
			if err := w.engine.RollShards(stack.Events); err != nil {
				return err
			}
		}
		if polled.Deleted > 0 || streamed.Done > 0 {
			stuck = 0
		}
		if !polled.Idle() || !streamed.Idle() {
			continue
		}
		left, err := w.Depth(ctx, w.Queue)
		if err != nil {
			return err
		}
		if left == 0 {
			return w.fallBack(ctx, before)
		}
		w.clock.Reach(w.clock.Now().Add(stack.Visibility))
	}
	return fmt.Errorf("demo: queue and stream got nothing done in %d rounds; the last failure was: %w", maxIdleRounds, w.ledger.lastError)
}

// drain polls the stream alone until it has nothing more to give.
func (w *world) drain(ctx context.Context) error {
	for stuck := 0; stuck < maxIdleRounds; stuck++ {
		streamed, err := w.stream.Poll(ctx)
		if err != nil || streamed.Idle() {
			return err
		}
		if streamed.Done > 0 {
			stuck = 0
		}
		if err := ctx.Err(); err != nil {
			return err
		}
	}
	return fmt.Errorf("demo: the stream got nothing done in %d rounds; the last failure was: %w", maxIdleRounds, w.ledger.lastError)
}

// fallBack perhaps puts the stream mapping back to where it stood before this burst, as when a poller fails
// over to a stale checkpoint, and works off again what it then delivers again.
func (w *world) fallBack(ctx context.Context, before esm.Checkpoint) error {
	w.ledger.forget(w.stream.Checkpoint())
	if !w.trouble.chance(checkpointStale, chanceStale) {
		return nil
	}
	repeated := w.ledger.repeated
	w.stream.Restore(before)
	if err := w.drain(ctx); err != nil {
		return err
	}
	w.ledger.happened(checkpointStale, w.ledger.repeated-repeated)
	return nil
}
