package rows

import (
	"slices"

	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/tables"
)

// IsAtomic reports whether the item is put in one transaction with its parts.
func IsAtomic(item *event.Item) bool { return item.Parts != nil && item.Parts.Atomic }

// Yields reports whether the parts of item are to be put. They are if the whole is proven stored.
// If the whole was erased, its parts must not come back.
func Yields(r *tables.Result, item *event.Item) bool {
	return item.Parts != nil && len(item.Parts.Items) > 0 && r.Verdict.Stored() && r.Refusal == nil
}

// Worst returns the result of a whole together with those of its parts. The worst verdict decides,
// and the first item that has it says why. If several parts are Rejected, it is the first one whose
// total cannot be updated any more, because what a bound refuses is normal and no alarm rings for
// it. A state that is too late to be put says nothing about its whole.
func Worst(r tables.Result, item *event.Item, parts []tables.Result) tables.Result {
	worst := tables.Result{Verdict: r.Verdict}
	for n, p := range parts {
		if p.Verdict == event.Expired && item.Parts.Items[n].Whole != nil {
			continue
		}
		if p.Verdict.Severity() > worst.Verdict.Severity() || p.Verdict == worst.Verdict && refusedByTotal(&p) && !refusedByTotal(&worst) {
			worst = p
		}
	}
	if worst.Verdict.Severity() > 0 {
		r.Verdict, r.Refusal, r.Existing = worst.Verdict, worst.Refusal, worst.Existing
	}
	r.Parts = parts
	return r
}

// refusedByTotal reports whether an item is Rejected because a total cannot be updated any more.
func refusedByTotal(r *tables.Result) bool {
	return r.Verdict == event.Rejected && r.Refusal.Reason == event.TotalRefused
}

// Repeated returns the result of a copy of an item that has this result.
func Repeated(r tables.Result) tables.Result {
	r.Units = 0
	if r.Verdict.Stored() {
		r.Verdict, r.Parts = event.Duplicate, slices.Clone(r.Parts)
		for i := range r.Parts {
			if v := &r.Parts[i].Verdict; v.Written() {
				*v = event.Duplicate
			}
		}
	}
	return r
}

// IsBarred reports whether the result is that of an event that was erased.
func IsBarred(r *tables.Result) bool {
	return r.Verdict == event.Duplicate && r.Refusal != nil && r.Refusal.Reason == event.Barred
}

// proven reports whether what was found under the key of an item stays the answer, whatever becomes
// of the items before it. A newer revision among these may change what holds the key.
func proven(r *tables.Result, item *event.Item) bool {
	return r.Verdict == event.Duplicate || r.Verdict == event.Stale || r.Verdict == event.Conflict && item.Revision == nil
}

// WithParts returns the result of an item and its parts, if what was found under their keys proves
// it. Otherwise the result has no verdict.
func WithParts(item *event.Item, own tables.Result, parts []tables.Result) tables.Result {
	carries := len(Carriers(item)) > 0
	switch {
	case !proven(&own, item):
		return tables.Result{}
	case carries && (IsBarred(&own) || IsAtomic(item) && !own.Verdict.Stored()):
		return tables.Result{} // an earlier delivery may have put payloads of an erased event, which the put deletes
	case !Yields(&own, item):
		return own
	}
	for n, part := range item.Parts.Items {
		if !proven(&parts[n], part) || part.Payload != nil && IsBarred(&parts[n]) || IsAtomic(item) && !parts[n].Verdict.Stored() {
			return tables.Result{}
		}
	}
	return Worst(own, item, slices.Clone(parts))
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
