package event

import (
	"bytes"
	"cmp"
	"strings"
	"time"
)

// MaxItem is DynamoDB's limit for one item in bytes, attribute names included.
const MaxItem = 400 * 1024

// MaxEpoch is the highest epoch that a pipeline may have. Nobody reaches it by raising the epoch by
// one each time.
const MaxEpoch = 1_000_000_000

// Item is what is stored of one event. It depends only on the event and the pipeline. Epoch says
// which pipeline wrote it.
type Item struct {
	Key     Key
	Indexes []IndexKey // only the indexes the item is in, by name
	Type    string
	ID      string
	At      time.Time // event time, UTC
	Digest  Digest
	Epoch   int64 // epoch of the pipeline that wrote or last touched the item; 0 if the stored item has none
	// ExpiresAt is in seconds since 1970, rounded up. 0 means that the item never expires.
	ExpiresAt int64
	// Revision orders the versions of a key under mode latest. A time is in nanoseconds since 1970.
	// It is nil under mode insert.
	Revision *Decimal
	// Ties orders versions whose Revision is equal, by its bytes. It holds the other values of a
	// revision that is a list, with commas between. Each value is written by
	// [Decimal.AppendOrdered], or is 0 if it is missing. Ties is empty if the revision
	// is not a list. Under a state it holds the time and the id of its whole: see Whole.
	Ties       string
	Meta       map[string]string // the @-values besides id, at, type, digest that a template uses: "source", "attribute.NAME"
	Attributes []Attribute       // declared top-level attributes, by name
	// Data is the payload's JSON text as received. If the payload is in the payload bucket, it is a
	// JSON object with only those of its members that the pipeline uses.
	Data    string
	Packed  []byte   `json:"-"`          // Data compressed, if that saves write units; nil: stored as it is
	Payload *Payload `json:",omitempty"` // the payload, if it is in the payload bucket; nil: Data is all of it
	// Put is the epoch of the pipeline whose put of the item also moved totals. 0 means that the
	// put moved none, so the stream counts the item. A planned item has it if its put will move
	// totals.
	Put   int64  `json:",omitempty"`
	Parts *Parts `json:",omitempty"` // the event's parts; nil if its type has none
	// Requires are the events that must be stored before this one and its parts are put. It is nil
	// for an item that was read from the table.
	Requires []Requirement `json:",omitempty"`
	// Whole is the event beside which a planned state is put: a part under mode latest. It is nil
	// for everything else, and for an item that was read from the table.
	Whole *Item `json:"-"`
}

// Expired reports whether the item has expired at now. Readers do not see such an item, although
// the service may take days to remove it.
func (i *Item) Expired(now time.Time) bool {
	return i.ExpiresAt != 0 && now.Unix() >= i.ExpiresAt
}

// NewerThan reports whether i is a later version than other, which must have the same key. It
// returns false for items without a revision.
func (i *Item) NewerThan(other *Item) bool {
	if i.Revision == nil || other.Revision == nil {
		return false
	}
	order := cmp.Or(i.Revision.Cmp(*other.Revision), strings.Compare(i.Ties, other.Ties))
	if order == 0 && i.Whole != nil {
		order = bytes.Compare(i.Digest[:], other.Digest[:])
	}
	return order > 0
}

// IndexKey is the item's key in one secondary index. It is stored in the attributes <Name>PK and
// <Name>SK.
type IndexKey struct {
	Name string // GSI1 … GSI20
	Key  Key
}

// AttributeKind is the DynamoDB type of a declared attribute.
type AttributeKind uint8

// These are the kinds that a payload value can be stored as: JSON strings, numbers and booleans.
// Other values are not stored as attributes.
const (
	StringAttribute AttributeKind = iota + 1
	NumberAttribute
	BoolAttribute
)

// Attribute is one declared top-level attribute, for filters and other readers of the table.
type Attribute struct {
	Name string
	Kind AttributeKind
	Text string // the string, the number in normal form, or "true" / "false"
}

// Planned is the result for one event of a message with several: its item, or why there is no item.
type Planned struct {
	Item    *Item
	Refusal *Refusal // nil: there is an item
	Place   Place
}

// Place is where an event stands in a message with several.
type Place struct {
	In    Path // from the payload to the array; without steps: the message is the array
	Index int  // of the element, from 0; -1: the event is what In leads to
}

// Path leads from the payload to the event.
func (p Place) Path() Path {
	if p.Index < 0 {
		return p.In
	}
	return p.In.Index(p.Index)
}

// String returns the path, such as [2] or entry[0].changes[1].
func (p Place) String() string { return p.Path().String() }
