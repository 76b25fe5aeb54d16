package rows

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

// Stored is what is proven to be stored under a key.
type Stored struct {
	Key       event.Key
	Typ       string
	Digest    event.Digest
	Revision  *event.Decimal
	Tied      string               // the stored values that break ties between equal revisions
	tiedAs    types.AttributeValue // the attribute that holds them, whatever it holds; nil: there is none
	Ties      *string              // the same under today's rules, once computed
	ExpiresAt int64
	Payload   bool             // data was read
	packed    []byte           // its packed form, if it has one
	Data      string           // released when the item is about to be replaced
	Object    *event.Payload   // the payload is in the payload bucket, and data is not all of it
	Gone      bool             // the object is not there
	Foreign   bool             // it has no readable type, digest or data, so it is not an item of this version
	Barred    bool             // an erased event's key
	Tombstone bool             // a migration has left it of a row that is gone: the key is free
	odd       bool             // it has Ingot's type, but a part of it cannot be read
	Stamp     int64            // its epoch
	Own       bool             // it is this call's own write
	Today     *event.Digest    // its digest under today's rules, once computed
	Size      int              // of all of it, in bytes; see wholeSize
	whole     bool             // all of it was read
	indexes   []event.IndexKey // the indexes it is in, if whole
}

// WholeSize returns the size of a stored item of which only a part was read. The rest is assumed to
// be as large as in the item that is being put.
func (s *Stored) WholeSize(read Image, own *event.Item) int {
	if s.Foreign {
		return ImageSize(read)
	}
	whole := *own
	whole.Type, whole.Digest, whole.Revision, whole.Ties, whole.ExpiresAt = s.Typ, s.Digest, s.Revision, s.Tied, s.ExpiresAt
	if s.Payload {
		whole.Data, whole.Packed, whole.Payload = s.Data, s.packed, s.Object
	}
	return whole.Size()
}

// Places returns the indexes that hold the stored item. If they are not known, it returns those of
// the item that is being put.
func (s *Stored) Places(own *event.Item) []event.IndexKey {
	if !s.whole {
		return own.Indexes
	}
	return s.indexes
}

// ReadWhole reads as much of a whole item as judging and counting need.
func ReadWhole(img Image) *Stored {
	s := ReadPart(img, true)
	s.whole, s.Size = true, ImageSize(img)
	var seen event.Item
	decodeDeclared(&seen, img)
	s.indexes = seen.Indexes
	return s
}

// ReadPart reads as much of an image as judging needs. payload says whether the request included
// the item's data.
func ReadPart(img Image, payload bool) *Stored {
	s := &Stored{Key: KeyOf(img), Typ: TextOf(img["type"]), ExpiresAt: IntegerOf(img["expiresAt"]), Payload: payload}
	digest := BytesOf(img["digest"])
	s.Stamp, _ = stampOf(img["epoch"])
	var bad error
	if payload {
		s.Data, s.packed = payloadOf(img["data"])
		s.Object, bad = elsewhere(img[itemform.Payload])
	}
	if bad != nil || s.Typ == "" || len(digest) != len(s.Digest) || payload && s.Data == "" {
		s.Foreign, s.odd, s.Barred, s.Tombstone = true, s.Typ != "", Barred(img), Tombstone(img)
		return s
	}
	s.Digest, s.Tied, s.tiedAs = event.Digest(digest), TextOf(img["i:revision"]), img["i:revision"]
	s.odd = s.tiedAs != nil && s.Tied == ""
	if revision, err := event.ParseDecimal(NumberOf(img["revision"])); err == nil {
		s.Revision = &revision
	} else {
		s.odd = s.odd || img["revision"] != nil
	}
	return s
}

// Existing returns the stored item for a result: everything that was read except the payload. It
// returns nil for an item that is not Ingot's, and for an item that this call has written itself.
func (s *Stored) Existing() *event.Item {
	if s.Foreign || s.Own {
		return nil
	}
	return &event.Item{Key: s.Key, Type: s.Typ, Digest: s.Digest, Revision: s.Revision, Ties: s.Tied, ExpiresAt: s.ExpiresAt}
}

// VersionOf returns what a result says of the stored version of a key.
func VersionOf(existing *event.Item) *Stored {
	return &Stored{Key: existing.Key, Typ: existing.Type, Digest: existing.Digest, Revision: existing.Revision, Tied: existing.Ties,
		tiedAs: Text(existing.Ties), ExpiresAt: existing.ExpiresAt}
}

// Unlike reports whether the payload is needed to decide if item is a copy of the stored item. This
// is so if the digests differ, and neither type nor revision decides. Something always decides for
// a state.
func (s *Stored) Unlike(item *event.Item) bool {
	if s.Foreign || s.Typ != item.Type || s.Digest == item.Digest || item.Whole != nil {
		return false
	}
	return item.Revision == nil || s.Revision != nil && s.Revision.Cmp(*item.Revision) == 0
}

