package pipeline

import (
	"fmt"
	"maps"
	"slices"

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
	full, all := planner.Lossless(t.ID)
	if len(all) == 0 {
		c.Mistake(p, "id is the same for every event", `the fields that tell events apart, such as "{order_id}", or "{@digest}"`)
		return
	}
	for _, part := range t.ID.Parts() {
		v := part.Variable()
		if part.IsVariable() && !full[v] && v != "@type" {
			full[v] = true // reported once
			c.MistakeAt(p, t.ID.Text(), part.Offset,
				fmt.Sprintf("id shows %s only through a function that loses a part of it: two events could have one id", v),
				shown(v, t.ID))
		}
	}
}

// shown returns a variable as a key can show all of it: as a hash if one of the templates hashes
// it, because then nobody is to read it there.
func shown(v string, templates ...*keys.Template) string {
	for _, t := range templates {
		if t == nil {
			continue
		}
		for _, part := range t.Parts() {
			for _, f := range part.Funcs {
				switch hides := f.Function().Hash && part.Variable() == v; {
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
	full, all := planner.Lossless(t.PK, t.SK)
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
		instead := shown(v, t.ID, t.PK, t.SK) + " or {@id} in sk"
		if shown(v, t.ID) != shown(v, t.ID, t.PK, t.SK) { // what the key hides, the id would show
			instead = shown(v, t.PK, t.SK) + " in sk"
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
