package transact

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/table/plain"
	"github.com/ingot-events/ingot/internal/table/rows"
	"github.com/ingot-events/ingot/tables"
)

// assumedTotal is the size, in bytes, that a total is assumed to have when messages are packed. If
// totals are larger, the transaction may be refused as a whole. Its messages then go one by one.
const assumedTotal = 1 << 10

// packs splits the messages of a group over transactions.
func packs(s *Writer, group []*atomicPut) (list []*pack) {
	var p *pack
	together := &halt{among: group[0].halt.among}
	var totals map[event.Key]bool // of p
	items, bytes := 0, 0          // likewise
	for _, t := range group {
		own, more := t.totals(), 0
		for key := range own {
			if !totals[key] {
				more++
			}
		}
		if p == nil || items+len(t.Members)+len(totals)+more > rows.MaxTransaction || bytes+t.bytes()+
			(len(totals)+more)*assumedTotal > rows.MaxTransactionBytes {
			p = &pack{store: s, halt: together}
			list = append(list, p)
			totals, items, bytes = map[event.Key]bool{}, 0, 0
		}
		t.halt = together
		p.puts = append(p.puts, t)
		items, bytes = items+len(t.Members), bytes+t.bytes()
		maps.Copy(totals, own)
	}
	return list
}

// pack puts messages that move the same totals in one transaction. If the transaction is refused
// because of some of them, these are settled, or go alone, and the rest is sent again.
type pack struct {
	store *Writer
	puts  messages // those that are still together
	next  messages // those that follow, because a total has no room for them and the others
	alone messages // those that were taken out
	halt  *halt
	// throttled are the partition keys for which the last try was refused, as far as its refusal
	// names them.
	throttled []string
	cost      tables.Cost // besides that of the messages
}

// put settles all messages of the pack.
func (p *pack) put(ctx context.Context) {
	all := p.puts
	p.puts = all.mayTake(ctx, &p.cost)
	for len(p.puts) > 0 {
		p.together(ctx)
		for _, t := range append(p.alone, p.puts...) { // at most one message is left in the pack
			if t.result == nil {
				t.Put(ctx)
			}
		}
		p.puts, p.next, p.alone = p.next, nil, nil
	}
	for _, t := range all {
		t.end(true, nil)
		p.cost.Add(t.cost)
	}
}

// together sends the messages in one transaction, until it is done or only one of them is left.
func (p *pack) together(ctx context.Context) {
	if len(p.puts) < 2 {
		return
	}
	tries, last, held := 0, rows.Answer{}, false
	err := p.store.Retry(ctx, func(ctx context.Context) (rows.Answer, rows.Next) {
		if len(p.puts) < 2 {
			return rows.Answer{}, rows.Ended
		}
		if tries++; tries > 1 {
			p.cost.Retries++
		}
		a, next := p.try(ctx)
		if last = a; p.halt.up(a, p.throttled, p.store.Env.Now()) {
			held = true
			return a, rows.Ended
		}
		return a, next
	})
	if err == nil && !held {
		return
	}
	for _, t := range p.puts {
		t.last = last
		t.end(tries > 0, err)
	}
}

// try sends the transaction once. It only has puts: a message with an item that is stored already
// goes alone.
func (p *pack) try(ctx context.Context) (rows.Answer, rows.Next) {
	p.take((*atomicPut).late).judgeLate(ctx, &p.cost)
	if len(p.puts) < 2 {
		return rows.Answer{}, rows.Ended
	}
	var members []*atomicItem
	for _, t := range p.puts {
		members = append(members, t.Members...)
	}
	moves := TotalMoves(members)
	sent := p.store.Transact(ctx, p.store.transaction(members, false, moves), rows.Once, rows.InTime(itemsOf(members)...))
	p.cost.Requests++
	p.throttled = nil
	switch sent.Outcome {
	case rows.Done:
		p.halt.among.wrote(members, moves)
		p.share(cmp.Or(sent.Units, movedUnits(&p.store.Aggregates, moves, nil)+p.units()))
		for _, t := range p.puts {
			t.stored(event.Inserted)
		}
		return sent.Answer, rows.Ended
	case rows.Cancelled:
		return p.cancelled(ctx, sent, len(members), moves)
	case rows.Invalid: // together they are too large, or two of them have a key in common
		p.leave(func(*atomicPut) bool { return true })
		return sent.Answer, rows.Ended
	case rows.Throttled:
		p.cost.Throttle(sent.Reason, 1)
	case rows.Unknown, rows.Contended:
		for _, t := range p.puts {
			t.unanswered = true
		}
	}
	return sent.Answer, rows.Later
}

// take takes messages out of the pack.
func (p *pack) take(is func(*atomicPut) bool) (out messages) {
	p.puts = slices.DeleteFunc(slices.Clone(p.puts), func(t *atomicPut) bool {
		if is(t) {
			out = append(out, t)
			return true
		}
		return false
	})
	return out
}

