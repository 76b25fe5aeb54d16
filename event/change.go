package event

import "time"

// ChangeKind says what a stream record did to an item.
type ChangeKind uint8

// The kinds, named as the stream names them.
const (
	Insert ChangeKind = iota + 1
	Modify
	Remove
)

// String is the stream's own word for the kind.
func (k ChangeKind) String() string {
	switch k {
	case Insert:
		return "INSERT"
	case Modify:
		return "MODIFY"
	case Remove:
		return "REMOVE"
	}
	return "UNKNOWN"
}

// Change is one stream record, understood. The table put it into the stream exactly once; Lambda delivers
// it at least once.
type Change struct {
	Kind ChangeKind
	// Expired reports whether a Remove took away an item whose time was over: the expiresAt of Old is at or before
	// Created. Who removed the item does not matter. In a replica of a global table, the stream does not say that
	// time to live did it, and an event that is past its time is never stored again, whoever removes it.
	Expired  bool
	Lane     Lane
	Sequence Sequence
	Created  time.Time // whole seconds, as the stream gives it; UTC
	Key      Key
	// Old and New are the images: Old is nil for an Insert, New for a Remove. An image that is not an
	// item of Ingot's (it has no type) is nil too.
	Old, New *Item
	// Stamp is the highest epoch that one of its images carries; 0 means that none does. It is known of images that
	// cannot be understood, too.
	Stamp int64
	// OldImage is the whole old image of an item that has expired, as canonical JSON of the stream's typed values. It
	// is what is archived. It is empty for every other change.
	OldImage string
}

// Lane is the unit inside which stream order holds: one shard of one stream. ShardID is empty where the
// event source does not tell it (no tumbling window); such a lane carries no order.
type Lane struct {
	StreamARN string
	ShardID   string
}

// Ordered reports whether the shard is known, which Lambda grants only together with
// ParallelizationFactor 1 and so with order.
func (l Lane) Ordered() bool { return l.StreamARN != "" && l.ShardID != "" }
