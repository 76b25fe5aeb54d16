package store

import (
	"fmt"
	"strings"
	"time"

	"github.com/ingot-events/ingot/event"
)

// older reports whether item is a newer revision than the stored one, as far as that has been read.
func (s *plain) older(known *stored, item *event.Item) bool {
	return !known.foreign && known.typ == item.Type && known.revision != nil && item.Revision != nil && s.order(known, item) < 0
}

// order compares the stored revision with that of item. It returns a negative number if item is
// newer. Both must have a revision. If the revisions are equal, the stored payload decides under
// today's rules. The stored ties do not, because an older function may have written none, or other
// fields. Until the payload is read, equal revisions stay equal. See unlike.
func (s *plain) order(known *stored, item *event.Item) int {
	if order := known.revision.Cmp(*item.Revision); order != 0 || item.Ties == "" {
		return order
	}
	if known.ties == nil && !known.payload {
		return 0
	}
	if known.ties == nil {
		ties, err := s.pipeline.Ties(known.typ, known.data)
		if err != nil {
			ties = known.tied
		}
		known.ties = &ties
	}
	return strings.Compare(*known.ties, item.Ties)
}

// judge compares one item with what is proven stored under its key. It never compares the stored
// epoch: if the epoch matters, because the stored item cannot be read, judge is not called.
func (s *plain) judge(known *stored, item *event.Item) Result {
	r := Result{Existing: known.existing()}
	conflict := func(reason event.Reason, format string, args ...any) Result {
		r.Verdict = event.Conflict
		r.Refusal = &event.Refusal{Verdict: event.Conflict, Reason: reason, Detail: fmt.Sprintf(format, args...), Key: item.Key}
		return r
	}
	whole, claim := s.pipeline.ClaimOf(item.Type)
	if known.barred && claim {
		return conflict(event.Claimed, "nobody can claim %s %q: its key was barred by hand", item.Type, item.ID)
	}
	if known.barred {
		r.Verdict = event.Duplicate
		r.Refusal = &event.Refusal{Verdict: event.Duplicate, Reason: event.Barred, Key: item.Key,
			Detail: "the event was erased, and its key is barred"}
		return r
	}
	if known.foreign {
		return conflict(event.KeyTaken, "the key is taken by an item without Ingot's type, digest or data")
	}
	if item.Revision != nil {
		switch {
		case known.revision == nil || known.typ != item.Type:
			return conflict(event.KeyTaken, "the key is taken by an item of type %s without a revision to compare", known.typ)
		case s.order(known, item) > 0:
			r.Verdict = event.Stale
			return r
		case s.order(known, item) < 0:
			// The item is newer than the stored one, and yet it was not written. Only an event past
			// its time ends here.
			r.Verdict = event.Expired
			r.Refusal = &event.Refusal{Verdict: event.Expired, Reason: event.PastExpiry, Key: item.Key,
				Detail: "a newer revision, but it expires at " + time.Unix(item.ExpiresAt, 0).UTC().Format(time.RFC3339) +
					", too soon to be written"}
			return r
		}
	}
	if known.digest == item.Digest || s.today(known) == item.Digest {
		r.Verdict = event.Duplicate
		return r
	}
	if claim && known.typ == item.Type {
		return conflict(event.Claimed, "%s %q is taken: another %s holds it%s", item.Type, item.ID, whole, s.differences(known, item))
	}
	return conflict(event.DigestDiffers, "another payload is stored under this key%s; stored digest %s, this one %s",
		s.differences(known, item), known.digest, item.Digest)
}

// today returns the digest of the stored payload under today's ignore list. A path that is ignored
// only since the item was written must not make its redelivery a conflict.
func (s *plain) today(known *stored) event.Digest {
	if !known.payload || known.object != nil {
		return known.digest
	}
	if known.today == nil {
		digest, err := s.pipeline.Redigest(known.typ, known.data)
		if err != nil {
			digest = known.digest
		}
		known.today = &digest
	}
	return *known.today
}
