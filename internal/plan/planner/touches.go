package planner

// Touches returns the largest number of totals that one change of an item of the type can touch. It
// ignores changes that a person makes by hand.
//
// Under insert this is one total for each aggregate: an item appears, disappears, or is touched,
// which does not change its totals. Under latest a newer revision replaces the older one. The two
// can be in different totals of the aggregate if by or the window uses a field that is not in the
// id.
func (t *Type) Touches() int {
	n := len(t.Feeds)
	if !t.Latest {
		return n
	}
	for i := range t.Feeds {
		if !t.fixesTotal(&t.Feeds[i]) {
			n++
		}
	}
	return n
}

// fixesTotal reports whether all revisions of an event are in the same total of the feed's
// aggregate.
func (t *Type) fixesTotal(f *Feed) bool {
	var used []string
	for _, template := range f.By {
		used = append(used, VariablesOf(template, "")...)
	}
	if f.Def.Window > 0 {
		used = append(used, "@at")
	}
	fixed := t.Leaves(VariablesOf(t.ID, "@id"))
	for v := range t.Leaves(used) {
		if !fixed[v] && v != "@type" && (!fixed["@digest"] || v[0] == '@') {
			return false
		}
	}
	return true
}
