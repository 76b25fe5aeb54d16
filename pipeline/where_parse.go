package pipeline

import (
	"slices"
	"strings"

	"github.com/ingot-events/ingot/event"
)

// Limits of a condition: a person writes it, and it is evaluated for every event.
const (
	maxWhereLength = 4096
	maxWhereDepth  = 64
)

// parseWhere compiles a condition:
//
//	condition  = conjunction { "or" conjunction }
//	conjunction = negation { "and" negation }
//	negation   = "not" negation | "(" condition ")" | comparison
//	comparison = path op literal | path "in" "(" literal { "," literal } ")" | "exists" path
//	op         = "=" | "!=" | "<" | "<=" | ">" | ">="
//	literal    = a JSON number | text in single or double quotes | "true" | "false"
//
// The error is a *whereError.
func parseWhere(text string) (condition, error) {
	if len(text) > maxWhereLength {
		return nil, &whereError{What: "the condition is longer than 4,096 bytes", Instead: "at most 4,096"}
	}
	tokens, err := lexWhere(text)
	if err != nil {
		return nil, err
	}
	p := &whereParser{tokens: tokens}
	c, err := p.disjunction(0)
	if err != nil {
		return nil, err
	}
	if t := p.peek(); t.kind != endToken {
		return nil, p.unexpected(t, "and, or, or the end", "and or or between two conditions, or leave it out,")
	}
	return c, nil
}

type whereParser struct {
	tokens []whereToken
	next   int
}

func (p *whereParser) peek() whereToken { return p.tokens[p.next] }

func (p *whereParser) take() whereToken {
	t := p.tokens[p.next]
	if t.kind != endToken {
		p.next++
	}
	return t
}

// word takes the next token if it is this word.
func (p *whereParser) word(w string) bool {
	if t := p.peek(); t.kind == wordToken && t.text == w {
		p.next++
		return true
	}
	return false
}

// aComparison is what a part of a condition may look like.
const aComparison = "a comparison such as total > 0, status = 'paid' or status in ('paid', 'sent')"

func (p *whereParser) unexpected(t whereToken, want, instead string) error {
	e := &whereError{Offset: t.offset, What: "found " + t.String() + " where the condition needs " + want, Instead: instead}
	if lower := strings.ToLower(t.text); t.kind == wordToken && lower != t.text && slices.Contains(reservedWords, lower) {
		e.Instead = lower
	}
	return e
}

var reservedWords = []string{"and", "or", "not", "in", "exists", "true", "false"}

func (p *whereParser) disjunction(depth int) (condition, error) {
	return p.list(depth, "or", p.conjunction, func(cs []condition) condition { return anyOf(cs) })
}

func (p *whereParser) conjunction(depth int) (condition, error) {
	return p.list(depth, "and", p.negation, func(cs []condition) condition { return allOf(cs) })
}

// list parses one or more parts with a word between them; a single part stands for itself.
func (p *whereParser) list(depth int, between string, part func(int) (condition, error), join func([]condition) condition) (condition, error) {
	first, err := part(depth)
	if err != nil {
		return nil, err
	}
	list := []condition{first}
	for p.word(between) {
		c, err := part(depth)
		if err != nil {
			return nil, err
		}
		list = append(list, c)
	}
	if len(list) == 1 {
		return first, nil
	}
	return join(list), nil
}

func (p *whereParser) negation(depth int) (condition, error) {
	t := p.peek()
	if depth > maxWhereDepth {
		return nil, &whereError{Offset: t.offset, What: "more than 64 levels of parentheses and not", Instead: "at most 64"}
	}
	if p.word("not") {
		c, err := p.negation(depth + 1)
		if err != nil {
			return nil, err
		}
		return not{c}, nil
	}
	if t.kind != openToken {
		return p.comparison()
	}
	p.next++
	c, err := p.disjunction(depth + 1)
	if err != nil {
		return nil, err
	}
	if end := p.take(); end.kind != closeToken {
		return nil, p.unexpected(end, "and, or, or a closing parenthesis", "a closing parenthesis after what stands in it")
	}
	return c, nil
}

func (p *whereParser) comparison() (condition, error) {
	if p.word("exists") {
		path, err := p.path()
		return exists{path}, err
	}
	path, err := p.path()
	if err != nil {
		return nil, err
	}
	if p.word("in") {
		set, err := p.set()
		return oneOf{path, set}, err
	}
	op := p.take()
	if op.kind != opToken {
		return nil, p.unexpected(op, "an operator (= != < <= > >=) or in", aComparison)
	}
	at := p.peek()
	l, err := p.literal()
	if err != nil {
		return nil, err
	}
	if l.kind == event.Bool && op.text != "=" && op.text != "!=" {
		return nil, &whereError{Offset: at.offset, What: "true and false have no order", Instead: "= or !="}
	}
	return comparison{path, operators[op.text], l}, nil
}

func (p *whereParser) path() (event.Path, error) {
	t := p.take()
	if t.kind != wordToken || slices.Contains(reservedWords, t.text) {
		return event.Path{}, p.unexpected(t, "the path of a field", aComparison)
	}
	path, err := parsePath(t.text)
	if err != nil {
		what, instead := pathProblem(err)
		return event.Path{}, &whereError{Offset: t.offset, What: what, Instead: instead}
	}
	return path, nil
}

func (p *whereParser) set() ([]literal, error) {
	if t := p.take(); t.kind != openToken {
		return nil, p.unexpected(t, "an opening parenthesis", aComparison)
	}
	var set []literal
	for {
		l, err := p.literal()
		if err != nil {
			return nil, err
		}
		set = append(set, l)
		switch t := p.take(); t.kind {
		case commaToken:
		case closeToken:
			return set, nil
		default:
			return nil, p.unexpected(t, "a comma or a closing parenthesis", aComparison)
		}
	}
}

func (p *whereParser) literal() (literal, error) {
	t := p.take()
	switch {
	case t.kind == textToken:
		return literal{kind: event.String, text: t.text, offset: t.offset}, nil
	case t.kind == numberToken:
		n, err := event.ParseDecimal(t.text)
		if err != nil {
			return literal{}, &whereError{Offset: t.offset, What: t.text + " is not a number", Instead: "a number such as 12.5, or text in quotes"}
		}
		return literal{kind: event.Number, number: n, offset: t.offset}, nil
	case t.kind == wordToken && (t.text == "true" || t.text == "false"):
		return literal{kind: event.Bool, text: t.text, offset: t.offset}, nil
	case t.kind == wordToken && !slices.Contains(reservedWords, t.text):
		return literal{}, &whereError{Offset: t.offset, What: t.text + " stands where a value should: fields are compared with numbers and quoted text only", Instead: "'" + t.text + "'"}
	}
	return literal{}, p.unexpected(t, "a number, quoted text, true or false", aComparison)
}
