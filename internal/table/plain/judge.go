package plain

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/table/differences"
	"github.com/ingot-events/ingot/internal/table/rows"
	"github.com/ingot-events/ingot/tables"
)

// Older reports whether item is a newer revision than the stored one, as far as that has been read.
func (s *Writer) Older(known *rows.Stored, item *event.Item) bool {
	return !known.Foreign && known.Typ == item.Type && known.Revision != nil && item.Revision != nil && s.order(known, item) < 0
}

// order compares the stored revision with that of item. It returns a negative number if item is
// newer. Both must have a revision. If the revisions are equal, the stored payload decides under
// today's rules. The stored ties do not, because an older function may have written none, or other
// fields. Until the payload is read, equal revisions stay equal. See unlike. Of a state the stored
// ties do decide, because nothing of them is in the payload.
func (s *Writer) order(known *rows.Stored, item *event.Item) int {
	if order := known.Revision.Cmp(*item.Revision); order != 0 || item.Ties == "" {
		return order
	}
	if item.Whole != nil {
		return cmp.Or(strings.Compare(known.Tied, item.Ties), bytes.Compare(known.Digest[:], item.Digest[:]))
	}
	if known.Ties == nil && !known.Payload {
		return 0
	}
	if known.Ties == nil {
		ties, err := s.Pipeline.Ties(known.Typ, known.Data)
		if err != nil {
			ties = known.Tied
		}
		known.Ties = &ties
	}
	return strings.Compare(*known.Ties, item.Ties)
}

// JudgeStored compares one item with what is proven stored under its key. It never compares the
// stored epoch: if the epoch matters, because the stored item cannot be read, it is not called.
func (s *Writer) JudgeStored(known *rows.Stored, item *event.Item) tables.Result {
	r := tables.Result{Existing: known.Existing()}
	conflict := func(reason event.Reason, format string, args ...any) tables.Result {
		r.Verdict = event.Conflict
		r.Refusal = &event.Refusal{Verdict: event.Conflict, Reason: reason, Detail: fmt.Sprintf(format, args...), Key: item.Key}
		return r
	}
	whole, claim := s.Pipeline.ClaimOf(item.Type)
	if known.Barred && claim {
		return conflict(event.Claimed, "nobody can claim %s %q: its key was barred by hand", item.Type, item.ID)
	}
	if known.Barred {
		r.Verdict = event.Duplicate
		r.Refusal = &event.Refusal{Verdict: event.Duplicate, Reason: event.Barred, Key: item.Key,
			Detail: "the event was erased, and its key is barred"}
		return r
	}
	if known.Foreign {
		return conflict(event.KeyTaken, "the key is taken by an item without Ingot's type, digest or data")
	}
	if item.Revision != nil {
		switch {
		case known.Revision == nil || known.Typ != item.Type:
			return conflict(event.KeyTaken, "the key is taken by an item of type %s without a revision to compare", known.Typ)
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
	if known.Digest == item.Digest || s.today(known) == item.Digest {
		r.Verdict = event.Duplicate
		return r
	}
	if claim && known.Typ == item.Type {
		return conflict(event.Claimed, "%s %q is taken: another %s holds it%s", item.Type, item.ID, whole,
			differences.Text(s.Pipeline, known, item))
	}
	return conflict(event.DigestDiffers, "another payload is stored under this key%s; stored digest %s, this one %s",
		differences.Text(s.Pipeline, known, item), known.Digest, item.Digest)
}

// today returns the digest of the stored payload under today's ignore list. A path that is ignored
// only since the item was written must not make its redelivery a conflict.
func (s *Writer) today(known *rows.Stored) event.Digest {
	if !known.Payload || known.Object != nil {
		return known.Digest
	}
	if known.Today == nil {
		digest, err := s.Pipeline.Redigest(known.Typ, known.Data)
		if err != nil {
			digest = known.Digest
		}
		known.Today = &digest
	}
	return *known.Today
}

// Look judges items by what is stored under their keys, as Put does with items that it may no
// longer write. If a key holds nothing, the result has no verdict. If it holds an older revision,
// nothing is decided: the result is Retry.
func (s *Writer) Look(ctx context.Context, items []*event.Item) ([]tables.Result, tables.Cost) {
	p := &put{store: s, results: make([]tables.Result, len(items)), items: items, parallel: s.Parallel(), looking: true}
	every := make([]int, len(items))
	for i := range every {
		every[i] = i
	}
	p.fold(every)
	for _, w := range p.writes {
		w.state = reading
	}
	_ = s.Retry(ctx, p.round)
	p.judgeRest()
	for _, w := range p.writes {
		if w.state != absent {
			continue
		}
		for _, i := range w.copies {
			p.results[i] = tables.Result{}
		}
	}
	return p.results, p.cost
}
