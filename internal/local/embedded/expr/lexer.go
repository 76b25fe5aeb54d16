package expr

import (
	"strings"

	"github.com/ingot-events/ingot/internal/base/reserved"

	"github.com/ingot-events/ingot/internal/local/embedded/api"
)

// These are DynamoDB's limits of expressions.
const (
	maxExpressionSize = 4096
	maxOperators      = 300
)

type tokenKind uint8

const (
	tokEnd   tokenKind = iota
	tokWord            // an attribute name, keyword or function
	tokName            // #placeholder
	tokValue           // :placeholder
	tokPunct           // ( ) , = <> < <= > >= + - . [ ]
)

type token struct {
	kind       tokenKind
	text       string
	start, end int
}

// is reports whether the token is word, which is a keyword in any case or punctuation.
func (t token) is(word string) bool {
	return (t.kind == tokWord || t.kind == tokPunct) && strings.EqualFold(t.text, word)
}

func tokenize(src string) ([]token, *syntaxError) {
	var out []token
	for i := 0; i < len(src); {
		start := i
		switch c := src[i]; {
		case c == ' ' || c == '\t' || c == '\n' || c == '\r':
			i++
			continue
		case c == '#' || c == ':':
			i++
			for i < len(src) && isWordByte(src[i]) {
				i++
			}
			if i == start+1 {
				return nil, &syntaxError{token: src[start:i], near: near(src, start)}
			}
			kind := tokName
			if c == ':' {
				kind = tokValue
			}
			out = append(out, token{kind, src[start:i], start, i})
		case isWordByte(c) && c != '_': // a name that begins with _ needs a #placeholder
			for i < len(src) && isWordByte(src[i]) {
				i++
			}
			out = append(out, token{tokWord, src[start:i], start, i})
		case c == '<' || c == '>':
			i++
			if i < len(src) && (src[i] == '=' || (c == '<' && src[i] == '>')) {
				i++
			}
			out = append(out, token{tokPunct, src[start:i], start, i})
		case strings.IndexByte("(),=+-.[]", c) >= 0:
			i++
			out = append(out, token{tokPunct, src[start:i], start, i})
		default:
			return nil, &syntaxError{token: src[start : start+1], near: near(src, start)}
		}
	}
	return append(out, token{tokEnd, "<EOF>", len(src), len(src)}), nil
}

func isWordByte(c byte) bool {
	return c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')
}

func near(src string, at int) string { return src[at:min(len(src), at+2)] }

type syntaxError struct{ token, near string }

// parser reads one expression. kind is the name that DynamoDB's messages use, such as
// ConditionExpression.
type parser struct {
	api, kind, src string
	toks           []token
	pos            int
	uses           Uses
	operators      int
}

// Uses lists the placeholders of an expression. Each must be defined. Each that is defined must be
// used by some expression of the request.
type Uses struct {
	kind          string
	names, values []string
}

func newParser(api, kind, src string) (*parser, error) {
	p := &parser{api: api, kind: kind, src: src, uses: Uses{kind: kind}}
	if strings.TrimSpace(src) == "" {
		return nil, p.fail("The expression can not be empty;")
	}
	if len(src) > maxExpressionSize {
		return nil, p.fail("Expression size has exceeded the maximum allowed size; expression size: %d", len(src))
	}
	toks, bad := tokenize(src)
	if bad != nil {
		return nil, p.fail("Syntax error; token: \"%s\", near: \"%s\"", bad.token, bad.near)
	}
	p.toks = toks
	return p, nil
}

func (p *parser) fail(format string, args ...any) error {
	return api.Invalid("Invalid "+p.kind+": "+format, args...)
}

func (p *parser) peek() token { return p.toks[p.pos] }

func (p *parser) next() token {
	t := p.toks[p.pos]
	if t.kind != tokEnd {
		p.pos++
	}
	return t
}

func (p *parser) accept(word string) bool {
	if p.peek().is(word) {
		p.pos++
		return true
	}
	return false
}

func (p *parser) expect(word string) error {
	if !p.accept(word) {
		return p.syntax()
	}
	return nil
}

// syntax returns an error that shows the next token with its neighbours, as DynamoDB does.
func (p *parser) syntax() error {
	from, to := p.peek(), p.peek()
	if p.pos > 0 {
		from = p.toks[p.pos-1]
	}
	if p.pos+1 < len(p.toks) {
		to = p.toks[p.pos+1]
	}
	return p.fail("Syntax error; token: \"%s\", near: \"%s\"", p.peek().text, strings.TrimSpace(p.src[from.start:to.end]))
}

func (p *parser) operator() error {
	p.operators++
	if p.operators > maxOperators {
		return p.fail("The expression contains more operators than the maximum allowed; operator count: %d", p.operators)
	}
	return nil
}

// path reads a top-level attribute name, written out or as a #placeholder.
func (p *parser) path() (string, error) {
	t := p.next()
	switch t.kind {
	case tokName:
		p.uses.names = append(p.uses.names, t.text)
	case tokWord:
		if t.text[0] >= '0' && t.text[0] <= '9' {
			p.pos--
			return "", p.syntax()
		}
		if reserved.Word(t.text) {
			return "", p.fail("Attribute name is a reserved keyword; reserved keyword: %s", t.text)
		}
	default:
		if t.kind != tokEnd {
			p.pos--
		}
		return "", p.syntax()
	}
	if p.peek().is(".") || p.peek().is("[") {
		return "", api.Unsupported(p.api, "nested path in "+p.kind+" ("+p.src+")")
	}
	return t.text, nil
}

func (p *parser) value() string {
	t := p.next()
	p.uses.values = append(p.uses.values, t.text)
	return t.text
}
