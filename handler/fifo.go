package handler

import (
	"sync"

	"github.com/ingot-events/ingot/event"
)

// fifo keeps the order of a FIFO queue. Groups run at the same time, but only one message of a
// group at a time. After the first message of a group that goes back, the rest of the group goes
// back too, untouched.
//
// A queue is FIFO if its ARN says so. The presence of a group id says nothing, because standard
// queues carry one for fairness.
func (b *ingestBatch) fifo() {
	var order []string
	groups := map[string][]int{}
	for i := range b.outcomes {
		id := b.outcomes[i].Message.Attributes["MessageGroupId"]
		if groups[id] == nil {
			order = append(order, id)
		}
		groups[id] = append(groups[id], i)
	}
	var mu sync.Mutex // guards cost
	b.env.Each(len(order), len(order), func(n int) {
		places := groups[order[n]]
		for at, i := range places {
			if !b.one(i, &mu) {
				for _, later := range places[at+1:] {
					b.outcomes[later].leave("an earlier message of its group goes back, and order is kept")
				}
				return
			}
		}
	})
}

// one settles one message of a group. It returns false if the message goes back. The events of an
// array are put one after another, as messages of their own would be. After the first one of which
// nothing is proven, the others are left alone.
func (b *ingestBatch) one(i int, mu *sync.Mutex) bool {
	o := &b.outcomes[i]
	if !b.plan(o, nil) {
		return false
	}
	if o.pointer != nil {
		// Groups run at the same time, and each may have the largest payload.
		b.pointed.Lock()
		defer b.pointed.Unlock()
		if !b.followOne(o) {
			return false
		}
	}
	stopped := false
	for e := range o.each {
		switch {
		case stopped:
			e.leave("an earlier event of its array goes back, and order is kept")
		case e.Item != nil:
			results, cost := b.Store.Put(b.writing, []*event.Item{e.Item})
			mu.Lock()
			b.cost.Add(cost)
			mu.Unlock()
			e.take(results[0])
			stopped = e.Verdict == event.Retry
		}
	}
	o.sum()
	b.quarantine(b.outcomes[i : i+1])
	return !o.Failed
}

// leave lets the message go back untouched.
func (o *Outcome) leave(why string) {
	o.Verdict = event.Retry
	o.Refusal = &event.Refusal{Verdict: event.Retry, Reason: event.Unattempted, Detail: why}
}
