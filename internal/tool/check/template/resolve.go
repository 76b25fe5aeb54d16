package template

import (
	"strconv"
	"strings"
)

// Resolve evaluates the functions at n, but not those further inside. The result is nil for a
// missing value, and for AWS::NoValue.
func (t *Template) Resolve(n *Node) *Node { return t.resolve(n, 0) }

func (t *Template) resolve(n *Node, depth int) *Node {
	if n == nil || n.Kind != Call {
		return n
	}
	if t.tooMuch(depth) {
		return unknown(n, "functions are nested too deeply, or there are too many")
	}
	if n.Argument == nil {
		return unknown(n, n.Name+" has no argument")
	}
	switch n.Name {
	case "Ref":
		return t.ref(n, n.Argument.Text)
	case "Fn::GetAtt":
		return t.getAtt(n)
	case "Fn::If":
		return t.choose(n, depth)
	case "Fn::Sub":
		return t.sub(n, depth)
	case "Fn::Join":
		return t.join(n, depth)
	case "Fn::FindInMap":
		return t.findInMap(n, depth)
	case "Fn::Select":
		return t.selectItem(n, depth)
	}
	return unknown(n, n.Name+" is only worked out while deploying")
}

// ref returns a parameter's value, a resource, or a value that AWS fills in.
func (t *Template) ref(n *Node, name string) *Node {
	if name == "AWS::NoValue" {
		return nil
	}
	if value, ok := t.parameters[name]; ok {
		moved := *value
		moved.Position = n.Position // where it is used, not where it is declared
		return &moved
	}
	if strings.HasPrefix(name, "AWS::") {
		return unknown(n, name+" is only known while deploying")
	}
	if t.Resource(name) == nil {
		return unknown(n, "there is no parameter and, with these parameters, no resource "+name)
	}
	return &Node{Position: n.Position, Kind: Reference, Name: name}
}

func (t *Template) getAtt(n *Node) *Node {
	name, attribute, _ := strings.Cut(n.Argument.Text, ".")
	if items := n.Argument.Items; len(items) == 2 && items[0] != nil && items[1] != nil {
		name, attribute = items[0].Text, items[1].Text
	}
	if t.Resource(name) == nil {
		return unknown(n, "with these parameters there is no resource "+name)
	}
	return &Node{Position: n.Position, Kind: Reference, Name: name, Attribute: attribute}
}

func (t *Template) choose(n *Node, depth int) *Node {
	items := n.Argument.Items
	if len(items) != 3 || items[0] == nil {
		return unknown(n, "Fn::If needs a condition and two values")
	}
	holds, why := t.condition(items[0].Text, depth)
	switch {
	case why != "":
		return unknown(n, why)
	case holds:
		return t.resolve(items[1], depth+1)
	}
	return t.resolve(items[2], depth+1)
}

// sub fills in a text. If the text is one reference and nothing else, sub returns the reference.
func (t *Template) sub(n *Node, depth int) *Node {
	format, own := n.Argument.Text, (*Node)(nil)
	if items := n.Argument.Items; len(items) == 2 && items[0] != nil {
		format, own = items[0].Text, items[1]
	}
	var b strings.Builder
	for rest := format; ; {
		before, after, found := strings.Cut(rest, "${")
		b.WriteString(before)
		if !found {
			return scalar(n, b.String())
		}
		name, after, closed := strings.Cut(after, "}")
		if !closed {
			return unknown(n, "a ${ is not closed")
		}
		rest = after
		if literal, ok := strings.CutPrefix(name, "!"); ok {
			b.WriteString("${" + literal + "}")
			continue
		}
		value := t.variable(n, strings.TrimSpace(name), own, depth)
		switch {
		case value == nil:
			return unknown(n, "${"+name+"} is nothing")
		case value.Kind == Reference && format == "${"+name+"}":
			return value
		case value.Kind == Unknown:
			return value
		case value.Kind != Scalar:
			return unknown(n, "${"+name+"} is only known while deploying")
		case b.Len()+len(value.Text) > maxText:
			return unknown(n, "the text of Fn::Sub is too long")
		}
		b.WriteString(value.Text)
	}
}

func (t *Template) variable(n *Node, name string, own *Node, depth int) *Node {
	if m := own.Member(name); m != nil {
		return t.resolve(m.Value, depth+1)
	}
	if strings.Contains(name, ".") {
		return t.getAtt(&Node{Position: n.Position, Kind: Call, Argument: scalar(n, name)})
	}
	return t.ref(n, name)
}

func (t *Template) join(n *Node, depth int) *Node {
	items := n.Argument.Items
	if len(items) != 2 || items[0] == nil {
		return unknown(n, "Fn::Join needs a separator and a list")
	}
	list := t.resolve(items[1], depth+1)
	if list == nil || list.Kind != List {
		return unknown(n, "Fn::Join joins something that is not a list here")
	}
	var parts []string
	size := 0
	for _, item := range list.Items {
		part := t.resolve(item, depth+1)
		switch {
		case part == nil:
			continue
		case part.Kind == Unknown:
			return part
		case part.Kind != Scalar:
			return unknown(n, "a part of Fn::Join is only known while deploying")
		}
		if size += len(part.Text); size > maxText {
			return unknown(n, "the text of Fn::Join is too long")
		}
		parts = append(parts, part.Text)
	}
	return scalar(n, strings.Join(parts, items[0].Text))
}

func (t *Template) findInMap(n *Node, depth int) *Node {
	at := t.root.Member("Mappings")
	if at == nil || len(n.Argument.Items) < 3 {
		return unknown(n, "Fn::FindInMap finds no Mappings")
	}
	value := at.Value
	for _, item := range n.Argument.Items[:3] {
		key := t.resolve(item, depth+1)
		if key == nil || key.Kind != Scalar {
			if key != nil && key.Kind == Unknown {
				return key
			}
			return unknown(n, "a key of Fn::FindInMap is only known while deploying")
		}
		m := value.Member(key.Text)
		if m == nil {
			return unknown(n, "Mappings has no "+key.Text)
		}
		value = m.Value
	}
	return t.resolve(value, depth+1)
}

func (t *Template) selectItem(n *Node, depth int) *Node {
	items := n.Argument.Items
	if len(items) != 2 {
		return unknown(n, "Fn::Select needs an index and a list")
	}
	index, list := t.resolve(items[0], depth+1), t.resolve(items[1], depth+1)
	if index == nil || list == nil || list.Kind != List {
		return unknown(n, "Fn::Select selects from what is only known while deploying")
	}
	i, err := strconv.Atoi(index.Text)
	if err != nil || i < 0 || i >= len(list.Items) {
		return unknown(n, "Fn::Select has no item "+index.Text)
	}
	return t.resolve(list.Items[i], depth+1)
}
