package store

import (
	"fmt"
	"time"

	"github.com/ingot-events/ingot/event"
)

// stored is what is proven to lie under a key.
type stored struct {
	typ       string
	digest    event.Digest
	revision  *event.Decimal
	expiresAt int64
	data      string
	item      *event.Item   // where it was read and is Ingot's
	foreign   bool          // no type, digest or data: not an item of Ingot's
	today     *event.Digest // its digest under today's rules, once computed
	size      int           // of all of it, in bytes; see wholeSize
	img       image         // all of it, where that is known
}

// wholeSize is the size of a stored item of which only what judging needs was read: the rest of it is taken to be as
// large as that of the item which met it.
func (s *stored) wholeSize(read image, own *event.Item) int {
	if s.foreign {
		return imageSize(read)
	}
	whole := *own
	whole.Type, whole.Digest, whole.Revision, whole.ExpiresAt, whole.Data = s.typ, s.digest, s.revision, s.expiresAt, s.data
	return whole.Size()
}

// places are the indexes that the stored item is in, as far as that is known: those of the item that met it otherwise.
func (s *stored) places(own *event.Item) []event.IndexKey {
	if s.img == nil {
		return own.Indexes
	}
	var seen event.Item
	decodeDeclared(&seen, s.img)
	return seen.Indexes
}

// readStored understands as much of an image as judging needs.
func readStored(img image) *stored {
	s := &stored{typ: textOf(img["type"]), data: textOf(img["data"]), expiresAt: integerOf(img["expiresAt"])}
	digest := bytesOf(img["digest"])
	if s.typ == "" || s.data == "" || len(digest) != len(s.digest) {
		s.foreign = true
		return s
	}
	s.digest = event.Digest(digest)
	if revision, err := event.ParseDecimal(numberOf(img["revision"])); err == nil {
		s.revision = &revision
	}
	s.item = &event.Item{Key: keyOf(img), Type: s.typ, Digest: s.digest, Revision: s.revision, ExpiresAt: s.expiresAt, Data: s.data}
	return s
}

// older reports whether item is a newer revision of what is stored.
func (s *stored) older(item *event.Item) bool {
	return !s.foreign && s.typ == item.Type && s.revision != nil && item.Revision != nil && s.revision.Cmp(*item.Revision) < 0
}

// judge compares one item with what is proven stored under its key. The stored epoch is never compared.
func (s *Store) judge(known *stored, item *event.Item) Result {
	r := Result{Existing: known.item}
	conflict := func(reason event.Reason, format string, args ...any) Result {
		r.Verdict = event.Conflict
		r.Refusal = &event.Refusal{Verdict: event.Conflict, Reason: reason, Detail: fmt.Sprintf(format, args...), Key: item.Key}
		return r
	}
	if known.foreign {
		return conflict(event.KeyTaken, "the key is taken by an item without Ingot's type, digest or data")
	}
	if item.Revision != nil {
		switch {
		case known.revision == nil || known.typ != item.Type:
			return conflict(event.KeyTaken, "the key is taken by an item of type %s without a revision to compare", known.typ)
		case known.revision.Cmp(*item.Revision) > 0:
			r.Verdict = event.Stale
			return r
		case known.revision.Cmp(*item.Revision) < 0:
			// Newer than what is stored and yet not written: only an event past its time ends here.
			r.Verdict = event.Expired
			r.Refusal = &event.Refusal{Verdict: event.Expired, Reason: event.PastExpiry, Key: item.Key,
				Detail: "a newer revision, but it expires at " + time.Unix(item.ExpiresAt, 0).UTC().Format(time.RFC3339) + ", too soon to be written"}
			return r
		}
	}
	if known.digest == item.Digest || s.today(known) == item.Digest {
		r.Verdict = event.Duplicate
		return r
	}
	return conflict(event.DigestDiffers, "another payload is stored under this key%s; stored digest %s, this one %s", s.differences(known, item), known.digest, item.Digest)
}

// today is the digest of the stored payload under today's ignore list: a path that is ignored since the item
// was written must not make its redelivery a conflict.
func (s *Store) today(known *stored) event.Digest {
	if known.today == nil {
		digest, err := s.pipeline.Redigest(known.typ, known.data)
		if err != nil {
			digest = known.digest
		}
		known.today = &digest
	}
	return *known.today
}
