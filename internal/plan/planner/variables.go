package planner

import (
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
