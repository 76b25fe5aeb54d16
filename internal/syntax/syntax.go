// Package syntax parses YAML, and says, for whoever wrote a file, what is wrong with text that is none: where, and what to
// write. The parser's own words name its grammar, and often the place where it noticed, not the slip.
package syntax

import (
	"bytes"
	"errors"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
)

// Fault is why a text is not YAML.
type Fault struct {
	Line, Column int    // from 1, columns in characters
	What         string // "not YAML: …"
	Instead      string // what to write; empty if What says what to do
}

// Text is text as the parser is to read it: without a byte order mark, which it takes for text, and with the line ends
// that it counts right.
func Text(text []byte) []byte {
	return bytes.ReplaceAll(bytes.TrimPrefix(text, []byte("\ufeff")), []byte("\r\n"), []byte("\n"))
}

// Parse parses text, which is as Text makes it. The fault is nil, or says why there is no tree. What it says of a slip
// holds whatever was meant: it names a quote or a bracket only if its other end is not there, and a column only if no
// other is possible.
func Parse(text []byte, options ...parser.Option) (*ast.File, *Fault) {
	file, err := parse(text, options)
	if err != nil {
		return nil, faultOf(text, err)
	}
	return file, nil
}

func faultOf(text []byte, err error) *Fault {
	var positioned yaml.Error
	if !errors.As(err, &positioned) || positioned.GetToken() == nil {
		return &Fault{1, 1, "not YAML: " + err.Error(), ""}
	}
	tk := positioned.GetToken()
	r := reader{
		text: newLines(string(text)), tokens: tokens(text), message: positioned.GetMessage(), at: tk,
		fault: Fault{Line: tk.Position.Line, Column: max(1, tk.Position.Column)},
	}
	for _, slip := range []func(*reader) bool{
		(*reader).quote, (*reader).repeated, (*reader).bracket, (*reader).closer, (*reader).colon, (*reader).entry, (*reader).twoValues, (*reader).indentation,
	} {
		if slip(&r) {
			r.fault.What = "not YAML: " + r.fault.What
			return &r.fault
		}
	}
	r.fault.What, r.fault.Instead = "not YAML: "+r.message, advice(r.message)
	return &r.fault
}

// tokens are what the parser reads, as far as it could; a panic of the lexer, which is not ours, gives none.
func tokens(text []byte) (list token.Tokens) {
	defer func() {
		if recover() != nil {
			list = nil
		}
	}()
	return lexer.Tokenize(string(text))
}

// reader looks for one slip after another in the text; the one that finds its own fills in the fault.
type reader struct {
	text    lines
	tokens  token.Tokens
	message string
	at      *token.Token // where the parser stopped
	fault   Fault
}

func (r *reader) is(parts ...string) bool {
	for _, part := range parts {
		if strings.Contains(r.message, part) {
			return true
		}
	}
	return false
}

// say fills in the fault; position 0 leaves it where the parser stopped.
func (r *reader) say(at *token.Position, what, instead string) bool {
	if at != nil {
		r.fault.Line, r.fault.Column = at.Line, max(1, at.Column)
	}
	r.fault.What, r.fault.Instead = what, instead
	return true
}

// inQuotes is what to do with text that YAML takes for something of its own.
const inQuotes = `what holds a brace, a bracket, a comma, # or @ in quotes, as in "{order_id}"`

// advice is what to write where no slip is known for certain.
func advice(message string) string {
	for _, a := range []struct{ part, instead string }{
		{"must be specified", inQuotes},
		{"reserved character", inQuotes},
		{`'	'`, "spaces"},
		{"tab character", "spaces"},
		{"unknown escape character", `\\ for a backslash, or the text in single quotes`},
		{"invalid header option", "what begins with > or | in quotes"},
		{"pre-defined", "one value after the colon, the whole of it in quotes,"},
		{"anchor", "the value itself: anchors are not read"},
		{"alias", "the value itself: aliases are not read"},
		{"directive", "the file without the line that begins with %"},
		{"document separator", "one document, without --- and ..."},
	} {
		if strings.Contains(message, a.part) {
			return a.instead
		}
	}
	return `each name as "name: value" in a line of its own, in the column of the names beside it, and text with signs in quotes,`
}
