package transact

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"github.com/ingot-events/ingot/aggregate"
	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/table/rows"
)

// If a bound refuses the transaction of many messages, it would refuse most of them alone, too. The
// refusal brings the total. So the messages for which the total has room stay together, and those
// that it would refuse alone are rejected together. A thousand events for a total that is sold out
// take three or four requests for each hundred.

// room is what a total that has refused a transaction has left within its bounds.
type room struct {
	left   rows.Image // the total as it was found, with what the messages that stay add to it; empty: it was not found
	broken bool       // the total cannot be updated, or not be read
}

type rooms map[event.Key]*room

// take takes what a message needs. If a total has no room for it, take takes nothing, and returns
// this total's update and the reason. The reason is nil if the total is broken. A value that is
// not a number counts as room: alone, the message finds that out.
func (r rooms) take(t *atomicPut) (refusing *TotalMove, why *event.Refusal) {
	moves := slices.DeleteFunc(TotalMoves(t.unmet()), func(u *TotalMove) bool { return r[u.Key] == nil })
	for _, u := range moves {
		if r[u.Key].broken {
			return u, nil
		}
		if beyond, _ := u.Beyond(r[u.Key].left); beyond != nil && refusing == nil {
			refusing, why = u, beyond
		}
	}
	if refusing == nil {
		for _, u := range moves {
			r[u.Key].left = WithValues(r[u.Key].left, u.Def, u.delta.Values, event.Decimal.Add)
		}
	}
	return refusing, why
}

// WithValues returns the image of a total after amounts were added to its values that have bounds,
// or subtracted.
func WithValues(img rows.Image, def *aggregate.Definition, amounts []aggregate.Amount,
	sum func(a, b event.Decimal) event.Decimal) rows.Image {
	if img = maps.Clone(img); img == nil {
		img = rows.Image{}
	}
	for v, amount := range amounts {
		if !amount.Set || !slices.ContainsFunc(def.Bounds, func(b aggregate.Bound) bool { return b.Value == v }) {
			continue
		}
		name, has := def.Values[v].Name, event.Decimal{}
		if attribute, there := img[name]; there {
			n, err := event.ParseDecimal(rows.NumberOf(attribute))
			if err != nil {
				continue // it is not a number, and no update will change it
			}
			has = n
		}
		img[name] = rows.Number(sum(has, amount.Number).String())
	}
	return img
}

// divide decides about the messages of totals that have refused their transaction. Messages for
// which the totals have room stay together, and the others follow later. If there is room for none,
// they are rejected together.
func (p *pack) divide(ctx context.Context, moves []*TotalMove, rooms rooms) {
	for _, u := range moves {
		r := rooms[u.Key]
		if r == nil || r.broken || len(r.left) > 0 {
			continue
		}
		// There is no such total, or the refusal did not include it.
		img, err := p.store.Get(ctx, u.Key)
		p.cost.Requests++
		p.cost.Read(rows.ImageSize(img))
		r.left, r.broken = img, err != nil
	}
	var over messages
	refusing, beyond := map[*atomicPut]*TotalMove{}, map[*atomicPut]*event.Refusal{}
	fit := slices.DeleteFunc(slices.Clone(p.puts), func(t *atomicPut) bool {
		u, why := rooms.take(t)
		switch refusing[t], beyond[t] = u, why; {
		case u == nil:
			return false
		case why == nil:
			p.alone = append(p.alone, t)
		default:
			over = append(over, t)
		}
		return true
	})
	p.puts = fit
	if len(fit) > 0 || slices.ContainsFunc(p.alone, func(t *atomicPut) bool { return t.result == nil }) {
		p.next = append(p.next, over...)
		return
	}
	read := Heads{}
	for _, t := range over.onlyTotals(ctx, &p.cost) {
		t.refused(cmp.Or(read.Incomplete(ctx, p.store, refusing[t].Def, true, &p.cost), beyond[t]))
	}
	p.alone = append(p.alone, over...) // those that are not settled: a part of them is stored
}
