package lanes

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"time"

	"github.com/ingot-events/ingot/event"
)

// LaneID is the short name of a lane inside aggregate items. It is the first 12 bytes of
// SHA-256(stream ARN, 0, shard id). It has 96 bits because a collision would silently drop changes.
type LaneID [12]byte

// LaneIDOf returns the short name of a lane.
func LaneIDOf(lane event.Lane) LaneID {
	sum := sha256.Sum256([]byte(lane.StreamARN + "\x00" + lane.ShardID))
	return LaneID(sum[:12])
}

// String returns unpadded base64url of 16 characters.
func (l LaneID) String() string { return base64.RawURLEncoding.EncodeToString(l[:]) }

// MarkAttribute returns the name of the attribute of an aggregate item that holds the lane's mark.
func (l LaneID) MarkAttribute() string { return MarkPrefix + l.String() }

// MarkPrefix begins the name of every mark's attribute.
const MarkPrefix = "m:"

// Bucket returns the write shard, below spread, that the lane's changes go to under marks. All
// changes of a lane go to one bucket, so that its mark there covers them.
func (l LaneID) Bucket(spread int) int {
	return int(binary.BigEndian.Uint64(l[:8]) % uint64(spread))
}

// ItemBucket returns the write shard, below spread, of an item's changes under receipts. It is
// computed from the first 8 bytes of SHA-256 of PK and SK, each preceded by its 4-byte length.
func ItemBucket(key event.Key, spread int) int {
	sum := sha256.Sum256(appendPart(appendPart(nil, key.PK), key.SK))
	return int(binary.BigEndian.Uint64(sum[:8]) % uint64(spread))
}

// sequenceBytes is the width of [event.Sequence.Bytes].
const sequenceBytes = 17

// Mark is the high-water mark of a lane in one aggregate item. It holds the last sequence number
// that was folded in, as a 17-byte big-endian integer, and then the record's creation second as 4
// bytes. Byte order is number order.
type Mark [sequenceBytes + 4]byte

// MarkAt returns the mark of a record.
func MarkAt(sequence event.Sequence, created time.Time) Mark {
	var m Mark
	number := sequence.Bytes()
	copy(m[:], number[:])
	binary.BigEndian.PutUint32(m[sequenceBytes:], uint32(created.Unix()))
	return m
}

// ParseMark reads the bytes of a stored mark.
func ParseMark(b []byte) (Mark, error) {
	if len(b) != len(Mark{}) {
		return Mark{}, fmt.Errorf("mark of %d bytes, not %d", len(b), len(Mark{}))
	}
	return Mark(b), nil
}

// Covers reports whether the record with this sequence number is folded in.
func (m Mark) Covers(sequence event.Sequence) bool {
	number := sequence.Bytes()
	return string(number[:]) <= string(m[:sequenceBytes])
}

// Created returns the creation second of the record that the mark stands at.
func (m Mark) Created() time.Time {
	return time.Unix(int64(binary.BigEndian.Uint32(m[sequenceBytes:])), 0).UTC()
}

// PruneAfter is how long a mark outlives the last record of its lane. A stream keeps records for 24
// h and may list finished shards again for 48 h. If a mark were pruned earlier, a replay could
// count twice.
const PruneAfter = 72 * time.Hour

// Prunable reports whether the mark may be removed. It compares with first, the creation time of
// the first record of a later batch. This is the stream's time, never the clock of the machine that
// runs this code.
func (m Mark) Prunable(first time.Time) bool { return first.Sub(m.Created()) > PruneAfter }

// GivenUpKey returns where an operator says that one stream record is to be given up: X#, the lane,
// # and the sequence number as the stream writes it.
func GivenUpKey(lane event.Lane, sequence event.Sequence) event.Key {
	return event.Key{PK: "X#" + LaneIDOf(lane).String() + "#" + sequence.String(), SK: "-"}
}

// ReceiptKey returns where the receipt of one change is stored: R# and the hex SHA-256 of stream
// ARN, PK, SK and sequence number, each preceded by its 4-byte length.
func ReceiptKey(streamARN string, key event.Key, sequence event.Sequence) event.Key {
	text := appendPart(appendPart(appendPart(appendPart(nil, streamARN), key.PK), key.SK), sequence.String())
	sum := sha256.Sum256(text)
	return event.Key{PK: "R#" + hex.EncodeToString(sum[:]), SK: "-"}
}
