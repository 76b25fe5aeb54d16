package template

import (
	"strings"

	"github.com/ingot-events/ingot/internal/plan/yamlfile"
)

// Position is a place in the file.
type Position = yamlfile.Position

// SyntaxError says that a file is not the YAML (or JSON) of a template.
type SyntaxError = yamlfile.Fault

// Read parses the text of one YAML document. The error is a [*SyntaxError].
func Read(text []byte) (*Node, error) {
	file, fault := yamlfile.Parse(text)
	if fault != nil {
		return nil, fault
	}
	switch {
	case file.Root == nil:
		return nil, &SyntaxError{Position: Position{Line: 1, Column: 1}, What: "the file is empty", Instead: "a SAM template"}
	case file.Second != nil:
		return nil, &SyntaxError{Position: file.Second.Position, What: "a second YAML document begins here",
			Instead: "one document, without this --- and what follows it"}
	}
	if fault := file.Repetition(); fault != nil {
		return nil, fault
	}
	r := reader{anchors: map[string]*Node{}}
	return r.node(file.Root), nil
}

// reader turns the file's tree into a template's tree. It follows aliases, and reads short and long
// forms of functions as the same.
type reader struct{ anchors map[string]*Node }

func (r *reader) node(n *yamlfile.Node) *Node {
	if n == nil {
		return nil
	}
	out := &Node{Position: n.Position, Kind: Scalar, Text: n.Text}
	switch n.Kind {
	case yamlfile.Anchored:
		value := r.node(n.Of)
		r.anchors[n.Text] = value // after its value: an alias inside the value leads nowhere
		return value
	case yamlfile.Alias:
		if value, ok := r.anchors[n.Text]; ok {
			return value
		}
		return unknown(out, "the alias *"+n.Text+" names no anchor above it")
	case yamlfile.Tagged:
		return r.tagged(n)
	case yamlfile.Map:
		return r.mapping(out, n)
	case yamlfile.List:
		out.Kind = List
		for _, item := range n.Items {
			out.Items = append(out.Items, r.node(item))
		}
	}
	return out
}

// tagged reads the short form of a function, as in !Ref X. Other tags leave the value as it is.
func (r *reader) tagged(n *yamlfile.Node) *Node {
	if strings.HasPrefix(n.Text, "!!") {
		return r.node(n.Of)
	}
	name := strings.TrimPrefix(n.Text, "!")
	if name != "Ref" && name != "Condition" {
		name = "Fn::" + name
	}
	return &Node{Position: n.Position, Kind: Call, Name: name, Argument: r.node(n.Of)}
}

func (r *reader) mapping(out *Node, n *yamlfile.Node) *Node {
	out.Kind = Map
	var merged []Member
	for _, m := range n.Members {
		value := r.node(m.Value)
		if m.Merge {
			if value != nil && value.Kind == Map {
				merged = append(merged, value.Members...)
			}
			continue
		}
		out.Members = append(out.Members, Member{Position: m.Position, Name: m.Name, Value: value})
	}
	out.Members = append(out.Members, merged...) // after its own names, which win
	if len(out.Members) == 1 {
		if only := out.Members[0]; only.Name == "Ref" || strings.HasPrefix(only.Name, "Fn::") &&
			!strings.HasPrefix(only.Name, "Fn::ForEach") {
			return &Node{Position: only.Position, Kind: Call, Name: only.Name, Argument: only.Value}
		}
	}
	return out
}
