package lanes

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"slices"

	"github.com/ingot-events/ingot/aggregate"
	"github.com/ingot-events/ingot/event"
)

// Contribute completes a contribution of item with its window and its fingerprint term.
func Contribute(d *aggregate.Definition, item *event.Item, by []string, values []aggregate.Amount) aggregate.Contribution {
	return aggregate.Contribution{Def: d, By: by, Window: WindowStart(d, item.At), Values: values, Term: term(d, item.Key, values)}
}

// same reports whether two contributions are equal. Then the change between them does not touch the
// aggregate.
func same(c, other *aggregate.Contribution) bool {
	return c.Term == other.Term && sameTotal(c, other) && slices.EqualFunc(c.Values, other.Values, Equal)
}

// sameTotal reports whether two contributions go to the same total. It ignores buckets.
func sameTotal(c, other *aggregate.Contribution) bool {
	return c.Def == other.Def && c.Window == other.Window && slices.Equal(c.By, other.By)
}

// term returns the first 8 bytes of SHA-256, big-endian, shifted right by 2. The hash is over PK,
// SK, and then each supplied value's name (in byte order) with its text or its decimal text. Every
// part is preceded by its 4-byte length. A term has 62 bits, so that ten billion terms fit into
// DynamoDB's 38 digits.
func term(d *aggregate.Definition, key event.Key, values []aggregate.Amount) int64 {
	text := make([]byte, 0, 160)
	text = appendPart(appendPart(text, key.PK), key.SK)
	for i, v := range values {
		switch {
		case !v.Set:
		case d.Values[i].Op.Textual():
			text = appendPart(appendPart(text, d.Values[i].Name), v.Text)
		default:
			text = appendPart(appendPart(text, d.Values[i].Name), v.Number.String())
		}
	}
	sum := sha256.Sum256(text)
	return int64(binary.BigEndian.Uint64(sum[:8]) >> 2)
}

// appendPart appends s preceded by its length, so that different lists of parts never make the same
// bytes.
func appendPart(dst []byte, s string) []byte {
	dst = binary.BigEndian.AppendUint32(dst, uint32(len(s)))
	return append(dst, s...)
}

// Digest returns the lower-case hex SHA-256 of a definition's text.
func Digest(d *aggregate.Definition) string {
	sum := sha256.Sum256([]byte(d.Text))
	return hex.EncodeToString(sum[:])
}

// Applied is the outcome of a batch of changes.
type Applied struct {
	// Unproven is the lowest sequence number that is not proven counted in every aggregate that it
	// touches. It is zero if all are proven. This change and all later ones must be delivered
	// again. What was counted already will be dropped by its mark or receipt.
	Unproven event.Sequence
	Err      error // the first reason why something is unproven
	Updates  int   // aggregate items written
	Dropped  int   // steps that were counted already
	Refused  int   // updates that the table will never accept; quarantined and flagged
	Large    int   // aggregate items that are large, as they themselves say
}

// Quarantine durably records that an update of an aggregate item is refused for good. It returns
// nil only if that is proven. Then the update counts as processed.
type Quarantine func(ctx context.Context, u *Update, cause error) error
