package quarantine

import "context"

// Look hands up to most messages of the queue to see, and makes all of them visible again. In
// between, others do not receive them. It keeps none of them.
func (q Queue) Look(ctx context.Context, most int, see func(*Letter)) error {
	h := &holder{Queue: q, env: q.Env.Real(), held: map[string]held{}}
	err := h.look(ctx, most, see)
	if _, _, why := h.release(ctx); err == nil {
		err = why
	}
	return err
}

func (h *holder) look(ctx context.Context, most int, see func(*Letter)) error {
	for empty := 0; empty < 2 && len(h.held) < most && ctx.Err() == nil; {
		list, err := h.receive(ctx, min(most-len(h.held), 10))
		if err != nil {
			return err
		}
		if len(list) == 0 {
			empty++
		}
		for _, m := range list {
			see(Received(m, h.URL, h.Dead, h.env.Now()))
		}
	}
	return ctx.Err()
}

// mostTaken is how many messages Take looks at.
const mostTaken = 200

// Take hands up to mostTaken messages of the queue to ours, deletes those for which it returns
// true, and makes all others visible again.
func (q Queue) Take(ctx context.Context, ours func(*Letter) bool) error {
	h := &holder{Queue: q, env: q.Env.Real(), held: map[string]held{}}
	var taken []string
	err := h.look(ctx, mostTaken, func(l *Letter) {
		if ours(l) {
			taken = append(taken, l.ID)
		}
	})
	for _, id := range taken {
		if err == nil {
			if err = h.delete(ctx, h.held[id].handle); err == nil {
				delete(h.held, id)
			}
		}
	}
	if _, _, why := h.release(ctx); err == nil {
		err = why
	}
	return err
}
