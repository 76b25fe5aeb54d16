package model

import "slices"

// contributePut returns what an order contributes to these totals.
func (m *Model) contributePut(img *Image) []Part {
	since, spread := m.PutSince, m.Spread
	list := []Part{
		{Name: "paid", By: img.Merchant, since: since, Window: "-", subtract: true, spread: spread, byPut: true,
			Values: map[string]int64{"orders": 1, "revenue": img.Cents}},
		{Name: "balance", By: img.Merchant, since: since, Window: "-", spread: 1, byPut: true,
			Values: m.bounded(img)},
	}
	if since > 1 {
		return list
	}
	return append(list, Part{Name: "later", since: 2, Window: "-", subtract: true, spread: 1, byPut: true,
		Values: map[string]int64{"orders": 1}})
}

// contributeAccount returns what a line contributes to its account.
func (m *Model) contributeAccount(img *Image) Part {
	_, number := img.WholeID()
	return Part{Name: "accounts", By: number, since: 1, Window: "-", spread: 1, byPut: true, Values: m.bounded(img)}
}

// bounded returns the values of a total that has a floor, or a ceiling and a number of its own.
func (m *Model) bounded(img *Image) map[string]int64 {
	if m.Ceiling {
		return map[string]int64{"owed": -img.Cents, "left": -1}
	}
	return map[string]int64{"cents": img.Cents}
}

// left returns how far the value of a total is from its bound, which is 0. It is beyond if this is
// negative.
func left(values map[string]int64) int64 { return values["cents"] - values["owed"] }

// Left returns how far the value of a total is from its bound.
func (s *Slot) Left() int64 { return left(s.Values) }

// countedByPut reports whether the transaction that put an item has counted it in a generation. It
// has if nothing was there before, and the item says that a put of that epoch or a later one has
// counted it.
func countedByPut(c *Change, p Part) bool {
	return p.byPut && (c.Old == nil || c.Old.Barred) && c.New != nil && atoi(ValueOf(c.New.Whole["i:put"])) >= p.since
}

// ApplyPut counts what the put of an item has added to a total. Total and item change at one
// moment.
func (m *Model) ApplyPut(key string, p Part) *Slot {
	s := m.Slot(key, p.expires)
	st := &Step{Slot: s, N: 1, FP: zero(), FPX: zero(), Values: p.Values, plus: []Part{p}}
	st.FP.SetInt64(p.Term)
	s.Steps, s.ByPut, s.Taken = s.Steps+1, true, s.Taken || left(p.Values) < 0
	st.Apply()
	m.Note(s)
	return s
}

// Level is how far a sum is from its bound, from one record of the stream on.
type Level struct {
	Since int
	Cents int64
}

// Bounded reports whether the total has a floor or a ceiling.
func (s *Slot) Bounded() bool {
	name, _, _ := SlotName(s.Key)
	return name == "balance" || name == "accounts"
}

// Note remembers how far a sum is from its bound.
func (m *Model) Note(s *Slot) {
	if s.Bounded() {
		s.Levels = append(s.Levels, Level{m.Records + 1, s.Left()})
	}
}

// Lowest returns how near a sum has been to its bound at any moment since a record of the stream.
func (m *Model) Lowest(key string, since int) (low int64) {
	s := m.Slots[key]
	if s == nil {
		return 0
	}
	at := []int64{0} // before the first order
	for _, l := range s.Levels {
		if l.Since <= since {
			at = at[:0]
		}
		at = append(at, l.Cents)
	}
	return slices.Min(at)
}
