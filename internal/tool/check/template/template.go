package template

import (
	"fmt"
	"slices"
	"strings"
)

// Template is a template with values for its parameters. It is not safe for concurrent use.
type Template struct {
	root       *Node
	parameters map[string]*Node // resolved: Scalar, List or Unknown
	conditions *Node
	resources  []*Resource
	steps      int // of work done so far; see maxSteps
}

// Resource is one resource that the template creates.
type Resource struct {
	Position // position of its logical id
	Name     string
	Type     string
	node     *Node
	// Doubt says why it cannot be determined whether the resource is created at all. It is empty if
	// the resource is created.
	Doubt string
}

// ParameterError says that a given parameter does not fit the template.
type ParameterError struct{ What string }

// Error says what is wrong and what to give.
func (e *ParameterError) Error() string { return e.What }

// Open reads a template. given are values of parameters that replace their defaults. The error is a
// [*SyntaxError] or a [*ParameterError].
func Open(text []byte, given map[string]string) (*Template, error) {
	root, err := Read(text)
	if err != nil {
		return nil, err
	}
	resources := root.Value("Resources")
	if resources == nil || resources.Kind != Map {
		return nil, &SyntaxError{Position: Position{Line: 1, Column: 1}, What: "it has no Resources: not a SAM or CloudFormation template",
			Instead: "Resources: with the tables, queues and functions, or name the template with --template"}
	}
	t := &Template{root: root, conditions: root.Value("Conditions")}
	if err := t.readParameters(given); err != nil {
		return nil, err
	}
	for i := range resources.Members {
		if r := t.resource(&resources.Members[i]); r != nil {
			t.resources = append(t.resources, r)
		}
	}
	return t, nil
}

// resource reads one resource. It returns nil if the resource's condition does not hold.
func (t *Template) resource(m *Member) *Resource {
	r := &Resource{Position: m.Position, Name: m.Name, node: m.Value}
	if kind := m.Value.Value("Type"); kind != nil {
		r.Type = kind.Text
	}
	condition := m.Value.Value("Condition")
	if condition == nil {
		return r
	}
	switch holds, why := t.condition(condition.Text, 0); {
	case why != "":
		r.Doubt = why
	case !holds:
		return nil
	}
	return r
}

// Resources returns the resources that are created with these parameters, in the order of the file.
func (t *Template) Resources() []*Resource { return t.resources }

// Resource returns the resource with this logical id, or nil if there is none.
func (t *Template) Resource(name string) *Resource {
	for _, r := range t.resources {
		if r.Name == name {
			return r
		}
	}
	return nil
}

// Outputs returns the names of the outputs, and the position of the first one. Without outputs,
// that is the beginning of the file.
func (t *Template) Outputs() (names []string, at Position) {
	at = Position{Line: 1, Column: 1}
	outputs := t.root.Value("Outputs")
	if outputs == nil {
		return nil, at
	}
	for _, m := range outputs.Members {
		if len(names) == 0 {
			at = m.Position
		}
		names = append(names, m.Name)
	}
	return names, at
}

// Loops returns the positions of each Fn::ForEach of the resources. What they create is not
// evaluated.
func (t *Template) Loops() []Position {
	var list []Position
	for _, r := range t.resources {
		if strings.HasPrefix(r.Name, "Fn::ForEach") {
			list = append(list, r.Position)
		}
	}
	return list
}

// BuildMethod returns how SAM builds r, as its Metadata says, or nil if SAM deploys it as it is.
func (t *Template) BuildMethod(r *Resource) *Node {
	return t.Resolve(t.Resolve(r.node.Value("Metadata")).Value("BuildMethod"))
}

// DependsOn returns the logical ids of the resources that must be created before r because of
// DependsOn, directly or indirectly.
func (t *Template) DependsOn(r *Resource) []string {
	var all []string
	open := []*Resource{r}
	for len(open) > 0 {
		next := open[0]
		open = open[1:]
		for _, name := range t.dependsOn(next) {
			if slices.Contains(all, name) {
				continue
			}
			all = append(all, name)
			if other := t.Resource(name); other != nil {
				open = append(open, other)
			}
		}
	}
	return all
}

func (t *Template) dependsOn(r *Resource) []string {
	n := r.node.Value("DependsOn")
	switch {
	case n == nil:
		return nil
	case n.Kind == List:
		return n.texts()
	}
	return []string{n.Text}
}

// globals names the part of Globals that holds defaults for a type of resource.
var globals = map[string]string{"AWS::Serverless::Function": "Function", "AWS::Serverless::SimpleTable": "SimpleTable"}

// Property returns a property of r, resolved. If r does not have it, it is taken from Globals.
// Property returns nil if it is not there, or if it is AWS::NoValue.
func (t *Template) Property(r *Resource, path ...string) *Node {
	if own := r.node.Member("Properties"); own != nil {
		if n, found := t.dig(own.Value, path); found {
			return n
		}
	}
	if section := globals[r.Type]; section != "" {
		return t.Get(t.root, append([]string{"Globals", section}, path...)...)
	}
	return nil
}

// Attribute returns what stands beside the properties of r, such as its DeletionPolicy, resolved.
// It returns nil if it is not there.
func (t *Template) Attribute(r *Resource, name string) *Node { return t.Get(r.node, name) }

// Get returns the member of n that the path of names leads to, resolved. It returns nil if there is
// no such member.
func (t *Template) Get(n *Node, path ...string) *Node {
	n, _ = t.dig(n, path)
	return n
}

// Items returns the items of a list, resolved, without those that are AWS::NoValue. It returns none
// if n is not a list.
func (t *Template) Items(n *Node) (items []*Node) {
	if n == nil || n.Kind != List {
		return nil
	}
	for _, item := range n.Items {
		if item = t.Resolve(item); item != nil {
			items = append(items, item)
		}
	}
	return items
}

// dig follows path into n. found is false if a mapping of the file lacks the name, so that a
// default from elsewhere holds. A function that evaluates to nothing counts as found.
func (t *Template) dig(n *Node, path []string) (value *Node, found bool) {
	for _, name := range path {
		if n == nil {
			return nil, found
		}
		found = found || n.Kind == Call
		n = t.Resolve(n)
		switch {
		case n == nil || n.Kind == Unknown:
			return n, true
		case n.Kind != Map:
			return unknown(n, fmt.Sprintf("%s cannot be looked up there, because it is not a mapping", name)), true
		}
		m := n.Member(name)
		if m == nil {
			return nil, found
		}
		n = m.Value
	}
	return t.Resolve(n), true
}
