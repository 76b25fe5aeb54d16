package pipeline

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/base/itemform"
	"github.com/ingot-events/ingot/internal/plan/declare"
	"github.com/ingot-events/ingot/internal/plan/lifetime"
	"github.com/ingot-events/ingot/internal/plan/planner"
	"github.com/ingot-events/ingot/internal/plan/where"
	"github.com/ingot-events/ingot/keys"
)

// eventType compiles one event type.
func (c *compiler) eventType(name string, s EventSpec) *planner.Type {
	at := place("events").In(name)
	if what := badTypeName(name); what != "" {
		c.Misnamed(at, what, `letters, digits, . and - alone, at most 256, such as "order.placed"`)
	}
	t := &planner.Type{Name: name, Retain: s.Retain, Latest: s.Mode == "latest", SchemaText: s.Schema, Atomic: s.Atomic,
		Migrated: s.Migrated}
	if s.At != "" {
		t.At = c.timeTemplate(at.In("at"), s.At, "attribute.")
	}
	derived := []string{"at", "type", "digest", "source", "attribute."}
	if s.Part.isPart() {
		derived = derived[:3] // the envelope may differ when the event comes again
		if s.Part.Each != "" {
			derived = append(derived, "index")
		}
	}
	if s.ID != "" {
		if t.ID = c.template(at.In("id"), s.ID, derived...); t.ID != nil {
			t.Folds = t.ID.Folds()
		}
	}
	all := append(derived, "id")
	t.PK = c.template(at.In("key").In("pk"), s.Key.PK, all...)
	t.SK = c.template(at.In("key").In("sk"), s.Key.SK, all...)
	c.ofTheEvent(at.In("at"), t.At, ownTime)
	for _, part := range []struct {
		place place
		tpl   *keys.Template
	}{{at.In("id"), t.ID}, {at.In("key").In("pk"), t.PK}, {at.In("key").In("sk"), t.SK}} {
		c.ofTheEvent(part.place, part.tpl, `the fields that tell events apart, such as "{order_id}", or "{@digest}"`)
	}
	for _, n := range slices.Sorted(maps.Keys(s.Indexes)) {
		t.Indexes = append(t.Indexes, c.index(at.In("indexes").In(n), n, s.Indexes[n], all))
	}
	for _, n := range slices.Sorted(maps.Keys(s.Attributes)) {
		t.Attributes = append(t.Attributes, c.attribute(at.In("attributes").In(n), n, s.Attributes[n]))
	}
	if s.Retain != 0 && s.Retain < lifetime.Least {
		c.Mistake(at.In("retain"), "retain is less than 1h", "at least 1h")
	}
	c.bounded(at.In("retain"), s.Retain)
	for i, text := range s.Ignore {
		path, bad := where.Every(text, where.APath)
		if bad != nil {
			c.Mistake(at.In("ignore").In(fmt.Sprint(i)), bad.What, bad.Instead)
			continue
		}
		t.Ignore = append(t.Ignore, path)
	}
	if s.Mode != "" && s.Mode != "insert" && s.Mode != "latest" {
		c.Mistake(at.In("mode"), fmt.Sprintf("unknown mode %s", s.Mode), declare.Suggest(s.Mode, []string{"insert", "latest"}))
	} else {
		c.revision(at, t, s)
	}
	if t.Compress = s.Compress; t.Compress && t.Latest {
		c.Mistake(at.In("compress"), "compress does not go with mode latest: a newer revision replaces a payload that it has not read",
			"the type without compress")
	}
	c.expires(at, t, s)
	c.was(at.In("was"), t, s.Was)
	c.offload(at.In("offload"), t, s.Offload)
	c.measureStatement(at.In("attributes"), t)
	c.identity(at, t)
	return t
}

// badTypeName says what is wrong with the name of an event type. A template could not make a name
// with # or %, because it escapes them.
func badTypeName(name string) string {
	switch {
	case name == "":
		return "the name of an event type is empty"
	case len(name) > 256:
		return "the name of an event type is longer than 256 bytes"
	case strings.Contains(name, "${"):
		return "the name of an event type cannot contain ${, since nothing is filled in there"
	case strings.ContainsAny(name, "#%") || !utf8.ValidString(name) || strings.ContainsFunc(name, func(r rune) bool {
		return r < ' ' || r == 0x7f
	}):
		return "the name of an event type cannot contain #, % or control characters"
	}
	return ""
}

func (c *compiler) index(at place, name string, s IndexSpec, derived []string) planner.Index {
	if !itemform.IsIndex(name) {
		c.Misnamed(at, name+" is not an index", "GSI1 to GSI20")
	} else if !slices.Contains(c.p.indexes, name) {
		c.p.indexes = append(c.p.indexes, name)
	}
	ix := planner.Index{Name: name, PK: c.template(at.In("pk"), s.PK, derived...), SK: c.template(at.In("sk"), s.SK, derived...)}
	if s.Where != "" {
		ix.Where = c.indexWhere(at.In("where"), s.Where)
	}
	for i, text := range s.Was {
		if old := c.template(at.In("was").In(strconv.Itoa(i)), text, derived...); old != nil {
			ix.Was = append(ix.Was, old)
		}
	}
	return ix
}

// indexWhere compiles the condition for the events that are in an index.
func (c *compiler) indexWhere(p place, text string) *where.Condition {
	condition, bad := where.Parse(text)
	if bad != nil {
		c.MistakeAt(p, text, bad.Offset, bad.What, bad.Instead)
		return nil
	}
	c.filledIn(p, text, condition)
	return condition
}

