package explain

// Report is what becomes of every message of a file.
type Report struct {
	StandInKey bool          `json:"standInKey"` // a keyed hash is in it, made with a stand-in for INGOT_PII_KEY
	Counting   string        `json:"counting"`   // marks or receipts
	Partitions int           `json:"partitions"` // that the estimates suppose
	Messages   []Explanation `json:"messages"`
}

// Explanation is what becomes of one message, if nothing is stored yet but what the messages before it in the
// same file put there.
type Explanation struct {
	MessageID string `json:"messageId,omitempty"` // of the queue
	// Quarantined is why it is in quarantine already. The rest is what would become of it if it were sent again; of a
	// letter of the streams function there is nothing of the kind, and verdict and reason are those of the note.
	Quarantined *Note `json:"quarantined,omitempty"`

	Verdict    string            `json:"verdict"`
	Reason     string            `json:"reason,omitempty"` // of what is not stored
	Detail     string            `json:"detail,omitempty"`
	Line       int               `json:"line,omitempty"` // where the file is not JSON, from 1; absent for a body inside a batch
	Column     int               `json:"column,omitempty"`
	Advice     string            `json:"advice,omitempty"`
	Envelope   string            `json:"envelope,omitempty"` // what was recognised
	Type       string            `json:"type,omitempty"`
	ID         string            `json:"id,omitempty"`
	At         string            `json:"at,omitempty"` // event time
	Key        *Key              `json:"key,omitempty"`
	Digest     string            `json:"digest,omitempty"` // lower-case hex
	DigestText string            `json:"digestText,omitempty"`
	Revision   string            `json:"revision,omitempty"` // under mode latest
	Attributes map[string]string `json:"attributes,omitempty"`
	Indexes    []Index           `json:"indexes,omitempty"`
	ExpiresAt  string            `json:"expiresAt,omitempty"` // absent: never
	Retain     string            `json:"retain,omitempty"`
	Archive    string            `json:"archive,omitempty"` // of what is Expired: its object's name, if it was ever stored
	Item       *Cost             `json:"item,omitempty"`
	Aggregates []Aggregate       `json:"aggregates,omitempty"` // those that its type feeds, by name
}

// Key is where an item lives.
type Key struct {
	PK string `json:"pk"`
	SK string `json:"sk"`
}

// Index is the item's key in an index of its type, or why it is not in it.
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
	EachUnits  int `json:"eachUnits"`  // of the table, and of each index that the item is in
}

// Aggregate is what the item adds to one aggregate, and what that update costs.
type Aggregate struct {
	Name       string `json:"name"`
	Since      int64  `json:"since"`
	NotCounted string `json:"notCounted,omitempty"` // why it adds nothing; the rest is absent then
	PK         string `json:"pk,omitempty"`         // of the total, in bucket 0 if there are several
	SK         string `json:"sk,omitempty"`
	Buckets    int    `json:"buckets,omitempty"` // the item's lane decides between so many; absent: there is one
	ExpiresAt  string `json:"expiresAt,omitempty"`
	Adds       []Add  `json:"adds,omitempty"`
	Marks      int    `json:"marks,omitempty"`      // most that the total carries
	FreshUnits int    `json:"freshUnits,omitempty"` // write units of one update of a new total
	FullUnits  int    `json:"fullUnits,omitempty"`  // of one that carries all its marks
}

// Add is one value's part.
type Add struct {
	Value  string `json:"value"`
	Op     string `json:"op"` // count, sum, min or max
	Amount string `json:"amount"`
}

// Quarantined says that at least one message would be quarantined, or is.
func (r *Report) Quarantined() bool {
	for i := range r.Messages {
		if r.Messages[i].Reason != "" || r.Messages[i].Quarantined != nil {
			return true
		}
	}
	return false
}
