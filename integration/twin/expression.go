package twin

import (
	"fmt"
	"strings"
)

// expression is a conditional update of an aggregate item, made of the parts that package store
// uses.
type expression struct {
	add, set, remove, conditions []string
	names                        map[string]string
	values                       attrs
}

func (e *expression) name(attribute string) string {
	for placeholder, name := range e.names {
		if name == attribute {
			return placeholder
		}
	}
	placeholder := fmt.Sprintf("#n%d", len(e.names))
	e.names[placeholder] = attribute
	return placeholder
}

func (e *expression) update() string {
	var sections []string
	for i, parts := range [][]string{e.add, e.set, e.remove} {
		if len(parts) > 0 {
			sections = append(sections, [...]string{"ADD ", "SET ", "REMOVE "}[i]+strings.Join(parts, ", "))
		}
	}
	return strings.Join(sections, " ")
}

func (e *expression) condition() *string {
	if len(e.conditions) == 0 {
		return nil
	}
	all := strings.Join(e.conditions, " AND ")
	return &all
}

// expression draws an update. With mark it is one under marks, otherwise one inside a transaction
// with receipts.
func (g *gen) expression(mark bool) *expression {
	e := &expression{names: map[string]string{}, values: attrs{}}
	g.sums(e)
	g.extreme(e, "largest", ":v1", "<", ">=")
	g.extreme(e, "least", ":v2", ">", "<=")
	if g.sometimes(5) {
		name := e.name("flag")
		e.set, e.values[":flag"] = append(e.set, name+" = if_not_exists("+name+", :flag)"), s(pick(g, "first", "second"))
	}
	if g.sometimes(3) {
		e.set, e.values[":expiresAt"] = append(e.set, e.name("expiresAt")+" = :expiresAt"), n("4102444800")
	}
	if mark {
		g.lane(e)
	}
	return e
}

func (g *gen) sums(e *expression) {
	for _, name := range []string{"n", "fp", "revenue"} {
		if name == "n" || g.sometimes(2) {
			e.add, e.values[":"+name] = append(e.add, e.name(name)+" :"+name), g.number()
		}
	}
}

// extreme moves an extreme, or requires that it stays.
func (g *gen) extreme(e *expression, attribute, value, beyond, within string) {
	if !g.sometimes(3) {
		return
	}
	name := e.name(attribute)
	e.values[value] = g.number()
	if g.sometimes(2) {
		e.conditions = append(e.conditions, name+" "+within+" "+value)
		return
	}
	e.set = append(e.set, name+" = "+value)
	e.conditions = append(e.conditions, fmt.Sprintf("(attribute_not_exists(%s) OR %s %s %s)", name, name, beyond, value))
}

// lane moves the mark of one lane, and may prune the mark of the other lane.
func (g *gen) lane(e *expression) {
	own, other := "m:a", "m:b"
	if g.sometimes(2) {
		own, other = other, own
	}
	name := e.name(own)
	e.set = append(e.set, name+" = :mark")
	e.conditions = append(e.conditions, fmt.Sprintf("(attribute_not_exists(%s) OR %s < :first)", name, name))
	e.values[":mark"], e.values[":first"] = g.mark(), g.mark()
	if g.sometimes(5) {
		name := e.name(other)
		e.remove, e.conditions = append(e.remove, name), append(e.conditions, name+" = :p0")
		e.values[":p0"] = g.mark()
	}
}
