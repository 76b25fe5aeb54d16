package payloads

import (
	"slices"
	"time"

	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/keys"
	"github.com/ingot-events/ingot/tables"
)

// IsAhead reports whether the time of a planned event is more than [tables.MaxAhead] after now, and
// its payload or that of a part goes to the payload bucket. Such an event is refused:
// [TooFarAhead].
func IsAhead(item *event.Item, now time.Time) bool {
	return item.At.After(now.Add(tables.MaxAhead)) &&
		slices.ContainsFunc(item.All(), func(i *event.Item) bool { return i.Payload != nil })
}

// TooFarAhead returns the refusal of an event that [IsAhead].
func TooFarAhead(item *event.Item) *event.Refusal {
	refusal := event.Poisoned(event.TooFarAhead, "its time is "+keys.FormatTime(item.At)+", and its payload goes to the payload bucket: "+
		"such an event is taken at most 30 days ahead, because the lifecycle of the bucket counts from now")
	refusal.Key, refusal.Type = item.Key, item.Type
	return refusal
}
