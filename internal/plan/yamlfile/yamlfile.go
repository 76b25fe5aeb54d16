// Package yamlfile reads YAML that a person writes, and records the position of each value. It
// reads pipeline.yaml and the templates of CloudFormation. [Parse] is the entry point. If a text is
// not YAML, a [Fault] says where, and what to write. The package does not know what the names and
// values of a file mean.
package yamlfile

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
)

// Position is a place in a file, from 1; columns are characters.
type Position struct{ Line, Column int }

// Kind says what a Node is.
type Kind uint8

// These are the kinds. A reader may follow or refuse Alias, Anchored and Tagged.
const (
	Null     Kind = iota + 1
	Bool          // Text is as it is written
	Integer       // Text is as it is written
	Float         // Text is as it is written; also NaN and infinity
	Text          // Text is the meaning
	List          // Items
	Map           // Members
	Alias         // *Text
	Anchored      // &Text and a value, which is Of
	Tagged        // Text, such as !Ref, and a value, which is Of
)

// Node is a value of a file. A nil *Node stands for a missing value.
type Node struct {
	Position
	Kind    Kind
	Text    string
	Items   []*Node
	Members []Member
	Of      *Node

	Style Style // of Text
	// Verbatim says that a Text stands in the file exactly as it reads, on one line and without
	// escapes. Then an offset into the text is also an offset into the line. It counts from after
	// the quote, if there is one.
	Verbatim bool
}

// Style says how a Text is written.
type Style uint8

// These are the styles.
const (
	Plain  Style = iota
	Quoted       // in double or single quotes
	Block        // below a | or a >
)

// Member is one name of a mapping with its value.
type Member struct {
	Position // of the name
	Name     string
	// Plain is false for a name that is not a text, such as a list or nothing.
	Plain bool
	Merge bool // the name is <<, which stands for the members of the value
	Value *Node
}

// File is the content of a text.
type File struct {
	Root *Node // of the first document that holds something; nil if there is none
	// Second is the node of the second such document, if there is one.
	Second *Node
}

// normal returns a text in the form that the parser needs. The parser would read a byte order mark
// as text, and it counts lines by \n alone.
func normal(text []byte) []byte {
	return bytes.ReplaceAll(bytes.TrimPrefix(text, []byte("\ufeff")), []byte("\r\n"), []byte("\n"))
}

// Parse reads a text, with or without a byte order mark, and with any line ends. If a mapping has a
// name twice, its node has both members. If the text cannot be read, the fault says why. Otherwise
// it is nil.
func Parse(text []byte) (*File, *Fault) {
	text = normal(text)
	if len(text) <= maxFile && encoded(text) == nil {
		if root := simple(string(text)); root != nil {
			return &File{Root: root}, nil
		}
	}
	return parseAny(text)
}

// parseAny reads a text of any form.
func parseAny(text []byte) (*File, *Fault) {
	parsed, err := parse(text, parser.AllowDuplicateMapKey())
	if err != nil {
		return nil, faultOf(string(text), err)
	}
	file := &File{}
	var c converter
	if bytes.ContainsRune(text, '!') {
		c.text = newLines(string(text))
	}
	for _, doc := range parsed.Docs {
		switch {
		case doc.Body == nil:
		case file.Root == nil:
			file.Root = c.node(doc.Body)
		case file.Second == nil:
			file.Second = c.node(doc.Body)
		}
	}
	return file, nil
}

// converter turns the parser's tree into Nodes. text is nil if the file has no tags.
type converter struct{ text lines }

func (c converter) position(n ast.Node) Position {
	if pair, ok := n.(*ast.MappingValueNode); ok {
		n = pair.Key
	}
	if m, ok := n.(*ast.MappingNode); ok && len(m.Values) > 0 && !m.IsFlowStyle {
		n = m.Values[0].Key
	}
	return c.at(n.GetToken())
}

// at returns where a token stands. The parser loses a column for every tag before the token in its
// line. So at looks for the token's own text from the parser's column on.
func (c converter) at(t *token.Token) Position {
	p := Position{t.Position.Line, max(1, t.Position.Column)}
	line := c.text.line(p.Line)
	if !slices.Contains(line, '!') {
		return p
	}
	text, _, _ := strings.Cut(strings.TrimSpace(t.Origin), "\n")
	if text == "" {
		return p
	}
	rest := line[min(p.Column-1, len(line)):]
	before, _, found := strings.Cut(string(rest[:min(maxDrift+len(text), len(rest))]), text)
	if drift := utf8.RuneCountInString(before); found && drift <= maxDrift {
		p.Column += drift
	}
	return p
}

