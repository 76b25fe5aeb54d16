package sim

import (
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/ingot-events/ingot/internal/prove/sim/model"
)

// spending is how many requests and units the functions may take.
type spending struct {
	*World
	accepted    map[string]int // accepted writes, by table and key
	eventWrites int            // writes that were asked of the events table
	// transactions counts those that have counted changes under receipts.
	transactions int
}

// spent counts what one invocation has asked for one item.
type spent struct {
	accepted, attempts int // writes
	after              int // attempts after one was accepted
	before             int // accepted writes of others before its first attempt
	reads, payloads    int
}

// spend checks the cost of one more write. These are the bounds:
//
//   - An invocation puts an order, or a line of one, once, and writes an aggregate item once.
//   - It may ask again only if something went wrong in that invocation, or if another writer
//     succeeded in between. (Copies in one batch are one put. In a FIFO queue, each copy has its turn.)
//   - A parcel may take a put, a read and a replacement.
//   - An update may guess a maximum wrong, and may find that part of its batch is already counted.
func (r recorder) spend(table string, pk, sk string, accepted bool) {
	w := r.w
	if table == eventsTable {
		w.spending.eventWrites++
		sk = "" // the sort key of a statement is not looked for, because every event has one item
	}
	key := table + "|" + pk + "|" + sk
	if accepted {
		defer func() { w.spending.accepted[key]++ }()
	}
	inv := invocationOf(w.Current)
	if inv == nil {
		return
	}
	s := inv.spentOn(key, w.spending.accepted[key])
	s.asks(accepted)
	others := w.spending.accepted[key] - s.before - s.accepted
	if accepted {
		others++ // this write is not among them yet
	}
	most := 0
	switch {
	case table == eventsTable && (strings.HasPrefix(pk, "ORDER#") || strings.HasPrefix(pk, "LINE#") ||
		strings.HasPrefix(pk, "PAYMENT#")):
		most = inv.copies
	case table == eventsTable && strings.HasPrefix(pk, "PARCEL#"):
		most = 2*inv.copies + others
	case strings.HasPrefix(pk, "A#") && w.model.Marks:
		most = 3 + others
		if s := w.model.Slots[pk+"|"+sk]; s != nil && s.Damaged {
			most += 8 // a statement and then an UpdateItem each ask three times in vain what is in the way; then the total is flagged
		}
		if s.accepted > 1 {
			w.Fail(Cost, "%s writes %s %d times for one batch", inv.Name, pk, s.accepted)
		}
		w.spending.checkAfter(inv, pk, s)
	default:
		return
	}
	w.spending.checkAsked(inv, pk, s, most, others)
}

// spendReceipts is spend for a transaction. Each change may be in only one accepted transaction. A
// transaction that was cancelled is asked for again: receipts were found there, or maxima were
// guessed wrong.
func (r recorder) spendReceipts(receipts []string, accepted bool) {
	w, inv := r.w, invocationOf(r.w.Current)
	if accepted {
		defer func() { w.spending.transactions++ }()
	}
	if inv == nil {
		return
	}
	if accepted {
		defer func() { inv.transactions++ }()
	}
	for _, pk := range receipts {
		s := inv.spentOn(totals+"|"+pk+"|", w.spending.transactions-inv.transactions)
		s.asks(accepted)
		others := w.spending.transactions - inv.transactions - s.before
		most := 3 + others
		if len(w.damage.damaged) > 0 {
			most += 2*len(receipts) + 10 // it is halved until the total that takes nothing is alone
		}
		w.spending.checkAfter(inv, pk, s)
		w.spending.checkAsked(inv, pk, s, most, others)
	}
}

// spendPuts counts the puts of a transaction. What was refused is a reason to read.
func (r recorder) spendPuts(in *dynamodb.TransactWriteItemsInput, accepted bool) {
	inv := invocationOf(r.w.Current)
	if inv == nil || r.w.plan.Put == 0 {
		return
	}
	named := map[string]bool{}
	for _, item := range in.TransactItems {
		if update := item.Update; update != nil {
			key := text(update.Key["PK"]) + "|" + text(update.Key["SK"])
			if named[key] {
				r.w.Fail(Cost, "%s sends a transaction that names %s twice, which the table refuses", inv.Name, key)
			}
			named[key] = true
		}
		if item.Put != nil && *item.Put.TableName == eventsTable {
			key := eventsTable + "|" + text(item.Put.Item["PK"]) + "|"
			inv.spentOn(key, r.w.spending.accepted[key]).asks(accepted)
		}
	}
}

