package pipeline

import (
	"reflect"
	"slices"
	"strings"

	"github.com/ingot-events/ingot/internal/plan/yamlfile"
)

const aValue = `{sum: total_cents, where: "total_cents > 100"}`

// valueMapping decodes a value that is written as a mapping. It writes the text that means the
// same: sum PATH where CONDITION. members are one way of computing the value, and its condition.
func (d *decoder) valueMapping(p place, n *yamlfile.Node, into reflect.Value, members []string) {
	d.values[p] = position{Position: n.Position}
	var op, operand, where string
	for _, m := range d.pairs(p, n, aValue) {
		at := p.in(m.name)
		switch {
		case isAverage(m.name):
			bad := averageError(m.value.Text)
			d.misnamed(at, bad.What, bad.Instead)
			d.broken[p] = true
		case !slices.Contains(members, m.name):
			d.misnamed(at, "unknown name "+m.name, suggest(m.name, members))
			d.broken[p] = true
		case m.name == "where":
			d.value(at, m.value, reflect.ValueOf(&where).Elem(), nil)
			d.broken[p] = d.broken[p] || d.broken[at]
		case op != "":
			d.misnamed(at, nameOf(p)+" is computed in two ways, "+op+" and "+m.name, "one of the two")
			d.broken[p] = true
		case m.name == "count":
			op = m.name
			d.countMember(at, m.value)
			d.broken[p] = d.broken[p] || d.broken[at]
		default:
			op = m.name
			d.value(at, m.value, reflect.ValueOf(&operand).Elem(), nil)
			d.broken[p] = d.broken[p] || d.broken[at]
		}
	}
	if op == "" && !d.broken[p] {
		d.breaks(p, nameOf(p)+" does not say how it is computed",
			"count: true, sum: PATH, min: PATH, max: PATH, newest: PATH, oldest: PATH, histogram: PATH or distinct: PATH beside where")
	}
	text := strings.TrimSpace(op + " " + operand)
	if where != "" {
		text += " where " + where
	}
	into.SetString(text)
}

// countMember checks that count is true, because count reads no field.
func (d *decoder) countMember(p place, n *yamlfile.Node) {
	d.values[p] = position{Position: n.Position}
	if n.Kind != yamlfile.Bool || strings.ToLower(n.Text) != "true" {
		d.breaks(p, "count counts events and reads no field", "count: true")
	}
}
