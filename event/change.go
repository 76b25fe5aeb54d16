package event

import "time"

// ChangeKind says what a stream record did to an item.
type ChangeKind uint8

// The kinds have the names that the stream uses.
const (
	Insert ChangeKind = iota + 1
	Modify
	Remove
)

// String returns the stream's own word for the kind.
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

// Change is one stream record in decoded form. The table puts it into the stream exactly once.
// Lambda delivers it at least once.
type Change struct {
	Kind ChangeKind
	// Expired reports whether a Remove took away an item that had expired: ExpiresAt of Old is at
	// or before Created. It does not matter who removed the item, because the stream of a global
	// table's replica does not say that time to live did it. An expired event is never stored
	// again, no matter who removed its item.
	Expired  bool
	Lane     Lane
	Sequence Sequence
	Created  time.Time // whole seconds, as the stream gives it; UTC
	Key      Key
	// Old and New are the images of the item before and after the change. Old is nil for an Insert,
	// and New is nil for a Remove. An image is also nil if the item is not Ingot's: such an item
	// has no type.
	Old, New *Item
	// Stamp is the highest epoch in the images, or 0 if none of them has an epoch. It is also known
	// for images that cannot be decoded.
	Stamp int64
	// OldImage is the whole old image of an expired item, as canonical JSON of the stream's typed
	// values. This text is archived. It is empty for every other change.
	OldImage string
}

// Lane is one shard of one stream. Changes keep their order only inside a lane. ShardID is empty if
// the event source does not send it, because it has no tumbling window. Such a lane has no order.
// Lambda sends the shard only together with ParallelizationFactor 1, and therefore with order.
type Lane struct {
	StreamARN string
	ShardID   string
}
