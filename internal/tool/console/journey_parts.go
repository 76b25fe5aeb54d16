package console

import (
	"context"
	"fmt"

	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/tool/show"
	"github.com/ingot-events/ingot/pipeline"
)

// maxPartsShown is how many parts of an event the journey asks for.
const maxPartsShown = 20

// partsStep returns the step that says which parts the item has and whether they are stored. whole
// is the planned item or the stored one. The step is nil if the type of the item has no parts.
func (t *Resources) partsStep(ctx context.Context, p *pipeline.Pipeline, whole *event.Item) (*Step, error) {
	var parts []*event.Item
	s := &Step{Name: "parts", Title: "Parts", State: stateDone,
		Table: &FactTable{Head: []string{"part", "partition key", "sort key", "state"}}}
	if whole.Parts != nil {
		parts = whole.Parts.Items
	}
	if len(parts) == 0 { // a stored whole says only how many there are
		var err error
		if parts, err = p.Parts(whole); err != nil {
			s.State, s.Table = stateRefused, nil
			s.add("", "They cannot be made of the stored item: "+t.personal().Detail("", err.Error()))
			return s, nil
		}
	}
	if len(parts) == 0 {
		return nil, nil
	}
	for i, part := range parts {
		if i == maxPartsShown {
			s.add("", fmt.Sprintf("There are %s. The first %d are shown.", show.Count(len(parts), "part"), maxPartsShown))
			break
		}
		state, err := t.partState(ctx, part)
		if err != nil {
			return nil, err
		}
		if state != "stored" {
			s.State = stateNone
		}
		s.Table.row(t.personal().Item(*part), part.Key, state)
	}
	return s, nil
}

func (t *Resources) partState(ctx context.Context, part *event.Item) (string, error) {
	stored, err := t.readStored(ctx, part.Key)
	switch {
	case err != nil:
		return "", err
	case stored == nil:
		return "not stored", nil
	case stored.barred:
		return "erased", nil
	case stored.item == nil || stored.item.Digest != part.Digest:
		return "another item has its key", nil
	}
	return "stored", nil
}

// wholeStep returns the step that says which event the item is a part of. The step is nil if the
// item is not a part.
func (t *Resources) wholeStep(ctx context.Context, p *pipeline.Pipeline, part *event.Item) (*Step, error) {
	spec := p.Describe().Spec
	of := spec.Events[part.Type].Part
	if of.Of == "" {
		return nil, nil
	}
	s := &Step{Name: "whole", Title: "Whole", State: stateUnknown}
	whole := p.WholeOf(part)
	if whole == nil {
		s.add("", "It is a part of an event of type "+of.Of+". It does not hold all fields of that event's key.")
		return s, nil
	}
	key := whole.Key
	stored, err := t.readStored(ctx, key)
	if err != nil {
		return nil, err
	}
	s.State = stateNone
	s.Table = &FactTable{Head: []string{"whole", "partition key", "sort key", "state"}}
	state, shown := "not stored", event.Item{Type: of.Of, Key: key}
	if stored != nil && stored.item != nil {
		s.State, state, shown = stateDone, "stored", t.personal().Item(*stored.item)
	} else if !t.personal().None() {
		shown.Key = event.Key{PK: show.Mask, SK: show.Mask}
	}
	s.Table.row(shown, key, state)
	return s, nil
}

// row adds an item to the table. Its key is a link unless it is personal.
func (f *FactTable) row(shown event.Item, key event.Key, state string) {
	follow := [2]string{}
	if shown.Key == key {
		follow = [2]string{key.PK, key.SK}
	}
	f.Rows, f.Keys = append(f.Rows, []string{shown.Type, shown.Key.PK, shown.Key.SK, state}), append(f.Keys, follow)
}
