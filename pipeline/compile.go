package pipeline

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/base/nearest"
	"github.com/ingot-events/ingot/internal/plan/declare"
	"github.com/ingot-events/ingot/internal/plan/lifetime"
	"github.com/ingot-events/ingot/internal/plan/packed"
	"github.com/ingot-events/ingot/internal/plan/planner"
	"github.com/ingot-events/ingot/internal/plan/where"
	"github.com/ingot-events/ingot/keys"
)

// compiler checks a Spec and builds the Pipeline. It continues after every mistake. What it builds
// from a part with a mistake is never used.
type compiler struct {
	*report
	spec *Spec
	p    *Pipeline
}

// compile compiles what a file declares. more compiles what the functions do not need (see
// forPeople). The functions pass nil, so the linker leaves that code out.
func compile(spec *Spec, r *report, more func(*compiler), opts []Option) (*Pipeline, error) {
	var o options
	for _, apply := range opts {
		apply(&o)
	}
	c := &compiler{report: r, spec: spec, p: &Pipeline{plan: &planner.Planner{Epoch: spec.Epoch, Secret: o.secret,
		Types: map[string]*planner.Type{}}}}
	if spec.Ingot != Format {
		// In another format, the rest of the file may mean anything. So nothing else is decoded or
		// reported.
		c.Mistake(place("ingot"), fmt.Sprintf("ingot: %d is not a file format that this build reads: it reads %d", spec.Ingot, Format),
			fmt.Sprintf("ingot: %d", Format))
		if !c.IsBroken("ingot") {
			return nil, mistakes(c.Mistakes)
		}
	}
	c.file()
	if more != nil {
		more(c)
	}
	if len(c.Mistakes) > 0 {
		return nil, mistakes(c.Mistakes)
	}
	if c.p.Ready() != nil && !o.checkOnly {
		return nil, ErrNoSecret
	}
	if n := len(c.p.plan.Secret); n > 0 && n < MinSecret && c.p.usesLabel {
		return nil, ErrShortSecret
	}
	return c.p, nil
}

// forPeople compiles what the tool and tests ask for: the schemas, the patterns, and the warnings
// of a file that has no mistakes.
func (c *compiler) forPeople() {
	c.forPlanning()
	c.patterns()
	c.comparisons()
	if len(c.Mistakes) == 0 {
		c.p.warnings = doubtsOf(c)
	}
}

// forPlanning compiles what only planning needs, and the streams function does not.
func (c *compiler) forPlanning() {
	c.schemas()
	for _, name := range c.p.plan.Names {
		c.requires(c.p.plan.Types[name])
	}
	for _, t := range c.p.plan.Types {
		if t.Compress {
			t.Pack = packed.Pack
		}
	}
}

// file compiles the parts, in the order in which they need each other.
func (c *compiler) file() {
	if c.spec.Epoch < 1 || c.spec.Epoch > event.MaxEpoch {
		c.Mistake("epoch", fmt.Sprintf("epoch is %d", c.spec.Epoch), declare.RangeText(1, event.MaxEpoch))
		c.Broken["epoch"] = true
	}
	if c.spec.Type != "" {
		c.typeTemplates()
	}
	c.batches()
	c.drop()
	if len(c.spec.Events) == 0 {
		c.Mistake("events", "no event type is declared", "events: {order.placed: "+anEvent+"}")
	}
	for _, name := range slices.Sorted(maps.Keys(c.spec.Events)) {
		c.p.plan.Names = append(c.p.plan.Names, name)
		c.p.plan.Types[name] = c.eventType(name, c.spec.Events[name])
	}
	for _, name := range c.p.plan.Names {
		c.part(c.p.plan.Types[name])
		c.migration(place("events").In(name), c.p.plan.Types[name])
	}
	c.countAggregates()
	for _, name := range slices.Sorted(maps.Keys(c.spec.Aggregates)) {
		c.aggregate(name, c.spec.Aggregates[name])
	}
	for _, name := range c.p.plan.Names {
		c.finish(c.p.plan.Types[name])
	}
	slices.SortFunc(c.p.indexes, func(a, b string) int {
		return cmp.Or(cmp.Compare(len(a), len(b)), strings.Compare(a, b))
	})
}

// typeTemplates compiles `type`. Its text is not a key: it is only compared with the names of the
// event types. So its variables need nothing between them.
func (c *compiler) typeTemplates() {
	for p, text := range c.Entries("type", c.spec.Type) {
		t, ok := c.parseTemplate(p, text, "attribute.", "type")
		if !ok {
			continue
		}
		c.makesAType(p, t)
		c.canWin(p, t)
		c.p.plan.TypeFrom = append(c.p.plan.TypeFrom, t)
		c.p.plan.TypeFirst = c.p.plan.TypeFirst || slices.Contains(t.Derived(), "@type")
		c.p.usesHMAC, c.p.usesLabel = c.p.usesHMAC || t.UsesHMAC(), c.p.usesLabel || t.UsesLabel()
	}
}

// canWin refuses an entry of `type` that never decides, because an earlier entry needs no field
// that this one does not need.
func (c *compiler) canWin(p place, t *keys.Template) {
	_, own := planner.Lossless(t)
	for i, earlier := range c.p.plan.TypeFrom {
		_, needed := planner.Lossless(earlier)
		if slices.ContainsFunc(slices.Collect(maps.Keys(needed)), func(v string) bool { return !own[v] }) {
			continue
		}
		instead := fmt.Sprintf("it before type[%d]", i)
		if len(needed) == len(own) {
			instead = "one of the two"
		}
		c.Mistake(p, fmt.Sprintf("%s never decides: type[%d] is tried before it and needs no other field", declare.NameOf(p), i), instead)
		return
	}
}

