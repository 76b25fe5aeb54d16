package moving

import (
	"context"
	"errors"
	"time"

	"github.com/ingot-events/ingot/internal/local/iam"
	"github.com/ingot-events/ingot/internal/prove/sim/stage"
)

// watch verifies the totals again and again, as the schedule of cmd/worker does, whatever the
// migration is doing. Nothing is ever damaged, unless somebody creates a table anew.
func (w *world) watch() {
	for w.Failure == nil && w.anew == "" {
		w.SleepUpTo(900)
		ctx := iam.As(w.Within(time.Hour), nil)
		looks, err := stage.Scheduled(ctx, w.pipeline, w.store(), w.Env(w.Rng.Float64, 0), w.delivered)
		if err != nil || w.anew != "" { // it proves nothing
			w.Tracef("a run of the schedule: %v", err)
			continue
		}
		for _, d := range looks.Damaged {
			w.Fail(Alarmed, "a run of the schedule calls an undamaged total damaged: %s", d)
		}
	}
}

// delivered waits until the streams function has all that was written.
func (w *world) delivered(ctx context.Context) error {
	for until := w.Now; !w.polled.After(until) || !w.counted.Drained(); w.Sleep(7 * time.Second) {
		if ctx.Err() != nil {
			return errors.New("the stream is not read to its end")
		}
	}
	return nil
}
