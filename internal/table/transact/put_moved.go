package transact

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/ingot-events/ingot/aggregate"
	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/plan/lanes"
	"github.com/ingot-events/ingot/internal/table/count"
	"github.com/ingot-events/ingot/internal/table/plain"
	"github.com/ingot-events/ingot/internal/table/rows"
	"github.com/ingot-events/ingot/tables"
)

// Totals that are moved by the put are updated in the transaction that puts the item. The condition
// of the put, that the key is free, makes this exactly once: no mark and no receipt is needed. The
// item's attribute i:put then says that its put has counted it, and the stream does not count that
// change again.
//
// A floor or a ceiling is a condition of the same transaction. So two events that subtract from the
// same total cannot both use the same amount.

// moves returns what the put of an item adds to totals. It returns nothing if a part of it cannot
// be computed. Such an item is put without i:put, and the stream counts it and reports what is
// wrong.
func (s *Writer) moves(item *event.Item) (list []aggregate.Contribution) {
	if item.Put == 0 {
		return nil
	}
	c := s.Pipeline.Contributions(item)
	if slices.ContainsFunc(c.Failed, func(f aggregate.Failure) bool { return f.Def.MovedBy == aggregate.Put }) {
		return nil
	}
	return slices.DeleteFunc(c.List, func(c aggregate.Contribution) bool { return c.Def.MovedBy != aggregate.Put })
}

// TotalMove is what one transaction does to one total.
type TotalMove struct {
	lanes.Update
	delta lanes.Delta
	Nears []bool // aligned with the definition's bounds: whether an event of the transaction moves its value towards it
}

// TotalMoves folds what these items move into one update of each total, because a transaction may
// name an item only once. The updates are in the order of their keys.
func TotalMoves(members []*atomicItem) []*TotalMove {
	byKey := map[event.Key]*TotalMove{}
	var list []*TotalMove
	for _, m := range members {
		for i := range m.moves {
			c := &m.moves[i]
			key := lanes.ItemKey(m.item.Key, c)
			u := byKey[key]
			if u == nil {
				u = &TotalMove{Update: lanes.Update{Key: key, Def: c.Def, ExpiresAt: lanes.Expiry(c.Def, c.Window)},
					Nears: make([]bool, len(c.Def.Bounds))}
				byKey[key] = u
				list = append(list, u)
			}
			u.Steps = append(u.Steps, lanes.Step{Plus: c})
			for i, b := range c.Def.Bounds {
				u.Nears[i] = u.Nears[i] || b.Nears(c.Values[b.Value])
			}
		}
	}
	for _, u := range list {
		u.delta = u.Fold()
	}
	slices.SortFunc(list, func(a, b *TotalMove) int { return a.Key.Compare(b.Key) })
	return list
}

// update returns the update of the total, on condition that no value is brought beyond a bound that
// an event moves it to. images says whether a refusal is to bring the total.
func (u *TotalMove) update(table *string, images types.ReturnValuesOnConditionCheckFailure) *types.Update {
	e := &rows.Edit{}
	e.Fold(&u.Update, &u.delta, &rows.Observation{})
	e.Expiry(u.ExpiresAt)
	for i, nears := range u.Nears {
		if nears {
			e.Bound(u.Def, i, u.before(i), true)
		}
	}
	update := e.Update(table, u.Key)
	if update.ConditionExpression != nil {
		update.ReturnValuesOnConditionCheckFailure = images
	}
	return &update
}

// before returns what must hold before the transaction, so that a bound holds afterwards.
func (u *TotalMove) before(i int) aggregate.Bound {
	return u.Def.Bounds[i].Before(u.delta.Values[u.Def.Bounds[i].Value])
}

// units returns what the update costs in a transaction, for a total that was found as img.
func (u *TotalMove) units(table *string, img rows.Image) float64 {
	return rows.TransactionUnits(max(count.WrittenSize(u.update(table, types.ReturnValuesOnConditionCheckFailureNone)),
		rows.ImageSize(img)))
}

