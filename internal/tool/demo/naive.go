package demo

import (
	"strings"

	"github.com/ingot-events/ingot/aggregate"
	"github.com/ingot-events/ingot/envelope"
	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/plan/lanes"
	"github.com/ingot-events/ingot/pipeline"
)

// slot names one total: its aggregate, its by values (escaped, joined by #) and the start of its
// window.
type slot struct {
	name   string
	by     string
	window int64
}

// naive counts as a simple function would: one plain ADD for every delivery, and the largest and
// smallest values. Such a function keeps no record of what it has counted and uses no conditions.
// naive gets exactly the deliveries that Ingot's functions got. Its ADDs happen before the answer
// of the function, so a delivery counts even if the invocation failed. Only if the table refused
// all requests of an invocation, its ADDs are refused too.
type naive struct {
	plan   *pipeline.Pipeline
	totals map[slot]map[string]aggregate.Amount
}

func newNaive(p *pipeline.Pipeline) *naive {
	return &naive{plan: p, totals: map[slot]map[string]aggregate.Amount{}}
}

// message counts one delivered message. It ignores one that cannot be read.
func (n *naive) message(m envelope.Message) {
	for _, planned := range n.plan.PlanEach(m) {
		if planned.Refusal != nil {
			continue
		}
		for _, one := range planned.Item.All() {
			n.fold(one)
		}
	}
}

// change counts one delivered stream record. It adds the new item and subtracts the old one. It
// subtracts an expired item only if the total declares that.
func (n *naive) change(c *event.Change) {
	if c.New != nil {
		n.fold(c.New)
	}
	if c.Old != nil {
		n.remove(c)
	}
}

// left reports whether a total should have fallen to nothing but has not.
func (n *naive) left(at slot) bool {
	for _, v := range n.totals[at] {
		if !v.Number.IsZero() {
			return true
		}
	}
	return false
}

func (n *naive) fold(item *event.Item) {
	for _, c := range n.plan.Contributions(item).List {
		n.add(&c, 1)
	}
}

func (n *naive) remove(change *event.Change) {
	for _, c := range n.plan.Contributions(change.Old).List {
		if !change.Expired || c.Def.OnExpire == aggregate.Subtract {
			n.add(&c, -1)
		}
	}
}

func (n *naive) add(c *aggregate.Contribution, sign int64) {
	at := slot{c.Def.Name, strings.Join(c.By, "#"), c.Window}
	total := n.totals[at]
	if total == nil {
		total = map[string]aggregate.Amount{}
		n.totals[at] = total
	}
	for i, v := range c.Values {
		value := c.Def.Values[i]
		old := total[value.Name]
		switch {
		case !v.Set, sign < 0 && !value.Op.Additive():
		case sign < 0 && value.Op == aggregate.Histogram:
			sum := aggregate.Buckets{}
			_, _ = sum.Add(old.Text, 1), sum.Add(v.Text, -1) // both are texts of Ingot, which are valid
			total[value.Name] = aggregate.Amount{Set: true, Text: sum.Text()}
		case sign < 0:
			total[value.Name] = aggregate.Amount{Set: true, Number: old.Number.Sub(v.Number)}
		default:
			total[value.Name] = lanes.Merge(value.Op, old, v)
		}
	}
}
