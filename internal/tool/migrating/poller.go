package migrating

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"time"

	"github.com/ingot-events/ingot/internal/local/lambda/esm"
	"github.com/ingot-events/ingot/migrate"
)

// Poller feeds capture from the stream of the old table, as Lambda's mapping does.
type Poller struct {
	capture *migrate.Capture
	arn     string
	stream  *esm.Stream
	now     func() time.Time

	mu    sync.Mutex // guards fault: several shards are read at a time
	fault error      // the first since Poll was called last
}

func (p *Poller) failed(err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.fault = cmp.Or(p.fault, err)
}

// captureTimeout is how long one batch may take.
const captureTimeout = time.Minute

// NewPoller makes a poller. f may set what differs from a deployed function.
func NewPoller(c *migrate.Capture, client esm.StreamClient, arn string, f esm.Function) (*Poller, error) {
	p := &Poller{capture: c, arn: arn, now: time.Now}
	f.Handler = func(ctx context.Context, payload []byte) ([]byte, error) {
		answer, err := c.Handle(ctx, payload)
		if err != nil {
			p.failed(err)
			return nil, err
		}
		return json.Marshal(answer)
	}
	if f.Timeout == 0 {
		f.Timeout = captureTimeout
	}
	var err error
	p.stream, err = esm.NewStream(esm.StreamConfig{Client: client, ARN: arn, BatchSize: 100, ReportBatchItemFailures: true, Function: f,
		Concurrency: 8})
	return p, err
}

// Poll copies what has changed. idle reports whether there was nothing.
func (p *Poller) Poll(ctx context.Context) (idle bool, err error) {
	began := p.now()
	p.fault = nil
	done, err := p.stream.Poll(ctx)
	if err != nil {
		return false, fmt.Errorf("reading the stream: %w", err)
	}
	if stop := (*migrate.StopError)(nil); p.fault != nil && asStop(p.fault, &stop) {
		return false, stop
	}
	if p.stream.Drained() {
		if err := p.capture.Sync.NoteCaptured(ctx, p.arn, began); err != nil {
			return false, err
		}
	}
	return done.Idle(), nil
}

// Run polls until ctx ends or the migration may not write any more.
func (p *Poller) Run(ctx context.Context, say func(string)) error {
	for {
		idle, err := p.Poll(ctx)
		switch {
		case ctx.Err() != nil:
			return nil
		case err != nil:
			return err
		}
		if p.fault != nil {
			say("a batch failed and is tried again: " + p.fault.Error())
		}
		if idle {
			select {
			case <-ctx.Done():
				return nil
			case <-time.After(time.Second):
			}
		}
	}
}
