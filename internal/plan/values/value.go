package values

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

// Value is a compiled value expression. It is what one event type supplies to one value of an
// aggregate.
type Value struct {
	Set      bool // false: this event type does not supply the value
	Op       aggregate.Op
	Path     event.Path       // unused by count, and by the sum of a constant
	constant event.Decimal    // what each event supplies to a count, or to a sum that reads no field; otherwise 0
	negative bool             // for sum alone
	length   bool             // the number of elements of the array at path, not the number at path
	text     bool             // number(PATH): the number at path may be in quotes
	Optional bool             // if the field is missing or null, the event supplies no value
	Where    *where.Condition // unless this holds, the event supplies no value
}

var ops = map[string]aggregate.Op{
	"count": aggregate.Count, "sum": aggregate.Sum, "min": aggregate.Min, "max": aggregate.Max,
	"newest": aggregate.Newest, "oldest": aggregate.Oldest, "histogram": aggregate.Histogram,
	"distinct": aggregate.Distinct,
}

const valueForms = "count, sum PATH, sum -PATH, sum NUMBER, min PATH, max PATH, newest PATH, oldest PATH, histogram PATH or distinct PATH"

// Parse reads an expression: count, or one of the other operations and a PATH. PATH?, length PATH
// or number(PATH) may stand in place of PATH, and -PATH or a number after sum. The word where and a
// condition may stand at the end.
func Parse(text string) (Value, *where.Mistake) {
	text = strings.TrimRight(text, " \n")
	word, rest, _ := strings.Cut(strings.TrimSpace(text), " ")
	op, ok := ops[word]
	if !ok {
		return Value{}, notAValue(text, word, strings.TrimSpace(rest))
	}
	v := Value{Set: true, Op: op}
	operand, condition, has := CutWhere(text)
	if has {
		var bad *where.Mistake
		if v.Where, bad = where.Parse(condition); bad != nil {
			bad.Offset += len(text) - len(condition)
			return Value{}, bad
		}
	}
	if op == aggregate.Count {
		if operand != "" {
			return Value{}, countsNoField(operand, condition)
		}
		v.constant = event.DecimalOf(1)
		return v, nil
	}
	return v, v.read(text, word, operand)
}

// countsNoField is the mistake of a count with a field. Such a count has at most one condition.
func countsNoField(operand, condition string) *where.Mistake {
	instead := "count"
	if _, bad := where.Path(operand); bad == nil && condition == "" {
		condition = "exists " + operand
	}
	if condition != "" {
		instead += " where " + condition
	}
	return &where.Mistake{What: "count counts events and reads no field", Instead: instead}
}

