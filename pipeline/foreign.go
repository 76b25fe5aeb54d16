package pipeline

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/plan/declare"
	"github.com/ingot-events/ingot/internal/plan/values"
	"github.com/ingot-events/ingot/internal/plan/where"
	"github.com/ingot-events/ingot/keys"
)

// This file refuses syntax that people know from other languages and that Ingot would read as
// something else.

// foreignParts reports the parts of a template that were written for another tool: JSONPath, and
// ${NAME}. ok is false if there are any.
func (c *compiler) foreignParts(p place, t *keys.Template) (ok bool) {
	ok = true
	before := ""
	for _, part := range t.Parts() {
		if !part.IsVariable() {
			before = part.Literal
			continue
		}
		name := variableText(t.Text()[part.Offset:])
		switch {
		case strings.HasSuffix(before, "$"):
			c.MistakeAt(p, t.Text(), part.Offset-1, fmt.Sprintf("$%s is not a variable: it is a $ and then a field of the payload",
				t.Text()[part.Offset:end(t.Text(), part.Offset)]),
				"{"+name+"} for that field, or the text itself")
			ok = false
		default:
			if bad := where.JSONPath(name); bad != nil {
				c.MistakeAt(p, t.Text(), part.Offset, bad.What, bad.Instead)
				ok = false
			}
		}
		before = ""
	}
	return ok
}

// end returns the offset at which the variable that begins at offset ends.
func end(text string, offset int) int {
	return offset + strings.IndexByte(text[offset:], '}') + 1
}

// variableText returns the name of the variable with which text begins, as it is written, but
// without its functions.
func variableText(text string) string {
	text = strings.TrimPrefix(text, "{")
	if i := strings.IndexAny(text, "|}"); i >= 0 {
		text = text[:i]
	}
	return strings.TrimSpace(text)
}

// deliveries lists attributes that SQS gives to a message each time that the message is sent or
// received. They say nothing about the event, and a pipeline does not see them: @attribute.NAME
// reads only attributes that the producer sets.
var deliveries = []string{"MessageId", "ReceiptHandle", "SentTimestamp", "ApproximateFirstReceiveTimestamp", "ApproximateReceiveCount",
	"SequenceNumber"}

const deliveredAnew = "%s uses %s, which SQS sets again each time a message is sent: an event that is sent twice would be two events"

// ofTheEvent refuses a template that decides what the event is, but uses what SQS says about a
// single delivery.
func (c *compiler) ofTheEvent(p place, t *keys.Template, instead string) {
	if t == nil {
		return
	}
	for _, d := range t.Derived() {
		if name, is := ofDelivery(d); is {
			c.MistakeAt(p, t.Text(), strings.Index(t.Text(), d),
				fmt.Sprintf(deliveredAnew, declare.NameOf(p), name), instead)
		}
	}
}

// ofDelivery reports whether a variable is what SQS says about a single delivery, and returns the
// name that SQS has for it.
func ofDelivery(variable string) (name string, is bool) {
	name, _ = strings.CutPrefix(variable, "@attribute.")
	return name, slices.Contains(deliveries, name)
}

// comparedAsText reports a condition that no event can fulfil together with its value. The
// condition lets an event count only if a field is text, or true or false, but the value takes a
// number from that field.
func (c *compiler) comparedAsText(p place, text string, condition *where.Condition, v values.Value) {
	if !slices.Equal(v.Kinds(), []event.Kind{event.Number}) {
		return // the value needs no number
	}
	for _, found := range condition.NoNumbers(v.Path) {
		c.MistakeAt(p, text, found.Offset,
			fmt.Sprintf("where compares %s with %s, and %s needs a number there: no event that meets this could be counted", v.Path,
				found.With, v),
			cmp.Or(found.Numbers, "a comparison with a number, or exists "+v.Path.String()))
	}
}

// filledIn refuses ${NAME} in a condition's texts, because no field would ever be equal to it.
func (c *compiler) filledIn(p place, text string, condition *where.Condition) {
	for _, t := range condition.Texts() {
		if strings.Contains(t.Text, "${") {
			c.MistakeAt(p, text, t.Offset, fmt.Sprintf("%q is not a variable", t.Text), "the text itself")
		}
	}
}
