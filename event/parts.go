package event

// Parts says which items one message yields in addition to the item of the whole.
type Parts struct {
	Count int // the number of parts; it is stored with the whole
	// Items are the parts as they were planned. It is nil for an item that was read from the table.
	// [github.com/ingot-events/ingot/pipeline.Pipeline.Parts] plans the parts of such an item
	// again.
	Items []*Item
	// Atomic says that the parts and the whole are put in one transaction. It is false for an item
	// that was read from the table.
	Atomic bool `json:",omitempty"`
}

// All returns the item and its parts, as far as they are planned.
func (i *Item) All() []*Item {
	all := []*Item{i}
	if i.Parts != nil {
		all = append(all, i.Parts.Items...)
	}
	return all
}
