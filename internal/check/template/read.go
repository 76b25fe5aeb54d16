package template

import (
	"fmt"
	"strings"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/token"

	"github.com/ingot-events/ingot/internal/syntax"
)

// SyntaxError says that a file is not the YAML (or JSON) of a template.
type SyntaxError struct {
	Position
	What    string
	Instead string // what to write
}

// Error reads "12:3: not YAML: …; write … instead".
func (e *SyntaxError) Error() string {
	text := fmt.Sprintf("%d:%d: %s", e.Line, e.Column, e.What)
	if e.Instead != "" {
		text += "; write " + e.Instead + " instead"
	}
	return text
}

// Read parses the text of one YAML document. The error is a *SyntaxError.
func Read(text []byte) (*Node, error) {
	text = syntax.Text(text)
	file, fault := syntax.Parse(text)
	if fault != nil {
		return nil, &SyntaxError{Position{fault.Line, fault.Column}, fault.What, fault.Instead}
	}
	r := reader{lines: strings.Split(string(text), "\n"), anchors: map[string]*Node{}}
	var body ast.Node
	for _, doc := range file.Docs {
		if doc.Body == nil {
			continue
		}
		if body != nil {
			return nil, &SyntaxError{r.position(doc.Body), "a second YAML document begins here", "one document, without this --- and what follows it,"}
		}
		body = doc.Body
	}
	if body == nil {
		return nil, &SyntaxError{Position{1, 1}, "the file is empty", "a SAM template"}
	}
	return r.node(body), nil
}

// reader turns the parser's tree into Nodes: aliases are followed, short and long forms of functions are one.
type reader struct {
	lines   []string
	anchors map[string]*Node
}

func (r *reader) position(n ast.Node) Position {
	if pair, ok := n.(*ast.MappingValueNode); ok {
		n = pair.Key
	}
	if m, ok := n.(*ast.MappingNode); ok && len(m.Values) > 0 && !m.IsFlowStyle {
		n = m.Values[0].Key
	}
	return r.at(n.GetToken())
}

// at is where a token stands. The parser loses a column for every tag before it in its line; so the token's own
// text is looked for from there on.
func (r *reader) at(t *token.Token) Position {
	p := Position{t.Position.Line, max(1, t.Position.Column)}
	text, _, _ := strings.Cut(strings.TrimSpace(t.Origin), "\n")
	if p.Line > len(r.lines) || text == "" {
		return p
	}
	line := []rune(r.lines[p.Line-1])
	for column := p.Column; column <= len(line) && column <= p.Column+maxDrift; column++ {
		if strings.HasPrefix(string(line[column-1:]), text) {
			p.Column = column
			break
		}
	}
	return p
}

// maxDrift is how far a token is looked for: more tags than this stand in no line.
const maxDrift = 16

func (r *reader) node(n ast.Node) *Node {
	if n == nil {
		return nil
	}
	out := &Node{Position: r.position(n), Kind: Scalar}
	switch n := n.(type) {
	case *ast.AnchorNode:
		value := r.node(n.Value)
		r.anchors[n.Name.GetToken().Value] = value // after its value: an alias inside of it leads nowhere
		return value
	case *ast.AliasNode:
		if value, ok := r.anchors[n.Value.GetToken().Value]; ok {
			return value
		}
		return unknown(out, "the alias *"+n.Value.GetToken().Value+" names no anchor above it")
	case *ast.TagNode:
		return r.tagged(out, n)
	case *ast.MappingNode:
		return r.mapping(out, n.Values)
	case *ast.MappingValueNode:
		return r.mapping(out, []*ast.MappingValueNode{n})
	case *ast.SequenceNode:
		out.Kind = List
		for _, v := range n.Values {
			out.Items = append(out.Items, r.node(v))
		}
	case *ast.LiteralNode:
		out.Text = n.Value.Value
	case *ast.StringNode:
		out.Text = n.Value
	case *ast.NullNode:
	default:
		out.Text = n.GetToken().Value // numbers and booleans as they are written
	}
	return out
}

// tagged reads the short form of a function, as in !Ref X. Other tags leave the value as it is.
func (r *reader) tagged(out *Node, n *ast.TagNode) *Node {
	tag := n.Start.Value
	if strings.HasPrefix(tag, "!!") {
		return r.node(n.Value)
	}
	name := strings.TrimPrefix(tag, "!")
	if name != "Ref" && name != "Condition" {
		name = "Fn::" + name
	}
	out.Position = r.at(n.Start)
	out.Kind, out.Name, out.Argument = Call, name, r.node(n.Value)
	return out
}

func (r *reader) mapping(out *Node, values []*ast.MappingValueNode) *Node {
	out.Kind = Map
	var merged []Member
	for _, v := range values {
		value := r.node(v.Value)
		if _, merge := v.Key.(*ast.MergeKeyNode); merge {
			if value != nil && value.Kind == Map {
				merged = append(merged, value.Members...)
			}
			continue
		}
		out.Members = append(out.Members, Member{Position: r.position(v.Key), Name: v.Key.GetToken().Value, Value: value})
	}
	out.Members = append(out.Members, merged...) // after its own names: those win
	if len(out.Members) == 1 {
		if only := out.Members[0]; only.Name == "Ref" || strings.HasPrefix(only.Name, "Fn::") && !strings.HasPrefix(only.Name, "Fn::ForEach") {
			return &Node{Position: only.Position, Kind: Call, Name: only.Name, Argument: only.Value}
		}
	}
	return out
}
