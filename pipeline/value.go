package pipeline

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/ingot-events/ingot/aggregate"
	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/base/nearest"
	"github.com/ingot-events/ingot/internal/plan/jsonschema"
	"github.com/ingot-events/ingot/internal/plan/where"
	"github.com/ingot-events/ingot/keys"
)

// value is a compiled value expression. It is what one event type supplies to one value of an
// aggregate.
type value struct {
	set      bool // false: this event type does not supply the value
	op       aggregate.Op
	path     event.Path       // unused by count
	negative bool             // for sum alone
	length   bool             // the number of elements of the array at path, not the number at path
	optional bool             // if the field is missing or null, the event supplies no value
	where    *where.Condition // unless this holds, the event supplies no value
}

var ops = map[string]aggregate.Op{
	"count": aggregate.Count, "sum": aggregate.Sum, "min": aggregate.Min, "max": aggregate.Max,
	"newest": aggregate.Newest, "oldest": aggregate.Oldest, "histogram": aggregate.Histogram,
	"distinct": aggregate.Distinct,
}

const valueForms = "count, sum PATH, sum -PATH, min PATH, max PATH, newest PATH, oldest PATH, histogram PATH or distinct PATH"

// parseValue reads an expression: count, or one of the other operations and a PATH. PATH? or length
// PATH may stand in place of PATH, and -PATH after sum. The word where and a condition may stand at
// the end.
func parseValue(text string) (value, *where.Mistake) {
	text = strings.TrimRight(text, " \n")
	word, rest, _ := strings.Cut(strings.TrimSpace(text), " ")
	op, ok := ops[word]
	if !ok {
		return value{}, notAValue(text, word, strings.TrimSpace(rest))
	}
	v := value{set: true, op: op}
	operand, condition, has := cutWhere(text)
	if has {
		var bad *where.Mistake
		if v.where, bad = where.Parse(condition); bad != nil {
			bad.Offset += len(text) - len(condition)
			return value{}, bad
		}
	}
	if op == aggregate.Count {
		if operand != "" {
			return value{}, &where.Mistake{What: "count counts events and reads no field", Instead: "count"}
		}
		return v, nil
	}
	return v, v.read(text, word, operand)
}

// cutWhere splits the text after an expression's first word into the operand and the condition. The
// condition begins after the word where. If the text begins with the word where, that word is a
// field's name and not the beginning of a condition.
func cutWhere(text string) (operand, condition string, has bool) {
	trimmed := strings.TrimLeft(text, " ")
	word, _, _ := strings.Cut(trimmed, " ")
	begin, quoted := len(text)-len(trimmed)+len(word), false
	for i := begin; i < len(text); i++ {
		switch before, rest := strings.TrimLeft(strings.TrimSpace(text[begin:i]), "- "), text[i:]; {
		case quoted && text[i] == '\\':
			i++
		case text[i] == '"':
			quoted = !quoted
		case !quoted && strings.HasPrefix(rest, " where ") && before != "length" && (before != "" || word == "count"):
			return strings.TrimSpace(text[begin:i]), strings.TrimLeft(rest[len(" where"):], " "), true
		}
	}
	return strings.TrimSpace(text[begin:]), "", false
}

// read compiles what a value reads: the operand of the word op in text.
func (v *value) read(text, op, operand string) *where.Mistake {
	if after, ok := strings.CutPrefix(operand, "-"); ok {
		if v.op != aggregate.Sum {
			return &where.Mistake{Offset: strings.Index(text, operand), What: "only sum can be negated", Instead: op + " " + after}
		}
		v.negative, operand = true, strings.TrimSpace(after)
	}
	if after, ok := strings.CutPrefix(operand, "length "); ok {
		v.length, operand = true, strings.TrimSpace(after)
	}
	name := strings.TrimSuffix(operand, "?")
	v.optional = name != operand
	if name == "" {
		return &where.Mistake{What: op + " needs a field", Instead: op + " PATH"}
	}
	path, bad := where.Path(name)
	if bad != nil {
		if bad.Instead == where.APath {
			bad.Instead = valueForms
		} else {
			bad.Instead = strings.Replace(text, name, bad.Instead, 1)
		}
		bad.Offset = strings.LastIndex(text, name)
		return bad
	}
	v.path = path
	return nil
}

// notAValue says what to write for a text that does not begin with an operation.
func notAValue(text, word, rest string) *where.Mistake {
	if isAverage(word) {
		return averageError(rest)
	}
	if word == "length" && rest != "" {
		return &where.Mistake{What: "length stands in place of a path, after an operation", Instead: "sum length " + rest}
	}
	if best := nearest.Name(strings.ToLower(word), slices.Sorted(maps.Keys(ops))); best != "" {
		return &where.Mistake{What: word + " is not a way to compute a value", Instead: strings.TrimSpace(best + " " + rest)}
	}
	return &where.Mistake{What: fmt.Sprintf("%q is not a way to compute a value", text), Instead: valueForms}
}

func isAverage(word string) bool {
	return slices.Contains([]string{"avg", "average", "mean"}, strings.ToLower(word))
}

// averageError says how to get an average. Two averages cannot be added up, but their sums and
// counts can.
func averageError(path string) *where.Mistake {
	if _, bad := where.Path(path); bad != nil {
		path = "PATH"
	}
	return &where.Mistake{What: "an average is not kept, because two averages cannot be added up", Instead: "sum " + path +
		", with a count in a value of its own, and divide when you read,"}
}