// leave makes messages go alone.
func (p *pack) leave(is func(*atomicPut) bool) { p.alone = append(p.alone, p.take(is)...) }

// units returns what it costs to store the items.
func (p *pack) units() (units float64) {
	for _, t := range p.puts {
		units += t.units(true)
	}
	return units
}

// share charges each message for its items, and for a part of the totals. The parts are whole
// units, and as equal as possible.
func (p *pack) share(all float64) {
	ofTotals, n := int(all-p.units()), len(p.puts)
	for i, t := range p.puts {
		part := ofTotals / n
		if i < ofTotals%n {
			part++
		}
		t.cost.WriteUnits += t.units(true) + float64(part)
	}
}

// cancelled reads the reasons of a cancelled transaction, which have the order of its items. A
// message that meets a stored item is judged by it. A message whose total cannot be updated goes
// alone. Messages that a bound refuses are taken out. A few messages whose own items are throttled
// go alone, so that the others do not wait for them.
func (p *pack) cancelled(ctx context.Context, sent rows.Transacted, items int, moves []*TotalMove) (why rows.Answer, step rows.Next) {
	if len(sent.Reasons) != items+len(moves) {
		p.cost.WriteUnits += movedUnits(&p.store.Aggregates, moves, nil)
		p.leave(func(t *atomicPut) bool {
			t.cost.WriteUnits += t.units(false)
			return true
		})
		return sent.Answer, rows.Ended
	}
	r := &packReasons{why: rows.Answer{Outcome: rows.Contended, Err: rows.ErrSilent}, rooms: rooms{}}
	p.ofTotals(r, moves, sent.Reasons[items:])
	p.ofItems(r, sent.Reasons)
	left := len(p.puts)
	p.leave(func(t *atomicPut) bool { return r.met[t] != nil || r.hot[t] })
	for _, t := range p.alone {
		if own := r.met[t]; own != nil {
			t.last, _ = t.cancelled(ctx, rows.Transacted{Answer: sent.Answer, Reasons: own}, nil)
		}
	}
	p.divide(ctx, moves, r.rooms)
	switch {
	case len(p.puts) < 2:
		return sent.Answer, rows.Ended
	case r.busy:
		return r.why, rows.Later
	case len(p.puts) < left:
		return sent.Answer, rows.Again
	}
	p.leave(func(*atomicPut) bool { return true }) // nothing says why: together they may be too large
	return sent.Answer, rows.Ended
}

// packReasons is what the reasons of a cancelled pack say.
type packReasons struct {
	why   rows.Answer // what held it up, if busy is set
	busy  bool
	rooms rooms                                     // of the totals that refuse
	met   map[*atomicPut][]types.CancellationReason // those of messages that meet a stored item
	hot   map[*atomicPut]bool                       // whose items are throttled, if they are few
}

// ofTotals reads the reasons that totals give.
func (p *pack) ofTotals(r *packReasons, moves []*TotalMove, reasons []types.CancellationReason) {
	p.cost.WriteUnits += movedUnits(&p.store.Aggregates, moves, reasons)
	for i, u := range moves {
		switch a := rows.ClassifyReason(reasons[i]); a.Outcome {
		case rows.Done:
		case rows.Failed, rows.Invalid:
			r.rooms[u.Key] = &room{left: reasons[i].Item, broken: a.Outcome == rows.Invalid}
		default:
			a.Count(&p.cost)
			r.why, r.busy = a, true
			if a.Outcome == rows.Throttled {
				p.throttled = append(p.throttled, u.Key.PK)
				p.cost.RefusedTotal(u.Def.Name, u.Key)
			}
		}
	}
}

// ofItems reads the reasons that the items of the messages give.
func (p *pack) ofItems(r *packReasons, reasons []types.CancellationReason) {
	r.met, r.hot = map[*atomicPut][]types.CancellationReason{}, map[*atomicPut]bool{}
	var throttling []string
	for _, t := range p.puts {
		own := reasons[:len(t.Members)]
		reasons = reasons[len(own):]
		for i, reason := range own {
			a := rows.ClassifyReason(reason)
			switch a.Outcome {
			case rows.Done:
				continue
			case rows.Failed, rows.Invalid:
				r.met[t] = own // it counts its own cost
				continue
			case rows.Throttled:
				r.hot[t] = true
				throttling = append(throttling, t.Members[i].item.Key.PK)
				p.cost.RefusedItem(t.Members[i].item, a.Reason)
			default:
				r.busy = true
			}
			a.Count(&p.cost)
			r.why = a
		}
		if r.met[t] == nil {
			t.cost.WriteUnits += t.units(false)
		}
	}
	if !plain.Minority(len(r.hot), len(p.puts)) { // then they stay, and all wait
		p.throttled, r.hot, r.busy = append(p.throttled, throttling...), nil, r.busy || len(throttling) > 0
	}
}
