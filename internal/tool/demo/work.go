package demo

import (
	"context"
	"fmt"
	"time"

	"github.com/ingot-events/ingot/internal/esm"
	"github.com/ingot-events/ingot/internal/local/stack"
)

// maxIdleRounds is how many rounds queue and stream may be polled without any progress. Trouble
// never causes nearly as many.
const maxIdleRounds = 300

// sweepSize is how many items of a table time to live removes at once.
const sweepSize = 1000

// rollAfter is about how long DynamoDB keeps a shard of a stream open.
const rollAfter = 4 * time.Hour

// work polls queue and stream, with trouble around them, until both are empty. If messages are
// still hidden, it moves the clock by the visibility timeout.
func (w *world) work(ctx context.Context) error {
	rolling := w.rollDue()
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
		if rolling && streamed.Records > 0 {
			rolling = false
			if err := w.roll(); err != nil {
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
			if err := w.fallBack(ctx, before); err != nil {
				return err
			}
			return w.empty(ctx)
		}
		w.Clock.Reach(w.Clock.Now().Add(stack.Visibility))
	}
	return fmt.Errorf("demo: queue and stream made no progress in %d rounds; the last failure was: %w", maxIdleRounds, w.ledger.lastError)
}

// rollDue reports whether the shards of the stream are old enough to roll, by the time of the
// events. A table rolls its shards as often on a busy day as on a quiet one. So a total of a
// million events has as many marks as a total of a thousand. Only the first roll is left to chance,
// so that a short run has one too.
func (w *world) rollDue() bool {
	if w.rolled.IsZero() && !w.trouble.calm {
		return w.trouble.chance(shardsRolled, chanceRolled)
	}
	return w.Clock.Now().Sub(w.rolled) >= rollAfter
}

// roll rolls all shards in the middle of the changes of a burst.
func (w *world) roll() error {
	w.rolled = w.Clock.Now()
	w.ledger.happened(shardsRolled, 0)
	return w.Engine.RollShards(stack.Events)
}

// drain polls only the stream, until it has no more records.
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
	return fmt.Errorf("demo: the stream made no progress in %d rounds; the last failure was: %w", maxIdleRounds, w.ledger.lastError)
}

// sweep lets time to live remove what has expired. Like the service, it does so in parts, and the
// demo processes each part before the next. Each part takes an hour of the demo's time, so the
// stream can drop records that are a day old.
func (w *world) sweep(ctx context.Context, tell func(swept int)) error {
	for swept := 0; ; {
		n := w.Engine.Sweep(sweepSize)
		if n == 0 {
			return nil
		}
		swept += n
		tell(swept)
		w.Clock.Reach(w.Clock.Now().Add(time.Hour))
		if w.rollDue() {
			if err := w.roll(); err != nil {
				return err
			}
		}
		if err := w.drain(ctx); err != nil {
			return err
		}
		w.ledger.forget(w.stream.Checkpoint())
	}
}

// fallBack may put the stream mapping back to where it was before this burst, as when a poller
// fails over to a stale checkpoint. Then it processes what the mapping delivers again.
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
