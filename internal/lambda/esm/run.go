package esm

import (
	"context"
	"sync"
	"time"
)

// each calls do for 0 to n-1, at most concurrency calls at a time. If concurrency is 1, the calls run
// in order on the caller's goroutine. each returns when all calls have returned.
func each(n, concurrency int, do func(i int)) {
	if concurrency <= 1 || n <= 1 {
		for i := range n {
			do(i)
		}
		return
	}
	var all sync.WaitGroup
	slots := make(chan struct{}, concurrency)
	for i := range n {
		slots <- struct{}{}
		all.Go(func() {
			defer func() { <-slots }()
			do(i)
		})
	}
	all.Wait()
}

// Loop says how Run behaves between rounds.
type Loop struct {
	// Interval is the pause after a round that had nothing to do or met an error. 0 means 1 s.
	Interval time.Duration
	// Sleep pauses. It returns early with an error when the context ends. nil means a timer.
	Sleep func(context.Context, time.Duration) error
	// OnError is called with each error of the source. If OnError is nil, Run returns the error.
	OnError func(error)
}

// Run polls until ctx ends, and then returns the error of ctx.
func (q *Queue) Run(ctx context.Context, l Loop) error {
	return l.run(ctx, func() (bool, error) {
		p, err := q.Poll(ctx)
		return p.Idle(), err
	})
}

// Run polls until ctx ends, and then returns the error of ctx.
func (s *Stream) Run(ctx context.Context, l Loop) error {
	return l.run(ctx, func() (bool, error) {
		p, err := s.Poll(ctx)
		// A failed batch is tried again after a pause, as Lambda backs off.
		return p.Idle() || p.Failed > 0, err
	})
}

func (l Loop) run(ctx context.Context, poll func() (pause bool, err error)) error {
	if l.Interval == 0 {
		l.Interval = time.Second
	}
	if l.Sleep == nil {
		l.Sleep = sleep
	}
	for ctx.Err() == nil {
		pause, err := poll()
		if err != nil && ctx.Err() == nil {
			if l.OnError == nil {
				return err
			}
			l.OnError(err)
			pause = true
		}
		if pause {
			if err := l.Sleep(ctx, l.Interval); err != nil {
				return err
			}
		}
	}
	return ctx.Err()
}

func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}
