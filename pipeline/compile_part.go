package pipeline

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/ingot-events/ingot/envelope"
	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/plan/declare"
	"github.com/ingot-events/ingot/internal/plan/lifetime"
	"github.com/ingot-events/ingot/internal/plan/planner"
)

// isPart reports whether the file declares a part. A part that does not say what it is a part of
// has a mistake of its own.
func (s PartSpec) isPart() bool { return s.Of != "" || s.Each != "" || len(s.With) > 0 }

// hasParts reports whether any type is a part of the named one.
func (c *compiler) hasParts(name string) bool {
	for _, s := range c.spec.Events {
		if s.Part.Of == name {
			return true
		}
	}
	return false
}

// part compiles what makes t a part, once all event types are compiled.
func (c *compiler) part(t *planner.Type) {
	s := c.spec.Events[t.Name]
	at := place("events").In(t.Name)
	c.atomic(at.In("atomic"), t, s)
	if !s.Part.isPart() && len(c.Broken) == 0 {
		return
	}
	p := at.In("part")
	if c.IsBroken(p) || c.IsBroken(p.In("of")) {
		c.Broken[at.In("retain")] = true // the retain of its whole might apply
		return
	}
	if !s.Part.isPart() {
		return
	}
	c.ownMembers(at, t, s)
	whole := c.whole(p.In("of"), t, s.Part.Of)
	if whole == nil {
		c.Broken[at.In("retain")] = true
		return
	}
	t.Part = &planner.Part{Whole: whole}
	whole.Parts = append(whole.Parts, t)
	if c.takes(p, t, s.Part) {
		c.ofTheWhole(at, t)
	}
	c.outlives(at.In("retain"), t, s)
	if t.Part.Claim && t.Over > 0 {
		c.Mistake(at.In("offload"), "offload does not go with a claim: a claim can pass to another event, and its objects cannot",
			"the type without offload")
	}
}

// atomic refuses atomic for a type that has no parts.
func (c *compiler) atomic(p place, t *planner.Type, s EventSpec) {
	switch {
	case !s.Atomic || c.IsBroken(p):
	case s.Part.Of != "":
		c.Mistake(p, t.Name+" is a part, and is stored as its whole says", "it in "+s.Part.Of)
	case !s.Part.isPart() && !c.hasParts(t.Name):
		c.Mistake(p, "no type is a part of "+t.Name+", so nothing is stored together with it",
			t.Name+" without atomic, or a type with part: {of: "+t.Name+"}")
	}
}

// whole finds what t is a part of. It returns nil if there is a mistake.
func (c *compiler) whole(p place, t *planner.Type, name string) *planner.Type {
	whole, ok := c.p.plan.Types[name]
	switch {
	case name == "":
		c.Mistake(p, "of is missing in part", "of: and the event type that it is a part of, such as order.placed")
		return nil
	case !ok:
		c.Mistake(p, "there is no event type "+name, declare.Suggest(name, slices.DeleteFunc(c.goodNames(), c.notAWhole)))
		return nil
	case c.notAWhole(name):
		instead := "the type that it is a part of"
		if of := c.spec.Events[name].Part.Of; of != "" && of != t.Name && of != name {
			instead = of
		}
		c.Mistake(p, name+" is a part itself, and a part has no parts", instead)
		return nil
	}
	return whole
}

// notAWhole reports whether the named type is a part.
func (c *compiler) notAWhole(name string) bool { return c.spec.Events[name].Part.isPart() }

// ownMembers refuses what a part cannot have, because it is made from its whole.
func (c *compiler) ownMembers(at place, t *planner.Type, s EventSpec) {
	if s.At != "" {
		c.Mistake(at.In("at"), "a part has no at of its own: its time is that of its whole", t.Name+" without at")
	}
	if s.ID == "" {
		c.Mistake(at, "id is missing in "+t.Name+": a part has no envelope that says it",
			`id: and the fields that tell parts apart, such as "{order_id}#{line}"`)
	}
	if len(s.Ignore) > 0 {
		t.Ignore = nil
		c.Mistake(at.In("ignore"), "a part cannot ignore anything: it is made again from its whole, and must always be the same",
			"the ignore of "+s.Part.Of)
	}
	if t.Latest && len(t.Revision) > 1 {
		c.Mistake(at.In("revision"), "the revision of a part is one value: of equal ones, the time and then the id of the whole decide",
			"its first entry alone")
	}
}

