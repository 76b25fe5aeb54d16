package pipeline

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/ingot-events/ingot/internal/plan/declare"
	"github.com/ingot-events/ingot/internal/plan/planner"
	"github.com/ingot-events/ingot/keys"
)

// identity checks what decides which messages become one item.
func (c *compiler) identity(at place, t *planner.Type) {
	s := c.spec.Events[t.Name]
	for _, m := range []struct {
		place place
		text  string
		tpl   *keys.Template
	}{{at.In("id"), s.ID, t.ID}, {at.In("at"), s.At, t.At}, {at.In("key").In("pk"), s.Key.PK, t.PK},
		{at.In("key").In("sk"), s.Key.SK, t.SK}} {
		if m.tpl != nil {
			c.usesIgnored(m.place, m.text, t, m.tpl.Paths())
		}
	}
	if t.ID != nil {
		c.losslessID(at.In("id"), t)
	}
	if t.PK != nil && t.SK != nil && (t.ID != nil || s.ID == "" && !s.Part.isPart() && !c.IsBroken(at.In("id"))) {
		c.keyHoldsID(at, t)
		c.keyBeyondID(at, t)
	}
}

// losslessID refuses an id that loses a part of a field. Two events could then have the same id,
// and count as one.
func (c *compiler) losslessID(p place, t *planner.Type) {
	folding := foldings(t.ID)
	full, all := fullBut(folding, t.ID)
	if len(all) == 0 {
		c.Mistake(p, "id is the same for every event", `the fields that tell events apart, such as "{order_id}", or "{@digest}"`)
		return
	}
	for _, part := range t.ID.Parts() {
		v := part.Variable()
		f := part.Folding()
		switch {
		case !part.IsVariable():
		case folding[v] != "" && f != folding[v]:
			c.MistakeAt(p, t.ID.Text(), part.Offset, fmt.Sprintf("id shows %s in two spellings", v), "one of the two")
		case !full[v] && v != "@type":
			full[v] = true // reported once
			c.MistakeAt(p, t.ID.Text(), part.Offset,
				fmt.Sprintf("id shows %s only through a function that loses a part of it: two events could have one id", v),
				shown(v, folding[v], t.ID))
		}
	}
}

// foldings returns the functions through which alone an id shows each of its variables, and that an
// id may have, as [keys.Part.Folding] writes them.
func foldings(id *keys.Template) map[string]string {
	folding := map[string]string{}
	for _, part := range id.Parts() {
		if v, f := part.Variable(), part.Folding(); f != "" && v != "@type" {
			folding[v] = cmp.Or(folding[v], f)
		}
	}
	for _, part := range id.Parts() {
		if part.Folding() == "" && !part.Lossy {
			delete(folding, part.Variable())
		}
	}
	return folding
}

// fullBut returns the variables that the templates show in full, but for what an id folds, and all
// variables that they use.
func fullBut(folding map[string]string, templates ...*keys.Template) (full, all map[string]bool) {
	full, all = planner.Lossless(templates...)
	for _, t := range templates {
		for _, part := range t.Parts() {
			v := part.Variable()
			full[v] = full[v] || begins(part, folding[v]) && !part.LosesBeyond(folding[v])
		}
	}
	return full, all
}

// begins reports whether a variable is folded in this way first.
func begins(part keys.Part, folding string) bool {
	return folding != "" && strings.HasPrefix(part.Folding()+"|", folding+"|")
}

// spelled refuses a template that shows a variable in the spelling in which it came, if the id does
// not.
func (c *compiler) spelled(p place, t *keys.Template, folding map[string]string) {
	for _, part := range t.Parts() {
		v := part.Variable()
		if f := folding[v]; f != "" && !begins(part, f) {
			instead := shown(v, f)
			if declare.NameOf(p) != "id" {
				instead += " or {@id}"
			}
			c.MistakeAt(p, t.Text(), part.Offset,
				fmt.Sprintf("%s shows %s in the spelling in which it came, and the id does not: one event could have two keys",
					declare.NameOf(p), v), instead)
		}
	}
}

// shown returns a variable as a key can show all of it, but for what the id folds: as a hash if one
// of the templates hashes it, because then nobody is to read it there.
func shown(v, folding string, templates ...*keys.Template) string {
	name := v
	v += strings.ReplaceAll(folding, "|", " | ")
	for _, t := range templates {
		if t == nil {
			continue
		}
		for _, part := range t.Parts() {
			for _, f := range part.Funcs {
				switch hides := f.Function().Hash && part.Variable() == name; {
				case hides && f.Function().Keyed && f.Arg != "":
					return "{" + v + " | " + f.Name + ":" + f.Arg + "}"
				case hides:
					return "{" + v + " | " + f.Name + "}"
				}
			}
		}
	}
	return "{" + v + "}"
}

// keyHoldsID refuses a key that two events with different ids could share. The second event would
// be a conflict. With an equal payload it would be dropped as a duplicate.
func (c *compiler) keyHoldsID(at place, t *planner.Type) {
	var folding map[string]string
	if t.ID != nil {
		folding = foldings(t.ID)
	}
	c.spelled(at.In("key").In("pk"), t.PK, folding)
	c.spelled(at.In("key").In("sk"), t.SK, folding)
	full, all := fullBut(folding, t.PK, t.SK)
	if full["@id"] {
		return
	}
	if t.ID == nil {
		what := "key does not use @id, and id is the envelope's: two events with different ids could have one key"
		if all["@id"] {
			what = "key shows @id only through a function that loses a part of it: two events could have one key"
		}
		c.Mistake(at.In("key"), what, "{@id} in sk, or an id: of your own")
		return
	}
	_, parts := planner.Lossless(t.ID)
	for _, v := range slices.Sorted(maps.Keys(parts)) {
		if full[v] || v == "@type" || full["@digest"] && v[0] != '@' {
			continue
		}
		if _, is := ofDelivery(v); is {
			continue // id must not use it, and neither must the key
		}
		what := fmt.Sprintf("key does not use %s, which id uses: two events with different ids could have one key", v)
		if all[v] {
			what = fmt.Sprintf(
				"key shows %s, which id uses, only through a function that loses a part of it: two events could have one key", v)
		}
		instead := shown(v, folding[v], t.ID, t.PK, t.SK) + " or {@id} in sk"
		if shown(v, folding[v], t.ID) != shown(v, folding[v], t.ID, t.PK, t.SK) { // what the key hides, the id would show
			instead = shown(v, folding[v], t.PK, t.SK) + " in sk"
		}
		c.Mistake(at.In("key"), what, instead)
	}
}

// keyBeyondID refuses a key under mode latest that uses more than the id does. Such a key changes
// when such a field is corrected, and the old revision would stay.
func (c *compiler) keyBeyondID(at place, t *planner.Type) {
	if !t.Latest {
		return // under insert it is allowed; see doubts.keyBeyondID
	}
	for _, v := range t.BeyondID() {
		c.Mistake(at.In("key"),
			fmt.Sprintf(
				"key uses %s, which id does not: under mode latest a newer revision could get another key and leave the old one standing",
				v), "a key made of the fields of id")
	}
}
