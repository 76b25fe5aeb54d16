package verify

import (
	"context"
	"slices"

	"github.com/ingot-events/ingot/aggregate"
	"github.com/ingot-events/ingot/pipeline"
	"github.com/ingot-events/ingot/store"
	"github.com/ingot-events/ingot/store/repair"
)

// Held is what the items of totals were at a moment: a print of them, by the key of the total.
type Held map[string]string

// Hold reads the totals that differ at a first look. It must be done before the second look begins:
// see [Looks.Prove].
func Hold(ctx context.Context, p *pipeline.Pipeline, st *store.Store, first *Report) (Held, error) {
	held := Held{}
	for _, d := range first.Differences {
		if d.What == headSays || held[d.slot] != "" {
			continue
		}
		var err error
		if held[d.slot], err = printOf(ctx, p, st, d.slot); err != nil {
			return nil, err
		}
	}
	return held, nil
}

func printOf(ctx context.Context, p *pipeline.Pipeline, st *store.Store, key string) (string, error) {
	t, err := parseKey(p, key)
	if err != nil {
		return "", err
	}
	return repair.Of(st).PrintOf(ctx, t.def, t.address())
}

// Prove keeps in Damaged what is damage without a doubt, so that an alarm may go off. The rest
// becomes Undecided. What older items are missing from by design is taken out of both lists, and
// returned: the generations that are building or have items stamped below them.
//
// That both looks agree is not enough. The state of an order may change back and forth, and be on
// its way in the same direction at each of two looks. So the order of four steps is the proof, as
// it is that of [Mend]:
//
//  1. [Hold] reads the total, after the first look.
//  2. The second look reads the total, and then all items.
//  3. The stream has delivered all that was written before the end of that look.
//  4. Prove reads the total again, and nothing has written to it since step 1.
//
// An event of the total that changed before the end of step 2 was counted before step 3 ended. If
// that had been after step 1, it would have moved a mark of the total. So all of them were counted
// before step 1, and none changed between the step and the reading of its item. Then the total of
// step 1 and the items of step 2 have the same events, and what differs is damage.
//
// Nobody needs to wait for the stream between the looks, and totals that are counted by receipts
// cannot be proven. A head that differs stays undecided: what is stamped below it is read at
// another time than the head.
func (l *Looks) Prove(ctx context.Context, p *pipeline.Pipeline, st *store.Store, held Held) (leftOut []*aggregate.Definition, err error) {
	heads := map[*aggregate.Definition]string{}
	for _, def := range p.Definitions() {
		head, err := st.Head(ctx, def)
		if err != nil {
			return nil, err
		}
		heads[def] = unprovable(head)
		if head != nil && head.Retired > 0 {
			heads[def] = "it has ended"
		}
		partial := func(r *Report) bool { return r.Below[def] > 0 || slices.Contains(r.Building, def) }
		if partial(l.First) || partial(l.Second) || head == nil || head.Building {
			leftOut = append(leftOut, def)
		}
	}
	out := func(d Difference) bool { return slices.Contains(leftOut, d.Def) && d.What != headSays }
	l.Damaged, l.Undecided = slices.DeleteFunc(l.Damaged, out), slices.DeleteFunc(l.Undecided, out)
	damaged, now := l.Damaged, Held{}
	l.Damaged = nil
	for _, d := range damaged {
		if heads[d.Def] == "" && d.What != headSays && now[d.slot] == "" {
			if now[d.slot], err = printOf(ctx, p, st, d.slot); err != nil {
				return nil, err
			}
		}
		if now[d.slot] != "" && now[d.slot] == held[d.slot] {
			l.Damaged = append(l.Damaged, d)
		} else {
			l.Undecided = append(l.Undecided, d)
		}
	}
	return leftOut, nil
}

// CountTotals returns how many totals and heads differences are about.
func CountTotals(differences []Difference) int {
	slots := map[string]bool{}
	for _, d := range differences {
		slots[d.slot] = true
	}
	return len(slots)
}
