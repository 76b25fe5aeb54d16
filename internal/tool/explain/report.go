package explain

import (
	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/handler/quarantine"
)

// Report says what becomes of every message of a file.
type Report struct {
	StandInKey bool          `json:"standInKey"` // it contains a keyed hash made with a stand-in for INGOT_PII_KEY
	Counting   string        `json:"counting"`   // marks or receipts
	Partitions int           `json:"partitions"` // assumed by the estimates
	Messages   []Explanation `json:"messages"`
}

// Explanation says what would happen to one message if nothing is stored except the messages before
// it in the same file.
type Explanation struct {
	MessageID string `json:"messageId,omitempty"` // the id that the queue gave it
	Trace     string `json:"trace,omitempty"`     // traceparent, or the header of X-Ray
	// Quarantined says why the message is already in quarantine. The other fields then say what
	// would happen to the message if it were sent again. For a letter of the streams function they
	// are empty, and verdict and reason are those of the note.
	Quarantined *quarantine.Note `json:"quarantined,omitempty"`

	Verdict    string            `json:"verdict"`
	Reason     string            `json:"reason,omitempty"` // why it is not stored
	Detail     string            `json:"detail,omitempty"`
	Line       int               `json:"line,omitempty"` // where the file is not JSON, from 1; absent for a body inside a batch
	Column     int               `json:"column,omitempty"`
	Advice     string            `json:"advice,omitempty"`
	Envelope   string            `json:"envelope,omitempty"` // the envelope that was recognised
	Type       string            `json:"type,omitempty"`
	ID         string            `json:"id,omitempty"`
	At         string            `json:"at,omitempty"` // event time
	Key        *Key              `json:"key,omitempty"`
	Requires   []Required        `json:"requires,omitempty"` // what must be stored before it
	Schema     string            `json:"schema,omitempty"`   // the file of the schema that the payload was checked against
	Digest     string            `json:"digest,omitempty"`   // lower-case hex
	DigestText string            `json:"digestText,omitempty"`
	Revision   string            `json:"revision,omitempty"` // under mode latest
	state      bool              // a part under mode latest
	Attributes map[string]string `json:"attributes,omitempty"`
	Indexes    []Index           `json:"indexes,omitempty"`
	ExpiresAt  string            `json:"expiresAt,omitempty"` // absent: never
	Retain     string            `json:"retain,omitempty"`
	Archive    string            `json:"archive,omitempty"` // the name of the object, if the message is Expired and was ever stored
	Item       *Cost             `json:"item,omitempty"`
	Aggregates []Aggregate       `json:"aggregates,omitempty"` // those that its type feeds, by name
	Atomic     bool              `json:"atomic,omitempty"`     // this item and its parts are put in one transaction
	// Parts are the items that are put beside this one, once it is stored or together with it. Each
	// of them is explained as a message is.
	Parts []Explanation `json:"parts,omitempty"`
	// Place is where the event stands in its message, if that has several.
	Place string `json:"place,omitempty"`
	// Events are the events of a message that has several, each explained as a message is. The
	// message itself then has only a verdict and the reason of a refusal.
	Events []Explanation `json:"events,omitempty"`
}

// Key is where an item is stored.
type Key struct {
	PK string `json:"pk"`
	SK string `json:"sk"`
}

// Index is the item's key in an index of its type, or the reason why the item is not in it.
type Index struct {
	Name    string `json:"name"`
	PK      string `json:"pk,omitempty"`
	SK      string `json:"sk,omitempty"`
	Missing string `json:"missing,omitempty"`
}

// Cost is the item's size and what its put costs.
type Cost struct {
	Bytes      int `json:"bytes"`
	WriteUnits int `json:"writeUnits"` // of table and indexes together
	EachUnits  int `json:"eachUnits"`  // for the table, and for each index that the item is in
	// Transaction says that a transaction puts the item, which costs twice as much.
	Transaction bool `json:"transaction,omitempty"`
	// PayloadBytes is the size of the payload as it came, and CompressedBytes that of its stored
	// form, if the type declares compress. CompressedBytes is absent if the payload is stored as it
	// came, because compression would save no unit.
	PayloadBytes    int `json:"payloadBytes,omitempty"`
	CompressedBytes int `json:"compressedBytes,omitempty"`
	// Kept is what the item keeps of a payload that goes to the payload bucket. It is absent if the
	// payload stays in the item.
	Kept string `json:"kept,omitempty"`
}

// Aggregate is what the item adds to one aggregate, and what that update costs.
type Aggregate struct {
	Name       string `json:"name"`
	Since      int64  `json:"since"`
	NotCounted string `json:"notCounted,omitempty"` // why it adds nothing; if so, the rest is absent
	PK         string `json:"pk,omitempty"`         // the total's PK, in bucket 0 if there are several
	SK         string `json:"sk,omitempty"`
	List       string `json:"list,omitempty"`    // the total's partition of the index of ranks, if values of by are in it
	Buckets    int    `json:"buckets,omitempty"` // how many buckets the item's lane decides between; absent: there is one
	MovedBy    string `json:"movedBy,omitempty"` // put: the transaction that stores the item moves it; absent: the stream does
	ExpiresAt  string `json:"expiresAt,omitempty"`
	Adds       []Add  `json:"adds,omitempty"`
	Marks      int    `json:"marks,omitempty"`      // the most marks that the total carries
	FreshUnits int    `json:"freshUnits,omitempty"` // write units of one update of a new total
	FullUnits  int    `json:"fullUnits,omitempty"`  // write units of one update of a total with all its marks
}

// Add is what the item adds to one value.
type Add struct {
	Value  string `json:"value"`
	Op     string `json:"op"` // count, sum, min or max
	Amount string `json:"amount"`
	// AtLeast is the floor of the value, if the item takes from it: the message is Rejected if the
	// value would be less.
	AtLeast string `json:"atLeast,omitempty"`
	AtMost  string `json:"atMost,omitempty"` // the ceiling, if the item adds to the value
}

// Quarantined reports whether at least one message is, or would be, quarantined.
func (r *Report) Quarantined() bool {
	for i := range r.Messages {
		if r.Messages[i].Reason != "" && r.Messages[i].Verdict != event.Dropped.String() || r.Messages[i].Quarantined != nil {
			return true
		}
	}
	return false
}

// Required is an item that must be stored before an event.
type Required struct {
	Type string `json:"type"`
	Key
}