// name names the total for people: stock of sku="a". Its values are in quotes, because they may be
// personal.
func (u *TotalMove) name() string {
	address, _ := lanes.ParseKey(u.Key)
	var by []string
	group := lanes.Group(u.Def, address.By)
	for _, name := range u.Def.By {
		by = append(by, name+"="+strconv.Quote(group[name]))
	}
	text := u.Def.Name
	if len(by) > 0 {
		text += " of " + strings.Join(by, " ")
	}
	if address.Window != aggregate.NoWindow {
		text += " from " + lanes.WindowText(address.Window)
	}
	return text
}

// Beyond says why the condition of the update fails for a total as it was found: which bound does
// not hold, or which value is not a number. Both are empty if the condition holds for that total.
func (u *TotalMove) Beyond(img rows.Image) (why *event.Refusal, mistyped string) {
	for i, nears := range u.Nears {
		if !nears {
			continue
		}
		b, has := u.Def.Bounds[i], event.Decimal{}
		name := u.Def.Values[b.Value].Name
		if attribute, there := img[name]; there {
			n, err := event.ParseDecimal(rows.NumberOf(attribute))
			if err != nil {
				return nil, fmt.Sprintf("%s: %s is not a number", u.name(), name)
			}
			has = n
		}
		if u.before(i).Holds(has) {
			continue
		}
		why = &event.Refusal{Verdict: event.Rejected, Reason: event.BelowFloor,
			Detail: fmt.Sprintf("%s: %s is %s, and with this event it would be %s, which is %s of %s",
				u.name(), name, has, has.Add(u.delta.Values[b.Value].Number), b.Beyond(), b.Limit)}
		if b.Ceiling {
			why.Reason = event.AboveCeiling
		}
		return why, ""
	}
	return nil, ""
}

// putMoved puts the items at these places, together with their parts if they are atomic. Each of
// them moves totals. Messages that move the same total share transactions. So they do not make each
// other fail, and the total is paid for once. Copies of one event go after the first one.
func (s *Writer) putMoved(ctx context.Context, items []*event.Item, places []int, results []tables.Result,
	among *throttles) (cost tables.Cost) {
	first := make(map[event.Key]bool, len(places))
	var puts []*atomicPut
	var copies []int
	of := map[*atomicPut]int{}
	for _, i := range places {
		if first[items[i].Key] {
			copies = append(copies, i)
			continue
		}
		first[items[i].Key] = true
		t := s.among(among, items[i])
		puts, of[t] = append(puts, t), i
	}
	among.puts = puts
	groups := connected(puts)
	costs := make([]tables.Cost, len(groups))
	s.Env.Each(len(groups), s.Parallel(), func(n int) {
		for _, p := range packs(s, groups[n]) { // one after the other: they share totals
			p.put(ctx)
			costs[n].Add(p.cost)
		}
	})
	for _, c := range costs {
		cost.Add(c)
	}
	known := triedItems{stored: map[event.Key]*triedItem{}, others: map[copied][]*triedItem{}}
	for t, i := range of {
		results[i] = *t.result
		if len(copies) > 0 {
			known.add(items[i], results[i])
		}
	}
	for _, i := range copies {
		if r := known.copyOf(items[i]); r != nil {
			results[i] = *r
			continue
		}
		t := s.among(among, items[i])
		results[i] = t.Put(ctx)
		known.add(items[i], results[i])
		cost.Add(t.cost)
	}
	return cost
}

// triedItems are the items of a call that were tried, and their results.
type triedItems struct {
	stored map[event.Key]*triedItem
	others map[copied][]*triedItem // Retry or Rejected
}

type triedItem struct {
	item   *event.Item
	result tables.Result
}

// copied is what copies of one event have in common.
type copied struct {
	key    event.Key
	digest event.Digest
}

