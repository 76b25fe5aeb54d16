package aggregate

import (
	"crypto/sha256"
	"encoding/binary"
	"slices"

	"github.com/ingot-events/ingot/event"
)

// Amount is one value of a contribution or a delta; not Set where the event type does not supply it.
type Amount struct {
	Set    bool
	Number event.Decimal
}

// Contribution is what one event's item adds to one aggregate. It is a pure function of the item.
type Contribution struct {
	Def    *Definition
	By     []string // interpolated and escaped, in Def.By order
	Window int64    // start in epoch seconds, or NoWindow
	Values []Amount // aligned with Def.Values; a count supplies 1
	Term   int64    // its term of the fingerprint: 62 bits, never negative
}

// Contribute completes a contribution of item: its window and its fingerprint term.
func (d *Definition) Contribute(item *event.Item, by []string, values []Amount) Contribution {
	return Contribution{Def: d, By: by, Window: d.WindowStart(item.At), Values: values, Term: d.term(item.Key, values)}
}

// Same reports whether two contributions are equal: the change between them does not touch the aggregate.
func (c *Contribution) Same(other *Contribution) bool {
	return c.Term == other.Term && c.SameTotal(other) && slices.EqualFunc(c.Values, other.Values, func(a, b Amount) bool {
		return a.Set == b.Set && a.Number.Cmp(b.Number) == 0
	})
}

// SameTotal reports whether two contributions go to one total, buckets aside.
func (c *Contribution) SameTotal(other *Contribution) bool {
	return c.Def == other.Def && c.Window == other.Window && slices.Equal(c.By, other.By)
}

// term is the first 8 bytes of SHA-256, big-endian, shifted right by 2, of PK, SK, then each supplied
// value's name (byte order) with its decimal text, every part preceded by its 4-byte length. 62 bits, so
// that ten billion terms fit DynamoDB's 38 digits.
func (d *Definition) term(key event.Key, values []Amount) int64 {
	text := make([]byte, 0, 160)
	text = appendPart(appendPart(text, key.PK), key.SK)
	for i, v := range values {
		if v.Set {
			text = appendPart(appendPart(text, d.Values[i].Name), v.Number.String())
		}
	}
	sum := sha256.Sum256(text)
	return int64(binary.BigEndian.Uint64(sum[:8]) >> 2)
}

// appendPart appends s preceded by its length, so that no two lists of parts make the same bytes.
func appendPart(dst []byte, s string) []byte {
	dst = binary.BigEndian.AppendUint32(dst, uint32(len(s)))
	return append(dst, s...)
}
