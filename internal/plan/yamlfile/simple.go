package yamlfile

import (
	"strings"

	"github.com/goccy/go-yaml/token"
)

// simple reads the form in which nearly every pipeline.yaml is written: block mappings whose values
// are scalars, or flow mappings and lists on one line. It takes a tenth of the parser's time, and
// the parser takes a tenth of a cold start. It returns nil for everything else, such as block
// lists, escapes, tags, texts of several lines, and anything that may be wrong. The parser then
// reads the text. For every text that both can read, both give the same nodes.
func simple(text string) *Node {
	r := simpleReader{rest: text}
	if !r.nextLine() || r.indent != 0 {
		return nil
	}
	root := r.block()
	if r.failed || r.indent >= 0 {
		return nil
	}
	return root
}

// simpleReader is at a place in a line, and has the lines below it.
type simpleReader struct {
	rest   string // what follows the line
	line   string // the current line, without its line end
	number int    // of the line, from 1
	at     int    // offset into the line
	indent int    // blanks in front of the line's content; -1 after the last line
	depth  int    // of mappings and lists
	failed bool   // the text is not simple
}

// maxSimpleDepth is how many levels simple reads. Files with more levels are left to the parser.
const maxSimpleDepth = 20

// fail notes that the text is not simple.
func (r *simpleReader) fail() *Node {
	r.failed = true
	return nil
}

// nextLine goes to the next line that has content. It returns false if there is none.
func (r *simpleReader) nextLine() bool {
	for r.rest != "" {
		r.line, r.rest, _ = strings.Cut(r.rest, "\n")
		r.number++
		for i := range len(r.line) {
			if r.line[i] < ' ' || r.line[i] == 0x7f {
				r.failed = true
				return false
			}
		}
		content := strings.TrimLeft(r.line, " ")
		if content != "" && content[0] != '#' {
			// If blanks follow a value, the parser gives another position than simple would.
			r.failed = r.failed || strings.HasSuffix(content, " ")
			r.indent = len(r.line) - len(content)
			r.at = r.indent
			return !r.failed
		}
	}
	r.indent = -1
	return false
}

// position returns where the reader stands. Content is ASCII, so bytes are characters.
func (r *simpleReader) position() Position { return Position{r.number, r.at + 1} }

// peek returns the next byte of the line, or 0 at its end.
func (r *simpleReader) peek() byte {
	if r.at == len(r.line) {
		return 0
	}
	return r.line[r.at]
}

// blanks skips blanks, and returns how many there were.
func (r *simpleReader) blanks() int {
	from := r.at
	for r.peek() == ' ' {
		r.at++
	}
	return r.at - from
}

// ended reports whether the line has no more content. A comment needs a blank in front of it.
func (r *simpleReader) ended() bool {
	n := r.blanks()
	return r.peek() == 0 || n > 0 && r.peek() == '#'
}

// block reads the mapping whose first name is in the current line.
func (r *simpleReader) block() *Node {
	if r.depth++; r.depth > maxSimpleDepth {
		return r.fail()
	}
	indent := r.indent
	out := &Node{Position: r.position(), Kind: Map}
	for r.indent == indent {
		m := Member{Position: r.position(), Name: r.name(), Plain: true}
		if r.failed {
			return nil
		}
		if r.ended() {
			if r.nextLine(); r.indent <= indent {
				return r.fail() // no value
			}
			m.Value = r.block()
		} else {
			m.Value = r.value(false)
			if r.failed || !r.ended() {
				return r.fail()
			}
			r.nextLine()
		}
		if r.failed || r.indent > indent {
			return r.fail()
		}
		out.Members = append(out.Members, m)
	}
	r.depth--
	return out
}

