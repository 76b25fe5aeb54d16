package explain

import (
	"fmt"

	"github.com/ingot-events/ingot/event"
)

// judge gives events with one key the verdicts that one batch would give them. One of them is
// written. The others are judged against it by their digests.
func judge(messages []Explanation) {
	var list []*Explanation
	var names []string
	for i := range messages {
		x := &messages[i]
		if x.item != nil {
			list, names = append(list, x), append(names, fmt.Sprintf("message %d", i+1))
		}
		for n := range x.Events {
			if x.Events[n].item != nil {
				list, names = append(list, &x.Events[n]), append(names, fmt.Sprintf("event [%d] of message %d", n, i+1))
			}
		}
	}
	winners := map[event.Key]int{}
	for i, x := range list {
		if w, ok := winners[x.item.Key]; !ok || newer(x.item, list[w].item) {
			winners[x.item.Key] = i
		}
	}
	for i, x := range list {
		if w := winners[x.item.Key]; w != i {
			beside(x, list[w].item, names[w])
			x.nothing()
		}
	}
}

// newer reports whether a replaces b under mode latest. Under insert the first one stays.
func newer(a, b *event.Item) bool {
	return a.NewerThan(b)
}

// beside judges an event if another item of the batch has taken its key. name is the name of that
// item's event.
func beside(x *Explanation, winner *event.Item, name string) {
	switch item := x.item; {
	case newer(winner, item):
		x.Verdict = event.Stale.String()
		x.Detail = name + " has the same key and a newer revision"
	case item.Type == winner.Type && item.Digest == winner.Digest:
		x.Verdict = event.Duplicate.String()
		x.Detail = name + " has the same key and the same digest"
	default:
		x.Verdict, x.Reason = event.Conflict.String(), string(event.DigestDiffers)
		x.Detail = name + " has the same key and another digest"
	}
}

// nothing removes the costs and changes of a write that will not happen.
func (x *Explanation) nothing() { x.Item, x.Aggregates, x.Parts, x.Atomic = nil, nil, nil, false }
