package plain

import (
	"context"

	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/tables"
)

// Look judges items by what is stored under their keys, as Put does with items that it may no
// longer write. If a key holds nothing, the result has no verdict. If it holds an older revision,
// nothing is decided: the result is Retry.
func (s *Writer) Look(ctx context.Context, items []*event.Item) ([]tables.Result, tables.Cost) {
	p := &put{store: s, results: make([]tables.Result, len(items)), items: items, parallel: s.Parallel(), looking: true}
	every := make([]int, len(items))
	for i := range every {
		every[i] = i
	}
	p.fold(every)
	for _, w := range p.writes {
		w.state = reading
	}
	_ = s.Retry(ctx, p.round)
	p.judgeRest()
	for _, w := range p.writes {
		if w.state != absent {
			continue
		}
		for _, i := range w.copies {
			p.results[i] = tables.Result{}
		}
	}
	return p.results, p.cost
}
