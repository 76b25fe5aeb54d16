package event

// Parts says which items one message yields beside the item of its whole.
type Parts struct {
	Count int // how many there are; stored with the whole
	// Items are the parts as they were planned. It is nil for an item that was read from the table:
	// [github.com/ingot-events/ingot/pipeline.Pipeline.Parts] makes them from it again.
	Items []*Item
	// Atomic says that they are put together with the whole, in one transaction. It is false for an item
	// that was read from the table.
	Atomic bool `json:",omitempty"`
}
