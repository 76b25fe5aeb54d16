package sim

import (
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// spent is what one invocation has written to one item.
type spent struct {
	accepted, attempts int
	before             int // writes of anybody that were accepted before its first
}

// spend checks what one more write costs. The bounds: an invocation puts an order once, and writes an aggregate
// item under marks once; only what went wrong in that invocation, or another writer's success in between, is a
// reason to ask again. (Copies in one batch are one put, but for a FIFO queue, where each has its turn.) A
// parcel may take a put, a read and a replacement; an update may guess a maximum wrong and find part of its
// batch counted.
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
	s := inv.spent[key]
	if s == nil {
		s = &spent{before: w.accepted[key]}
		inv.spent[key] = s
	}
	s.attempts++
	if accepted {
		s.accepted++
	}
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
	default:
		return
	}
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
