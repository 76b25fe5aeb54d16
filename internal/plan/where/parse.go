package where

import (
	"slices"
	"strings"

	"github.com/ingot-events/ingot/event"
)

// These limits of a condition are high enough for what a person writes. There must be limits,
// because a condition is evaluated for every event.
const (
	maxLength = 4096
	maxDepth  = 64
)

// Parse compiles a condition:
//
//	condition  = conjunction { "or" conjunction }
//	conjunction = negation { "and" negation }
//	negation   = "not" negation | "(" condition ")" | comparison
//	comparison = field op literal | field "in" "(" literal { "," literal } ")" | "exists" path
//	field      = path | "number" "(" path ")"
//	op         = "=" | "!=" | "<" | "<=" | ">" | ">="
//	literal    = a JSON number | text in single or double quotes | "true" | "false"
func Parse(text string) (*Condition, *Mistake) {
	c, bad := new(parser).parse(text)
	if bad != nil {
		return nil, bad
	}
	return &Condition{c}, nil
}

type parser struct {
	tokens []token
	next   int
	quoted bool // the field of the comparison is number(PATH)
	when   bool // the grammar is that of [ParseWhen]
	before bool // the field of the comparison is before(PATH)
	asks   bool // a test so far is of the earlier payload
}

func (p *parser) parse(text string) (node, *Mistake) {
	if len(text) > maxLength {
		return nil, &Mistake{What: "the condition is longer than 4,096 bytes", Instead: "at most 4,096"}
	}
	var bad *Mistake
	if p.tokens, bad = lex(text); bad != nil {
		return nil, bad
	}
	c, bad := p.disjunction(0)
	if bad != nil {
		return nil, bad
	}
	if t := p.peek(); t.kind != endToken {
		return nil, p.unexpected(t, "and, or, or the end", "and or or between two conditions, or leave it out")
	}
	return c, nil
}

func (p *parser) peek() token { return p.tokens[p.next] }

func (p *parser) take() token {
	t := p.tokens[p.next]
	if t.kind != endToken {
		p.next++
	}
	return t
}

// word takes the next token if it is the word w, and reports whether it did.
func (p *parser) word(w string) bool {
	if t := p.peek(); t.kind == wordToken && t.text == w {
		p.next++
		return true
	}
	return false
}

// aComparison shows what a part of a condition may look like.
const aComparison = "a comparison such as total > 0, status = 'paid' or status in ('paid', 'sent')"

func (p *parser) unexpected(t token, want, instead string) *Mistake {
	e := &Mistake{Offset: t.offset, What: "found " + t.String() + " where the condition needs " + want, Instead: instead}
	if lower := strings.ToLower(t.text); t.kind == wordToken && lower != t.text && slices.Contains(reservedWords, lower) {
		e.Instead = lower
	}
	return e
}

var reservedWords = []string{"and", "or", "not", "in", "exists", "true", "false"}

func (p *parser) disjunction(depth int) (node, *Mistake) {
	return p.list(depth, "or", p.conjunction, func(cs []node) node { return anyOf(cs) })
}

func (p *parser) conjunction(depth int) (node, *Mistake) {
	return p.list(depth, "and", p.negation, func(cs []node) node { return allOf(cs) })
}

// list parses one or more parts with a word between them. It does not join a single part.
func (p *parser) list(depth int, between string, part func(int) (node, *Mistake), join func([]node) node) (node, *Mistake) {
	first, bad := part(depth)
	if bad != nil {
		return nil, bad
	}
	list := []node{first}
	for p.word(between) {
		c, bad := part(depth)
		if bad != nil {
			return nil, bad
		}
		list = append(list, c)
	}
	if len(list) == 1 {
		return first, nil
	}
	return join(list), nil
}

func (p *parser) negation(depth int) (node, *Mistake) {
	t := p.peek()
	if depth > maxDepth {
		return nil, &Mistake{Offset: t.offset, What: "more than 64 levels of parentheses and not", Instead: "at most 64"}
	}
	if p.word("not") {
		c, bad := p.negation(depth + 1)
		if bad != nil {
			return nil, bad
		}
		return not{c}, nil
	}
	if t.kind != openToken {
		return p.comparison()
	}
	p.next++
	c, bad := p.disjunction(depth + 1)
	if bad != nil {
		return nil, bad
	}
	if end := p.take(); end.kind != closeToken {
		return nil, p.unexpected(end, "and, or, or a closing parenthesis", "a closing parenthesis after what stands in it")
	}
	return c, nil
}

func (p *parser) comparison() (node, *Mistake) {
	if p.when && p.call("changed") {
		p.asks = true
		path, bad := p.inside("changed(PATH)")
		return changed{exists{path}}, bad
	}
	p.before = false
	n, bad := p.test()
	if bad == nil && p.before {
		p.asks, n = true, earlier{n}
	}
	return n, bad
}

func (p *parser) test() (node, *Mistake) {
	if p.word("exists") {
		path, bad := p.place()
		return exists{path}, bad
	}
	field := p.peek()
	path, bad := p.field()
	if bad != nil {
		return nil, bad
	}
	if p.word("in") {
		set, bad := p.set()
		return oneOf{path, set, field.offset}, bad
	}
	op := p.take()
	if bad := p.asksNull(field, path, op); bad != nil {
		return nil, bad
	}
	if p.when && op.kind == openToken {
		return nil, &Mistake{Offset: field.offset, What: field.text + " is not a function",
			Instead: "changed(PATH), before(PATH) or number(PATH)"}
	}
	if op.kind != opToken {
		return nil, p.unexpected(op, "an operator (= != < <= > >=) or in", aComparison)
	}
	at := p.peek()
	l, bad := p.literal()
	if bad != nil {
		return nil, bad
	}
	if l.kind == event.Bool && op.text != "=" && op.text != "!=" {
		return nil, &Mistake{Offset: at.offset, What: "true and false have no order", Instead: "= or !="}
	}
	return comparison{path, operators[op.text], l, field.offset}, nil
}

