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

// ExpiryMargin is the time before its expiry in which an event is no longer written. It is longer
// than any clock skew and any request in flight. So no put can arrive after time to live has
// removed the same key, and be counted twice.
const ExpiryMargin = time.Hour

// MaxAhead is how far in the future an event's time may be if its payload goes to the payload
// bucket.
const MaxAhead = 30 * 24 * time.Hour
