package planner

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ingot-events/ingot/aggregate"
	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/plan/lanes"
	"github.com/ingot-events/ingot/keys"
)

// Contributions computes what item adds, with the same code that [Planner.Plan] uses.
func (p *Planner) Contributions(item *event.Item) aggregate.Contributions {
	var c aggregate.Contributions
	t, ok := p.Types[item.Type]
	if !ok || len(t.Feeds) == 0 {
		return c
	}
	doc, err := event.ParseDocument(item.Data)
	w := p.workOf(item, doc)
	for i := range t.Feeds {
		f := &t.Feeds[i]
		switch {
		case f.Def.Since > item.Epoch:
			c.Behind = append(c.Behind, f.Def)
		case err != nil:
			c.Failed = append(c.Failed, aggregate.Failure{Def: f.Def, Err: event.Poisoned(event.Undecodable, "data: "+err.Error())})
		default:
			w.contribute(&c, f, item)
		}
	}
	return c
}

// workOf begins the work on a stored item.
func (p *Planner) workOf(item *event.Item, doc event.Document) *work {
	return newWork(keys.Source{
		Data: doc.Root(), Type: item.Type, ID: item.ID, Source: item.Meta["source"], At: item.At, HasAt: true,
		Digest: item.Digest, Attributes: attributesOf(item.Meta), Secret: p.Secret,
	})
}

func (w *work) contribute(c *aggregate.Contributions, f *Feed, item *event.Item) {
	if !f.applies(w.source.Data) {
		return
	}
	by, values := make([]string, len(f.By)), make([]aggregate.Amount, len(f.Values))
	refusal := w.grouping(f, by)
	if refusal == nil {
		refusal = w.amounts(f, values, item)
	}
	if refusal != nil {
		c.Failed = append(c.Failed, aggregate.Failure{Def: f.Def, Err: refusal})
		return
	}
	c.List = append(c.List, lanes.Contribute(f.Def, item, by, values))
}

// attributesOf returns the part of meta that templates read as @attribute.NAME.
func attributesOf(meta map[string]string) map[string]string {
	var attributes map[string]string
	for stored, text := range meta {
		if name, ok := strings.CutPrefix(stored, "attribute."); ok {
			if attributes == nil {
				attributes = make(map[string]string, len(meta))
			}
			attributes[name] = text
		}
	}
	return attributes
}

// applies reports whether the feed's condition holds.
func (f *Feed) applies(root event.Node) bool { return f.Where.Holds(root) }

// grouping computes the values of by into by. If by is nil, it only checks that they can be
// computed.
func (w *work) grouping(f *Feed, by []string) *event.Refusal {
	w.text = w.text[:0]
	listed := f.Listed
	for i, t := range f.By {
		start := len(w.text)
		text, err := t.Append(w.text, &w.source)
		if err != nil {
			return refuse("aggregate "+f.Def.Name+", by "+f.Def.By[i], err)
		}
		w.text = text
		if by != nil {
			by[i] = string(text[start:])
		}
		if f.Listed > 0 && slices.Contains(f.Def.Rank.Within, f.Def.By[i]) {
			listed += len("#") + len(text) - start
		}
	}
	if size := f.Fixed + len(f.By) + len(w.text); size > event.MaxPK {
		return event.Poisoned(event.KeyTooLong, fmt.Sprintf("aggregate %s: its key takes %d bytes, and DynamoDB allows %d%s", f.Def.Name,
			size, event.MaxPK, shorter))
	}
	if listed > event.MaxPK {
		return event.Poisoned(event.KeyTooLong, fmt.Sprintf("aggregate %s: its key in the index of ranks takes %d bytes, and DynamoDB "+
			"allows %d%s", f.Def.Name, listed, event.MaxPK, shorter))
	}
	return nil
}

// amounts computes what item supplies into values. If values is nil, it only checks that they can
// be computed.
func (w *work) amounts(f *Feed, values []aggregate.Amount, item *event.Item) *event.Refusal {
	for i := range f.Values {
		amount, refusal := f.Values[i].Amount(w.source.Data)
		if refusal != nil {
			refusal.Detail = "aggregate " + f.Def.Name + ", value " + f.Def.Values[i].Name + ": " + refusal.Detail
			return refusal
		}
		if values != nil {
			values[i] = f.Values[i].Dated(amount, item)
		}
	}
	return nil
}

// Redigest computes the digest of a stored payload under today's ignore.
func (p *Planner) Redigest(typ, data string) (event.Digest, error) {
	t, doc, err := p.payload(typ, data)
	if err != nil {
		return event.Digest{}, err
	}
	if t.Part != nil {
		return event.Digest{}, fmt.Errorf("%s is a part, and its digest is about its whole too", typ)
	}
	return keys.Digest(typ, doc.Root(), t.Ignore, t.Folds...), nil
}

// DigestText returns the text that the digest of a stored payload hashes, under today's ignore.
func (p *Planner) DigestText(typ, data string) (string, error) {
	t, doc, err := p.payload(typ, data)
	if err != nil {
		return "", err
	}
	return string(keys.DigestText(nil, t.Name, doc.Root(), t.Ignore, t.Folds...)), nil
}

// payload reads a stored payload of an event type.
func (p *Planner) payload(typ, data string) (*Type, event.Document, error) {
	t, ok := p.Types[typ]
	if !ok {
		return nil, event.Document{}, p.unknownType(typ)
	}
	doc, err := event.ParseDocument(data)
	if err != nil {
		return nil, doc, event.Poisoned(event.Undecodable, "data: "+err.Error())
	}
	if doc.Root().Kind() != event.Object {
		return nil, doc, event.Poisoned(event.NotAnObject, "data is not an object")
	}
	return t, doc, nil
}
