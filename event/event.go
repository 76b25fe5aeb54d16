package event

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"strings"
	"time"
)

// Event is one fact from one message: what an envelope says about it, and its payload. Fields that
// the envelope does not have are zero. The templates of the pipeline fill them.
type Event struct {
	Type   string    // the envelope's own type; empty for a bare payload
	ID     string    // the envelope's id (CloudEvents: source and id, EventBridge: id); empty if it has none
	Source string    // the envelope's source; empty if it has none
	At     time.Time // the envelope's time in UTC; zero if it has none
	BadAt  *Refusal  // why that could not be read; nil: it could, or there is none
	// Attributes are what templates use as @attribute.NAME: the message's own attributes and, for
	// CloudEvents, its extension attributes.
	Attributes map[string]string
	Data       Document // the payload
}

// MaxPK and MaxSK are DynamoDB's limits for keys, in bytes of UTF-8 (developer guide,
// "Constraints").
const (
	MaxPK = 2048
	MaxSK = 1024
)

// Key says where an item is stored: its partition key and sort key. It depends only on the event,
// never on the message that brought it or on the time it arrived.
type Key struct {
	PK, SK string
}

// IsZero reports whether k is the zero Key.
func (k Key) IsZero() bool { return k == Key{} }

// String returns "PK / SK", for people.
func (k Key) String() string { return k.PK + " / " + k.SK }

// Compare orders keys by partition key, then by sort key, as byte strings.
func (k Key) Compare(other Key) int {
	if c := strings.Compare(k.PK, other.PK); c != 0 {
		return c
	}
	return strings.Compare(k.SK, other.SK)
}

// Hash returns the SHA-256 of PK and SK in lower-case hex. Each of the two is preceded by its
// length in four bytes, big-endian. It names the archive objects of an item, and replaces a key
// that a log must not show.
func (k Key) Hash() string {
	h := sha256.New()
	for _, part := range [...]string{k.PK, k.SK} {
		h.Write(binary.BigEndian.AppendUint32(nil, uint32(len(part))))
		h.Write([]byte(part))
	}
	return hex.EncodeToString(h.Sum(nil))
}

// Digest is the SHA-256 of an event's type and canonical payload. Two events with one key and
// different digests are a conflict, never a duplicate.
type Digest [32]byte

// IsZero reports whether d is the zero value, which no event has.
func (d Digest) IsZero() bool { return d == Digest{} }

// String returns the digest in lower-case hex.
func (d Digest) String() string { return hex.EncodeToString(d[:]) }
