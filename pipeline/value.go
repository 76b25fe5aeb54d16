package pipeline

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ingot-events/ingot/aggregate"
	"github.com/ingot-events/ingot/event"
)

// value is a compiled value expression: what one event type supplies to one value of an aggregate.
type value struct {
	set      bool // false: this event type does not supply the value
	op       aggregate.Op
	path     event.Path // not for count
	negative bool       // sum alone
}

var ops = map[string]aggregate.Op{
	"count": aggregate.Count, "sum": aggregate.Sum, "min": aggregate.Min, "max": aggregate.Max,
}

// valueError is what is wrong with a value expression, offset bytes into it.
type valueError struct {
	offset        int
	what, instead string
}

const valueForms = "count, sum PATH, sum -PATH, min PATH or max PATH"

// parseValue reads count, sum PATH, sum -PATH, min PATH or max PATH.
func parseValue(text string) (value, *valueError) {
	word, rest, _ := strings.Cut(strings.TrimSpace(text), " ")
	op, ok := ops[word]
	if !ok {
		if best := nearest(strings.ToLower(word), []string{"count", "sum", "min", "max"}); best != "" {
			return value{}, &valueError{what: word + " is not a way to compute a value", instead: strings.TrimSpace(best + " " + rest)}
		}
		return value{}, &valueError{what: fmt.Sprintf("%q is not a way to compute a value", text), instead: valueForms}
	}
	v := value{set: true, op: op}
	rest = strings.TrimSpace(rest)
	if op == aggregate.Count {
		if rest != "" {
			return value{}, &valueError{offset: strings.Index(text, rest), what: "count counts events and reads no field", instead: "count"}
		}
		return v, nil
	}
	if after, ok := strings.CutPrefix(rest, "-"); ok {
		if op != aggregate.Sum {
			return value{}, &valueError{offset: strings.Index(text, rest), what: "only sum can be negated", instead: word + " " + after}
		}
		v.negative, rest = true, strings.TrimSpace(after)
	}
	if rest == "" {
		return value{}, &valueError{what: word + " needs a field", instead: word + " PATH"}
	}
	path, err := event.ParsePath(rest)
	if err != nil {
		return value{}, &valueError{offset: strings.LastIndex(text, rest), what: err.Error(), instead: valueForms}
	}
	v.path = path
	return v, nil
}

// String is the expression in its one canonical spelling.
func (v value) String() string {
	switch {
	case v.op == aggregate.Count:
		return "count"
	case v.negative:
		return "sum -" + v.path.String()
	}
	return v.op.String() + " " + v.path.String()
}

// amount computes the value for one payload. A sum takes at most 10^18 with at most 9 decimals, so that ten
// billion of them fit DynamoDB's 38 digits; min and max take whatever DynamoDB can store.
func (v value) amount(root event.Node) (aggregate.Amount, *event.Refusal) {
	if !v.set {
		return aggregate.Amount{}, nil
	}
	if v.op == aggregate.Count {
		return aggregate.Amount{Set: true, Number: event.DecimalOf(1)}, nil
	}
	n := root.At(v.path)
	switch n.Kind() {
	case event.Absent, event.Null:
		return aggregate.Amount{}, event.Poisoned(event.MissingField, "field "+v.path.String()+" is missing")
	case event.Number:
	default:
		return aggregate.Amount{}, event.Poisoned(event.WrongType, fmt.Sprintf("field %s is %s, not a number", v.path, strings.ToLower(n.Kind().String())))
	}
	d, err := n.Decimal()
	if err != nil {
		return aggregate.Amount{}, event.Poisoned(event.NumberOutOfRange, fmt.Sprintf("field %s: %v", v.path, err))
	}
	bound := d.Unstorable()
	if v.op == aggregate.Sum {
		bound = d.Unsummable()
	}
	if bound != "" {
		return aggregate.Amount{}, event.Poisoned(event.NumberOutOfRange, "field "+v.path.String()+" "+bound)
	}
	if v.negative {
		d = d.Neg()
	}
	return aggregate.Amount{Set: true, Number: d}, nil
}

// reservedValues are names that the total's own attributes have.
var reservedValues = []string{"n", "fp", "fpx", "flag"}

func isReservedValue(name string) bool { return slices.Contains(reservedValues, name) }
