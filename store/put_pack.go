package store

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/ingot-events/ingot/event"
)

// assumedTotal is the size, in bytes, that a total is assumed to have when messages are packed. If
// totals are larger, the transaction may be refused as a whole. Its messages then go one by one.
const assumedTotal = 1 << 10

// packs splits the messages of a group over transactions.
func packs(s *Store, group []*atomicPut) (list []*pack) {
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
		if p == nil || items+len(t.members)+len(totals)+more > maxTransaction || bytes+t.bytes()+(len(totals)+more)*assumedTotal > maxTransactionBytes {
			p = &pack{store: s, halt: together}
			list = append(list, p)
			totals, items, bytes = map[event.Key]bool{}, 0, 0
		}
		t.halt = together
		p.puts = append(p.puts, t)
		items, bytes = items+len(t.members), bytes+t.bytes()
		maps.Copy(totals, own)
	}
	return list
}

// pack puts messages that move the same totals in one transaction. If the transaction is refused
// because of some of them, these are settled, or go alone, and the rest is sent again.
type pack struct {
	store *Store
	puts  []*atomicPut // those that are still together
	alone []*atomicPut // those that were taken out, and are not settled
	halt  *halt
	// throttled are the partition keys for which the last try was refused, as far as its refusal
	// names them.
	throttled []string
	cost      Cost // besides that of the messages
}

// put settles all messages of the pack.
func (p *pack) put(ctx context.Context) {
	all := p.puts
	p.puts = slices.DeleteFunc(slices.Clone(all), func(t *atomicPut) bool { return !t.mayTake(ctx) })
	p.together(ctx)
	for _, t := range append(p.alone, p.puts...) { // at most one message is left in the pack
		if t.result == nil {
			t.put(ctx)
		}
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
	tries, last, held := 0, answer{}, false
	err := p.store.retry(ctx, func() (answer, next) {
		if len(p.puts) < 2 {
			return answer{}, ended
		}
		if tries++; tries > 1 {
			p.cost.Retries++
		}
		a, next := p.try(ctx)
		if last = a; p.halt.up(a, p.throttled, p.store.env.Now()) {
			held = true
			return a, ended
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
func (p *pack) try(ctx context.Context) (answer, next) {
	now := p.store.env.Now()
	p.leave(func(t *atomicPut) bool {
		return slices.ContainsFunc(t.members, func(m *atomicItem) bool { return tooLate(m.item, now) })
	})
	if len(p.puts) < 2 {
		return answer{}, ended
	}
	var members []*atomicItem
	for _, t := range p.puts {
		members = append(members, t.members...)
	}
	moves := totalMoves(members)
	sent := p.store.transact(ctx, p.store.transaction(members, false, moves), once)
	p.cost.Requests++
	p.throttled = nil
	switch sent.outcome {
	case done:
		p.halt.among.wrote(members, moves)
		p.share(cmp.Or(sent.units, movedUnits(&p.store.aggregates, moves, nil)+p.units()))
		for _, t := range p.puts {
			t.stored(event.Inserted)
		}
		return sent.answer, ended
	case cancelled:
		return p.cancelled(ctx, sent, len(members), moves)
	case invalid: // together they are too large, or two of them have a key in common
		p.leave(func(*atomicPut) bool { return true })
		return sent.answer, ended
	case throttled:
		p.cost.throttle(sent.reason, 1)
	case unknown, contended:
		for _, t := range p.puts {
			t.unanswered = true
		}
	}
	return sent.answer, later
}

// leave makes messages go alone.
func (p *pack) leave(is func(*atomicPut) bool) {
	p.puts = slices.DeleteFunc(p.puts, func(t *atomicPut) bool {
		if is(t) {
			p.alone = append(p.alone, t)
			return true
		}
		return false
	})
}

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
// message that meets a stored item is judged by it. A message whose total refuses goes alone,
// because another one may be the reason. A few messages whose own items are throttled go alone, so
// that the others do not wait for them.
func (p *pack) cancelled(ctx context.Context, sent transacted, items int, moves []*totalMove) (why answer, step next) {
	if len(sent.reasons) != items+len(moves) {
		p.cost.WriteUnits += movedUnits(&p.store.aggregates, moves, nil)
		p.leave(func(t *atomicPut) bool {
			t.cost.WriteUnits += t.units(false)
			return true
		})
		return sent.answer, ended
	}
	why, step = answer{outcome: contended, err: errSilent}, later
	note := func(a answer) {
		p.cost.refused(a)
		why = a
	}
	refusing, busy := map[event.Key]bool{}, false
	ofMoves := sent.reasons[items:]
	for i, u := range moves {
		switch a := classifyReason(ofMoves[i]); a.outcome {
		case done:
		case failed, invalid:
			refusing[u.Key] = true
		default:
			note(a)
			if busy = true; a.outcome == throttled {
				p.throttled = append(p.throttled, u.Key.PK)
			}
		}
	}
	p.cost.WriteUnits += movedUnits(&p.store.aggregates, moves, ofMoves)
	left, at := len(p.puts), 0
	met, hot := map[*atomicPut][]types.CancellationReason{}, map[*atomicPut][]string{}
	for _, t := range p.puts {
		own := sent.reasons[at : at+len(t.members)]
		at += len(t.members)
		for i, reason := range own {
			switch a := classifyReason(reason); a.outcome {
			case done:
			case failed, invalid:
				met[t] = own // it counts its own cost
			case throttled:
				note(a)
				hot[t] = append(hot[t], t.members[i].item.Key.PK)
			default:
				note(a)
				busy = true
			}
		}
	}
	if !minority(len(hot), len(p.puts)) { // then they stay, and all wait
		for _, keys := range hot {
			p.throttled, busy = append(p.throttled, keys...), true
		}
		hot = nil
	}
	for _, t := range p.puts {
		if met[t] == nil {
			t.cost.WriteUnits += t.units(false)
		}
	}
	p.leave(func(t *atomicPut) bool {
		refused := met[t] != nil || hot[t] != nil
		for key := range t.totals() {
			refused = refused || refusing[key]
		}
		return refused
	})
	for _, t := range p.alone {
		if own := met[t]; own != nil {
			t.last, _ = t.cancelled(ctx, transacted{answer: sent.answer, reasons: own}, nil)
		}
	}
	switch {
	case busy:
		return why, step
	case len(p.puts) < left:
		return sent.answer, again
	}
	p.leave(func(*atomicPut) bool { return true }) // nothing says why: together they may be too large
	return sent.answer, ended
}