func (s triedItems) add(item *event.Item, r tables.Result) {
	it := &triedItem{item, r}
	switch {
	case r.Verdict.Stored():
		s.stored[item.Key] = it
	case r.Verdict == event.Retry, r.Verdict == event.Rejected:
		of := copied{item.Key, item.Digest}
		s.others[of] = append(s.others[of], it)
	}
}

// copyOf settles an item if a copy of it in the same call was tried already, with one of these
// results:
//
//   - The copy is stored.
//   - The copy is Retry, and a try of it may still be carried out.
//   - The copy is Rejected. Its letter will say that nothing is stored, so nothing may be stored now,
//     even if the total has risen since. A later delivery is judged again.
//
// A copy may have a different time, source or attributes, from its envelope. Then it is tried even
// after a rejection, because it may move another total. Otherwise, copyOf returns nil, and the item
// is tried. So is an item with another digest, which is not a copy.
func (s triedItems) copyOf(item *event.Item) *tables.Result {
	if it := s.stored[item.Key]; it != nil && it.item.Digest == item.Digest {
		r := rows.Repeated(it.result)
		return &r
	}
	others := s.others[copied{item.Key, item.Digest}]
	for _, it := range others {
		if it.result.Verdict == event.Retry {
			refusal := plain.InPlaceOf(item)
			return &tables.Result{Verdict: refusal.Verdict, Refusal: refusal}
		}
	}
	for _, it := range others {
		if item.At.Equal(it.item.At) && maps.Equal(item.Meta, it.item.Meta) {
			r := rows.Repeated(it.result)
			return &r
		}
	}
	return nil
}

// connected groups messages that move the same totals, directly or through other messages. The
// groups are in the order of their first messages. In a group, messages that no bound can
// refuse go first.
func connected(puts []*atomicPut) (groups [][]*atomicPut) {
	group := make([]int, len(puts)) // the group of each message: the lowest place of its messages
	owner := map[event.Key]int{}    // a message that moves the total
	root := func(i int) int {
		for group[i] != i {
			i = group[i]
		}
		return i
	}
	for i, t := range puts {
		group[i] = i
		for key := range t.totals() {
			if other, known := owner[key]; known {
				a, b := root(other), root(i)
				group[max(a, b)] = min(a, b)
			} else {
				owner[key] = i
			}
		}
	}
	at := map[int]int{}
	for i, t := range puts {
		n, known := at[root(i)]
		if !known {
			n = len(groups)
			at[root(i)], groups = n, append(groups, nil)
		}
		groups[n] = append(groups[n], t)
	}
	for _, g := range groups {
		slices.SortStableFunc(g, func(a, b *atomicPut) int { return cmp.Compare(len(a.Bounded()), len(b.Bounded())) })
	}
	return groups
}

// Bounded lists the generations whose bounds may refuse the message: those whose values
// it moves towards one.
func (t *atomicPut) Bounded() (list []*aggregate.Definition) {
	for _, m := range t.Members {
		for i := range m.moves {
			c := &m.moves[i]
			if !m.Met && !slices.Contains(list, c.Def) &&
				slices.ContainsFunc(c.Def.Bounds, func(b aggregate.Bound) bool { return b.Nears(c.Values[b.Value]) }) {
				list = append(list, c.Def)
			}
		}
	}
	return list
}

// bytes returns how many bytes the items of the message take.
func (t *atomicPut) bytes() (size int) {
	for _, m := range t.Members {
		size += m.item.Size()
	}
	return size
}

// movedUnits returns what the totals of a transaction cost, as far as it is known.
func movedUnits(table *string, moves []*TotalMove, reasons []types.CancellationReason) (units float64) {
	for i, u := range moves {
		var img rows.Image
		if i < len(reasons) {
			img = reasons[i].Item
		}
		units += u.units(table, img)
	}
	return units
}

// totals returns where the totals are stored that the message moves.
func (t *atomicPut) totals() map[event.Key]bool {
	keys := map[event.Key]bool{}
	for _, m := range t.Members {
		for i := range m.moves {
			keys[lanes.ItemKey(m.item.Key, &m.moves[i])] = true
		}
	}
	return keys
}
