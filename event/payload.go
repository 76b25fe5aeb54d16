package event

// Payload is a payload that is not in its item, but in an object of the payload bucket.
type Payload struct {
	// Sum is the SHA-256 of the payload's bytes. It is stored with the item, and is in the name of
	// the object.
	Sum [32]byte
	// Text is the payload's JSON text as it was received. It is empty for an item that was read
	// from the table, because only the object has the text.
	Text string `json:"-"`
}

// Text returns the JSON text of the whole payload as it was received. It is empty for an item that
// was read from the table and whose payload is in the payload bucket.
func (i *Item) Text() string {
	if i.Payload != nil {
		return i.Payload.Text
	}
	return i.Data
}
