package pipeline

import (
	"reflect"
	"slices"
	"strings"

	"github.com/ingot-events/ingot/internal/plan/declare"
	"github.com/ingot-events/ingot/internal/plan/values"
	"github.com/ingot-events/ingot/internal/plan/where"
	"github.com/ingot-events/ingot/internal/plan/yamlfile"
)

const aValue = `{sum: total_cents, where: "total_cents > 100"}`

// valueMapping decodes a value that is written as a mapping. It writes the text that means the
// same: sum PATH where CONDITION. members are one way of computing the value, and its condition.
func valueMapping(d *declare.Decoder, p place, n *yamlfile.Node, into reflect.Value, members []string) {
	d.Values[p] = position{Position: n.Position}
	var op, operand, where string
	before := len(d.Mistakes)
	for _, m := range d.Pairs(p, n, aValue) {
		at := p.In(m.Name)
		switch {
		case values.IsAverage(m.Name):
			bad := values.AverageError(m.Value.Text)
			d.Misnamed(at, bad.What, "sum: "+bad.Instead)
		case !slices.Contains(members, m.Name):
			d.Misnamed(at, "unknown name "+m.Name, declare.Suggest(m.Name, members))
		case m.Name == "where":
			d.Value(at, m.Value, reflect.ValueOf(&where).Elem(), nil)
		case op != "":
			d.Misnamed(at, declare.NameOf(p)+" is computed in two ways, "+op+" and "+m.Name, "one of the two")
		case m.Name == "count":
			op = m.Name
			countMember(d, at, n, m.Value)
		default:
			op = m.Name
			if m.Value.Kind == yamlfile.Integer || m.Value.Kind == yamlfile.Float {
				m.Value.Kind = yamlfile.Text // sum: -1
			}
			d.Value(at, m.Value, reflect.ValueOf(&operand).Elem(), nil)
		}
	}
	if op == "" && len(d.Mistakes) == before {
		d.Breaks(p, declare.NameOf(p)+" does not say how it is computed",
			"count: true, sum: PATH, min: PATH, max: PATH, newest: PATH, oldest: PATH, histogram: PATH or distinct: PATH beside where")
	}
	d.Broken[p] = len(d.Mistakes) > before
	text := strings.TrimSpace(op + " " + operand)
	if where != "" {
		text += " where " + where
	}
	into.SetString(text)
}

// countMember checks that count is true, because count reads no field. in is the mapping that it is
// in.
func countMember(d *declare.Decoder, p place, in, n *yamlfile.Node) {
	d.Values[p] = position{Position: n.Position}
	if n.Kind == yamlfile.Bool && strings.ToLower(n.Text) == "true" {
		return
	}
	instead := "count: true"
	conditional := slices.ContainsFunc(in.Members, func(m yamlfile.Member) bool { return m.Name == "where" })
	yes := slices.Contains([]string{"yes", "on", "y"}, strings.ToLower(n.Text)) // as YAML had it once
	if _, bad := where.Path(n.Text); bad == nil && n.Kind == yamlfile.Text && !conditional && !yes {
		instead += `, where: "exists ` + n.Text + `"`
	}
	d.Breaks(p, "count counts events and reads no field", instead)
}
