package plain

import (
	"context"
	"errors"
	"time"

	"github.com/ingot-events/ingot/internal/table/payloads"
	"github.com/ingot-events/ingot/internal/table/rows"
	"github.com/ingot-events/ingot/tables"
)

// turn is how long a payload that is to be read waits for another one that is being read.
const turn = 20 * time.Millisecond

// Fetch reads the payload of a stored item from the payload bucket, calls judge, and releases the
// payload. It is called if an event with the same key has a different digest: only the payload
// shows whether the two are equal under today's rules. If the object is gone, only the stored
// digest is compared. If there is an error, judge is not called.
//
// Each payload is read and judged in its turn, because a small function has no room for two of the
// largest.
func (s *Writer) Fetch(ctx context.Context, known *rows.Stored, cost *tables.Cost, judge func()) error {
	if s.Payloads == nil {
		known.Gone = true
		judge()
		return nil
	}
	for !s.reading.TryLock() {
		if err := s.Env.Sleep(ctx, turn); err != nil {
			return &rows.UnreadError{Err: err}
		}
	}
	defer s.reading.Unlock()
	cost.Objects++
	text, err := s.Payloads.Get(ctx, s.Env, known.Typ, known.Key, known.Object.Sum)
	size := int64(len(text))
	if err == nil {
		err = ctx.Err() // judging may take longer than the time that is left
	}
	switch {
	case payloads.Lost(err):
		known.Gone = true
	case err != nil:
		return &rows.UnreadError{Err: err}
	default:
		known.Data, known.Object = text, nil
	}
	judge()
	known.Data = ""
	payloads.Tidy(size)
	return nil
}

// fetch reads the payload of the stored item that a write has met, and judges it.
func (p *put) fetch(ctx context.Context, one []*write) {
	w := one[0]
	var cost tables.Cost
	err := p.store.Fetch(ctx, w.known, &cost, func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.meet(w, w.known)
	})
	p.mu.Lock()
	defer p.mu.Unlock()
	p.cost.Add(cost)
	if err != nil {
		w.last = rows.Answer{Outcome: rows.Unknown, Err: err}
		p.to(w, abandoned)
	}
}

var ErrNoBucket = errors.New(
	"no payload bucket is configured; set INGOT_PAYLOAD_BUCKET, or tables.Config.Objects and tables.Config.PayloadBucket of the store")