// CutWhere splits the text after an expression's first word into the operand and the condition. The
// condition begins after the word where. If the text begins with the word where, that word is a
// field's name and not the beginning of a condition.
func CutWhere(text string) (operand, condition string, has bool) {
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
func (v *Value) read(text, op, operand string) *where.Mistake {
	if after, ok := strings.CutPrefix(operand, "-"); ok {
		if v.Op != aggregate.Sum {
			_, rest, _ := strings.Cut(text, operand) // its condition
			return &where.Mistake{What: "only sum can be negated", Instead: negated(op) + " " + after + rest}
		}
		v.negative, operand = true, strings.TrimSpace(after)
	}
	if v.Op == aggregate.Sum && operand != "" && strings.Trim(operand[:1], "0123456789") == "" {
		return v.fixed(operand)
	}
	if after, ok := strings.CutPrefix(operand, "length "); ok {
		v.length, operand = true, strings.TrimSpace(after)
	}
	name := strings.TrimSuffix(operand, "?")
	v.Optional = name != operand
	if !v.length {
		name, v.text = where.CutNumber(name)
	}
	if name == "" {
		return &where.Mistake{What: op + " needs a field", Instead: op + " PATH"}
	}
	path, bad := where.Path(name)
	if bad != nil {
		bad.Offset = strings.LastIndex(text, name)
		if bad.Instead == where.APath {
			bad.Instead, bad.Offset = valueForms, 0
		}
		return bad
	}
	v.Path = path
	return nil
}

// fixed compiles the number of a sum that reads no field. Its sign was cut off.
func (v *Value) fixed(text string) *where.Mistake {
	n, err := event.ParseDecimal(text)
	switch {
	case err != nil:
		return &where.Mistake{What: err.Error(), Instead: "sum NUMBER or sum PATH"}
	case n.IsZero() || !n.Summable():
		return &where.Mistake{What: "a sum adds a number other than 0, of at most 10^18 and with at most 9 decimals",
			Instead: "sum 1 or sum -2.5"}
	}
	if v.constant = n; v.negative {
		v.constant, v.negative = n.Neg(), false
	}
	return nil
}

// negated is the operation that answers about a field what op would answer about its negative: the
// greatest of the negatives is that of the least.
func negated(op string) string {
	switch op {
	case "max":
		return "min"
	case "min":
		return "max"
	}
	return op
}

// notAValue says what to write for a text that does not begin with an operation.
func notAValue(text, word, rest string) *where.Mistake {
	if IsAverage(word) {
		bad := AverageError(rest)
		bad.Instead = "sum " + bad.Instead
		return bad
	}
	if word == "length" && rest != "" {
		return &where.Mistake{What: "length stands in place of a path, after an operation", Instead: "sum length " + rest}
	}
	if best := nearest.Name(strings.ToLower(word), slices.Sorted(maps.Keys(ops))); best != "" {
		return &where.Mistake{What: word + " is not a way to compute a value", Instead: strings.TrimSpace(best + " " + rest)}
	}
	return &where.Mistake{What: fmt.Sprintf("%q is not a way to compute a value", text), Instead: valueForms}
}

// IsAverage reports whether a word names an average, which no value can be.
func IsAverage(word string) bool {
	return slices.Contains([]string{"avg", "average", "mean"}, strings.ToLower(word))
}

// AverageError says how to get an average of what rest reads: what to write behind sum. Two
// averages cannot be added up, but their sums and counts can.
func AverageError(rest string) *where.Mistake {
	if _, bad := Parse("sum " + rest); bad != nil {
		rest = "PATH"
	}
	return &where.Mistake{What: "an average is not kept, because two averages cannot be added up", Instead: rest +
		", with a count of the same events in a value of its own, and divide when you read"}
}

// May reports whether the value may move a sum up, or down.
func (v Value) May(up bool) bool {
	switch {
	case !v.constant.IsZero():
		return up == (v.constant.Sign() > 0)
	case v.length:
		return up != v.negative
	}
	return v.Set
}

// Reads reports whether the value depends on the field at its path.
func (v Value) Reads() bool { return v.Set && v.constant.IsZero() }

// String returns the expression in its one canonical spelling.
func (v Value) String() string {
	text := v.Op.String()
	if v.Op != aggregate.Count {
		text += " " + v.operand()
	}
	if v.Where != nil {
		text += " where " + v.Where.String()
	}
	return text
}

// operand returns what the value reads.
func (v Value) operand() string {
	text := v.Path.String()
	switch {
	case !v.constant.IsZero():
		text = v.constant.String()
	case v.length:
		text = "length " + text
	case v.text:
		text = "number(" + text + ")"
	}
	if v.negative {
		text = "-" + text
	}
	if v.Optional {
		text += "?"
	}
	return text
}

// Dated completes the amount of a newest or oldest value, which is JSON so far.
func (v Value) Dated(a aggregate.Amount, item *event.Item) aggregate.Amount {
	if a.Set && (v.Op == aggregate.Newest || v.Op == aggregate.Oldest) {
		a.Text = aggregate.DatedText(aggregate.Dated{At: item.At, JSON: a.Text}, item.Key)
	}
	return a
}

// scalar returns the field in canonical form. The field must exist.
func (v Value) scalar(n event.Node) (string, *event.Refusal) {
	if kind := n.Kind(); kind == event.Object || kind == event.Array {
		return "", event.Poisoned(event.WrongType, fmt.Sprintf("field %s is %s, and %s takes text, a number, true or false", v.Path,
			jsonschema.KindText(n), v.Op))
	}
	text := string(keys.Canonical(nil, n, nil))
	if v.Op != aggregate.Distinct && len(text) > aggregate.MaxDated {
		return "", event.Poisoned(event.ValueTooLong, fmt.Sprintf("field %s has %d bytes of JSON, and %s keeps at most %d", v.Path,
			len(text), v.Op, aggregate.MaxDated))
	}
	return text, nil
}

// Kinds lists the kinds of fields that the value can be taken from. It is nil if it reads none.
func (v Value) Kinds() []event.Kind {
	switch {
	case !v.Reads():
		return nil
	case v.length:
		return []event.Kind{event.Array}
	case v.text:
		return []event.Kind{event.Number, event.String}
	case v.Op.Textual() && v.Op != aggregate.Histogram:
		return []event.Kind{event.String, event.Number, event.Bool}
	}
	return []event.Kind{event.Number}
}

// Amount computes the value for one payload. A sum accepts at most 10^18 with at most 9 decimals,
// so that ten billion of them fit into DynamoDB's 38 digits. min and max accept everything that
// DynamoDB can store. A histogram accepts the same numbers as a sum. newest and oldest accept every
// scalar of at most 1 KB; see [Value.Dated]. distinct accepts every scalar.
func (v Value) Amount(root event.Node) (aggregate.Amount, *event.Refusal) {
	if !v.Set || !v.Where.Holds(root) {
		return aggregate.Amount{}, nil
	}
	if !v.constant.IsZero() {
		return aggregate.Amount{Set: true, Number: v.constant}, nil
	}
	n := root.At(v.Path)
	switch kind := n.Kind(); {
	case kind != event.Absent && kind != event.Null:
	case v.Optional:
		return aggregate.Amount{}, nil
	default:
		return aggregate.Amount{}, event.Poisoned(event.MissingField, "field "+v.Path.String()+" is missing")
	}
	if v.Op.Textual() && v.Op != aggregate.Histogram && !v.length && !v.text {
		text, refusal := v.scalar(n)
		if v.Op == aggregate.Distinct && refusal == nil {
			text = aggregate.DistinctText([]byte(text))
		}
		return aggregate.Amount{Set: refusal == nil, Text: text}, refusal
	}
	d, refusal := v.number(n)
	if refusal != nil {
		return aggregate.Amount{}, refusal
	}
	switch {
	case v.Op == aggregate.Histogram:
		return aggregate.Amount{Set: true, Text: strconv.Itoa(aggregate.Bucket(d)) + ":1"}, nil
	case v.Op == aggregate.Distinct:
		return aggregate.Amount{Set: true, Text: aggregate.DistinctText([]byte(d.String()))}, nil
	case v.Op.Textual():
		return aggregate.Amount{Set: true, Text: d.String()}, nil
	}
	if v.negative {
		d = d.Neg()
	}
	return aggregate.Amount{Set: true, Number: d}, nil
}

// number returns what the value takes from the field. The field must exist.
func (v Value) number(n event.Node) (event.Decimal, *event.Refusal) {
	wrong := func(want string) *event.Refusal {
		return event.Poisoned(event.WrongType, fmt.Sprintf("field %s is %s, not %s", v.Path, jsonschema.KindText(n), want))
	}
	if v.length {
		if n.Kind() != event.Array {
			return event.Decimal{}, wrong("an array")
		}
		return event.DecimalOf(int64(n.Len())), nil
	}
	d, is := where.Number(n)
	switch {
	case n.Kind() == event.String && !v.text && is:
		return d, wrong("a number; read it with " + v.Op.String() + " number(" + v.Path.String() + ")")
	case n.Kind() == event.String && v.text && !is:
		return d, wrong("the text of a number such as 12.50")
	case !is || n.Kind() == event.String && !v.text:
		return d, wrong("a number")
	}
	bound := d.Unstorable()
	if v.Op == aggregate.Sum || v.Op == aggregate.Histogram {
		bound = strings.Replace(d.Unsummable(), "a sum takes", "a "+v.Op.String()+" takes", 1)
	}
	if bound != "" {
		return d, event.Poisoned(event.NumberOutOfRange, "field "+v.Path.String()+" "+bound)
	}
	return d, nil
}