// Ahead returns an error if the stored item cannot be judged, because this version cannot read its
// form and a newer pipeline has stamped it. Otherwise it returns nil.
func (s *Stored) Ahead(epoch int64) error {
	if !s.odd || s.Stamp <= epoch {
		return nil
	}
	return &aheadError{s.Stamp, epoch}
}

type aheadError struct{ stamp, epoch int64 }

func (a *aheadError) Error() string {
	return fmt.Sprintf("the item stored under this key carries epoch %d and has a form that this function, at epoch %d, cannot read; "+
		"deploy the ingest function with the newer pipeline.yaml", a.stamp, a.epoch)
}

// Elsewhere reports whether the payload is in the payload bucket and must be read there to judge
// item.
func (s *Stored) Elsewhere(item *event.Item) bool {
	return s.Object != nil && !s.Gone && s.Unlike(item)
}

// UnreadError says that a stored payload, which is needed to judge an event, could not be read.
type UnreadError struct{ Err error }

func (u *UnreadError) Error() string { return u.Err.Error() }

func (u *UnreadError) Unwrap() error { return u.Err }

// View says how much of a stored item is read.
type View uint8

const (
	// Summary is everything except the payload. It is enough to judge a copy of the stored item,
	// and it takes little memory however large the items are.
	Summary View = iota
	// Wholes is the summary and the payload, which shows whether there is a conflict.
	Wholes
	// Owners also has the id and the time, from which the parts of an event are made.
	Owners
)

// Keys returns how many items one request reads. The service takes maxKeys. Fewer items are read
// with their payloads, so that the answers stay within what one request may hold: four answers of
// 16 MB are more than a small function has.
func (v View) Keys() int {
	if v == Summary {
		return MaxKeys
	}
	return MaxRequestBytes / event.MaxItem
}

// Request asks what is stored under keys. It reads consistently, because a miss in an eventually
// consistent read would look like absence.
func (v View) Request() types.KeysAndAttributes {
	request := types.KeysAndAttributes{
		ConsistentRead:       aws.Bool(true),
		ProjectionExpression: aws.String("PK, SK, #t, #d, #r, #e, #s, #i, #b, #m"),
		ExpressionAttributeNames: map[string]string{"#t": "type", "#d": "digest", "#r": "revision", "#e": "expiresAt", "#s": "epoch",
			"#i": "i:revision", "#b": BarredAttribute, "#m": itemform.Migrated},
	}
	if v != Summary {
		*request.ProjectionExpression += ", #p, #o"
		request.ExpressionAttributeNames["#p"], request.ExpressionAttributeNames["#o"] = "data", itemform.Payload
	}
	if v == Owners {
		*request.ProjectionExpression += ", #n, #a"
		request.ExpressionAttributeNames["#n"], request.ExpressionAttributeNames["#a"] = "id", "at"
	}
	return request
}

// BarredAttribute marks the key of an event that was erased. An item with this attribute is no
// longer an event. It has no type, so nothing counts, touches or archives it.
const BarredAttribute = itemform.Barred

func Barred(img Image) bool {
	b, _ := img[BarredAttribute].(*types.AttributeValueMemberBOOL)
	return b != nil && b.Value
}

// Tombstone reports whether a migration has left an image of a row that is gone.
func Tombstone(img Image) bool { return img[itemform.Migrated] != nil && TextOf(img["type"]) == "" }

// FreeKey is the condition under which an event's key is free, and the names in it. For a type that
// rows are migrated to, a tombstone is free too.
func FreeKey(migrated bool) (condition *string, names map[string]string) {
	if !migrated {
		return aws.String("attribute_not_exists(PK)"), nil
	}
	return aws.String("attribute_not_exists(PK) OR attribute_exists(#m) AND attribute_not_exists(#t)"),
		map[string]string{"#m": itemform.Migrated, "#t": "type"}
}

// IsPartOf reports whether the stored item is a part of this whole. It looks only at the digest, so
// it does not matter which members the part was made of. The payload must have been read and must
// be in the item. The payload of a claim always is.
func (s *Stored) IsPartOf(whole *event.Item) bool {
	doc, err := event.ParseDocument(s.Data)
	return err == nil && !s.Foreign && s.Digest == sha256.Sum256(keys.PartDigestText(nil, s.Typ, doc.Root(), whole.Type, whole.ID))
}

// SameTies adds to the condition of a replacement that the ties beside the revision are still those
// that were read, also if a person has written something there that is not ties.
func (s *Stored) SameTies(in *dynamodb.PutItemInput) {
	in.ExpressionAttributeNames["#i"] = "i:revision"
	if s.tiedAs == nil {
		in.ConditionExpression = aws.String(*in.ConditionExpression + " AND attribute_not_exists(#i)")
		return
	}
	in.ConditionExpression = aws.String(*in.ConditionExpression + " AND #i = :ties")
	in.ExpressionAttributeValues[":ties"] = s.tiedAs
}