// field reads a place, or number() around one.
func (p *parser) field() (event.Path, *Mistake) {
	p.quoted = p.call("number")
	path, bad := p.place()
	if bad == nil && p.quoted {
		bad = p.closed("number(PATH)")
	}
	return path, bad
}

// call takes the name of a function and the parenthesis behind it, and reports whether they are
// there.
func (p *parser) call(name string) bool {
	t := p.peek()
	is := t.kind == wordToken && t.text == name && p.tokens[p.next+1].kind == openToken
	if is {
		p.next += 2
	}
	return is
}

// inside reads the rest of a function that has this form.
func (p *parser) inside(form string) (event.Path, *Mistake) {
	path, bad := p.path()
	if bad == nil {
		bad = p.closed(form)
	}
	return path, bad
}

func (p *parser) closed(form string) *Mistake {
	if end := p.take(); end.kind != closeToken {
		return p.unexpected(end, "a closing parenthesis", form)
	}
	return nil
}

// place reads a path or, in a when, before(PATH).
func (p *parser) place() (event.Path, *Mistake) {
	t := p.peek()
	if !p.when || !p.call("before") {
		if rest, is := strings.CutPrefix(t.text, "before."); p.when && is && t.kind == wordToken {
			return event.Path{}, &Mistake{Offset: t.offset, What: t.text + " would be a field in a field of this payload called before",
				Instead: "before(" + rest + ")"}
		}
		return p.path()
	}
	p.before = true
	return p.inside("before(PATH)")
}

// nulls are words of other languages for a value that is not there.
var nulls = []string{"null", "nil", "none", "undefined"}

// asksNull returns a mistake if a field is compared with nothing, as in a = null or a is not null.
func (p *parser) asksNull(field token, path event.Path, op token) *Mistake {
	rest, exists := p.tokens[p.next:], op.text == "!="
	if strings.EqualFold(op.text, "is") && strings.EqualFold(rest[0].text, "not") {
		rest, exists = rest[1:], true
	}
	if op.kind == textToken || rest[0].kind != wordToken || !slices.Contains(nulls, strings.ToLower(rest[0].text)) {
		return nil
	}
	instead := pathText(path)
	if p.before {
		instead = "before(" + instead + ")"
	}
	if instead = "exists " + instead; !exists {
		instead = "not " + instead
	}
	return &Mistake{Offset: field.offset, What: "no field is ever equal to " + rest[0].text, Instead: instead}
}

func (p *parser) path() (event.Path, *Mistake) {
	t := p.take()
	if t.kind != wordToken || slices.Contains(reservedWords, t.text) {
		return event.Path{}, p.unexpected(t, "the path of a field", aComparison)
	}
	path, bad := Path(t.text)
	if bad != nil {
		bad.Offset = t.offset
	}
	return path, bad
}

func (p *parser) set() ([]literal, *Mistake) {
	if t := p.take(); t.kind != openToken {
		return nil, p.unexpected(t, "an opening parenthesis", aComparison)
	}
	var set []literal
	for {
		l, bad := p.literal()
		if bad != nil {
			return nil, bad
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

func (p *parser) literal() (literal, *Mistake) {
	t := p.take()
	switch {
	case p.quoted && t.kind != numberToken:
		return literal{}, p.unexpected(t, "a number, because number() makes one", "a number without quotes, such as 12.5")
	case t.kind == textToken:
		return literal{kind: event.String, text: t.text, offset: t.offset}, nil
	case t.kind == numberToken:
		n, bad := event.ParseDecimal(t.text)
		if bad != nil {
			return literal{}, &Mistake{Offset: t.offset, What: t.text + " is not a number",
				Instead: "a number such as 12.5, or text in quotes"}
		}
		return literal{kind: event.Number, quoted: p.quoted, number: n, offset: t.offset}, nil
	case t.kind == wordToken && (t.text == "true" || t.text == "false"):
		return literal{kind: event.Bool, text: t.text, offset: t.offset}, nil
	case t.kind == wordToken && slices.Contains([]string{"true", "false"}, strings.ToLower(t.text)):
		return literal{}, p.unexpected(t, "a number, quoted text, true or false", aComparison)
	case t.kind == wordToken && slices.Contains(nulls, strings.ToLower(t.text)):
		return literal{}, &Mistake{Offset: t.offset, What: "no field is ever equal to " + t.text,
			Instead: "nothing there, and or not exists with the field behind the comparison"}
	case p.when && t.kind == wordToken && p.peek().kind == openToken:
		return literal{}, &Mistake{Offset: t.offset, What: "a field is compared with a value, not with another field",
			Instead: "a number or a text in quotes, or changed(PATH) in place of the comparison"}
	case t.kind == wordToken && !slices.Contains(reservedWords, t.text):
		return literal{},
			&Mistake{Offset: t.offset, What: t.text + " stands where a value should: fields are compared with numbers and quoted text only",
				Instead: "'" + t.text + "'"}
	}
	return literal{}, p.unexpected(t, "a number, quoted text, true or false", aComparison)
}
