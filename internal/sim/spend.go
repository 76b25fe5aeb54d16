package sim

import (
	"slices"
	"strings"

	"github.com/aws/aws-lambda-go/events"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// spent is what one invocation has asked for one item.
type spent struct {
	accepted, attempts int // writes
	after              int // of the attempts, those after one was accepted
	before             int // writes of others that were accepted before its first
	reads, payloads    int
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
			most += 8 // a statement, then an UpdateItem, asks three times in vain what stands in the way; then it is flagged
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
// written, or something went wrong. Its payload is read after that, and only where another event holds the key.
func (r recorder) spendRead(pk string, payload bool) {
	w, inv := r.w, r.w.current.invocation()
	if inv == nil {
		return
	}
	key := eventsTable + "|" + pk + "|"
	s := inv.spentOn(key, w.accepted[key])
	if payload {
		s.payloads++
		w.checkPayload(inv, pk, s)
		return
	}
	s.reads++
	tooLate := 0
	for _, sqs := range inv.messages {
		if m := w.sent[sqs.Body]; m != nil && m.fact.pk() == pk && !w.now.Before(m.fact.at().Add(w.lifetime(m.fact)-early)) {
			tooLate++
		}
	}
	if most := s.attempts - s.accepted + tooLate + inv.faults; s.reads > most {
		w.fail(Cost, "%s reads %s %d times, with %d of its %d writes accepted, %d copies too late and %d faults", inv.name, pk, s.reads, s.accepted, s.attempts, tooLate, inv.faults)
	}
}

// checkPayload: one look at the payload follows one look at the rest, of an item that is not the message's own or has
// a later stamp.
func (w *World) checkPayload(inv *invocation, pk string, s *spent) {
	other := slices.ContainsFunc(inv.messages, func(sqs events.SQSMessage) bool {
		m := w.sent[sqs.Body]
		return m != nil && m.fact.pk() == pk && slices.ContainsFunc(w.model.keys[m.fact.key()].during(inv.began), func(img *image) bool { return img != nil && (img.fact != m.fact || img.epoch > inv.epoch) })
	})
	if s.payloads > s.reads+inv.faults || !other {
		w.fail(Cost, "%s reads the payload of %s %d times after %d reads without it; that another event held the key is %v", inv.name, pk, s.payloads, s.reads, other)
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

// keyOf is the key among a statement's parameters, and the table. A world's events have two kinds of partition key,
// and one item under each.
func keyOf(parameters []types.AttributeValue) (table, pk, sk string) {
	for i, p := range parameters {
		switch s, _ := p.(*types.AttributeValueMemberS); {
		case s == nil:
		case strings.HasPrefix(s.Value, "ORDER#") || strings.HasPrefix(s.Value, "PARCEL#"):
			return eventsTable, s.Value, ""
		case strings.HasPrefix(s.Value, "A#"): // its sort key comes next
			return totals, s.Value, text(parameters[i+1])
		}
	}
	return eventsTable, "", ""
}
