package cost

import (
	"math"

	"github.com/ingot-events/ingot/aggregate"
	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/base/itemform"
	"github.com/ingot-events/ingot/internal/plan/lanes"
	"github.com/ingot-events/ingot/internal/tool/estimate"
	"github.com/ingot-events/ingot/internal/tool/sample"
)

// moved is what is known about the transactions that put items: those of atomic types, and those
// that move totals. All fields are sums over the sample, or values of one message if there is no
// sample.
type moved struct {
	items  float64 // items that transactions put; the sums of all items include them
	met    float64 // such items of messages whose event is stored already
	groups float64 // of items that must be in one transaction
	packs  float64 // transactions: groups that move the same totals share them
	// totals is the write units of the totals, once for each transaction. own is what they would be
	// if no group shared a transaction.
	totals, own float64
	// shared is the number of transactions of two groups or more, and sharing the number of groups
	// in them. units is what these transactions cost if they are refused. Indexes cost nothing
	// then.
	shared, sharing, units float64
	batches                float64 // of the ingest function
}

// again returns what n groups cost that are delivered again, apart from their own items. A group
// that is alone in its transaction costs its totals. If it shares a transaction, the whole
// transaction is refused because of it, and is sent again without it.
func (m *moved) again(n float64) (units, requests float64) {
	if m.groups == 0 || n == 0 {
		return 0, 0
	}
	joined := n * m.sharing / m.groups
	units, requests = (n-joined)*m.own/m.groups, n-joined
	if m.shared > 0 {
		each := m.shared / m.batches
		hit := m.batches * each * (1 - math.Pow(1-math.Min(1, 1/each), joined/m.batches))
		units, requests = units+hit*m.units/m.shared, requests+hit
	}
	return units, requests
}

// beside adds the transactions of n others.
func (m *moved) beside(of *moved, n float64) {
	m.items, m.groups, m.packs = m.items+n*of.items, m.groups+n*of.groups, m.packs+n*of.packs
	m.totals, m.own = m.totals+n*of.totals, m.own+n*of.own
}

// group is the smallest content of a transaction: an item that moves totals, or a whole with its
// parts.
type group struct {
	items, bytes int
	units        float64 // without indexes
	totals       map[event.Key]*touched
}

// These are the limits that the store keeps when it packs transactions. A test compares the outcome
// with what the store sends.
const (
	packItems = estimate.ItemsATransaction
	packBytes = 3 << 20
	packTotal = 1 << 10 // what a total is assumed to take
)

// byPut reports whether the put moves the totals of a definition.
func byPut(def *aggregate.Definition) bool { return def.MovedBy == aggregate.Put }

// transaction reports whether a transaction puts the item, alone or with its whole, and by how much
// that multiplies the cost of the put.
func transaction(atomic bool, item *event.Item) (factor float64, is bool) {
	if atomic || item.Put != 0 {
		return estimate.InTransaction, true
	}
	return 1, false
}

// transactions records the transactions that a line needs.
func (s *Sampled) transactions(j sample.Judged) {
	atomic := j.Item.Parts != nil && j.Item.Parts.Atomic
	var whole *group
	for i, part := range append([]sample.Judged{j}, j.Parts...) {
		if _, is := transaction(atomic, part.Item); !is {
			continue
		}
		if j.Verdict != event.Inserted {
			s.moved.met++
			if i == 0 || !atomic {
				s.metGroups++
			}
			continue
		}
		s.moved.items++
		g := whole
		if g == nil || !atomic {
			g = &group{totals: map[event.Key]*touched{}}
			phase := 0
			switch {
			case atomic:
				phase, whole = 2, g
			case i > 0:
				phase = 1
			}
			s.groups[phase] = append(s.groups[phase], g)
		}
		s.gather(g, part)
	}
}

// gather adds an item to what a transaction puts.
func (s *Sampled) gather(g *group, j sample.Judged) {
	size := j.Item.Size()
	g.items, g.bytes = g.items+1, g.bytes+size
	g.units += float64(estimate.InTransaction * itemform.WriteUnits(size))
	for i := range j.Contributions {
		c := &j.Contributions[i]
		if byPut(c.Def) {
			g.totals[lanes.ItemKey(j.Item.Key, c)] = s.touched(s.sum(c.Def), total{def: c.Def, by: hashOf(c.By...)}, c.By)
		}
	}
}

// batch ends a batch of the ingest function, and packs its groups as the store does.
func (s *Sampled) batch() {
	s.moved.batches++
	for phase, groups := range s.groups {
		for _, connected := range connect(groups) {
			s.pack(connected)
		}
		s.groups[phase] = groups[:0]
	}
}

// connect puts groups together that move the same totals, directly or through other groups.
func connect(groups []*group) (list [][]*group) {
	of := make([]int, len(groups))
	root := func(i int) int {
		for of[i] != i {
			i = of[i]
		}
		return i
	}
	owner := map[event.Key]int{}
	for i, g := range groups {
		of[i] = i
		for key := range g.totals {
			if other, known := owner[key]; known {
				a, b := root(other), root(i)
				of[max(a, b)] = min(a, b)
			} else {
				owner[key] = i
			}
		}
	}
	at := map[int]int{}
	for i, g := range groups {
		n, known := at[root(i)]
		if !known {
			n = len(list)
			at[root(i)], list = n, append(list, nil)
		}
		list[n] = append(list[n], g)
	}
	return list
}

// pack splits connected groups over transactions, and adds up what these cost.
func (s *Sampled) pack(groups []*group) {
	totals, items, bytes, units := map[event.Key]*touched{}, 0, 0, 0.0
	in := 0 // groups
	end := func() {
		s.moved.packs++
		cost := 0.0
		for _, t := range totals {
			t.puts++
			cost += float64(estimate.Units(t.def, t.bytes, aggregate.Marks))
		}
		if in > 1 {
			s.moved.shared, s.moved.sharing, s.moved.units = s.moved.shared+1, s.moved.sharing+float64(in), s.moved.units+units+cost
		}
		clear(totals)
		items, bytes, units, in = 0, 0, 0, 0
	}
	for _, g := range groups {
		more := 0
		for key, t := range g.totals {
			if totals[key] == nil {
				more++
			}
			s.moved.own += float64(estimate.Units(t.def, t.bytes, aggregate.Marks))
		}
		if in > 0 && (items+g.items+len(totals)+more > packItems || bytes+g.bytes+(len(totals)+more)*packTotal > packBytes) {
			end()
		}
		for key, t := range g.totals {
			totals[key] = t
		}
		s.moved.groups++
		items, bytes, units, in = items+g.items, bytes+g.bytes, units+g.units, in+1
	}
	end()
}
