package planner

import (
	"iter"
	"maps"
	"slices"

	"github.com/ingot-events/ingot/keys"
)

// Lossless returns the variables that the templates show in full, and all variables that they use.
func Lossless(templates ...*keys.Template) (full, all map[string]bool) {
	full, all = map[string]bool{}, map[string]bool{}
	for _, t := range templates {
		for _, part := range t.Parts() {
			if !part.IsVariable() {
				continue
			}
			all[part.Variable()] = true
			if !part.Lossy {
				full[part.Variable()] = true
			}
		}
	}
	return full, all
}

// BeyondID lists what the key uses and the id does not.
func (t *Type) BeyondID() (list []string) {
	id := t.Leaves(VariablesOf(t.ID, "@id"))
	key := t.Leaves(slices.Concat(VariablesOf(t.PK, ""), VariablesOf(t.SK, "")))
	for _, v := range slices.Sorted(maps.Keys(key)) {
		if !id[v] && v != "@type" && (!id["@digest"] || v[0] == '@') {
			list = append(list, v)
		}
	}
	return list
}

// VariablesOf lists what a template reads. If there is no template, it lists the one variable
// otherwise.
func VariablesOf(t *keys.Template, otherwise string) []string {
	if t == nil {
		return []string{otherwise}
	}
	_, all := Lossless(t)
	return slices.Collect(maps.Keys(all))
}

// Leaves replaces @id and @at by the variables that they are made of, if the file declares them.
func (t *Type) Leaves(variables []string) map[string]bool {
	set := map[string]bool{}
	for _, v := range variables {
		switch {
		case v == "@id" && t.ID != nil:
			maps.Copy(set, t.Leaves(VariablesOf(t.ID, "")))
		case v == "@at" && t.At != nil:
			maps.Copy(set, t.Leaves(VariablesOf(t.At, "")))
		default:
			set[v] = true
		}
	}
	return set
}

// Templates lists the templates that t's items are made with, and those that its aggregates are
// grouped by.
func (t *Type) Templates() iter.Seq[*keys.Template] {
	all := []*keys.Template{t.ID, t.At, t.PK, t.SK}
	for _, e := range t.Expires {
		if t.Part == nil {
			all = append(all, e.At)
		}
	}
	for _, i := range t.Indexes {
		all = append(all, i.PK, i.SK)
	}
	for _, f := range t.Feeds {
		all = append(all, f.By...)
	}
	return func(yield func(*keys.Template) bool) {
		for _, tpl := range all {
			if tpl != nil && !yield(tpl) {
				return
			}
		}
	}
}

// TemplatesOfParts lists the templates of a type and of its parts.
func (t *Type) TemplatesOfParts() []*keys.Template {
	list := slices.Collect(t.Templates())
	for _, part := range t.Parts {
		list = slices.AppendSeq(list, part.Templates())
	}
	return list
}

// Hashes reports whether hmac is used in what the template gives for an event of this type. The
// template may use hmac itself, or show an id that uses it.
func (t *Type) Hashes(tpl *keys.Template) bool {
	return tpl != nil && (tpl.UsesHMAC() || t.ID != nil && t.ID.UsesHMAC() && slices.Contains(tpl.Derived(), "@id"))
}
