package pipeline

import (
	"fmt"
	"net/url"

	"github.com/ingot-events/ingot/envelope"
	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/plan/jsonschema"
	"github.com/ingot-events/ingot/keys"
)

// By computes the values of an aggregate's by from an event. A JSON object that holds only the
// fields of by is enough. The values have the form that
// [github.com/ingot-events/ingot/store/query.Reader.Total] takes: after the functions
// (lower, hmac and so on), and not escaped.
//
//	by, err := p.By("customer_recent", envelope.Message{Body: `{"customer_id": "c1", "currency": "EUR"}`})
//	totals, err := st.Total(ctx, "customer_recent", by, from, to)
//
// If the by uses a derived value (@type, @at, @id and so on), the message must be a whole event, as
// [Pipeline.Plan] takes it. By does not check whether the aggregate counts the event: it ignores
// the event's type and where. If there is no such aggregate, the error says so. Otherwise it is an
// [*event.Refusal] that names the missing or wrong field.
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
		// keys.Escape writes percent-encoding, and this reverses it.
		if by[name], err = url.PathUnescape(escaped[i]); err != nil {
			return nil, fmt.Errorf("by: %s: %w", name, err)
		}
	}
	return by, nil
}

// CheckBy returns an error if the aggregate's templates can never make one of these values of by. A
// read with such a value would find nothing. The values have the form that [Pipeline.By] computes.
// The error names the value.
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

// feedOf returns one of the aggregate's feeds. All of them have the same by.
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

// workOn begins the work on an event. It does only as much as the feed's by needs.
func (p *Pipeline) workOn(f *feed, m envelope.Message) (*work, error) {
	opened, err := envelope.Open(m)
	if err != nil {
		return nil, err
	}
	root := opened.Data.Root()
	if root.Kind() != event.Object {
		return nil, event.Poisoned(event.NotAnObject, "the payload is "+jsonschema.KindText(root)+", not an object")
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
