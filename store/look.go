package store

import (
	"context"

	"github.com/ingot-events/ingot/event"
)

// look judges items by what is stored under their keys, as Put does with items that it may no
// longer write. If a key holds nothing, the result has no verdict. If it holds an older revision,
// nothing is decided: the result is Retry.
func (s *plain) look(ctx context.Context, items []*event.Item) ([]Result, Cost) {
	p := &put{store: s, results: make([]Result, len(items)), items: items, parallel: s.parallel(), looking: true}
	p.fold()
	for _, w := range p.writes {
		w.state = reading
	}
	_ = s.retry(ctx, func() (answer, next) { return answer{}, p.round(ctx) })
	p.judgeRest()
	for _, w := range p.writes {
		if w.state != absent {
			continue
		}
		for _, i := range w.copies {
			p.results[i] = Result{}
		}
	}
	return p.results, p.cost
}
