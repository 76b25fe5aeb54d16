package pipeline

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/ingot-events/ingot/aggregate"
	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/keys"
)

// This file refuses what people bring along from other languages and what would be read as something else here.

// pathError is what is wrong with a path.
type pathError struct{ what, instead string }

// Error is what is wrong and what to write.
func (e *pathError) Error() string { return e.what + "; write " + e.instead + " instead" }

// parsePath reads a path of the payload. It refuses JSONPath, whose $ is the name of a field here. The error is a
// *pathError.
func parsePath(text string) (event.Path, error) {
	if isJSONPath(text) {
		return event.Path{}, jsonPathError(text)
	}
	path, err := event.ParsePath(text)
	if err != nil {
		return event.Path{}, &pathError{err.Error(), aPath}
	}
	return path, nil
}

// isJSONPath reports whether text begins as a JSONPath does. A field that is called $ is written ["$"].
func isJSONPath(text string) bool {
	return text == "$" || strings.HasPrefix(text, "$.") || strings.HasPrefix(text, "$[")
}

func jsonPathError(text string) *pathError {
	plain := strings.TrimPrefix(strings.TrimPrefix(text, "$"), ".")
	if _, err := event.ParsePath(plain); err != nil {
		plain = aPath
	}
	return &pathError{fmt.Sprintf("%s is a JSONPath, and $ would be a field of that name: paths begin at the payload", text), plain}
}

// pathProblem takes a pathError apart.
func pathProblem(err error) (what, instead string) {
	var bad *pathError
	if errors.As(err, &bad) {
		return bad.what, bad.instead
	}
	return err.Error(), aPath
}

// foreignParts reports the parts of a template that were written for another tool: JSONPath, and ${NAME}. ok is false
// if there are any.
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
			c.mistakeAt(p, t.Text(), part.Offset-1, fmt.Sprintf("$%s is not filled in from anywhere: it is a $ and then a field of the payload", t.Text()[part.Offset:end(t.Text(), part.Offset)]),
				"{"+name+"} for that field, or the text itself,")
			ok = false
		case isJSONPath(name):
			bad := jsonPathError(name)
			c.mistakeAt(p, t.Text(), part.Offset, bad.what, bad.instead)
			ok = false
		}
		before = ""
	}
	return ok
}

// end is where the variable that begins at offset ends.
func end(text string, offset int) int {
	return offset + strings.IndexByte(text[offset:], '}') + 1
}

// variableText is the name of the variable with which text begins, as it is written, without its functions.
func variableText(text string) string {
	text = strings.TrimPrefix(text, "{")
	if i := strings.IndexAny(text, "|}"); i >= 0 {
		text = text[:i]
	}
	return strings.TrimSpace(text)
}

// deliveries are attributes that SQS gives to a message each time that it is sent or received. They say nothing about
// the event, and a pipeline does not see them: @attribute.NAME is an attribute that the producer sets.
var deliveries = []string{"MessageId", "ReceiptHandle", "SentTimestamp", "ApproximateFirstReceiveTimestamp", "ApproximateReceiveCount", "SequenceNumber"}

// ofTheEvent refuses templates of what makes the event that use what SQS says about one delivery.
func (c *compiler) ofTheEvent(p place, t *keys.Template, instead string) {
	if t == nil {
		return
	}
	for _, d := range t.Derived() {
		name, _ := strings.CutPrefix(d, "@attribute.")
		if slices.Contains(deliveries, name) {
			c.mistakeAt(p, t.Text(), strings.Index(t.Text(), d),
				fmt.Sprintf("%s uses %s, which SQS gives anew each time that a message is sent: an event that is sent twice would be two events", nameOf(p), name), instead)
		}
	}
}

// comparedAsText reports where a condition lets an event count only if path is text, or true or false, and a value
// needs a number there: no event would ever count. What stands under not is the opposite, and may be meant.
func (c *compiler) comparedAsText(p place, text string, where condition, v value) {
	if v.op == aggregate.Count || v.length {
		return // it needs no number
	}
	needs := "a number"
	if v.length {
		needs = "an array"
	}
	for _, found := range textComparisons(where, v.path) {
		instead := "a comparison with a number, or exists " + v.path.String() + ","
		switch {
		case v.length:
			instead = "exists " + v.path.String()
		case found.number != nil:
			instead = canonicalWhere(found.number)
		}
		c.mistakeAt(p, text, found.offset,
			fmt.Sprintf("where compares %s with %s, and %s needs %s there: no event that meets this could be counted", v.path, found.with, v, needs), instead)
	}
}

// textComparison is one comparison of a path with something other than a number.
type textComparison struct {
	offset int
	with   string    // the literal, as the grammar reads it
	number condition // the same comparison with numbers; nil if the text is none
}

func textComparisons(c condition, path event.Path) []textComparison {
	var list []textComparison
	switch c := c.(type) {
	case anyOf:
		for _, part := range c {
			list = append(list, textComparisons(part, path)...)
		}
	case allOf:
		for _, part := range c {
			list = append(list, textComparisons(part, path)...)
		}
	case comparison:
		if c.path.Equal(path) && c.with.kind != event.Number {
			found := textComparison{offset: c.with.offset, with: c.with.String()}
			if n, ok := c.with.asNumber(); ok {
				found.number = comparison{c.path, c.op, n}
			}
			list = append(list, found)
		}
	case oneOf:
		if c.path.Equal(path) {
			list = append(list, textsOf(c)...)
		}
	}
	return list
}

// textsOf is the first text in the set, if there is one.
func textsOf(c oneOf) []textComparison {
	i := slices.IndexFunc(c.set, func(l literal) bool { return l.kind != event.Number })
	if i < 0 {
		return nil
	}
	found := textComparison{offset: c.set[i].offset, with: c.set[i].String()}
	var numbers []literal
	for _, l := range c.set {
		n, ok := l.asNumber()
		if !ok {
			return []textComparison{found}
		}
		numbers = append(numbers, n)
	}
	found.number = oneOf{c.path, numbers}
	return []textComparison{found}
}

// asNumber is the literal as a number, if it reads as one.
func (l literal) asNumber() (literal, bool) {
	if l.kind == event.Number {
		return l, true
	}
	n, err := event.ParseDecimal(l.text)
	return literal{kind: event.Number, number: n}, l.kind == event.String && err == nil
}

// filledIn refuses ${NAME} in a condition's texts: nothing would ever be equal to it.
func (c *compiler) filledIn(p place, text string) {
	tokens, err := lexWhere(text)
	if err != nil {
		return // reported as what it is
	}
	for _, t := range tokens {
		if t.kind == textToken && strings.Contains(t.text, "${") {
			c.mistakeAt(p, text, t.offset, fmt.Sprintf("%q is not filled in from anywhere", t.text), "the text itself")
		}
	}
}
