package totals

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/ingot-events/ingot/aggregate"
	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/plan/lanes"
	"github.com/ingot-events/ingot/internal/tool/show"
	"github.com/ingot-events/ingot/store"
	"github.com/ingot-events/ingot/store/query"
	"github.com/ingot-events/ingot/tables"
)

// Scan reads the whole table of totals and returns those of one aggregate that have these values of
// by, escaped as in keys, and whose windows begin from from on and before to.
func Scan(ctx context.Context, st *store.Store, def *aggregate.Definition, want map[string]string, from, to time.Time,
	mask show.Personal) ([]View, error) {
	head, err := st.Head(ctx, def)
	if err != nil {
		return nil, err
	}
	sums := map[string]*query.Total{}
	addresses := map[string]aggregate.Address{}
	for total, err := range st.Totals(ctx) {
		if err != nil {
			return nil, err
		}
		at := total.Address
		if at.Name != def.Name || at.Since != def.Since || total.ExpiresAt != 0 && total.ExpiresAt <= time.Now().Unix() {
			continue
		}
		if start := time.Unix(at.Window, 0); at.Window != aggregate.NoWindow &&
			(!from.IsZero() && start.Before(from) || !to.IsZero() && !start.Before(to)) {
			continue
		}
		other := false
		for i, name := range def.By {
			if value, asked := want[name]; asked && at.By[i] != value {
				other = true
			}
		}
		if other {
			continue
		}
		id := strings.Join(at.By, "#") + fmt.Sprintf(" %020d", at.Window)
		addresses[id] = at
		add(sums, id, def, head, total)
	}
	var list []View
	for _, id := range slices.Sorted(maps.Keys(sums)) {
		list = append(list, Of(def, lanes.Group(def, addresses[id].By), *sums[id], mask))
	}
	return list, nil
}

// add adds one part of a spread to its total.
func add(sums map[string]*query.Total, id string, def *aggregate.Definition, head *tables.Head, part tables.StoredTotal) {
	sum := sums[id]
	if sum == nil {
		sum = &query.Total{Values: map[string]event.Decimal{}, Texts: map[string]string{}}
		if part.Address.Window != aggregate.NoWindow {
			sum.Window = time.Unix(part.Address.Window, 0).UTC()
		}
		if head != nil {
			sum.Building, sum.Flags = head.Building, head.Flags()
		}
		sums[id] = sum
	}
	for _, v := range def.Values {
		a := lanes.Merge(v.Op, show.AmountOf(v.Name, sum.Values, sum.Texts), show.AmountOf(v.Name, part.Values, part.Texts))
		switch {
		case !a.Set:
		case v.Op.Textual():
			sum.Texts[v.Name] = a.Text
		default:
			sum.Values[v.Name] = a.Number
		}
	}
	for _, flag := range part.Flags() {
		if !slices.Contains(sum.Flags, flag) {
			sum.Flags = append(sum.Flags, flag)
		}
	}
}
