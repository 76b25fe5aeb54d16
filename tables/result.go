package tables

import (
	"time"

	"github.com/ingot-events/ingot/event"
)

// Result says what became of one item.
type Result struct {
	Verdict event.Verdict
	// Refusal says why, for Conflict, Rejected, Expired, Poison and Retry. It is nil for an item
	// that is proven stored. A Duplicate has a Refusal only if its key is barred; the reason is
	// then [event.Barred].
	Refusal *event.Refusal
	// Existing is the stored item that this one was compared with, as far as it was read: its key,
	// type, digest, revision and expiry. It has no payload, because memory may not hold all
	// payloads that a batch meets. It is nil if no item was read, or if the stored item is this
	// one.
	Existing *event.Item
	// Units are the write units that this item cost.
	Units float64
	// Parts are the results of the item's parts, in their order. They are put only if the item
	// itself is stored. Verdict, Refusal and Existing are then those of the item or part with the
	// worst verdict.
	Parts []Result

	// Cause is the service's last error, if the item is not proven stored and there was one.
	Cause error
}

// ExpiryMargin is the time before its expiry in which an event is no longer put. The signature of a
// put must be older than that. AWS refuses a signature that is five minutes old by its own clock
// (Signature Version 4, elements of a request signature), and five minutes are left for what it has
// accepted. So no put can be carried out after time to live has removed the same key, and be
// counted twice.
const ExpiryMargin = 10 * time.Minute

// TooLate reports whether the item may no longer be put.
func TooLate(item *event.Item, now time.Time) bool {
	return item.ExpiresAt != 0 && now.Unix() >= item.ExpiresAt-int64(ExpiryMargin/time.Second)
}

// MaxAhead is how far in the future an event's time may be if its payload goes to the payload
// bucket.
const MaxAhead = 30 * 24 * time.Hour
