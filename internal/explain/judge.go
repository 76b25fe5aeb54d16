package explain

import (
	"fmt"

	"github.com/ingot-events/ingot/event"
)

// judge gives messages with one key the verdicts that one batch would give them. One of them is
// written. The others are judged against it by their digests.
func judge(list []Explanation, items []*event.Item) {
	winners := map[event.Key]int{}
	for i, item := range items {
		if item == nil {
			continue
		}
		if w, ok := winners[item.Key]; !ok || newer(item, items[w]) {
			winners[item.Key] = i
		}
	}
	for i, item := range items {
		if item == nil || winners[item.Key] == i {
			continue
		}
		w := winners[item.Key]
		beside(&list[i], item, items[w], w)
		list[i].nothing()
	}
}

// newer reports whether a replaces b under mode latest. Under insert the first one stays.
func newer(a, b *event.Item) bool {
	return a.NewerThan(b)
}

// beside judges an item whose key was taken by another item of the batch, that of message number w.
func beside(x *Explanation, item, winner *event.Item, w int) {
	switch {
	case newer(winner, item):
		x.Verdict = event.Stale.String()
		x.Detail = fmt.Sprintf("message %d has the same key and a newer revision", w+1)
	case item.Type == winner.Type && item.Digest == winner.Digest:
		x.Verdict = event.Duplicate.String()
		x.Detail = fmt.Sprintf("message %d has the same key and the same digest", w+1)
	default:
		x.Verdict, x.Reason = event.Conflict.String(), string(event.DigestDiffers)
		x.Detail = fmt.Sprintf("message %d has the same key and another digest", w+1)
	}
}

// nothing removes what a write would have cost and changed.
func (x *Explanation) nothing() { x.Item, x.Aggregates, x.Parts, x.Atomic = nil, nil, nil, false }
