package dev

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/ingot-events/ingot/aggregate"
	"github.com/ingot-events/ingot/internal/esm"
	"github.com/ingot-events/ingot/internal/local/stack"
	"github.com/ingot-events/ingot/internal/tool/target"
)

// These are the settings of the mappings. Batches are as large as in template.yaml.
const (
	batchSize = 1000
	// fifoBatchSize is the most that Lambda takes from a FIFO queue.
	fifoBatchSize = 10
	// queueFunctions is how many batches of the queue are under way at once.
	queueFunctions = 2
	// pause is how long a mapping waits after it found nothing.
	pause = 50 * time.Millisecond
	// afterFailure is how long a mapping waits after a batch that failed as a whole.
	afterFailure = time.Second
	// sweepEvery is how often time to live removes what has expired, and sweepSize how much at
	// once. Clients wait for that long.
	sweepEvery = time.Minute
	sweepSize  = 1000
)

// mappings makes the mappings of the functions.
func (d *Dev) mappings(ctx context.Context) error {
	var err error
	size := batchSize
	if d.fifo {
		size = fifoBatchSize
	}
	d.queue, err = esm.NewQueue(ctx, esm.QueueConfig{Client: d.engine.SQS(), URL: d.stack.Queue, Function: d.guard(d.running.ingest),
		BatchSize: size, Concurrency: queueFunctions, ReportBatchItemFailures: true, OnFailure: d.failed("ingest")})
	if err != nil {
		return err
	}
	if err := d.mapStream(); err != nil {
		return err
	}
	d.kept.restore(keptPosition, d.stream)
	d.kept.restore(keptPublished, d.publishing.Load())
	return nil
}

// guard returns a function in the form in which a mapping calls it.
func (d *Dev) guard(do esm.Handler) esm.Function {
	if d.cfg.Function != nil {
		do = d.cfg.Function(do)
	}
	return esm.Function{Handler: guarded(do), Timeout: stack.FunctionTimeout, Now: d.clock.Now, Deadline: d.deadline}
}

// mapStream makes both mappings of the stream. They begin at the first record.
func (d *Dev) mapStream() (err error) {
	window := time.Duration(0) // receipts need none
	if d.cfg.Counting == aggregate.Marks {
		window = stack.Window
	}
	d.stream, err = esm.NewStream(esm.StreamConfig{Client: d.engine.Streams(), ARN: d.stack.StreamARN, Function: d.guard(d.running.streams),
		BatchSize: batchSize, Concurrency: 2, Window: window, ReportBatchItemFailures: true, OnFailure: d.failed("streams")})
	if err != nil {
		return err
	}
	return d.mapPublishing()
}

// deadline is context.WithDeadline for the clock of this process, which may differ from the
// machine's.
func (d *Dev) deadline(ctx context.Context, at time.Time) (context.Context, context.CancelFunc) {
	if before, ok := ctx.Deadline(); ok && before.Before(at) {
		at = before
	}
	ctx, cancel := context.WithTimeout(ctx, at.Sub(d.clock.Now()))
	return reckoned{ctx, at}, cancel
}

// reckoned is a context whose stated deadline is by the clock of this process. Its timer runs by
// the machine's.
type reckoned struct {
	context.Context
	at time.Time
}

func (r reckoned) Deadline() (time.Time, bool) { return r.at, true }

// failed returns the hook for batches that fail. It reports the error of one that fails as a whole,
// but not again and again.
func (d *Dev) failed(function string) func(esm.Invocation, error) {
	return func(_ esm.Invocation, err error) {
		d.last(function, lastFailed)
		if err != nil {
			d.trouble(function, err)
		}
	}
}

// trouble reports an error of one of the functions. It does not report the same error twice in a
// row.
func (d *Dev) trouble(function string, err error) {
	text := err.Error()
	if function != "clock" {
		text = "the " + function + " function: " + text
	}
	d.mu.Lock()
	known := d.troubles[function] == text
	d.troubles[function] = text
	d.mu.Unlock()
	if !known {
		d.cfg.Tell(text)
	}
}

// poll runs a mapping until stop is closed. A round that has begun is finished, so that no message
// stays hidden.
func (d *Dev) poll(function string, stop <-chan struct{}, round func(context.Context) (wait time.Duration, err error)) {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-stop:
			return
		case <-timer.C:
		}
		if !d.switches.Enabled(function) {
			timer.Reset(pause)
			continue
		}
		began := time.Now()
		wait, err := round(d.base)
		if err != nil {
			d.trouble(function, err)
			wait = afterFailure
		}
		if wait == 0 {
			d.requests.first(time.Since(began), stop)
		}
		timer.Reset(wait)
	}
}

func (d *Dev) pollQueue(ctx context.Context) (time.Duration, error) {
	p, err := d.queue.Poll(ctx)
	if !p.Idle() && p.FailedWhole == 0 {
		d.last(target.DevIngest, lastFine)
	}
	return d.until(p.FailedWhole, p.Idle(), &d.queueIdle), err
}

func (d *Dev) pollStream(ctx context.Context) (time.Duration, error) {
	if d.remade.Load() {
		d.remade.Store(false) // before goOn looks, because another table may be made meanwhile
		if err := d.goOn(ctx); err != nil {
			d.remade.Store(true)
			return 0, err
		}
	}
	p, err := d.stream.Poll(ctx)
	if !p.Idle() {
		if p.Failed == 0 {
			d.last(target.DevStreams, lastFine)
		}
		d.kept.position(keptPosition, d.stream.Checkpoint(), d.clock.Now())
	}
	return d.until(p.Failed, p.Idle(), &d.streamIdle), err
}

// until returns how long a mapping waits until its next round.
func (d *Dev) until(failed int, nothing bool, idle *atomic.Bool) time.Duration {
	switch {
	case failed > 0:
		return afterFailure
	case nothing:
		d.rest(idle)
		return pause
	}
	idle.Store(false)
	return 0
}

// rest records that a mapping found nothing. When all mappings have found nothing, nothing is left
// that could become too old, and the clock may follow the machine's.
func (d *Dev) rest(idle *atomic.Bool) {
	idle.Store(true)
	if !d.queueIdle.Load() || !d.streamIdle.Load() || !d.publishIdle.Load() {
		return
	}
	if ahead := d.clock.follow(); ahead > 0 {
		d.trouble("clock", fmt.Errorf("the clock of this machine jumped ahead by %v: ingot dev goes on by its own; end it and start it "+
			"again if the new time is right", ahead.Round(time.Second)))
	}
}

// sweep lets time to live remove what has expired.
func (d *Dev) sweep() {
	for d.engine.Sweep(sweepSize) > 0 {
		select {
		case <-d.stop:
			return
		default:
		}
	}
}

// every calls do once in each interval, until stop is closed.
func every(interval time.Duration, stop <-chan struct{}, do func()) {
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	for {
		select {
		case <-stop:
			return
		case <-ticker.C:
			do()
		}
	}
}
