package demo

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/ingot-events/ingot/aggregate"
	"github.com/ingot-events/ingot/internal/plan/lanes"
	"github.com/ingot-events/ingot/internal/tool/show"
)

// stored is one total as it is stored, with its buckets added up.
type stored struct {
	def    *aggregate.Definition
	values map[string]aggregate.Amount
	n      int64
}

// readTotals returns all stored totals.
func (w *world) readTotals(ctx context.Context) (map[slot]*stored, error) {
	totals := map[slot]*stored{}
	for part, err := range w.reader.Totals(ctx) {
		if err != nil {
			return nil, err
		}
		def, ok := w.plan.Definition(part.Address.Name)
		if !ok {
			continue
		}
		at := slot{def.Name, strings.Join(part.Address.By, "#"), part.Address.Window}
		t := totals[at]
		if t == nil {
			t = &stored{def: def, values: map[string]aggregate.Amount{}}
			totals[at] = t
		}
		t.n += part.N
		show.Sum(t.values, def, part)
	}
	return totals, nil
}

// list returns every stored total together with the results of plain ADDs. The list is sorted by
// aggregate, and within an aggregate the total with the highest count comes first.
func (w *world) list(totals map[slot]*stored) []Total {
	slots := make([]slot, 0, len(totals))
	for at := range totals {
		slots = append(slots, at)
	}
	slices.SortFunc(slots, func(a, b slot) int {
		return cmp.Or(strings.Compare(a.name, b.name), cmp.Compare(totals[b].n, totals[a].n), cmp.Compare(a.window, b.window),
			strings.Compare(a.by, b.by))
	})
	list := make([]Total, 0, len(slots))
	for _, at := range slots {
		t := totals[at]
		total := Total{Aggregate: at.name, By: []ByValue{}, Values: []TotalValue{}}
		if at.window != aggregate.NoWindow {
			total.Window, total.label = lanes.WindowText(at.window), show.Window(t.def, time.Unix(at.window, 0))
		}
		for i, text := range strings.Split(at.by, "#") {
			if i < len(t.def.By) {
				total.By = append(total.By, ByValue{t.def.By[i], text})
			}
		}
		for _, v := range t.def.Values {
			if t.values[v.Name].Set {
				total.Values = append(total.Values,
					TotalValue{v.Name, shown(v.Op, t.values[v.Name]), shown(v.Op, w.perMessage.totals[at][v.Name]),
						shown(v.Op, w.perChange.totals[at][v.Name])})
			}
		}
		list = append(list, total)
	}
	return list
}

// shown writes a value: a number as decimal text, because it is exact, and other values for people.
func shown(op aggregate.Op, a aggregate.Amount) string {
	if !op.Textual() {
		return a.Number.String()
	}
	v, _ := show.ValueOf(op, a)
	return v.Text
}