// takes compiles what a part takes from its whole's payload. It returns false if it takes nothing.
func (c *compiler) takes(p place, t *planner.Type, s PartSpec) bool {
	if s.Each == "" && len(s.With) == 0 {
		c.Mistake(p, t.Name+" would have an empty payload: part has neither each nor with",
			"with: and the members that it has of its whole, such as [order_id]")
		return false
	}
	for i, entry := range s.With {
		at := p.In("with").In(strconv.Itoa(i))
		name, text := cutWith(entry)
		path, ok := c.path(at, text)
		if !ok {
			continue
		}
		own, whole := path.Name()
		switch name = cmp.Or(name, own); {
		case path.Numbered():
			c.Mistake(at, fmt.Sprintf("%s is an element of an array, and its number may differ next time", path), "a member")
		case !whole && name == "":
			c.Mistake(p.In("with"), fmt.Sprintf("%s is inside of a member, and needs a name of its own in the part", path),
				withNames(s.With))
		case slices.ContainsFunc(t.Part.With, func(w envelope.With) bool { return w.Name == name }):
			c.Mistake(at, "with has "+name+" twice", "one of the two")
		default:
			c.notIgnored(at, t, path)
			t.Part.With = append(t.Part.With, envelope.With{Name: name, Path: path})
		}
	}
	if s.Each == "" {
		return true
	}
	at := p.In("each")
	path, ok := c.path(at, s.Each)
	if !ok {
		return true
	}
	t.Part.Each = path
	c.notIgnored(at, t, path)
	for _, with := range t.Part.With {
		if with.Path.Contains(path) {
			c.Mistake(at, fmt.Sprintf("with has %s too, so every part would hold all of it", with.Path), "with without "+with.Path.String())
		}
	}
	return true
}

// cutWith divides an entry of with, which is NAME=PATH or a path.
func cutWith(entry string) (name, path string) {
	name, path, named := strings.Cut(entry, "=")
	if _, err := event.ParsePath(entry); err == nil || !named {
		return "", entry
	}
	return name, path
}

// withNames returns a mapping that says the same as entries of with, and gives each a name.
func withNames(entries []string, more ...string) string {
	var list []string
	for _, entry := range slices.Concat(entries, more) {
		name, text := cutWith(entry)
		if path, err := event.ParsePath(text); err == nil {
			list = append(list, cmp.Or(name, path.Last())+": "+text)
		}
	}
	return "{" + strings.Join(list, ", ") + "}"
}

// Takes lists what with takes of the whole's payload.
func (s PartSpec) Takes() (list []envelope.With) {
	for _, entry := range s.With {
		name, text := cutWith(entry)
		if path, err := event.ParsePath(text); err == nil {
			list = append(list, envelope.With{Name: cmp.Or(name, path.Last()), Path: path})
		}
	}
	return list
}

// notIgnored refuses a path if the digest of the whole leaves out the value there, or a part of
// that value. Otherwise two messages could be one event with different parts.
func (c *compiler) notIgnored(p place, t *planner.Type, path event.Path) {
	whole := t.Part.Whole
	each, _ := event.ParseEvery(element.ReplaceAllString(path.String(), "[]")) // no error: it is a path
	for _, ignored := range whole.Ignore {
		if ignored.Contains(path) || path.Contains(ignored) || each.Contains(ignored) {
			c.Mistake(p, fmt.Sprintf("%s uses %s, and ignore leaves %s out of the digest of %s",
				declare.NameOf(p), path, ignored, whole.Name),
				"another member, or ignore without "+ignored.String()+" there")
		}
	}
}

// ofTheWhole checks what a part needs of its whole: a time that does not change, and an id that the
// part's key shows.
func (c *compiler) ofTheWhole(at place, t *planner.Type) {
	of, whole := at.In("part").In("of"), t.Part.Whole
	wholeAt := place("events").In(whole.Name)
	first := whole.Parts[0] == t // report this once, not for each of its parts
	switch {
	case !first:
	case whole.Latest:
		c.Mistake(of, fmt.Sprintf("%s has mode latest, and a whole is stored once, with its parts", whole.Name), "a type with mode insert")
	case whole.At == nil && !c.IsBroken(wholeAt.In("at")) && c.spec.Events[whole.Name].At == "":
		c.Mistake(of,
			fmt.Sprintf("%s has no at, so its time is its envelope's, which may differ next time; its parts have the time of the whole",
				whole.Name), `at: in `+whole.Name+`, such as "{placed_at}"`)
	case whole.At != nil && len(whole.At.Derived()) > 0:
		c.Mistake(of, fmt.Sprintf("%s takes its time from %s, which may differ next time; its parts have the time of the whole", whole.Name,
			whole.At.Derived()[0]), `at: from the payload in `+whole.Name+`, such as "{placed_at}"`)
	}
	switch {
	case t.PK == nil || t.SK == nil || t.ID == nil || c.IsBroken(wholeAt.In("id")) || whole.ID == nil && c.spec.Events[whole.Name].ID != "":
	case t.Latest:
		c.inherits(at.In("key"), t)
	default:
		c.showsWhole(at.In("key"), t)
	}
	if t.Latest {
		c.state(at.In("mode"), whole)
	}
}

