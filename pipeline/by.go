package pipeline

import (
	"fmt"
	"net/url"
	"strings"

	"github.com/ingot-events/ingot/envelope"
	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/keys"
)

// By computes the values of an aggregate's by from an event, or from a JSON object of only the fields that they
// are made of. They are as store.Total takes them: after the functions (lower, hmac and so on) and not escaped.
//
//	by, err := p.By("customer_recent", envelope.Message{Body: `{"customer_id": "c1", "currency": "EUR"}`})
//	totals, err := st.Total(ctx, "customer_recent", by, from, to)
//
// Where the by uses a derived value (@type, @at, @id and so on) the message must be a whole event, as Plan takes it.
// Whether the event is counted there, by its type and by where, is not asked. The error says that there is no such
// aggregate, or is an *event.Refusal that names the missing or wrong field.
func (p *Pipeline) By(aggregate string, m envelope.Message) (map[string]string, error) {
	f, ok := p.feedOf(aggregate)
	if !ok {
		return nil, fmt.Errorf("by: the pipeline has no aggregate %q", aggregate)
	}
	w, err := p.workOn(f, m)
	if err != nil {
		return nil, err
	}
	escaped := make([]string, len(f.by))
	if refusal := w.grouping(f, escaped); refusal != nil {
		return nil, refusal
	}
	by := make(map[string]string, len(f.by))
	for i, name := range f.def.By {
		// What keys.Escape writes is percent-encoding, and this takes it back.
		if by[name], err = url.PathUnescape(escaped[i]); err != nil {
			return nil, fmt.Errorf("by: %s: %w", name, err)
		}
	}
	return by, nil
}

// CheckBy says which of these values of by the aggregate's template never makes, so that a read with it would
// find nothing. Values are as [Pipeline.By] computes them. It returns nil if all of them may be there.
func (p *Pipeline) CheckBy(aggregate string, by map[string]string) error {
	f, ok := p.feedOf(aggregate)
	if !ok {
		return fmt.Errorf("by: the pipeline has no aggregate %q", aggregate)
	}
	for i, name := range f.def.By {
		if err := f.by[i].CheckMade(by[name]); err != nil {
			return fmt.Errorf("%s: %w; Pipeline.By computes it from an event", name, err)
		}
	}
	return nil
}

// feedOf is one of the aggregate's feeds; its by is the same in all of them.
func (p *Pipeline) feedOf(aggregate string) (*feed, bool) {
	for _, name := range p.names {
		for i := range p.types[name].feeds {
			if f := &p.types[name].feeds[i]; f.def.Name == aggregate {
				return f, true
			}
		}
	}
	return nil, false
}

// workOn begins the work on as much of an event as the feed's by needs.
func (p *Pipeline) workOn(f *feed, m envelope.Message) (*work, error) {
	opened, err := envelope.Open(m)
	if err != nil {
		return nil, err
	}
	root := opened.Data.Root()
	if root.Kind() != event.Object {
		return nil, event.Poisoned(event.NotAnObject, "the payload is "+strings.ToLower(root.Kind().String())+", not an object")
	}
	for _, t := range f.by {
		if len(t.Derived()) == 0 {
			continue
		}
		item, refusal := p.plan(&opened.Event)
		if refusal != nil {
			return nil, refusal
		}
		return p.workOf(item, opened.Data), nil
	}
	return newWork(keys.Source{Data: root, Secret: p.secret}), nil
}
