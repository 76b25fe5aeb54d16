package expr

import (
	"github.com/ingot-events/ingot/internal/local/embedded/api"
)

// This file parses conditions and filters: comparisons, BETWEEN, IN, attribute_exists,
// attribute_not_exists, begins_with, AND, OR, NOT and parentheses over top-level attributes.

type condOp uint8

const (
	opAnd condOp = iota
	opOr
	opNot
	opEqual
	opNotEqual
	opLess
	opLessEqual
	opGreater
	opGreaterEqual
	opBetween
	opIn
	opExists
	opNotExists
	opBeginsWith
)

var comparisons = map[string]condOp{
	"=": opEqual, "<>": opNotEqual, "<": opLess, "<=": opLessEqual, ">": opGreater, ">=": opGreaterEqual,
}

// node is a parsed condition. The nodes of and, or and not have children. All others have operands.
type node struct {
	op       condOp
	sign     string // as written, for messages
	children []*node
	operands []operand
}

// operand is a path or a :value.
type operand struct {
	text  string
	value bool
}

// Condition is a parsed condition or filter. A nil Condition always holds.
type Condition struct {
	root *node
	uses Uses
}

func parseCondition(api, kind, src string) (*Condition, error) {
	p, err := newParser(api, kind, src)
	if err != nil {
		return nil, err
	}
	root, err := p.or()
	if err != nil {
		return nil, err
	}
	if p.peek().kind != tokEnd {
		return nil, p.syntax()
	}
	return &Condition{root, p.uses}, nil
}

func (p *parser) or() (*node, error) { return p.chain("OR", opOr, p.and) }

func (p *parser) and() (*node, error) { return p.chain("AND", opAnd, p.not) }

func (p *parser) chain(word string, op condOp, operand func() (*node, error)) (*node, error) {
	first, err := operand()
	if err != nil || !p.peek().is(word) {
		return first, err
	}
	n := &node{op: op, sign: word, children: []*node{first}}
	for p.accept(word) {
		if err := p.operator(); err != nil {
			return nil, err
		}
		child, err := operand()
		if err != nil {
			return nil, err
		}
		n.children = append(n.children, child)
	}
	return n, nil
}

func (p *parser) not() (*node, error) {
	if !p.accept("NOT") {
		return p.primary()
	}
	if err := p.operator(); err != nil { // this also limits the depth of the recursion
		return nil, err
	}
	child, err := p.not()
	return &node{op: opNot, sign: "NOT", children: []*node{child}}, err
}

func (p *parser) primary() (*node, error) {
	if p.peek().is("(") {
		return p.parenthesis()
	}
	if t := p.peek(); t.kind == tokWord && p.toks[p.pos+1].is("(") {
		return p.function()
	}
	left, err := p.operand()
	if err != nil {
		return nil, err
	}
	if err := p.operator(); err != nil {
		return nil, err
	}
	t := p.peek()
	switch {
	case t.is(")") && p.toks[p.pos-2].is("("):
		return nil, api.Unsupported(p.api, "a parenthesis around an operand in "+p.kind)
	case t.is("BETWEEN"):
		return p.between(left)
	case t.is("IN"):
		return p.in(left)
	}
	op, ok := comparisons[t.text]
	if !ok || t.kind != tokPunct {
		return nil, p.syntax()
	}
	p.next()
	right, err := p.operand()
	return &node{op: op, sign: t.text, operands: []operand{left, right}}, err
}

// parenthesis refuses ((a)), as DynamoDB does.
func (p *parser) parenthesis() (*node, error) {
	if err := p.operator(); err != nil {
		return nil, err
	}
	open := p.pos
	p.next()
	n, err := p.or()
	if err != nil {
		return nil, err
	}
	inner := p.pos - 1
	if err := p.expect(")"); err != nil {
		return nil, err
	}
	if p.toks[open+1].is("(") && p.toks[inner].is(")") && p.closes(open+1) == inner {
		return nil, p.fail("The expression has redundant parentheses;")
	}
	return n, nil
}

// closes returns the index of the token that closes the parenthesis which token i opens.
func (p *parser) closes(i int) int {
	depth := 0
	for ; i < len(p.toks); i++ {
		switch {
		case p.toks[i].is("("):
			depth++
		case p.toks[i].is(")"):
			depth--
			if depth == 0 {
				return i
			}
		}
	}
	return -1
}

func (p *parser) function() (*node, error) {
	name := p.next().text // function names are case-sensitive
	p.next()
	if err := p.operator(); err != nil {
		return nil, err
	}
	n := &node{sign: name}
	switch name {
	case "attribute_exists":
		n.op = opExists
	case "attribute_not_exists":
		n.op = opNotExists
	case "begins_with":
		n.op = opBeginsWith
	case "attribute_type", "contains", "size":
		return nil, api.Unsupported(p.api, "function "+name+" in "+p.kind)
	default:
		return nil, p.fail("Invalid function name; function: %s", name)
	}
	if n.op != opBeginsWith {
		path, err := p.path()
		if err != nil {
			return nil, err
		}
		n.operands = []operand{{text: path}}
		return n, p.expect(")")
	}
	first, err := p.operand()
	if err != nil {
		return nil, err
	}
	if err := p.expect(","); err != nil {
		return nil, err
	}
	prefix, err := p.operand()
	if err != nil {
		return nil, err
	}
	n.operands = []operand{first, prefix}
	return n, p.expect(")")
}

func (p *parser) operand() (operand, error) {
	if p.peek().kind == tokValue {
		return operand{p.value(), true}, nil
	}
	if p.peek().kind == tokWord && p.toks[p.pos+1].is("(") {
		return operand{}, api.Unsupported(p.api, "function "+p.peek().text+" as an operand in "+p.kind)
	}
	path, err := p.path()
	return operand{text: path}, err
}

func (p *parser) between(left operand) (*node, error) {
	p.next()
	low, err := p.operand()
	if err != nil {
		return nil, err
	}
	if err := p.expect("AND"); err != nil {
		return nil, err
	}
	high, err := p.operand()
	return &node{op: opBetween, sign: "BETWEEN", operands: []operand{left, low, high}}, err
}

func (p *parser) in(left operand) (*node, error) {
	p.next()
	if err := p.expect("("); err != nil {
		return nil, err
	}
	n := &node{op: opIn, sign: "IN", operands: []operand{left}}
	for {
		o, err := p.operand()
		if err != nil {
			return nil, err
		}
		n.operands = append(n.operands, o)
		if len(n.operands) > 101 {
			return nil, p.fail("The IN operator is provided with too many operands; number of operands: %d", len(n.operands)-1)
		}
		if !p.accept(",") {
			return n, p.expect(")")
		}
	}
}
