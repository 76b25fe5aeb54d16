package yamlfile

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/goccy/go-yaml/token"
)

// quote finds a quoted text that never ends. It also finds a quoted text that ends at a quote which
// was meant to begin another text. It recognizes that by what follows the quote.
func (r *reader) quote() bool {
	var inside *token.Token // the last text that begins without a quote and ends with one
	for _, tk := range r.tokens {
		p := tk.Position
		if after(p, r.at.Position) {
			return false
		}
		if text := strings.TrimRight(tk.Value, " "); tk.Type == token.StringType && text != "" &&
			strings.ContainsAny(text[len(text)-1:], `"'`) {
			inside = tk
		}
		first := r.text.from(p.Line, p.Column)
		if tk.Type == token.StringType || tk.Type == token.CommentType || !strings.HasPrefix(first, `"`) && !strings.HasPrefix(first, "'") {
			continue
		}
		line, column, closed := r.text.closing(p.Line, p.Column)
		if !closed && inside != nil && inside.Position.Line == p.Line {
			return r.say(inside.Position, "this text begins without a quote, and a quote opens inside it", "the whole text in quotes")
		}
		if !closed {
			return r.say(p, "the quote that opens here is not closed", "a closing quote where the text ends")
		}
		if spills(r.text.from(line, column+1), line > p.Line) {
			return r.say(p, fmt.Sprintf("the quote that opens here is closed by the one in %d:%d, and more follows that one", line, column),
				"each text with a quote at either end")
		}
	}
	return false
}

// spills reports whether rest cannot follow a quoted text in its line.
func spills(rest string, severalLines bool) bool {
	trimmed := strings.TrimLeft(rest, " \t")
	if trimmed == "" || strings.ContainsRune(",]}:", rune(trimmed[0])) || trimmed[0] == '#' && trimmed != rest {
		return false
	}
	return severalLines || trimmed == rest
}

// after reports whether a comes after b.
func after(a, b *token.Position) bool {
	return a.Line > b.Line || a.Line == b.Line && a.Column > b.Column
}

var closers = map[token.Type]token.Type{token.MappingStartType: token.MappingEndType, token.SequenceStartType: token.SequenceEndType}

var brackets = map[token.Type]struct{ name, closer string }{
	token.MappingStartType: {"brace", "}"}, token.SequenceStartType: {"bracket", "]"},
}

// bracket finds a bracket that is not closed, or that is closed by the other kind. It also finds a
// missing comma inside a bracket.
func (r *reader) bracket() bool {
	open, wrong := r.around()
	b := brackets[open.Type]
	switch {
	case wrong != nil:
		return r.say(wrong.Position, fmt.Sprintf("%s stands here, and the %s that opens in %d:%d is not closed", wrong.Value, b.name,
			open.Position.Line, open.Position.Column), b.closer)
	case r.swallowed(open, b.closer):
		return r.say(open.Position, fmt.Sprintf("the %s that opens here is not closed: from the # on, the rest of its line is a comment",
			b.name), "what holds a # in quotes")
	case !r.closed(open) && !r.strayQuote(open):
		return r.say(open.Position, fmt.Sprintf("the %s that opens here is not closed", b.name), b.closer+" where it ends")
	case r.at.Type == token.MappingEndType || r.at.Type == token.SequenceEndType: // next to the one that closes it
		return r.closer()
	case r.separate():
		return r.say(nil, "there is no comma before "+r.at.Value, "a comma before it")
	}
	return false
}

// around returns the innermost bracket that is open where the parser stopped. If a closer of the
// other kind stands before that place, around returns it as well.
func (r *reader) around() (open, wrong *token.Token) {
	var stack []*token.Token
	for _, tk := range r.tokens {
		here := tk.Position.Line == r.at.Position.Line && tk.Position.Column == r.at.Position.Column
		if after(tk.Position, r.at.Position) || here && (closers[tk.Type] == 0 || r.closed(tk)) {
			break
		}
		switch {
		case closers[tk.Type] != 0:
			stack = append(stack, tk)
		case tk.Type != token.MappingEndType && tk.Type != token.SequenceEndType:
		case len(stack) == 0:
		case closers[stack[len(stack)-1].Type] != tk.Type:
			return stack[len(stack)-1], tk
		default:
			stack = stack[:len(stack)-1]
		}
	}
	if len(stack) == 0 {
		return nil, nil
	}
	return stack[len(stack)-1], nil
}

// closed reports whether the bracket has its closer somewhere in the file.
func (r *reader) closed(open *token.Token) bool {
	depth := 0
	for _, tk := range r.tokens[slices.Index(r.tokens, open):] {
		switch tk.Type {
		case token.MappingStartType, token.SequenceStartType:
			depth++
		case token.MappingEndType, token.SequenceEndType:
			if depth--; depth == 0 {
				return true
			}
		}
	}
	return false
}

// strayQuote reports whether a quote stands inside plain text between the bracket and the place
// where the parser stopped. If so, other quotes and brackets may not be what they look like.
func (r *reader) strayQuote(open *token.Token) bool {
	return slices.ContainsFunc(r.tokens, func(tk *token.Token) bool {
		return tk.Type == token.StringType && strings.ContainsAny(tk.Value, `"'`) && after(tk.Position, open.Position) &&
			!after(tk.Position, r.at.Position)
	})
}

// swallowed reports whether the bracket is not closed because its closer is in a comment in its
// line.
func (r *reader) swallowed(open *token.Token, closer string) bool {
	return !r.closed(open) && slices.ContainsFunc(r.tokens, func(tk *token.Token) bool {
		return tk.Type == token.CommentType && tk.Position.Line == open.Position.Line && after(tk.Position, open.Position) &&
			strings.Contains(tk.Value, closer)
	})
}

