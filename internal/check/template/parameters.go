package template

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// readParameters gives every parameter its value: the given one, else its default.
func (t *Template) readParameters(given map[string]string) error {
	t.parameters = map[string]*Node{}
	var declared *Node
	if m := t.root.Member("Parameters"); m != nil {
		declared = m.Value
	}
	for _, name := range slices.Sorted(maps.Keys(given)) {
		if declared.Member(name) == nil {
			return &ParameterError{fmt.Sprintf("the template has no parameter %s; %s", name, parameterNames(declared))}
		}
	}
	if declared == nil {
		return nil
	}
	for i := range declared.Members {
		m := &declared.Members[i]
		text, isGiven := given[m.Name]
		value, err := parameter(m, text, isGiven)
		if err != nil {
			return err
		}
		t.parameters[m.Name] = value
	}
	return nil
}

func parameterNames(declared *Node) string {
	if declared == nil || len(declared.Members) == 0 {
		return "it has none"
	}
	var names []string
	for _, m := range declared.Members {
		names = append(names, m.Name)
	}
	return "it has " + strings.Join(names, ", ")
}

func parameter(m *Member, given string, isGiven bool) (*Node, error) {
	at := &Node{Position: m.Position}
	kind, value := text(m.Value, "Type"), m.Value.Member("Default")
	switch {
	case strings.HasPrefix(kind, "AWS::SSM::Parameter::Value"):
		return unknown(at, "parameter "+m.Name+" is read from Systems Manager while deploying"), nil
	case isGiven:
		if allowed := allowedValues(m.Value); len(allowed) > 0 && !slices.Contains(allowed, given) {
			return nil, &ParameterError{fmt.Sprintf("parameter %s cannot be %q; give one of %s", m.Name, given, strings.Join(allowed, ", "))}
		}
		at = scalar(at, given)
	case value == nil || value.Value == nil || value.Value.Kind != Scalar:
		return unknown(at, fmt.Sprintf("parameter %s has no default; give it with --parameter %s=VALUE", m.Name, m.Name)), nil
	default:
		at = value.Value
	}
	if kind == "CommaDelimitedList" || strings.HasPrefix(kind, "List<") {
		return commaList(at), nil
	}
	return at, nil
}

func text(n *Node, name string) string {
	if m := n.Member(name); m != nil && m.Value != nil && m.Value.Kind == Scalar {
		return m.Value.Text
	}
	return ""
}

func allowedValues(n *Node) []string {
	m := n.Member("AllowedValues")
	if m == nil || m.Value == nil {
		return nil
	}
	var list []string
	for _, item := range m.Value.Items {
		if item != nil {
			list = append(list, item.Text)
		}
	}
	return list
}

func commaList(n *Node) *Node {
	list := &Node{Position: n.Position, Kind: List}
	if n.Text == "" {
		return list
	}
	for _, item := range strings.Split(n.Text, ",") {
		list.Items = append(list.Items, scalar(n, strings.TrimSpace(item)))
	}
	return list
}