// mayTake reports whether the value may be a negative number.
func (v value) mayTake() bool {
	return v.set && v.op == aggregate.Sum && (v.negative || !v.length)
}

// String returns the expression in its one canonical spelling.
func (v value) String() string {
	text := v.op.String()
	if v.op != aggregate.Count {
		text += " " + v.operand()
	}
	if v.where != nil {
		text += " where " + v.where.String()
	}
	return text
}

// operand returns what the value reads.
func (v value) operand() string {
	text := v.path.String()
	if v.length {
		text = "length " + text
	}
	if v.negative {
		text = "-" + text
	}
	if v.optional {
		text += "?"
	}
	return text
}

// dated completes the amount of a newest or oldest value, which is JSON so far.
func (v value) dated(a aggregate.Amount, item *event.Item) aggregate.Amount {
	if a.Set && (v.op == aggregate.Newest || v.op == aggregate.Oldest) {
		a.Text = aggregate.DatedText(aggregate.Dated{At: item.At, JSON: a.Text}, item.Key)
	}
	return a
}

// scalar returns the field in canonical form. The field must exist.
func (v value) scalar(n event.Node) (string, *event.Refusal) {
	if kind := n.Kind(); kind == event.Object || kind == event.Array {
		return "", event.Poisoned(event.WrongType, fmt.Sprintf("field %s is %s, and %s takes text, a number, true or false", v.path,
			jsonschema.KindText(n), v.op))
	}
	text := string(keys.Canonical(nil, n, nil))
	if v.op != aggregate.Distinct && len(text) > aggregate.MaxDated {
		return "", event.Poisoned(event.ValueTooLong, fmt.Sprintf("field %s has %d bytes of JSON, and %s keeps at most %d", v.path,
			len(text), v.op, aggregate.MaxDated))
	}
	return text, nil
}

// kinds lists the kinds of fields that the value can be taken from. A count takes none.
func (v value) kinds() []event.Kind {
	switch {
	case v.op == aggregate.Count:
		return nil
	case v.length:
		return []event.Kind{event.Array}
	case v.op.Textual() && v.op != aggregate.Histogram:
		return scalars
	}
	return []event.Kind{event.Number}
}

// amount computes the value for one payload. A sum accepts at most 10^18 with at most 9 decimals,
// so that ten billion of them fit into DynamoDB's 38 digits. min and max accept everything that
// DynamoDB can store. A histogram accepts the same numbers as a sum. newest and oldest accept every
// scalar of at most 1 KB; see [value.dated]. distinct accepts every scalar.
func (v value) amount(root event.Node) (aggregate.Amount, *event.Refusal) {
	if !v.set || !v.where.Holds(root) {
		return aggregate.Amount{}, nil
	}
	if v.op == aggregate.Count {
		return aggregate.Amount{Set: true, Number: event.DecimalOf(1)}, nil
	}
	n := root.At(v.path)
	switch kind := n.Kind(); {
	case kind != event.Absent && kind != event.Null:
	case v.optional:
		return aggregate.Amount{}, nil
	default:
		return aggregate.Amount{}, event.Poisoned(event.MissingField, "field "+v.path.String()+" is missing")
	}
	if v.op.Textual() && v.op != aggregate.Histogram && !v.length {
		text, refusal := v.scalar(n)
		if v.op == aggregate.Distinct && refusal == nil {
			text = aggregate.DistinctText([]byte(text))
		}
		return aggregate.Amount{Set: refusal == nil, Text: text}, refusal
	}
	d, refusal := v.number(n)
	if refusal != nil {
		return aggregate.Amount{}, refusal
	}
	switch {
	case v.op == aggregate.Histogram:
		return aggregate.Amount{Set: true, Text: strconv.Itoa(aggregate.Bucket(d)) + ":1"}, nil
	case v.op == aggregate.Distinct:
		return aggregate.Amount{Set: true, Text: aggregate.DistinctText([]byte(d.String()))}, nil
	case v.op.Textual():
		return aggregate.Amount{Set: true, Text: d.String()}, nil
	}
	if v.negative {
		d = d.Neg()
	}
	return aggregate.Amount{Set: true, Number: d}, nil
}

// number returns what the value takes from the field. The field must exist.
func (v value) number(n event.Node) (event.Decimal, *event.Refusal) {
	want, kind := "a number", event.Number
	if v.length {
		want, kind = "an array", event.Array
	}
	if n.Kind() != kind {
		return event.Decimal{}, event.Poisoned(event.WrongType, fmt.Sprintf("field %s is %s, not %s", v.path, jsonschema.KindText(n), want))
	}
	if v.length {
		return event.DecimalOf(int64(n.Len())), nil
	}
	d, err := n.Decimal()
	if err != nil {
		return d, event.Poisoned(event.NumberOutOfRange, fmt.Sprintf("field %s: %v", v.path, err))
	}
	bound := d.Unstorable()
	if v.op == aggregate.Sum || v.op == aggregate.Histogram {
		bound = strings.Replace(d.Unsummable(), "a sum takes", "a "+v.op.String()+" takes", 1)
	}
	if bound != "" {
		return d, event.Poisoned(event.NumberOutOfRange, "field "+v.path.String()+" "+bound)
	}
	return d, nil
}

// reservedValues are names of the total's own attributes.
var reservedValues = []string{"n", "fp", "fpx", "flag"}

func isReservedValue(name string) bool { return slices.Contains(reservedValues, name) }
