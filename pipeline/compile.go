package pipeline

import (
	"cmp"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"

	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/keys"
)

// compiler checks a Spec and builds the Pipeline, going on after every mistake. What it builds from a part
// with a mistake is never used.
type compiler struct {
	*report
	spec *Spec
	p    *Pipeline
}

func compile(spec *Spec, r *report, opts []Option) (*Pipeline, error) {
	var o options
	for _, apply := range opts {
		apply(&o)
	}
	c := &compiler{report: r, spec: spec, p: &Pipeline{epoch: spec.Epoch, secret: o.secret, types: map[string]*eventType{}}}
	if spec.Ingot != Format {
		// Another format may mean anything by the rest: nothing else is reported, nor was it decoded.
		c.mistake(place("ingot"), fmt.Sprintf("ingot: %d is not a file format that this build reads: it reads %d", spec.Ingot, Format), fmt.Sprintf("ingot: %d", Format))
		if !c.isBroken("ingot") {
			return nil, c.mistakes.sorted()
		}
	}
	c.file()
	if len(c.mistakes) > 0 {
		return nil, c.mistakes.sorted()
	}
	c.p.warnings = c.warnings.sorted()
	if c.p.Ready() != nil && !o.checkOnly {
		return nil, ErrNoSecret
	}
	return c.p, nil
}

// file compiles the parts in the order in which they need each other.
func (c *compiler) file() {
	if c.spec.Epoch < 1 || c.spec.Epoch > event.MaxEpoch {
		c.mistake("epoch", fmt.Sprintf("epoch is %d", c.spec.Epoch), rangeText(1, event.MaxEpoch))
		c.broken["epoch"] = true
	}
	if c.spec.Type != "" {
		c.typeTemplate()
	}
	if len(c.spec.Events) == 0 {
		c.mistake("events", "no event type is declared", "events: {order.placed: "+anEvent+"}")
	}
	for _, name := range slices.Sorted(maps.Keys(c.spec.Events)) {
		c.p.names = append(c.p.names, name)
		c.p.types[name] = c.eventType(name, c.spec.Events[name])
	}
	c.countAggregates()
	for _, name := range slices.Sorted(maps.Keys(c.spec.Aggregates)) {
		c.aggregate(name, c.spec.Aggregates[name])
	}
	for _, name := range c.p.names {
		c.finish(c.p.types[name])
	}
	c.sharedKeys()
	slices.SortFunc(c.p.indexes, func(a, b string) int {
		return cmp.Or(cmp.Compare(len(a), len(b)), strings.Compare(a, b))
	})
}

// typeTemplate compiles `type`. A constant must be one of the event types.
func (c *compiler) typeTemplate() {
	t := c.template("type", c.spec.Type, "attribute.")
	if t == nil {
		return
	}
	c.p.typ = t
	c.p.usesHMAC = t.UsesHMAC()
	if _, ok := c.spec.Events[t.Text()]; t.Constant() && !ok && !c.isBroken("events") {
		c.mistake("type", "there is no event type "+t.Text(), c.typeInstead(t.Text()))
	}
}

// typeInstead is what to write for a constant that is no event type: most likely a field without its braces.
func (c *compiler) typeInstead(text string) string {
	names := c.goodNames()
	if best := nearest(text, names); best != "" {
		return best
	}
	if _, err := event.ParsePath(text); err == nil && !strings.ContainsAny(text, ".[") {
		return `"{` + text + `}"`
	}
	return cmp.Or(suggest(text, names), "the name of an event type")
}

// goodNames are the event types that can be called so: another is a mistake itself, and no advice. Sorted.
func (c *compiler) goodNames() []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(c.spec.Events)), func(name string) bool { return badTypeName(name) != "" })
}

// finish works out what depends on everything that an event type feeds.
func (c *compiler) finish(t *eventType) {
	meta := map[string]metaName{}
	for tpl := range t.templates() {
		c.p.usesHMAC = c.p.usesHMAC || tpl.UsesHMAC()
		for _, d := range tpl.Derived() {
			switch name, isAttribute := strings.CutPrefix(d, "@attribute."); {
			case isAttribute:
				meta["attribute."+name] = metaName{"attribute." + name, name}
			case d == "@source":
				meta["source"] = metaName{stored: "source"}
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(meta)) {
		t.meta = append(t.meta, meta[name])
	}
}

// templates lists every template that t's items are made with, and that its aggregates are grouped by.
func (t *eventType) templates() iter.Seq[*keys.Template] {
	all := []*keys.Template{t.id, t.at, t.pk, t.sk}
	for _, i := range t.indexes {
		all = append(all, i.pk, i.sk)
	}
	for _, f := range t.feeds {
		all = append(all, f.by...)
	}
	return func(yield func(*keys.Template) bool) {
		for _, tpl := range all {
			if tpl != nil && !yield(tpl) {
				return
			}
		}
	}
}

// template compiles the template at p, which may use the payload's fields and the derived values named
// ("attribute." stands for all of them). It is nil if there is a mistake.
func (c *compiler) template(p place, text string, derived ...string) *keys.Template {
	if text == "" {
		c.mistake(p, nameOf(p)+" is empty", `a template, or a constant such as "ORDER"`)
		return nil
	}
	t, err := keys.ParseTemplate(text)
	if err != nil {
		c.badTemplate(p, text, err)
		return nil
	}
	ok := true
	for _, d := range t.Derived() {
		if !slices.ContainsFunc(derived, func(allowed string) bool {
			return d == "@"+allowed || strings.HasSuffix(allowed, ".") && strings.HasPrefix(d, "@"+allowed)
		}) {
			c.mistakeAt(p, text, strings.Index(text, d), fmt.Sprintf("%s cannot use %s", nameOf(p), d), "a field of the payload, such as {order_id},")
			ok = false
		}
	}
	if err := t.CheckSeparated(); err != nil {
		c.badTemplate(p, text, err)
		ok = false
	}
	if !ok {
		return nil
	}
	return t
}

func (c *compiler) badTemplate(p place, text string, err error) {
	var bad *keys.TemplateError
	if errors.As(err, &bad) {
		c.mistakeAt(p, text, bad.Offset, bad.What, cmp.Or(bad.Instead, "a template such as "+aTemplate))
		return
	}
	c.mistake(p, err.Error(), "a template such as "+aTemplate)
}

const (
	aTemplate = `"ORDER#{order_id}"`
	aPath     = "a path such as customer.city or items[0].sku"
)

// path compiles the path at p. ok is false if there is a mistake.
func (c *compiler) path(p place, text string) (path event.Path, ok bool) {
	path, err := event.ParsePath(text)
	if err != nil {
		c.mistake(p, err.Error(), aPath)
	}
	return path, err == nil
}
