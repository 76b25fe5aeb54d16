package store

import (
	"fmt"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/base/itemform"
)

// stored is what is proven to be stored under a key.
type stored struct {
	key       event.Key
	typ       string
	digest    event.Digest
	revision  *event.Decimal
	tied      string               // the stored values that break ties between equal revisions
	tiedAs    types.AttributeValue // the attribute that holds them, whatever it holds; nil: there is none
	ties      *string              // the same under today's rules, once computed
	expiresAt int64
	payload   bool             // data was read
	packed    []byte           // its packed form, if it has one
	data      string           // released when the item is about to be replaced
	object    *event.Payload   // the payload is in the payload bucket, and data is not all of it
	gone      bool             // the object is not there
	foreign   bool             // it has no readable type, digest or data, so it is not an item of this version
	barred    bool             // an erased event's key
	odd       bool             // it has Ingot's type, but a part of it cannot be read
	stamp     int64            // its epoch
	own       bool             // it is this call's own write
	today     *event.Digest    // its digest under today's rules, once computed
	size      int              // of all of it, in bytes; see wholeSize
	whole     bool             // all of it was read
	indexes   []event.IndexKey // the indexes it is in, if whole
}

// wholeSize returns the size of a stored item of which only a part was read. The rest is assumed to
// be as large as in the item that is being put.
func (s *stored) wholeSize(read image, own *event.Item) int {
	if s.foreign {
		return imageSize(read)
	}
	whole := *own
	whole.Type, whole.Digest, whole.Revision, whole.Ties, whole.ExpiresAt = s.typ, s.digest, s.revision, s.tied, s.expiresAt
	if s.payload {
		whole.Data, whole.Packed, whole.Payload = s.data, s.packed, s.object
	}
	return whole.Size()
}

// places returns the indexes that hold the stored item. If they are not known, it returns those of
// the item that is being put.
func (s *stored) places(own *event.Item) []event.IndexKey {
	if !s.whole {
		return own.Indexes
	}
	return s.indexes
}

// readWhole reads as much of a whole item as judging and counting need.
func readWhole(img image) *stored {
	s := readPart(img, true)
	s.whole, s.size = true, imageSize(img)
	var seen event.Item
	decodeDeclared(&seen, img)
	s.indexes = seen.Indexes
	return s
}

// readPart reads as much of an image as judging needs. payload says whether the request included
// the item's data.
func readPart(img image, payload bool) *stored {
	s := &stored{key: keyOf(img), typ: textOf(img["type"]), expiresAt: integerOf(img["expiresAt"]), payload: payload}
	digest := bytesOf(img["digest"])
	s.stamp, _ = stampOf(img["epoch"])
	var bad error
	if payload {
		s.data, s.packed = payloadOf(img["data"])
		s.object, bad = elsewhere(img[itemform.Payload])
	}
	if bad != nil || s.typ == "" || len(digest) != len(s.digest) || payload && s.data == "" {
		s.foreign, s.odd, s.barred = true, s.typ != "", barred(img)
		return s
	}
	s.digest, s.tied, s.tiedAs = event.Digest(digest), textOf(img["i:revision"]), img["i:revision"]
	s.odd = s.tiedAs != nil && s.tied == ""
	if revision, err := event.ParseDecimal(numberOf(img["revision"])); err == nil {
		s.revision = &revision
	} else {
		s.odd = s.odd || img["revision"] != nil
	}
	return s
}

// existing returns the stored item for a result: everything that was read except the payload. It
// returns nil for an item that is not Ingot's, and for an item that this call has written itself.
func (s *stored) existing() *event.Item {
	if s.foreign || s.own {
		return nil
	}
	return &event.Item{Key: s.key, Type: s.typ, Digest: s.digest, Revision: s.revision, Ties: s.tied, ExpiresAt: s.expiresAt}
}

// unlike reports whether the payload is needed to decide if item is a copy of the stored item. This
// is so if the digests differ, and neither type nor revision decides.
func (s *stored) unlike(item *event.Item) bool {
	if s.foreign || s.typ != item.Type || s.digest == item.Digest {
		return false
	}
	return item.Revision == nil || s.revision != nil && s.revision.Cmp(*item.Revision) == 0
}

// older reports whether item is a newer revision than the stored one, as far as that has been read.
func (s *Store) older(known *stored, item *event.Item) bool {
	return !known.foreign && known.typ == item.Type && known.revision != nil && item.Revision != nil && s.order(known, item) < 0
}

// order compares the stored revision with that of item. It returns a negative number if item is
// newer. Both must have a revision. If the revisions are equal, the stored payload decides under
// today's rules. The stored ties do not, because an older function may have written none, or other
// fields. Until the payload is read, equal revisions stay equal. See unlike.
func (s *Store) order(known *stored, item *event.Item) int {
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

// ahead returns an error if the stored item cannot be judged, because this version cannot read its
// form and a newer pipeline has stamped it. Otherwise it returns nil.
func (s *stored) ahead(epoch int64) error {
	if !s.odd || s.stamp <= epoch {
		return nil
	}
	return &aheadError{s.stamp, epoch}
}

type aheadError struct{ stamp, epoch int64 }

func (a *aheadError) Error() string {
	return fmt.Sprintf("the item stored under this key carries epoch %d and has a form that this function, at epoch %d, cannot read; deploy the ingest function with the newer pipeline.yaml", a.stamp, a.epoch)
}

// judge compares one item with what is proven stored under its key. It never compares the stored
// epoch: if the epoch matters, because the stored item cannot be read, judge is not called.
func (s *Store) judge(known *stored, item *event.Item) Result {
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
		r.Refusal = &event.Refusal{Verdict: event.Duplicate, Reason: event.Barred, Key: item.Key, Detail: "the event was erased, and its key is barred"}
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
				Detail: "a newer revision, but it expires at " + time.Unix(item.ExpiresAt, 0).UTC().Format(time.RFC3339) + ", too soon to be written"}
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
	return conflict(event.DigestDiffers, "another payload is stored under this key%s; stored digest %s, this one %s", s.differences(known, item), known.digest, item.Digest)
}

// today returns the digest of the stored payload under today's ignore list. A path that is ignored
// only since the item was written must not make its redelivery a conflict.
func (s *Store) today(known *stored) event.Digest {
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
