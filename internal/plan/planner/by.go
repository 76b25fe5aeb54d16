package planner

import (
	"fmt"
	"net/url"
	"slices"

	"github.com/ingot-events/ingot/envelope"
	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/plan/jsonschema"
	"github.com/ingot-events/ingot/keys"
)

// By computes the values of an aggregate's by from an event: those with these names, or all of them
// if there are no names.
func (p *Planner) By(aggregate string, m envelope.Message, names []string) (map[string]string, error) {
	f, ok := p.FeedOf(aggregate)
	if !ok {
		return nil, fmt.Errorf("by: the pipeline has no aggregate %q", aggregate)
	}
	f = f.only(names)
	w, err := p.workOn(f, m)
	if err != nil {
		return nil, err
	}
	escaped := make([]string, len(f.By))
	if refusal := w.grouping(f, escaped); refusal != nil {
		return nil, refusal
	}
	by := make(map[string]string, len(f.By))
	for i, name := range f.Def.By {
		// keys.Escape writes percent-encoding, and this reverses it.
		if by[name], err = url.PathUnescape(escaped[i]); err != nil {
			return nil, fmt.Errorf("by: %s: %w", name, err)
		}
	}
	return by, nil
}

// only returns a feed that groups by these names alone. Without names, it is the feed itself.
func (f *Feed) only(names []string) *Feed {
	if len(names) == 0 {
		return f
	}
	def, fewer := *f.Def, *f
	def.By, fewer.By, fewer.Def = nil, nil, &def
	for i, name := range f.Def.By {
		if slices.Contains(names, name) {
			def.By, fewer.By = append(def.By, name), append(fewer.By, f.By[i])
		}
	}
	return &fewer
}

// CheckBy returns an error if the aggregate's templates can never make one of these values of by.
func (p *Planner) CheckBy(aggregate string, by map[string]string) error {
	f, ok := p.FeedOf(aggregate)
	if !ok {
		return fmt.Errorf("by: the pipeline has no aggregate %q", aggregate)
	}
	for i, name := range f.Def.By {
		value, given := by[name]
		if !given {
			continue
		}
		if err := f.By[i].CheckMade(value); err != nil {
			return fmt.Errorf("%s: %w; Pipeline.By computes it from an event", name, err)
		}
	}
	return nil
}

// FeedOf returns one of the aggregate's feeds. All of them have the same by.
func (p *Planner) FeedOf(aggregate string) (*Feed, bool) {
	for _, name := range p.Names {
		for i := range p.Types[name].Feeds {
			if f := &p.Types[name].Feeds[i]; f.Def.Name == aggregate {
				return f, true
			}
		}
	}
	return nil, false
}

// workOn begins the work on an event. It does only as much as the feed's by needs.
func (p *Planner) workOn(f *Feed, m envelope.Message) (*work, error) {
	opened, err := envelope.Open(m)
	if err != nil {
		return nil, err
	}
	root := opened.Data.Root()
	if root.Kind() != event.Object {
		return nil, event.Poisoned(event.NotAnObject, "the payload is "+jsonschema.KindText(root)+", not an object")
	}
	for _, t := range f.By {
		if len(t.Derived()) == 0 {
			continue
		}
		item, refusal := p.plan(&opened.Event)
		if refusal != nil {
			return nil, refusal
		}
		return p.workOf(item, opened.Data), nil
	}
	return newWork(keys.Source{Data: root, Secret: p.Secret}), nil
}
