package rows

import (
	"slices"

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

// IsAtomic reports whether the item is put in one transaction with its parts.
func IsAtomic(item *event.Item) bool { return item.Parts != nil && item.Parts.Atomic }

// Yields reports whether the parts of item are to be put. They are if the whole is proven stored.
// If the whole was erased, its parts must not come back.
func (r *Result) Yields(item *event.Item) bool {
	return item.Parts != nil && len(item.Parts.Items) > 0 && r.Verdict.Stored() && r.Refusal == nil
}

// With returns the result of a whole together with those of its parts. The worst verdict decides,
// and the first item that has it says why. If several parts are Rejected, it is the first one whose
// total cannot be updated any more, because what a floor refuses is normal and no alarm rings for
// it.
func (r Result) With(parts []Result) Result {
	worst := Result{Verdict: r.Verdict}
	for _, p := range parts {
		if Severity(p.Verdict) > Severity(worst.Verdict) || p.Verdict == worst.Verdict && p.refusedByTotal() && !worst.refusedByTotal() {
			worst = p
		}
	}
	if Severity(worst.Verdict) > 0 {
		r.Verdict, r.Refusal, r.Existing = worst.Verdict, worst.Refusal, worst.Existing
	}
	r.Parts = parts
	return r
}

// refusedByTotal reports whether an item is Rejected because a total cannot be updated any more.
func (r *Result) refusedByTotal() bool {
	return r.Verdict == event.Rejected && r.Refusal.Reason == event.TotalRefused
}

// Severity orders the verdicts of one message's items. Retry is the worst: such a message is
// delivered again, whatever else is wrong with it. All verdicts that mean stored are equal, so the
// whole's is used.
func Severity(v event.Verdict) int {
	switch v {
	case event.Retry:
		return 5
	case event.Poison:
		return 4
	case event.Conflict:
		return 3
	case event.Rejected:
		return 2
	case event.Expired:
		return 1
	}
	return 0
}

// Again returns the result of a copy of an item that has this result.
func (r Result) Again() Result {
	r.Units = 0
	if r.Verdict.Stored() {
		r.Verdict, r.Parts = event.Duplicate, slices.Clone(r.Parts)
		for i := range r.Parts {
			r.Parts[i].Verdict = event.Duplicate
		}
	}
	return r
}

// IsBarred reports whether the result is that of an event that was erased.
func IsBarred(r *Result) bool {
	return r.Verdict == event.Duplicate && r.Refusal != nil && r.Refusal.Reason == event.Barred
}

// proven reports whether what was found under the key of an item stays the answer, whatever becomes
// of the items before it. A newer revision among these may change what holds the key.
func (r *Result) proven(item *event.Item) bool {
	return r.Verdict == event.Duplicate || r.Verdict == event.Stale || r.Verdict == event.Conflict && item.Revision == nil
}

// WithParts returns the result of an item and its parts, if what was found under their keys proves
// it. Otherwise the result has no verdict.
func WithParts(item *event.Item, own Result, parts []Result) Result {
	carries := len(Carriers(item)) > 0
	switch {
	case !own.proven(item):
		return Result{}
	case carries && (IsBarred(&own) || IsAtomic(item) && !own.Verdict.Stored()):
		return Result{} // an earlier delivery may have put payloads of an erased event, which the put deletes
	case !own.Yields(item):
		return own
	}
	for n, part := range item.Parts.Items {
		if !parts[n].proven(part) || part.Payload != nil && IsBarred(&parts[n]) || IsAtomic(item) && !parts[n].Verdict.Stored() {
			return Result{}
		}
	}
	return own.With(slices.Clone(parts))
}

// Carriers returns those of the item and its parts whose payloads go to the payload bucket.
func Carriers(item *event.Item) (list []*event.Item) {
	if item.Payload != nil {
		list = append(list, item)
	}
	if item.Parts != nil {
		for _, part := range item.Parts.Items {
			if part.Payload != nil {
				list = append(list, part)
			}
		}
	}
	return list
}

// AtomicParts returns the parts that are put in one transaction with the item.
func AtomicParts(item *event.Item) []*event.Item {
	if !IsAtomic(item) {
		return nil
	}
	return item.Parts.Items
}

// MovesTotals reports whether the put of the item moves totals: its own put, or that of a part in
// the same transaction.
func MovesTotals(item *event.Item) bool {
	return item.Put != 0 || slices.ContainsFunc(AtomicParts(item), func(part *event.Item) bool { return part.Put != 0 })
}