// spendRead checks that there is a reason to read the item of an event: a write of it was refused,
// a copy may not be written now, it is in an array of a FIFO queue, or something went wrong. The
// payload is read after that, and only if another event holds the key.
func (r recorder) spendRead(pk string, payload bool) {
	w, inv := r.w, invocationOf(r.w.Current)
	if inv == nil {
		return
	}
	key := eventsTable + "|" + pk + "|"
	s := inv.spentOn(key, w.spending.accepted[key])
	if payload {
		s.payloads++
		w.spending.checkPayload(inv, pk, s)
		return
	}
	s.reads++
	unwritten := 0
	for m := range w.arrays.eventsOf(inv) {
		reasons := 0
		if !w.Now.Before(m.fact.Time().Add(w.lifetime.lifetime(m.fact)-early)) || w.byPut.waits(inv, m.fact) {
			reasons++
		}
		if w.plan.FIFO && w.plan.Arrays { // after a Duplicate, the events that follow are looked up once
			reasons++
		}
		for _, f := range w.wholes.itemsOf(m, inv.epoch) {
			if f.PK() == pk {
				unwritten += reasons
			}
		}
		unwritten += w.requires.reads(m, pk) + w.states.reads(inv, m, pk)
	}
	if most := s.attempts - s.accepted + unwritten + inv.Faults; s.reads > most {
		w.Fail(Cost, "%s reads %s %d times, with %d of its %d writes accepted, %d copies that may not be written and %d faults", inv.Name,
			pk, s.reads, s.accepted, s.attempts, unwritten, inv.Faults)
	}
}

// checkPayload checks that a payload is read only after the rest of its item was read, and only if
// that item is not the message's own or has a later stamp.
func (w *spending) checkPayload(inv *invocation, pk string, s *spent) {
	other := false
	for m := range w.arrays.eventsOf(inv) {
		other = other || slices.ContainsFunc(w.wholes.itemsOf(m, inv.epoch), func(f model.Fact) bool {
			return f.PK() == pk && slices.ContainsFunc(w.model.Keys[f.Key()].During(inv.began), func(img *model.Image) bool {
				return img != nil && (img.Fact != f || img.Epoch > inv.epoch)
			})
		})
	}
	if s.payloads > s.reads+inv.Faults || !other {
		w.Fail(Cost, "%s reads the payload of %s %d times after %d reads without it; that another event held the key is %v", inv.Name, pk,
			s.payloads, s.reads, other)
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

// checkAfter checks that nothing is asked for again once it was accepted, unless the answer may
// have been lost.
func (w *spending) checkAfter(inv *invocation, pk string, s *spent) {
	if s.after > inv.Faults {
		w.Fail(Cost, "%s asks %d times more to write %s when it was written, with %d faults", inv.Name, s.after, pk, inv.Faults)
	}
}

func (w *spending) checkAsked(inv *invocation, pk string, s *spent, most, others int) {
	if most += inv.Faults; s.attempts > most {
		w.Fail(Cost, "%s asks %d times to write %s, with %d faults and %d writes of others: at most %d are needed", inv.Name, s.attempts,
			pk, inv.Faults, others, most)
	}
}

// checkCost compares the write units of the events table with the writes that were asked for. An
// event is under a kilobyte, or under two where payloads are compressed. So each write is one unit,
// or two. In a transaction it is twice that. Nothing else writes there.
func (w *spending) checkCost() {
	most := float64(w.eventWrites)
	if w.plan.Packed > 0 || w.plan.Offload > 0 {
		most *= 2
	}
	if units := w.ingot.Engine.Usage().Tables[eventsTable].Write; units > most {
		w.Fail(Cost, "%v write units for %d writes of items under a kilobyte", units, w.eventWrites)
	}
}

// invocationOf returns what a task belongs to. It is nil for no task.
func invocationOf(t *task) *invocation {
	if t == nil || t.Of == nil {
		return nil
	}
	return t.Of.Notes.(*invocation)
}

// spendItem calls spend for an item or its key.
func (r recorder) spendItem(table *string, item map[string]types.AttributeValue, err error) {
	pk, _ := item["PK"].(*types.AttributeValueMemberS)
	sk, _ := item["SK"].(*types.AttributeValueMemberS)
	if pk != nil && sk != nil {
		r.spend(aws.ToString(table), pk.Value, sk.Value, err == nil)
	}
}

// keyOf returns the key among the parameters of a statement, and its table. The events of a world
// have three kinds of partition key, with one item under each key.
func keyOf(parameters []types.AttributeValue) (table, pk, sk string) {
	for i, p := range parameters {
		switch s, _ := p.(*types.AttributeValueMemberS); {
		case s == nil:
		case strings.HasPrefix(s.Value, "ORDER#") || strings.HasPrefix(s.Value, "PARCEL#") || strings.HasPrefix(s.Value, "LINE#") ||
			strings.HasPrefix(s.Value, "PAYMENT#"):
			return eventsTable, s.Value, ""
		case strings.HasPrefix(s.Value, "A#"): // its sort key is the next parameter
			return totals, s.Value, text(parameters[i+1])
		}
	}
	return eventsTable, "", ""
}
