package store

import (
	"crypto/sha256"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/base/itemform"
	"github.com/ingot-events/ingot/keys"
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
	return fmt.Sprintf("the item stored under this key carries epoch %d and has a form that this function, at epoch %d, cannot read; "+
		"deploy the ingest function with the newer pipeline.yaml", a.stamp, a.epoch)
}

// elsewhere reports whether the payload is in the payload bucket and must be read there to judge
// item.
func (s *stored) elsewhere(item *event.Item) bool {
	return s.object != nil && !s.gone && s.unlike(item)
}

// unreadError says that a stored payload, which is needed to judge an event, could not be read.
type unreadError struct{ err error }

func (u *unreadError) Error() string { return u.err.Error() }

func (u *unreadError) Unwrap() error { return u.err }

// view says how much of a stored item is read.
type view uint8

const (
	// summary is everything except the payload. It is enough to judge a copy of the stored item,
	// and it takes little memory however large the items are.
	summary view = iota
	// wholes is the summary and the payload, which shows whether there is a conflict.
	wholes
	// owners also has the id and the time, from which the parts of an event are made.
	owners
)

// keys returns how many items one request reads. The service takes maxKeys. Fewer items are read
// with their payloads, so that the answers stay within what one request may hold: four answers of
// 16 MB are more than a small function has.
func (v view) keys() int {
	if v == summary {
		return maxKeys
	}
	return maxRequestBytes / event.MaxItem
}

// request asks what is stored under keys. It reads consistently, because a miss in an eventually
// consistent read would look like absence.
func (v view) request() types.KeysAndAttributes {
	request := types.KeysAndAttributes{
		ConsistentRead:       aws.Bool(true),
		ProjectionExpression: aws.String("PK, SK, #t, #d, #r, #e, #s, #i, #b"),
		ExpressionAttributeNames: map[string]string{"#t": "type", "#d": "digest", "#r": "revision", "#e": "expiresAt", "#s": "epoch",
			"#i": "i:revision", "#b": barredAttribute},
	}
	if v != summary {
		*request.ProjectionExpression += ", #p, #o"
		request.ExpressionAttributeNames["#p"], request.ExpressionAttributeNames["#o"] = "data", itemform.Payload
	}
	if v == owners {
		*request.ProjectionExpression += ", #n, #a"
		request.ExpressionAttributeNames["#n"], request.ExpressionAttributeNames["#a"] = "id", "at"
	}
	return request
}

// barredAttribute marks the key of an event that was erased. An item with this attribute is no
// longer an event. It has no type, so nothing counts, touches or archives it.
const barredAttribute = itemform.Barred

func barred(img image) bool {
	b, _ := img[barredAttribute].(*types.AttributeValueMemberBOOL)
	return b != nil && b.Value
}

// isPartOf reports whether the stored item is a part of this whole. It looks only at the digest, so
// it does not matter which members the part was made of. The payload must have been read and must
// be in the item. The payload of a claim always is.
func (s *stored) isPartOf(whole *event.Item) bool {
	doc, err := event.ParseDocument(s.data)
	return err == nil && !s.foreign && s.digest == sha256.Sum256(keys.PartDigestText(nil, s.typ, doc.Root(), whole.Type, whole.ID))
}

// sameTies adds to the condition of a replacement that the ties beside the revision are still those
// that were read, also if a person has written something there that is not ties.
func (s *stored) sameTies(in *dynamodb.PutItemInput) {
	in.ExpressionAttributeNames["#i"] = "i:revision"
	if s.tiedAs == nil {
		in.ConditionExpression = aws.String(*in.ConditionExpression + " AND attribute_not_exists(#i)")
		return
	}
	in.ConditionExpression = aws.String(*in.ConditionExpression + " AND #i = :ties")
	in.ExpressionAttributeValues[":ties"] = s.tiedAs
}
