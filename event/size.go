package event

import "github.com/ingot-events/ingot/internal/base/itemform"

// Size returns the item's size in bytes by DynamoDB's rules (developer guide, "DynamoDB item sizes
// and formats"): the UTF-8 length of every attribute name and value. A number takes a byte for
// every two significant digits on each side of the decimal point, and one more. A map takes three
// bytes, and one more for each entry. A write takes one write unit for each started kilobyte.
func (i *Item) Size() int {
	size := len("PK") + len(i.Key.PK) + len("SK") + len(i.Key.SK) +
		len("type") + len(i.Type) + len("id") + len(i.ID) +
		len("at") + len("2006-01-02T15:04:05.000000000Z") + len("digest") + len(i.Digest) +
		len("epoch") + intSize(i.Epoch) + len("data")
	if i.Packed != nil {
		size += len(i.Packed)
	} else {
		size += len(i.Data)
	}
	if i.Payload != nil {
		size += len(itemform.Payload) + len(i.Payload.Sum)
	}
	for _, index := range i.Indexes {
		size += 2*(len(index.Name)+len("PK")) + len(index.Key.PK) + len(index.Key.SK)
	}
	if i.ExpiresAt != 0 {
		size += len("expiresAt") + intSize(i.ExpiresAt)
	}
	if i.Revision != nil {
		size += len("revision") + itemform.NumberSize(i.Revision.String())
	}
	if i.Ties != "" {
		size += len("i:revision") + len(i.Ties)
	}
	if i.Parts != nil {
		size += len("i:parts") + intSize(int64(i.Parts.Count))
	}
	if i.Put != 0 {
		size += len("i:put") + intSize(i.Put)
	}
	if len(i.Meta) > 0 {
		size += len("meta") + 3
		for name, value := range i.Meta {
			size += 1 + len(name) + len(value)
		}
	}
	for _, a := range i.Attributes {
		size += len(a.Name)
		switch a.Kind {
		case NumberAttribute:
			size += itemform.NumberSize(a.Text)
		case BoolAttribute:
			size++
		default:
			size += len(a.Text)
		}
	}
	return size
}

// intSize returns the stored size of an integer.
func intSize(i int64) int {
	size, digits, trailing := 1, 0, 0
	u := uint64(i)
	if i < 0 {
		u, size = -u, 2
	}
	for ; u > 0; u /= 10 {
		digits++
		if digits == trailing+1 && u%10 == 0 {
			trailing++
		}
	}
	return size + (digits-trailing+1)/2
}