// letter reports whether a name or a plain text may begin with c.
func letter(c byte) bool { return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' }

func digit(c byte) bool { return '0' <= c && c <= '9' }

// maxSimpleName is the longest name that simple reads. The parser refuses names of more than 1024
// characters.
const maxSimpleName = 200

// name reads a name and the colon after it.
func (r *simpleReader) name() string {
	from := r.at
	for c := r.peek(); letter(c) || digit(c) || c == '_' || c == '.'; c = r.peek() {
		r.at++
	}
	name := r.line[from:r.at]
	if name == "" || len(name) > maxSimpleName || !letter(name[0]) || reserved(name) || r.peek() != ':' {
		r.failed = true
		return ""
	}
	r.at++
	if c := r.peek(); c != ' ' && c != 0 {
		r.failed = true
	}
	return name
}

// reserved reports whether YAML reads a plain text as something other than text.
func reserved(text string) bool {
	switch text {
	case "null", "Null", "NULL":
		return true
	}
	return boolean(text)
}

func boolean(text string) bool {
	switch text {
	case "true", "True", "TRUE", "false", "False", "FALSE":
		return true
	}
	return false
}

// value reads a scalar, a flow mapping or a flow list. inFlow says that it stands in one of the
// latter two.
func (r *simpleReader) value(inFlow bool) *Node {
	switch c := r.peek(); {
	case c == '{':
		return r.flow(Map, '}')
	case c == '[':
		return r.flow(List, ']')
	case c == '"' || c == '\'':
		return r.quoted(c)
	case letter(c) || digit(c):
		return r.plain(inFlow)
	}
	return r.fail()
}

// flow reads a mapping or a list on one line. It must hold something.
func (r *simpleReader) flow(kind Kind, end byte) *Node {
	if r.depth++; r.depth > maxSimpleDepth {
		return r.fail()
	}
	out := &Node{Position: r.position(), Kind: kind}
	for open := true; open; {
		r.at++ // the bracket, or the comma
		r.blanks()
		if kind == Map {
			m := Member{Position: r.position(), Name: r.name(), Plain: true}
			if r.failed || r.blanks() == 0 {
				return r.fail()
			}
			m.Value = r.value(true)
			out.Members = append(out.Members, m)
		} else {
			out.Items = append(out.Items, r.value(true))
		}
		if r.failed {
			return nil
		}
		r.blanks()
		switch r.peek() {
		case ',':
		case end:
			r.at++
			open = false
		default:
			return r.fail()
		}
	}
	r.depth--
	return out
}

// quoted reads a text in quotes. It must have no escapes.
func (r *simpleReader) quoted(quote byte) *Node {
	out := &Node{Position: r.position(), Kind: Text, Style: Quoted, Verbatim: true}
	r.at++
	for from := r.at; ; r.at++ {
		switch c := r.peek(); {
		case c == quote:
			out.Text = r.line[from:r.at]
			r.at++
			if r.peek() == quote {
				return r.fail()
			}
			return out
		case c == 0 || c == '\\' || c == '!' || c >= 0x80:
			return r.fail()
		}
	}
}

// plain reads a text without quotes, a whole number, or true or false.
func (r *simpleReader) plain(inFlow bool) *Node {
	out := &Node{Position: r.position(), Kind: Text, Verbatim: true}
	from := r.at
	for ended := false; !ended; {
		switch c := r.peek(); {
		case c == 0 || inFlow && (c == ',' || c == ']' || c == '}'):
			ended = true
		case c == '#':
			if r.line[r.at-1] != ' ' {
				return r.fail()
			}
			r.at-- // the comment's blank
			ended = true
		case c >= 0x80 || strings.IndexByte(":!?\\[]{},", c) >= 0:
			return r.fail()
		default:
			r.at++
		}
	}
	out.Text = strings.TrimRight(r.line[from:r.at], " ")
	switch {
	case boolean(out.Text):
		out.Kind, out.Verbatim = Bool, false
	case reserved(out.Text):
		return r.fail()
	case digit(out.Text[0]) && token.ToNumber(out.Text) != nil:
		if strings.Trim(out.Text, "0123456789") != "" || out.Text[0] == '0' && out.Text != "0" {
			return r.fail()
		}
		out.Kind, out.Verbatim = Integer, false
	}
	return out
}