func (c *compiler) attribute(at place, name, text string) planner.Attribute {
	switch {
	case itemform.IsOwnAttribute(name):
		c.Misnamed(at, "the attribute "+name+" is reserved for Ingot", "another name")
	case !isAttributeName(name):
		c.Misnamed(at, fmt.Sprintf("%q is not an attribute name", name), "letters, digits and _, a letter or _ first")
	}
	path, _ := c.path(at, text)
	return planner.Attribute{Name: name, Path: path}
}

func isAttributeName(name string) bool {
	for i := range len(name) {
		c := name[i]
		letter := c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
		if !letter && (i == 0 || c < '0' || c > '9') {
			return false
		}
	}
	return name != "" && len(name) <= 255
}

// revision compiles "updated_at time" or "seq number", or a list of these.
func (c *compiler) revision(at place, t *planner.Type, s EventSpec) {
	p := at.In("revision")
	const forms = "a path and its type, such as updated_at time or seq number"
	switch {
	case c.IsBroken(at.In("mode")) || c.IsBroken(p):
		return
	case !t.Latest && s.Revision != "":
		c.Mistake(p, "revision is for mode latest only", "mode: latest beside it, or leave revision out")
		return
	case !t.Latest:
		return
	case s.Revision == "":
		c.Mistake(at.In("mode"), "mode latest needs a revision: what makes one version newer than another", "revision: and "+forms+
			", beside it")
		return
	}
	for p, text := range c.Entries(p, s.Revision) {
		if strings.HasPrefix(text, "{") {
			c.madeRevision(p, text, t)
			continue
		}
		i := strings.LastIndexByte(text, ' ')
		kind := text[i+1:]
		if i < 0 || kind != "time" && kind != "number" {
			c.Mistake(p, fmt.Sprintf("%q does not say its type", text), forms)
			continue
		}
		path, _ := c.path(p, strings.TrimSpace(text[:i]))
		if slices.ContainsFunc(t.Revision, func(r planner.Revision) bool { return r.Template == nil && r.Path.Equal(path) }) {
			c.Mistake(p, fmt.Sprintf("%s breaks no ties: %s stands before it", declare.NameOf(p), path), "another field")
		}
		c.usesIgnored(p, text, t, []event.Path{path})
		t.Revision = append(t.Revision, planner.Revision{Path: path, Time: kind == "time"})
	}
}

// madeRevision compiles a value of a revision that a template makes: a time, or a number.
func (c *compiler) madeRevision(p place, text string, t *planner.Type) {
	tpl, ok := c.parseTemplate(p, text, "at")
	if !ok {
		return
	}
	r := planner.Revision{Template: tpl, Time: tpl.CheckTime() == nil}
	parts := tpl.Parts()
	last := func() keys.Function { return parts[0].Funcs[len(parts[0].Funcs)-1].Function() }
	switch {
	case len(parts) != 1 || !parts[0].IsVariable():
		c.Mistake(p, "a revision is one value, and what is around it does not sort", `a list of variables, such as ["{version | pad:9}"]`)
		return
	case !r.Time && !last().TakesNumber():
		c.Mistake(p, text+" does not make a number or a time, and text has another order", `"{`+parts[0].Variable()+` | number}"`)
		return
	case len(tpl.Derived()) > 0 && len(t.Revision) > 0:
		c.Mistake(p, "the time of the event does not break ties: it is not in the stored payload", "it as the first entry")
	}
	c.usesIgnored(p, text, t, tpl.Paths())
	t.Revision = append(t.Revision, r)
}

// usesIgnored reports every path at p that the digest leaves out. Such a field may differ between
// retries of one event, so it must not decide what the event is or what it counts.
func (c *compiler) usesIgnored(p place, text string, t *planner.Type, paths []event.Path) {
	for _, path := range paths {
		for _, ignored := range t.Ignore {
			if ignored.Contains(path) {
				c.MistakeAt(p, text, strings.Index(text, path.String()),
					fmt.Sprintf("%s uses %s, which ignore leaves out of the digest of %s", declare.NameOf(p), path, t.Name),
					"another field, or ignore without "+ignored.String())
			}
		}
	}
}

// timeTemplate compiles `at` or `expires`, which is one variable that is read as a time.
func (c *compiler) timeTemplate(p place, text string, derived ...string) *keys.Template {
	t, ok := c.parseTemplate(p, text, derived...)
	if !ok {
		return nil
	}
	if t.Constant() && c.notATime(p, text) {
		return nil
	}
	if err := t.CheckTime(); err != nil {
		c.badTemplate(p, text, err)
		return nil
	}
	return t
}

// notATime refuses a constant in place of a time, if the same text in braces would be refused too.
func (c *compiler) notATime(p place, text string) bool {
	_, ofDelivery := ofDelivery(text)
	bad := where.JSONPath(text)
	switch {
	case ofDelivery:
		c.MistakeAt(p, text, 0, fmt.Sprintf(deliveredAnew, declare.NameOf(p), strings.TrimPrefix(text, "@attribute.")), ownTime)
	case bad != nil && bad.Instead != where.APath:
		c.MistakeAt(p, text, 0, bad.What, `"{`+bad.Instead+`}"`)
	case bad != nil:
		c.MistakeAt(p, text, 0, bad.What, ownTime)
	case strings.HasPrefix(text, "@") && !strings.HasPrefix(text, "@attribute."):
		c.MistakeAt(p, text, 0, declare.NameOf(p)+" cannot use "+text, ownTime)
	default:
		return false
	}
	return true
}

// ownTime is what to write for a time that is not the event's own.
const ownTime = `a time that the event itself tells, such as "{placed_at}"`
