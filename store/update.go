package store

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/ingot-events/ingot/aggregate"
)

// expression is one conditional update of an aggregate item under construction.
type expression struct {
	add, set, remove, conditions []string
	names                        map[string]string
	values                       image
}

func newExpression() *expression {
	return &expression{names: map[string]string{}, values: image{}}
}

// name gives an attribute a placeholder: attribute names hold characters and words that expressions may not.
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
	var b strings.Builder
	for _, clause := range []struct {
		word  string
		parts []string
	}{{"ADD ", e.add}, {"SET ", e.set}, {"REMOVE ", e.remove}} {
		if len(clause.parts) == 0 {
			continue
		}
		if b.Len() > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(clause.word)
		b.WriteString(strings.Join(clause.parts, ", "))
	}
	return b.String()
}

func (e *expression) condition() string { return strings.Join(e.conditions, " AND ") }

// fold adds the delta: values, n and fingerprint. A fold of zero is written all the same, because the write
// is what moves the mark.
func (e *expression) fold(def *aggregate.Definition, d *aggregate.Delta, seen *observation) {
	e.addNumber("n", ":n", integer(d.N))
	e.addNumber("fp", ":fp", number(d.FP.String()))
	if !d.FPX.IsZero() {
		e.addNumber("fpx", ":fpx", number(d.FPX.String()))
	}
	for i, amount := range d.Values {
		if !amount.Set {
			continue
		}
		value := fmt.Sprintf(":v%d", i)
		if def.Values[i].Op.Additive() {
			e.addNumber(def.Values[i].Name, value, number(amount.Number.String()))
			continue
		}
		e.extreme(def.Values[i], value, amount, seen.extreme(i))
	}
	if d.Flag != "" {
		e.flag(d.Last.Created(), d.Flag)
	}
}

func (e *expression) addNumber(attribute, placeholder string, v types.AttributeValue) {
	e.add = append(e.add, e.name(attribute)+" "+placeholder)
	e.values[placeholder] = v
}

// extreme moves a min or max. Which of the two forms holds depends on what is stored: the guess is part of
// the condition, so a wrong one fails and the image that comes back corrects it.
func (e *expression) extreme(v aggregate.Value, placeholder string, candidate, stored aggregate.Amount) {
	name := e.name(v.Name)
	beyond, within := "<", ">="
	if v.Op == aggregate.Min {
		beyond, within = ">", "<="
	}
	e.values[placeholder] = number(candidate.Number.String())
	if stored.Set && v.Op.Merge(stored, candidate).Number.Cmp(stored.Number) == 0 {
		e.conditions = append(e.conditions, name+" "+within+" "+placeholder)
		return
	}
	e.set = append(e.set, name+" = "+placeholder)
	e.conditions = append(e.conditions, fmt.Sprintf("(attribute_not_exists(%s) OR %s %s %s)", name, name, beyond, placeholder))
}

// mark moves the lane's mark, on condition that it is below the first record.
func (e *expression) mark(lane aggregate.LaneID, d *aggregate.Delta) {
	name, first := e.name(lane.MarkAttribute()), d.First.Bytes()
	e.set = append(e.set, name+" = :mark")
	e.conditions = append(e.conditions, fmt.Sprintf("(attribute_not_exists(%s) OR %s < :first)", name, name))
	e.values[":mark"], e.values[":first"] = binary(d.Last[:]), binary(first[:])
}

// maxPrunes bounds what one update removes, so that its expression stays far below 4 KB.
const maxPrunes = 12

// prune removes marks of lanes long gone, each only if it still has the value that was seen.
func (e *expression) prune(seen *observation, own string, first time.Time) {
	names := seen.prunable(own, first)
	slices.Sort(names)
	for i, attribute := range names[:min(len(names), maxPrunes)] {
		name, value, mark := e.name(attribute), fmt.Sprintf(":p%d", i), seen.marks[attribute]
		e.remove = append(e.remove, name)
		e.conditions = append(e.conditions, name+" = "+value)
		e.values[value] = binary(mark[:])
	}
}

// expiry sets the aggregate item's own expiry with every update, so that one which recreates a swept item
// makes an item that is born expired.
func (e *expression) expiry(at int64) {
	if at != 0 {
		e.set = append(e.set, e.name("expiresAt")+" = :expiresAt")
		e.values[":expiresAt"] = integer(at)
	}
}

// flag says on the item why its values are no longer proven. The first reason stands.
func (e *expression) flag(at time.Time, reason string) {
	name := e.name("flag")
	e.set = append(e.set, fmt.Sprintf("%s = if_not_exists(%s, :flag)", name, name))
	e.values[":flag"] = text(flagText(at, reason))
}

func flagText(at time.Time, reason string) string {
	return at.UTC().Format("2006-01-02T15:04:05Z") + " " + reason
}

func (o *observation) extreme(i int) aggregate.Amount {
	if i < len(o.extremes) {
		return o.extremes[i]
	}
	return aggregate.Amount{}
}