// makesAType refuses a template that cannot make the name of any event type.
func (c *compiler) makesAType(p place, t *keys.Template) {
	switch _, ok := c.spec.Events[t.Text()]; {
	case ok || c.IsBroken("events"):
	case t.Constant():
		c.Mistake(p, "there is no event type "+t.Text(), c.typeInstead(t.Text()))
	case len(c.spec.Events) > 0 && !slices.ContainsFunc(c.goodNames(), func(name string) bool { return t.CanMake(name) }):
		c.Mistake(p, "type can never be one of the declared event types, whatever an event says", c.typesInstead())
	}
}

// typeInstead returns what to write for a constant that is not an event type. Most likely it is a
// field without its braces.
func (c *compiler) typeInstead(text string) string {
	names := c.goodNames()
	if best := nearest.Name(text, names); best != "" {
		return best
	}
	_, err := event.ParsePath(text)
	entries := strings.Split(c.spec.Type, "\n")
	if err == nil && !strings.ContainsAny(text, ".[") && !slices.Contains(entries, "{"+text+"}") {
		return `"{` + text + `}"`
	}
	return cmp.Or(declare.Suggest(text, names), "the name of an event type")
}

// typesInstead returns what to write for a template that cannot make the name of any event type.
func (c *compiler) typesInstead() string {
	return `a field that holds ` + cmp.Or(oneOrMore(c.goodNames()), "the name of an event type") + `, such as "{type}"`
}

// oneOrMore lists names for people: a, b or c.
func oneOrMore(names []string) string {
	if len(names) > 3 {
		names = append(slices.Clone(names[:3]), "another")
	}
	if len(names) < 2 {
		return strings.Join(names, "")
	}
	return strings.Join(names[:len(names)-1], ", ") + " or " + names[len(names)-1]
}

// goodNames returns the names of event types that are valid, sorted. An invalid name is a mistake
// itself, so it is not suggested.
func (c *compiler) goodNames() []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(c.spec.Events)), func(name string) bool { return badTypeName(name) != "" })
}

// finish works out what depends on everything that an event type feeds.
func (c *compiler) finish(t *planner.Type) {
	t.Kept = sync.OnceValue(func() *planner.Kept { return c.p.keptOf(t) })
	meta := map[string]planner.Meta{}
	for tpl := range t.Templates() {
		c.p.usesHMAC, c.p.usesLabel = c.p.usesHMAC || tpl.UsesHMAC(), c.p.usesLabel || tpl.UsesLabel()
		for _, d := range tpl.Derived() {
			switch name, isAttribute := strings.CutPrefix(d, "@attribute."); {
			case isAttribute:
				meta["attribute."+name] = planner.Meta{Stored: "attribute." + name, Attribute: name}
			case d == "@source":
				meta["source"] = planner.Meta{Stored: "source"}
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(meta)) {
		t.Meta = append(t.Meta, meta[name])
	}
}

// template compiles the template at p. The template may use the payload's fields and the named
// derived values ("attribute." stands for all attributes). Its variables must be kept apart.
// template returns nil if there is a mistake.
func (c *compiler) template(p place, text string, derived ...string) *keys.Template {
	t, ok := c.parseTemplate(p, text, derived...)
	if t == nil {
		return nil
	}
	if err := t.CheckSeparated(); err != nil {
		c.badTemplate(p, text, err)
		return nil
	}
	if !ok {
		return nil
	}
	return t
}

// parseTemplate does what template does, for a text whose variables may follow each other. If it
// returns a template and ok is false, the template could be parsed, but it has a mistake that was
// reported.
func (c *compiler) parseTemplate(p place, text string, derived ...string) (t *keys.Template, ok bool) {
	if text == "" {
		c.Mistake(p, declare.NameOf(p)+" is empty", `a template, or a constant such as "ORDER"`)
		return nil, false
	}
	t, err := keys.ParseTemplate(text)
	if err != nil {
		c.badTemplate(p, text, err)
		return nil, false
	}
	ok = c.foreignParts(p, t)
	for _, d := range t.Derived() {
		if !slices.ContainsFunc(derived, func(allowed string) bool {
			return d == "@"+allowed || strings.HasSuffix(allowed, ".") && strings.HasPrefix(d, "@"+allowed)
		}) {
			instead := "a field of the payload, such as {order_id}"
			switch up, _ := p.Parent(); {
			case p == "type" || up == "type":
				instead = c.typesInstead()
			case strings.HasSuffix(string(p), declare.Separator+"at"):
				instead = ownTime
			}
			c.MistakeAt(p, text, strings.Index(text, d), fmt.Sprintf("%s cannot use %s", declare.NameOf(p), d), instead)
			ok = false
		}
	}
	return t, ok
}

func (c *compiler) badTemplate(p place, text string, err error) {
	var bad *keys.TemplateError
	if errors.As(err, &bad) {
		c.MistakeAt(p, text, bad.Offset, bad.What, cmp.Or(bad.Instead, "a template such as "+aTemplate))
		return
	}
	c.Mistake(p, err.Error(), "a template such as "+aTemplate)
}

const aTemplate = `"ORDER#{order_id}"`

// path compiles the path at p. ok is false if there is a mistake.
func (c *compiler) path(p place, text string) (path event.Path, ok bool) {
	path, bad := where.Path(text)
	if bad != nil {
		c.Mistake(p, bad.What, bad.Instead)
	}
	return path, bad == nil
}

// bounded holds durations that are declared in Go to the same limits as those of a file.
func (c *compiler) bounded(at place, d time.Duration) {
	if d > lifetime.Max {
		c.Mistake(at, "a duration of "+lifetime.Format(d)+" is longer than 200 years", "at most "+lifetime.Format(lifetime.Max))
	}
}