// state refuses what does not go with a part that has mode latest.
func (c *compiler) state(p place, whole *planner.Type) {
	if whole.Migrated != "" {
		c.Mistake(p, fmt.Sprintf("%s is migrated, and the copies of its rows cannot have parts with mode latest", whole.Name),
			"mode: insert")
	}
}

// showsWhole refuses a key that parts of two wholes could share. The second one would be a conflict
// after its whole is stored. If the whole is atomic, nothing of the second message is stored. So
// such a key is allowed there: the part is a claim.
func (c *compiler) showsWhole(p place, t *planner.Type) {
	whole := t.Part.Whole
	folding := c.inherits(p, t)
	full, _ := fullBut(folding, t.PK, t.SK)
	if full["@id"] {
		more, _ := fullBut(folding, t.ID)
		maps.Copy(full, more)
	}
	for _, v := range slices.Sorted(maps.Keys(whole.Leaves(planner.VariablesOf(whole.ID, "@id")))) {
		path, err := event.ParsePath(v)
		inPart, has := t.Part.InPart(path)
		isShown := err == nil && v[0] != '@' && has && full[inPart.String()]
		switch {
		case v == "@type" || isShown:
		case whole.Atomic:
			t.Part.Claim = true
		case err != nil || v[0] == '@':
			c.Mistake(p, fmt.Sprintf("the id of %s uses %s, which no part can show: parts of two wholes could have one key", whole.Name, v),
				"an id in "+whole.Name+` that is made of its fields, such as "{order_id}"`)
		case strings.Contains(v, ".") && !has:
			c.Mistake(p, fmt.Sprintf("key does not show %s of the whole, which the id of %s uses: parts of two wholes could have one key; "+
				"write with: %s, and add {%s} to sk", v, whole.Name, withNames(c.spec.Events[t.Name].Part.With, v), path.Last()), "")
		default:
			member, _, _ := strings.Cut(v, ".")
			if has {
				v = inPart.String()
			}
			c.Mistake(p, fmt.Sprintf("key does not show %s of the whole, which the id of %s uses: parts of two wholes could have one key; "+
				"add %s to sk, and %s to part.with", path, whole.Name,
				shown(v, foldings(whole.ID)[path.String()], whole.ID, t.PK, t.SK), member), "")
		}
	}
}

// inherits lets the digest of a part fold what the id of its whole folds, if the part has it of the
// whole. It returns that, and refuses a part that shows it in another spelling.
func (c *compiler) inherits(p place, t *planner.Type) map[string]string {
	whole := t.Part.Whole
	if whole.ID == nil {
		return nil
	}
	folding := map[string]string{} // by the variable of the part
	for v, functions := range foldings(whole.ID) {
		if path, err := event.ParsePath(v); err == nil {
			if own, has := t.Part.InPart(path); has {
				folding[own.String()] = functions
			}
		}
	}
	for _, fold := range whole.Folds {
		if own, has := t.Part.InPart(fold.Path); has {
			fold.Path = own
			t.Folds = append(t.Folds, fold)
		}
	}
	c.spelled(p.In("pk"), t.PK, folding)
	c.spelled(p.In("sk"), t.SK, folding)
	at, _ := p.Parent()
	c.spelled(at.In("id"), t.ID, folding)
	return folding
}

// outlives gives a part the lifetime of its whole, or checks that its own is not shorter. A whole
// that is delivered again would otherwise meet parts that have expired.
func (c *compiler) outlives(p place, t *planner.Type, s EventSpec) {
	whole := t.Part.Whole
	if s.Retain == 0 && len(s.Was) == 0 && !c.IsBroken(p) {
		t.Retain, t.Was, t.Expires = whole.Retain, whole.Was, whole.Expires
		return
	}
	if lifetime.Shorter(t.Retain, whole.Retain) {
		instead := t.Name + " without retain, for that of the whole"
		if whole.Retain != 0 {
			instead = "retain: " + lifetime.Format(whole.Retain) + " or longer, or " + instead
		}
		c.Mistake(p, fmt.Sprintf("retain is shorter than that of %s, so parts would expire before their whole", whole.Name), instead)
		return
	}
	for i, w := range t.Was {
		if before := w.Before.Add(-1); lifetime.Shorter(w.Retain, lifetime.At(whole.Retain, whole.Was, before)) {
			c.Mistake(p, fmt.Sprintf("was[%d] is shorter than the retain that %s had then, so parts would expire before their whole", i,
				whole.Name), "the was of "+whole.Name)
		}
	}
}
