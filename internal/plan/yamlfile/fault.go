package yamlfile

import (
	"errors"
	"fmt"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/token"
)

// Fault says why a text cannot be read.
type Fault struct {
	Position
	What    string // "invalid YAML: …"
	Instead string // what to write; empty if What says what to do
}

// Error returns "12:3: invalid YAML: …; write …".
func (f *Fault) Error() string {
	return fmt.Sprintf("%d:%d: %s%s", f.Line, f.Column, f.What, Advice(f.Instead))
}

// Advice returns what a message about a mistake ends with: "; write …", or nothing for the empty
// text.
func Advice(write string) string {
	if write == "" {
		return ""
	}
	return "; write " + write
}

// faultOf says what is wrong with the text, for the person who wrote it. The parser's own message
// uses words of its grammar, and often names the place where the parser noticed the fault, not the
// slip itself. So faultOf looks for the slip in the text and its tokens. It returns the parser's
// message only if it is not certain of any slip. Its advice about a slip is right no matter what
// the author meant: it names a quote or a bracket only if its other end is missing, and a column
// only if no other column is possible.
func faultOf(text string, err error) *Fault {
	var positioned yaml.Error
	if !errors.As(err, &positioned) || positioned.GetToken() == nil {
		return &Fault{Position{1, 1}, "invalid YAML: " + err.Error(), ""}
	}
	tk := positioned.GetToken()
	r := reader{text: newLines(text), tokens: tokens(text), at: tk,
		fault: Fault{Position: Position{tk.Position.Line, max(1, tk.Position.Column)}}}
	slips := []func(*reader) bool{(*reader).quote}
	switch open, _ := r.around(); {
	case tk.Type == token.InvalidType: // a sign or an escape that YAML does not have anywhere
	case open != nil:
		slips = append(slips, (*reader).bracket)
	default:
		slips = append(slips, (*reader).closer, (*reader).colon, (*reader).entry, (*reader).twoValues, (*reader).indentation,
			(*reader).afterQuote)
	}
	for _, slip := range slips {
		if slip(&r) {
			r.fault.What = "invalid YAML: " + r.fault.What
			return &r.fault
		}
	}
	r.fault.What, r.fault.Instead = "invalid YAML: "+positioned.GetMessage(), r.advice()
	return &r.fault
}

// tokens returns the tokens of the text, as far as the lexer can read it. If the lexer panics, it
// returns no tokens: the lexer is not our code.
func tokens(text string) (list token.Tokens) {
	defer func() {
		if recover() != nil {
			list = nil
		}
	}()
	return lexer.Tokenize(text)
}

// reader looks for one slip after another in the text. The method that finds its slip fills in the
// fault.
type reader struct {
	text   lines
	tokens token.Tokens
	at     *token.Token // where the parser stopped
	fault  Fault
}

// say fills in the fault. If at is nil, the fault stays where the parser stopped.
func (r *reader) say(at *token.Position, what, instead string) bool {
	if at != nil {
		r.fault.Position = Position{at.Line, max(1, at.Column)}
	}
	r.fault.What, r.fault.Instead = what, instead
	return true
}

// rest returns the text from where the parser stopped, without a comment.
func (r *reader) rest() string {
	rest, _, _ := strings.Cut(r.text.from(r.fault.Line, r.fault.Column), " #")
	return strings.TrimSpace(rest)
}

// inQuotes says what to do with text that has a meaning of its own in YAML.
const inQuotes = `what holds a brace, a bracket, a comma, # or @ in quotes, as in "{order_id}"`

// advice says what to write if no slip is certain. It depends on what stands there.
func (r *reader) advice() string {
	first := r.text.from(r.fault.Line, r.fault.Column)
	open, _ := r.around()
	for _, a := range []struct {
		begins  string
		instead string
	}{
		{"@", inQuotes}, {"`", inQuotes}, {"\t", "spaces"},
		{">", "what begins with > or | in quotes"}, {"|", "what begins with > or | in quotes"},
		{"&", "the value itself: anchors are not read"}, {"*", "the value itself: aliases are not read"},
		{"%", "the file without the line that begins with %"},
		{"---", "one document, without --- and ..."}, {"...", "one document, without --- and ..."},
	} {
		if strings.HasPrefix(first, a.begins) {
			return a.instead
		}
	}
	before := string(r.text.line(r.fault.Line))
	before = strings.TrimSuffix(before, first)
	switch {
	case r.at.Type == token.InvalidType && strings.Contains(before, `\`):
		return `\\ for a backslash, or the text in single quotes`
	case r.at.Type == token.InvalidType && strings.Contains(before, "\t"):
		return "spaces"
	case open != nil:
		return inQuotes
	case r.continues() || !r.text.begins(r.fault.Line, r.fault.Column):
		return "one value after the colon, the whole of it in quotes"
	}
	return `each name as "name: value" in a line of its own, in the column of the names beside it, and text with signs in quotes`
}

// continues reports whether a line of text begins where the parser stopped, below a value that is
// complete.
func (r *reader) continues() bool {
	levels := r.levels()
	return r.text.begins(r.fault.Line, r.fault.Column) && !named().MatchString(r.rest()) && len(levels) > 0 &&
		r.fault.Column > levels[len(levels)-1] && !r.afterColon()
}

// afterColon reports whether the parser stopped at what comes right after a colon.
func (r *reader) afterColon() bool {
	before := r.at.Prev
	for before != nil && before.Type == token.CommentType {
		before = before.Prev
	}
	return before != nil && before.Type == token.MappingValueType
}
