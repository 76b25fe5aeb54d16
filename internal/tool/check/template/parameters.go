package template

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// readParameters sets every parameter to its value: the given one, or else its default.
func (t *Template) readParameters(given map[string]string) error {
	t.parameters = map[string]*Node{}
	declared := t.root.Value("Parameters")
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

// Accepts returns a [*ParameterError] if the template has no such parameter, or if the parameter
// cannot have this value.
func (t *Template) Accepts(name, value string) error {
	declared := t.root.Value("Parameters")
	m := declared.Member(name)
	if m == nil {
		return &ParameterError{fmt.Sprintf("the template has no parameter %s; %s", name, parameterNames(declared))}
	}
	pattern, err := regexp.Compile("^(?:" + text(m.Value, "AllowedPattern") + ")$") // for the whole value
	if m.Value.Member("AllowedPattern") != nil && err == nil && !pattern.MatchString(value) {
		must := cmp.Or(text(m.Value, "ConstraintDescription"), "must match "+text(m.Value, "AllowedPattern"))
		return &ParameterError{fmt.Sprintf("parameter %s cannot be %q; it %s", m.Name, value, must)}
	}
	return accepts(m, value)
}

// accepts checks a value against AllowedValues and, for a number, against MinValue and MaxValue.
func accepts(m *Member, given string) error {
	if allowed := allowedValues(m.Value); len(allowed) > 0 && !slices.Contains(allowed, given) {
		return &ParameterError{fmt.Sprintf("parameter %s cannot be %q; give one of %s", m.Name, given, strings.Join(allowed, ", "))}
	}
	if text(m.Value, "Type") != "Number" {
		return nil
	}
	n, err := strconv.ParseFloat(given, 64)
	if err != nil {
		return &ParameterError{fmt.Sprintf("parameter %s cannot be %q; give a number", m.Name, given)}
	}
	least, most := text(m.Value, "MinValue"), text(m.Value, "MaxValue")
	if low, err := strconv.ParseFloat(least, 64); err == nil && n < low {
		return &ParameterError{fmt.Sprintf("parameter %s cannot be %s; give at least %s", m.Name, given, least)}
	}
	if high, err := strconv.ParseFloat(most, 64); err == nil && n > high {
		return &ParameterError{fmt.Sprintf("parameter %s cannot be %s; give at most %s", m.Name, given, most)}
	}
	return nil
}

// Parameter is a parameter that a template declares.
type Parameter struct {
	Name    string
	Allowed []string // the values that it may have; nil: any
}

// Parameters lists the declared parameters, in the order of the file.
func (t *Template) Parameters() []Parameter {
	declared := t.root.Value("Parameters")
	if declared == nil {
		return nil
	}
	var list []Parameter
	for _, m := range declared.Members {
		list = append(list, Parameter{m.Name, allowedValues(m.Value)})
	}
	return list
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
	kind, value := text(m.Value, "Type"), m.Value.Value("Default")
	switch {
	case strings.HasPrefix(kind, "AWS::SSM::Parameter::Value"):
		return unknown(at, "parameter "+m.Name+" is read from Systems Manager while deploying"), nil
	case isGiven:
		if err := accepts(m, given); err != nil {
			return nil, err
		}
		at = scalar(at, given)
	case value == nil || value.Kind != Scalar:
		return unknown(at, fmt.Sprintf("parameter %s has no default; give it with --parameter %s=VALUE", m.Name, m.Name)), nil
	default:
		at = value
	}
	if kind == "CommaDelimitedList" || strings.HasPrefix(kind, "List<") {
		return commaList(at), nil
	}
	return at, nil
}

func text(n *Node, name string) string {
	if v := n.Value(name); v != nil && v.Kind == Scalar {
		return v.Text
	}
	return ""
}

func allowedValues(n *Node) []string {
	if allowed := n.Value("AllowedValues"); allowed != nil {
		return allowed.texts()
	}
	return nil
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
