package migrate

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/ingot-events/ingot/internal/esm"
	"github.com/ingot-events/ingot/migrate"
)

// Poller feeds capture from the stream of the old table, as Lambda's mapping does, and from that of
// the new one if there is a way back.
type Poller struct {
	sync    *migrate.Migration
	streams []*esm.Stream

	mu    sync.Mutex // guards fault: several shards are read at a time
	fault error      // the first since Poll was called last
}

func (p *Poller) failed(err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.fault = cmp.Or(p.fault, err)
}

// captureTimeout is how long one batch may take, as in cmd/migrate/template.yaml.
const captureTimeout = time.Minute

// A proof waits until capture has noted its last change, which it does at the end of a window. Here
// it need not wait as long as Lambda lets it.
const (
	captureWindow = 5 * time.Second
	captureGrace  = time.Second
)

// NewPoller makes a poller. f may set what differs from a deployed function.
func NewPoller(c *migrate.Capture, client esm.StreamClient, old migrate.Source, f esm.Function) (*Poller, error) {
	p := &Poller{sync: c.Migration}
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
	for _, arn := range []string{old.Stream, old.Events} {
		if arn == "" {
			continue
		}
		stream, err := esm.NewStream(esm.StreamConfig{Client: client, ARN: arn, BatchSize: 100, ReportBatchItemFailures: true, Function: f,
			Concurrency: 8, Window: captureWindow, Grace: captureGrace})
		if err != nil {
			return nil, err
		}
		p.streams = append(p.streams, stream)
	}
	return p, nil
}

// Poll copies what has changed. idle reports whether there was nothing.
func (p *Poller) Poll(ctx context.Context) (idle bool, err error) {
	p.fault, idle = nil, true
	for _, stream := range p.streams {
		done, err := stream.Poll(ctx)
		if err != nil {
			return false, fmt.Errorf("reading the stream: %w", err)
		}
		idle = idle && done.Idle()
	}
	return idle, over(p.fault)
}

// over returns the reason why a migration may not write any more, if it is not one that passes.
func over(err error) error {
	if stop := (*migrate.StopError)(nil); errors.As(err, &stop) && !stop.Soon {
		return stop
	}
	return nil
}

// Run polls until ctx ends or the migration may not write any more, which it also asks once in a
// minute in which nothing changes. sleep waits.
//
// A batch that fails is tried again each second. Why is said once a minute.
func (p *Poller) Run(ctx context.Context, sleep func(context.Context, time.Duration) error, say func(string)) error {
	for failures, waits := 0, 0; ; {
		idle, err := p.Poll(ctx)
		switch {
		case ctx.Err() != nil:
			return nil
		case err != nil:
			return err
		}
		if p.fault != nil {
			if failures%60 == 0 {
				say("a batch failed and is tried again: " + p.fault.Error())
			}
			failures++
		}
		if !idle && p.fault == nil {
			continue
		}
		if waits++; waits%60 == 0 {
			_, err := p.sync.Open(ctx)
			if err := over(err); err != nil {
				return err
			}
		}
		if sleep(ctx, time.Second) != nil {
			return nil
		}
	}
}