// maxDrift is how many columns at searches for a token. It is more than the tags that a line has in
// practice.
const maxDrift = 16

func (c converter) node(n ast.Node) *Node {
	if n == nil {
		return nil
	}
	out := &Node{Position: c.position(n)}
	switch n := n.(type) {
	case *ast.AnchorNode:
		out.Kind, out.Text, out.Of = Anchored, n.Name.GetToken().Value, c.node(n.Value)
	case *ast.AliasNode:
		out.Kind, out.Text = Alias, n.Value.GetToken().Value
	case *ast.TagNode:
		out.Kind, out.Text, out.Of = Tagged, n.Start.Value, c.node(n.Value)
	case *ast.MappingNode:
		out.Kind, out.Members = Map, c.members(n.Values)
	case *ast.MappingValueNode:
		out.Kind, out.Members = Map, c.members([]*ast.MappingValueNode{n})
	case *ast.SequenceNode:
		out.Kind = List
		for _, v := range n.Values {
			out.Items = append(out.Items, c.value(v, out.Position))
		}
	case *ast.NullNode:
		out.Kind = Null
	case *ast.BoolNode:
		out.Kind, out.Text = Bool, n.Token.Value
	case *ast.IntegerNode:
		out.Kind, out.Text = Integer, n.Token.Value
	case *ast.LiteralNode:
		out.Kind, out.Text, out.Style = Text, n.Value.Value, Block
	case *ast.StringNode:
		out.Kind, out.Text, out.Verbatim = Text, n.Value, verbatim(n)
		if n.Token.Type != token.StringType {
			out.Style = Quoted
		}
	case *ast.FloatNode, *ast.InfinityNode, *ast.NanNode:
		out.Kind, out.Text = Float, n.GetToken().Value
	default:
		out.Kind, out.Text = Text, n.GetToken().Value
	}
	return out
}

func (c converter) members(values []*ast.MappingValueNode) []Member {
	list := make([]Member, len(values))
	for i, v := range values {
		_, scalar := v.Key.(ast.ScalarNode)
		_, null := v.Key.(*ast.NullNode)
		_, merge := v.Key.(*ast.MergeKeyNode)
		list[i] = Member{Position: c.position(v.Key), Name: v.Key.GetToken().Value, Plain: scalar && !null, Merge: merge,
			Value: c.value(v.Value, c.position(v.Key))}
	}
	return list
}

// value does what node does, for the content of a mapping or a list. Missing content is Null.
func (c converter) value(n ast.Node, otherwise Position) *Node {
	if out := c.node(n); out != nil {
		return out
	}
	return &Node{Position: otherwise, Kind: Null}
}

// verbatim reports whether a scalar stands in the file exactly as it reads.
func verbatim(n *ast.StringNode) bool {
	origin := strings.TrimSpace(n.Token.Origin)
	if n.Token.Type != token.StringType && len(origin) >= 2 {
		origin = origin[1 : len(origin)-1]
	}
	return origin == n.Value
}

// Repeated yields each name that a mapping repeats, together with its first occurrence.
func (n *Node) Repeated(yield func(first, again *Member) bool) {
	if !n.repeats() {
		return
	}
	first := map[string]*Member{}
	for i := range n.Members {
		m := &n.Members[i]
		if earlier, repeated := first[m.Name]; !repeated || !m.Plain || m.Merge {
			first[m.Name] = m
		} else if !yield(earlier, m) {
			return
		}
	}
}

// repeats reports whether a mapping may repeat a name. For a small mapping, the answer is exact,
// and finding it allocates no memory. Nearly all mappings are small and repeat no name.
func (n *Node) repeats() bool {
	const small = 16
	if len(n.Members) > small {
		return true
	}
	for i := range n.Members {
		for j := range i {
			if n.Members[i].Name == n.Members[j].Name {
				return true
			}
		}
	}
	return false
}

// Repetition returns a fault at the first name that a mapping of the file repeats, or nil if there
// is none. It is for readers that refuse a file with such a name.
func (f *File) Repetition() *Fault { return f.Root.repetition() }

func (n *Node) repetition() *Fault {
	if n == nil {
		return nil
	}
	for first, again := range n.Repeated {
		return &Fault{again.Position, fmt.Sprintf("invalid YAML: %s is already declared on line %d", again.Name, first.Line),
			"one of the two"}
	}
	for _, m := range n.Members {
		if fault := m.Value.repetition(); fault != nil {
			return fault
		}
	}
	for _, item := range n.Items {
		if fault := item.repetition(); fault != nil {
			return fault
		}
	}
	return n.Of.repetition()
}
