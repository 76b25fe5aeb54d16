package model

import (
	"maps"
	"slices"
)

// live is a contribution that a slot counts, and how often.
type live struct {
	Part
	n int
}

// keep notes which contributions a step has added and taken back.
func (s *Step) keep() {
	if s.Slot.live == nil {
		s.Slot.live = map[int64]live{}
	}
	for _, p := range s.plus {
		s.Slot.live[p.Term] = live{p, s.Slot.live[p.Term].n + 1}
	}
	for _, p := range s.minus {
		if n := s.Slot.live[p.Term].n - 1; n == 0 {
			delete(s.Slot.live, p.Term)
		} else {
			s.Slot.live[p.Term] = live{p, n}
		}
	}
}

// Whole returns the slots of a total in the order of their buckets.
func (m *Model) Whole(s *Slot) (list []*Slot) {
	total := TotalText(s.Key)
	for _, key := range slices.Sorted(maps.Keys(m.Slots)) {
		if TotalText(key) == total {
			list = append(list, m.Slots[key])
		}
	}
	return list
}

// Mend makes a slot what it must be once somebody has mended its total: what only moves outwards is
// computed anew from all that the total counts.
func (m *Model) Mend(s *Slot) {
	all := newSlot("", 0)
	slots, counted := m.Whole(s), map[int64]live{}
	for _, of := range slots { // what one item has added, another may have taken back
		for term, l := range of.live {
			counted[term] = live{l.Part, counted[term].n + l.n}
		}
	}
	for _, l := range counted {
		if l.n > 0 {
			(&Step{Slot: all, FP: zero(), FPX: zero(), max: l.max, min: l.min, dated: l.dated, met: l.met}).Apply()
		}
	}
	gets := m.GetsMissing(s)
	s.Max = renewed(s.Max, all.Max, gets)
	s.Min = renewed(s.Min, all.Min, gets)
	s.Texts = renewed(s.Texts, all.Texts, gets)
	s.Sketches = renewed(s.Sketches, all.Sketches, gets)
	s.Flagged = s.Bounded() && s.Left() < 0
}

// GetsMissing reports whether a slot is the item of its total that gets what is missing, or loses
// what is too much, when somebody mends the total: the first that is stored.
func (m *Model) GetsMissing(s *Slot) bool {
	slots := m.Whole(s)
	first := slices.IndexFunc(slots, func(of *Slot) bool { return of.Applied > 0 })
	return slots[max(first, 0)] == s
}

// renewed returns the values of a slot that was mended: those that it had, or all if it is the one
// that gets what is missing.
func renewed[V any](had, all map[string]V, gets bool) map[string]V {
	out := map[string]V{}
	for name, v := range all {
		if _, has := had[name]; has || gets {
			out[name] = v
		}
	}
	return out
}