// separate reports whether the parser stopped at a separate text, after a quoted text or after a
// bracket.
func (r *reader) separate() bool {
	before := r.at.Prev
	if before == nil || closers[r.at.Type] != 0 || r.at.Type == token.CollectEntryType || r.at.Type == token.MappingValueType {
		return false
	}
	switch before.Type {
	case token.DoubleQuoteType, token.SingleQuoteType, token.MappingEndType, token.SequenceEndType:
		return true
	}
	return false
}

// closer finds a closing brace or bracket that has no opening one.
func (r *reader) closer() bool {
	first := r.text.from(r.fault.Line, r.fault.Column)
	if !strings.HasPrefix(first, "}") && !strings.HasPrefix(first, "]") {
		return false
	}
	return r.say(nil, "the "+first[:1]+" here closes nothing", "the line without it")
}

// These expressions are compiled only if a file has a slip, because a cold start has no time for
// that.
var (
	noBlank = expression(`^([A-Za-z_][\w.-]*):([^\s:/].*)$`)
	isName  = expression(`^"?[\w.-]+"?$`)
	named   = expression(`^[A-Za-z_][\w.-]*:(\s|$)`)
)

func expression(text string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(text) })
}

// colon finds a line without a colon, or without the blank after it.
func (r *reader) colon() bool {
	levels := r.levels()
	if !r.text.begins(r.fault.Line, r.fault.Column) || r.at.Type == token.SequenceEntryType || len(levels) > 0 &&
		!slices.Contains(levels, r.fault.Column) && !r.afterColon() {
		return false
	}
	line := r.rest()
	if m := noBlank().FindStringSubmatch(line); m != nil {
		return r.say(nil, "there is no space after the colon of "+m[1], m[1]+": "+m[2])
	}
	if strings.Contains(line, ": ") || strings.HasSuffix(line, ":") {
		return false
	}
	if isName().MatchString(line) {
		return r.say(nil, "there is no colon after "+line, line+":")
	}
	return r.say(nil, "this line has no name with a colon", "a name, a colon, a space and the value")
}

// entry finds a list entry among names.
func (r *reader) entry() bool {
	if r.at.Type != token.SequenceEntryType || !slices.Contains(r.levels(), r.fault.Column) {
		return false
	}
	return r.say(nil, "an entry of a list is among names", "it without the dash, or below a name of its own")
}

// twoValues finds a second colon in the line, or a value with names below it.
func (r *reader) twoValues() bool {
	if r.text.begins(r.fault.Line, r.fault.Column) || !r.afterColon() || r.at.Type == token.SequenceEntryType ||
		r.at.Type == token.DirectiveType {
		return false
	}
	if rest := r.rest(); strings.Contains(rest, ": ") || strings.HasSuffix(rest, ":") {
		return r.say(nil, "this line has a second colon", "text that has a colon and a space in quotes")
	}
	below := r.text.next(r.fault.Line)
	if below == 0 || !named().MatchString(strings.TrimSpace(string(r.text.line(below)))) {
		return false
	}
	return r.say(nil, fmt.Sprintf("a value stands here, and names follow below it in line %d", below), "one of the two")
}

// indentation finds a line that begins in a column where none of its names can begin.
func (r *reader) indentation() bool {
	column := r.fault.Column
	if !r.text.begins(r.fault.Line, column) || r.continues() {
		return false // the line may continue the text above
	}
	levels := r.levels()
	if len(levels) == 0 || slices.Contains(levels, column) {
		return false
	}
	return r.say(nil, fmt.Sprintf("this line begins in column %d, and no line that it could belong with does", column), "it in column "+
		either(levels)+", like the lines beside it")
}

// afterQuote finds text after a quoted text, in the same line or below it.
func (r *reader) afterQuote() bool {
	before := r.at.Prev
	for before != nil && before.Type == token.CommentType {
		before = before.Prev
	}
	if before == nil || before.Type != token.DoubleQuoteType && before.Type != token.SingleQuoteType ||
		r.text.begins(r.fault.Line, r.fault.Column) && !r.continues() {
		return false
	}
	return r.say(nil, "text follows the closing quote", "all of it in one pair of quotes")
}

// levels returns the columns of the names and lists that are open above the line where the parser
// stopped.
func (r *reader) levels() []int {
	var levels []int
	depth, line := 0, 0
	var before token.Type
	for _, tk := range r.tokens {
		if tk.Position.Line >= r.fault.Line {
			break
		}
		if tk.Type == token.CommentType {
			continue
		}
		if begins := tk.Position.Line > line && r.text.begins(tk.Position.Line, tk.Position.Column); depth == 0 &&
			(begins || before == token.SequenceEntryType) {
			levels = slices.DeleteFunc(levels, func(c int) bool { return c >= tk.Position.Column })
			levels = append(levels, tk.Position.Column)
		}
		switch tk.Type {
		case token.MappingStartType, token.SequenceStartType:
			depth++
		case token.MappingEndType, token.SequenceEndType:
			depth--
		}
		line, before = tk.Position.Line, tk.Type
	}
	if depth != 0 { // inside a bracket, columns have no meaning
		return nil
	}
	return levels
}

// either returns text such as "1, 3 or 5".
func either(numbers []int) string {
	text := strconv.Itoa(numbers[0])
	for i, n := range numbers[1:] {
		between := ", "
		if i == len(numbers)-2 {
			between = " or "
		}
		text += between + strconv.Itoa(n)
	}
	return text
}
