package runtimeapi

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// invocation is one payload on its way through the process.
type invocation struct {
	id       string
	payload  []byte
	timeout  time.Duration
	deadline time.Time
	answer   chan answer // holds one; filled by the first answer, and only by it
}

type answer struct {
	payload []byte
	err     *FunctionError
}

// Invoke hands the payload to the process and returns its answer. The timeout counts from the
// hand-over; 0 means Config.Timeout. Concurrent calls wait for their turn.
//
// A [*FunctionError] comes from the function itself. An [*ExitError] means that the process is
// dead. It was killed if the timeout passed, or if ctx ended after the hand-over, because an
// invocation cannot be taken back. It may also have died by itself. If the process dies while its
// answer is on the way, Invoke may return either the answer or the error. Any other error means
// that nothing was handed over, because ctx ended before that, or because the payload is larger
// than MaxPayload.
func (p *Process) Invoke(ctx context.Context, payload []byte, timeout time.Duration) ([]byte, error) {
	if len(payload) > MaxPayload {
		return nil, fmt.Errorf("runtimeapi: payload of %d bytes; Lambda takes at most %d", len(payload), MaxPayload)
	}
	select {
	case p.turn <- struct{}{}:
		defer func() { <-p.turn }()
	case <-ctx.Done():
		return nil, fmt.Errorf("runtimeapi: wait for the previous invocation to end: %w", ctx.Err())
	}
	inv := p.newInvocation(payload, timeout)
	if err := p.handOver(ctx, inv); err != nil {
		return nil, err
	}
	return p.await(ctx, inv)
}

func (p *Process) newInvocation(payload []byte, timeout time.Duration) *invocation {
	if timeout == 0 {
		timeout = p.config.Timeout
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.requests++
	return &invocation{
		id:      fmt.Sprintf("%08x-0000-4000-8000-%012x", p.PID(), p.requests),
		payload: payload,
		timeout: timeout,
		answer:  make(chan answer, 1),
	}
}

// handOver waits until the process asks for work. A process that is starting has the rest of its
// init time for that. A process that has answered before has as long as the invocation itself.
func (p *Process) handOver(ctx context.Context, inv *invocation) error {
	limit := inv.timeout
	select {
	case <-p.ready:
	default:
		limit = time.Until(p.started.Add(p.config.InitTimeout))
	}
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case p.work <- inv:
		return nil
	case <-p.dead:
	case <-ctx.Done():
		return fmt.Errorf("runtimeapi: wait for the process to ask for work: %w", ctx.Err())
	case <-timer.C:
		p.kill(TimedOut)
		<-p.dead
	}
	return p.exit("", nil)
}

// await waits for the answer to an invocation that was handed to the process.
func (p *Process) await(ctx context.Context, inv *invocation) ([]byte, error) {
	timer := time.NewTimer(inv.timeout)
	defer timer.Stop()
	select {
	case a := <-inv.answer:
		return a.result()
	case <-p.dead:
	case <-ctx.Done():
		p.kill(Canceled)
		<-p.dead
	case <-timer.C:
		p.kill(TimedOut)
		<-p.dead
	}
	// An answer that was complete before the end counts, because its sender may have acted on it.
	select {
	case a := <-inv.answer:
		return a.result()
	default:
		return nil, p.exit(inv.id, ctx.Err())
	}
}

func (a answer) result() ([]byte, error) {
	if a.err != nil {
		return nil, a.err
	}
	return a.payload, nil
}

// exit returns the error of an invocation that ended because the process died. The error also wraps
// why. If the function reported that its start failed, the error has the text of that report.
func (p *Process) exit(requestID string, why error) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.initError != nil {
		return p.initError
	}
	e := *p.ended
	e.RequestID = requestID
	if why != nil {
		e.Err = errors.Join(e.Err, why)
	}
	return &e
}
