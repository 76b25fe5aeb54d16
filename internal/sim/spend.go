package sim

import (
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// spent is what one invocation has asked for one item.
type spent struct {
	accepted, attempts int // writes
	after              int // of the attempts, those after one was accepted
	before             int // writes of others that were accepted before its first
	reads              int
}

// spend checks what one more write costs. The bounds: an invocation puts an order once, and writes an aggregate
// item once; only what went wrong in that invocation, or another writer's success in between, is a reason to ask
// again. (Copies in one batch are one put, but for a FIFO queue, where each has its turn.) A parcel may take a put,
// a read and a replacement; an update may guess a maximum wrong and find part of its batch counted.
func (r recorder) spend(table string, pk, sk string, accepted bool) {
	w := r.w
	if table == eventsTable {
		w.eventWrites++
		sk = "" // a statement's is not looked for: every event has one item
	}
	key := table + "|" + pk + "|" + sk
	if accepted {
		defer func() { w.accepted[key]++ }()
	}
	inv := w.current.invocation()
	if inv == nil {
		return
	}
	s := inv.spentOn(key, w.accepted[key])
	s.asks(accepted)
	others := w.accepted[key] - s.before - s.accepted
	if accepted {
		others++ // this one is not yet among them
	}
	most := 0
	switch {
	case table == eventsTable && strings.HasPrefix(pk, "ORDER#"):
		most = inv.copies
	case table == eventsTable && strings.HasPrefix(pk, "PARCEL#"):
		most = 2*inv.copies + others
	case strings.HasPrefix(pk, "A#") && w.model.marks:
		most = 3 + others
		if s := w.model.slots[pk+"|"+sk]; s != nil && s.damaged {
			most += 4 // it is asked what stands in the way, three times in vain, and given a flag
		}
		if s.accepted > 1 {
			w.fail(Cost, "%s writes %s %d times for one batch", inv.name, pk, s.accepted)
		}
		w.checkAfter(inv, pk, s)
	default:
		return
	}
	w.checkAsked(inv, pk, s, most, others)
}

// spendReceipts is spend for a transaction, of which every change in it has to be one at the most. A transaction is
// asked for again when it was cancelled: receipts were found there, or maxima guessed wrong.
func (r recorder) spendReceipts(receipts []string, accepted bool) {
	w, inv := r.w, r.w.current.invocation()
	if accepted {
		defer func() { w.transactions++ }()
	}
	if inv == nil {
		return
	}
	if accepted {
		defer func() { inv.transactions++ }()
	}
	for _, pk := range receipts {
		s := inv.spentOn(totals+"|"+pk+"|", w.transactions-inv.transactions)
		s.asks(accepted)
		others := w.transactions - inv.transactions - s.before
		most := 3 + others
		if len(w.damaged) > 0 {
			most += 2*len(receipts) + 10 // halved until the total that takes nothing is alone
		}
		w.checkAfter(inv, pk, s)
		w.checkAsked(inv, pk, s, most, others)
	}
}

// spendRead checks that an event's item is read for a reason: a write of it was refused, or a copy is too late to be
// written, or something went wrong.
func (r recorder) spendRead(pk string) {
	w, inv := r.w, r.w.current.invocation()
	if inv == nil {
		return
	}
	key := eventsTable + "|" + pk + "|"
	s := inv.spentOn(key, w.accepted[key])
	s.reads++
	tooLate := 0
	for _, sqs := range inv.messages {
		if m := w.sent[sqs.Body]; m != nil && m.fact.pk() == pk && !w.now.Before(m.fact.at().Add(retain-early)) {
			tooLate++
		}
	}
	if most := s.attempts - s.accepted + tooLate + inv.faults; s.reads > most {
		w.fail(Cost, "%s reads %s %d times, with %d of its %d writes accepted, %d copies too late and %d faults", inv.name, pk, s.reads, s.accepted, s.attempts, tooLate, inv.faults)
	}
}

func (inv *invocation) spentOn(key string, others int) *spent {
	s := inv.spent[key]
	if s == nil {
		s = &spent{before: others}
		inv.spent[key] = s
	}
	return s
}

func (s *spent) asks(accepted bool) {
	if s.attempts++; s.accepted > 0 {
		s.after++
	}
	if accepted {
		s.accepted++
	}
}

// checkAfter: what was accepted is not asked for again, unless the answer may have been lost.
func (w *World) checkAfter(inv *invocation, pk string, s *spent) {
	if s.after > inv.faults {
		w.fail(Cost, "%s asks %d times more to write %s when it was written, with %d faults", inv.name, s.after, pk, inv.faults)
	}
}

func (w *World) checkAsked(inv *invocation, pk string, s *spent, most, others int) {
	if most += inv.faults; s.attempts > most {
		w.fail(Cost, "%s asks %d times to write %s, with %d faults and %d writes of others: at most %d are needed", inv.name, s.attempts, pk, inv.faults, others, most)
	}
}

// checkCost compares the events table's write units with the writes that were asked for: an event is under a
// kilobyte, so each is one unit, and nothing else writes there.
func (w *World) checkCost() {
	if units := w.engine.Usage().Tables[eventsTable].Write; units > float64(w.eventWrites) {
		w.fail(Cost, "%v write units for %d writes of items under a kilobyte", units, w.eventWrites)
	}
}

func (t *task) invocation() *invocation {
	if t == nil {
		return nil
	}
	return t.of
}

// spendItem is spend for an item or its key.
func (r recorder) spendItem(table *string, item map[string]types.AttributeValue, err error) {
	pk, _ := item["PK"].(*types.AttributeValueMemberS)
	sk, _ := item["SK"].(*types.AttributeValueMemberS)
	if pk != nil && sk != nil {
		r.spend(aws.ToString(table), pk.Value, sk.Value, err == nil)
	}
}

// keyOf is the partition key among a statement's parameters; every event of a world has one of two.
func keyOf(parameters []types.AttributeValue) string {
	for _, p := range parameters {
		if s, ok := p.(*types.AttributeValueMemberS); ok && (strings.HasPrefix(s.Value, "ORDER#") || strings.HasPrefix(s.Value, "PARCEL#")) {
			return s.Value
		}
	}
	return ""
}
