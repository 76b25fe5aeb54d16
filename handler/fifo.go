package handler

import (
	"slices"
	"sync"

	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/tables"
)

// fifo keeps the order of a FIFO queue. Groups run at the same time, but only one message of a
// group at a time. After the first message of a group that goes back, the rest of the group goes
// back too, untouched.
//
// A single payload in S3 may take all the memory that there is for payloads. So a group stops at a
// message with such a payload. When all groups have stopped or are done, those payloads are read
// and put one after another, and the groups go on. Lambda hands over at most ten messages of a FIFO
// queue at once, so there are few such rounds.
//
// A queue is FIFO if its ARN says so. The presence of a group id says nothing, because standard
// queues carry one for fairness.
func (b *ingestBatch) fifo() {
	var groups [][]int // for each group, the places of the messages that are not settled yet
	at := map[string]int{}
	for i := range b.outcomes {
		id := b.outcomes[i].Message.Attributes["MessageGroupId"]
		n, known := at[id]
		if !known {
			n = len(groups)
			at[id], groups = n, append(groups, nil)
		}
		groups[n] = append(groups[n], i)
	}
	var mu sync.Mutex // guards cost
	for len(groups) > 0 {
		b.env.Each(len(groups), len(groups), func(n int) { groups[n] = b.untilPointer(groups[n], &mu) })
		for n, places := range groups {
			if len(places) > 0 {
				groups[n] = b.goOn(places, b.followOne(&b.outcomes[places[0]]) && b.one(places[0], &mu))
			}
		}
		groups = slices.DeleteFunc(groups, func(places []int) bool { return len(places) == 0 })
	}
}

// untilPointer settles the messages of a group up to the first one whose payload is in S3. It
// returns the places of that one and of those after it.
func (b *ingestBatch) untilPointer(places []int, mu *sync.Mutex) []int {
	for len(places) > 0 {
		planned := b.plan(&b.outcomes[places[0]], nil)
		if planned && b.outcomes[places[0]].pointer != nil {
			break
		}
		places = b.goOn(places, planned && b.one(places[0], mu))
	}
	return places
}

// goOn returns the places of the messages after the first one of a group, if that one is done. If
// it goes back, the others go back too, and goOn returns no places.
func (b *ingestBatch) goOn(places []int, done bool) []int {
	if done {
		return places[1:]
	}
	for _, later := range places[1:] {
		b.outcomes[later].leave("an earlier message of its group goes back, and order is kept")
	}
	return nil
}

// one settles one planned message of a group. It returns false if the message goes back. The events
// of an array are put one after another, like separate messages. After the first event that is not
// proven, the others are left alone. If an event shows that the array was delivered before, those
// that need no put any more are found together.
func (b *ingestBatch) one(i int, mu *sync.Mutex) bool {
	o := &b.outcomes[i]
	stopped, looked := false, false
	list := slices.Collect(o.each)
	for n, e := range list {
		switch {
		case stopped:
			e.leave("an earlier event of its array goes back, and order is kept")
		case e.Item != nil && e.Verdict == 0:
			results, cost := b.tables.Puts.Put(b.writing, []*event.Item{e.Item})
			b.charge(cost, mu)
			e.take(results[0])
			stopped = e.Verdict == event.Retry
			if !looked && !stopped && !e.Verdict.Written() {
				looked = true
				b.settled(list[n+1:], mu)
			}
		}
	}
	o.sum()
	b.quarantine(b.outcomes[i : i+1])
	return !o.Failed
}

// settled takes the results of those events of an array that need no put any more: most of them are
// stored already. Otherwise each of them would take as long as a put, and a delivery of an array
// that does not fit into one invocation would end where the one before it ended. It does no harm to
// the order: what these events did was done before.
func (b *ingestBatch) settled(list []*Outcome, mu *sync.Mutex) {
	var items []*event.Item
	var of []*Outcome
	for _, e := range list {
		if e.Item != nil && e.Verdict == 0 {
			items, of = append(items, e.Item), append(of, e)
		}
	}
	if len(items) == 0 {
		return
	}
	results, cost := b.tables.Puts.Settled(b.writing, items)
	b.charge(cost, mu)
	for i, r := range results {
		if r.Verdict != 0 {
			of[i].take(r)
		}
	}
}

func (b *ingestBatch) charge(cost tables.Cost, mu *sync.Mutex) {
	mu.Lock()
	defer mu.Unlock()
	b.cost.Add(cost)
}

// leave lets the message go back untouched.
func (o *Outcome) leave(why string) {
	o.Verdict = event.Retry
	o.Refusal = &event.Refusal{Verdict: event.Retry, Reason: event.Unattempted, Detail: why}
}
