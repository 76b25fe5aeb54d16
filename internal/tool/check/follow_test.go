package check

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/ingot-events/ingot/internal/plan/advice"
	"github.com/ingot-events/ingot/internal/plan/yamlfile"
	"github.com/ingot-events/ingot/internal/tool/check/rules"
	"github.com/ingot-events/ingot/internal/tool/textfile"
)

// These are the forms of advice about a YAML file that say exactly what to write.
var (
	aStatement = regexp.MustCompile(`^(.*) among the statements of (\w+)$`)
	aPolicy    = regexp.MustCompile(`^(.*) into Policies of (\w+)$`)
	entries    = regexp.MustCompile(`(?:^|, and )(.*?) into (AttributeDefinitions|GlobalSecondaryIndexes)`)
	aVariable  = regexp.MustCompile(`^(INGOT_\w+: .*) among its variables$`)
	aMember    = regexp.MustCompile(`^([A-Za-z]\w*): (.*?)(?:, or more)?(?: into (its Properties|it|\w+)| (beside) it)?$`)
	aMapping   = regexp.MustCompile(`^(ScalingConfig): (.*) into the mapping, and at least as many here$`)
	aRule      = regexp.MustCompile(`^(.*) among its LifecycleConfiguration's Rules$`)
	aNode      = regexp.MustCompile(`^(![A-Z]\w+ [\w.]+|[A-Z_]+|\d+|"[^"]*")(?: or more)?$`)
)

// aSetting is advice about a samconfig.toml that says exactly what to write, and aParameter is
// advice about a template that says which parameter it needs.
var (
	aSetting   = regexp.MustCompile(`^(\w+) = (\S+|"[A-Z_ ]+")(?: into (its first line|\[[a-z.]+\]))?$`)
	aParameter = regexp.MustCompile(`^(\w+)=(\w+) among the parameter_overrides of samconfig.toml$`)
)

// closing is the end of a line that closes brackets, and a comma.
var closing = regexp.MustCompile(`(?m)[\]},]+$`)

// inWords is advice in words for people, which no test can follow.
var inWords = regexp.MustCompile(`^(a |an |the |one of |marks or |no |it |them )|\b(of its own|TABLE|QUEUE|BUCKET|LAYER|NAME)\b|…`)

// edit follows advice in the tree of a YAML file.
type edit struct {
	root  *yamlfile.Node
	above []*yamlfile.Member // the members around the place of a finding, and at last the one there
}

// follow does what the first findings say to write about the template and samconfig.toml, and then
// the next ones, until none is left that says it exactly. It fails if that has no effect, or if it
// brings something to light that is still found at the end.
func (s *scene) follow(in Input, first []rules.Finding) {
	s.Helper()
	seen := map[string]bool{}
	for list := first; ; list = run(s.T, in).Findings {
		i := slices.IndexFunc(list, func(f rules.Finding) bool { return s.followed(in, f) })
		if i < 0 {
			for _, f := range list {
				if !slices.ContainsFunc(first, func(of rules.Finding) bool { return of.What == f.What }) {
					s.Errorf("%s: the advice was followed, and then: %s", s.name, f)
				}
			}
			return
		}
		if seen[list[i].What] {
			s.Errorf("%s: the advice was followed, and has no effect: %s", s.name, list[i])
			return
		}
		seen[list[i].What] = true
	}
}

// followed does what a finding says to write. It reports false if that is in words for people.
func (s *scene) followed(in Input, f rules.Finding) bool {
	s.Helper()
	parameter, file := aParameter.FindStringSubmatch(f.Instead), (*textfile.File)(nil)
	for _, one := range []*textfile.File{in.Template, in.Config} {
		if one != nil && one.Name == f.File {
			file = one
		}
	}
	switch {
	case file == nil || f.Instead == "" || inWords.MatchString(f.Instead):
		return false
	case parameter != nil:
		in.Parameters[parameter[1]] = parameter[2]
		return true
	case file == in.Config:
		return setting(file, f)
	}
	tree, fault := yamlfile.Parse(file.Text)
	if fault != nil {
		return false
	}
	e := edit{root: tree.Root}
	e.find(tree.Root, yamlfile.Position{Line: f.Line, Column: f.Column}, nil)
	if len(e.above) == 0 { // the whole file
		return false
	}
	if !e.follow(f.Instead) {
		s.Errorf("%s: nobody knows how to follow %q", s.name, f.Instead)
		return false
	}
	file.Text = []byte(advice.Written(tree.Root))
	return true
}

// setting follows advice about a samconfig.toml.
func setting(file *textfile.File, f rules.Finding) bool {
	m := aSetting.FindStringSubmatch(f.Instead)
	if m == nil {
		return false
	}
	set, lines := m[1]+" = "+m[2], strings.Split(string(file.Text), "\n")
	switch {
	case strings.HasPrefix(lines[f.Line-1], m[1]+" = "):
		lines[f.Line-1] = set
	case strings.HasPrefix(m[3], "["):
		lines = slices.Insert(lines, 1+slices.Index(lines, m[3]), set)
	default:
		lines = slices.Insert(lines, 0, set)
	}
	file.Text = []byte(strings.Join(lines, "\n"))
	return true
}

// changed returns the lines of two files that only one of them has. It compares YAML files as
// [advice.Written] writes them, without what closes brackets at the end of a line.
func changed(before, after *textfile.File) string {
	lines := func(f *textfile.File) []string {
		if tree, fault := yamlfile.Parse(f.Text); fault == nil && !strings.HasSuffix(f.Name, ".toml") {
			return strings.Split(closing.ReplaceAllString(advice.Written(tree.Root), ""), "\n")
		}
		return strings.Split(string(f.Text), "\n")
	}
	var b strings.Builder
	only := func(sign string, these, those []string) {
		for _, line := range these {
			if i := slices.Index(those, line); i >= 0 {
				those = slices.Delete(those, i, i+1)
			} else {
				fmt.Fprintf(&b, "> %s%s\n", sign, line)
			}
		}
	}
	if before != nil {
		only("-", lines(before), lines(after))
		only("+", lines(after), lines(before))
	}
	return b.String()
}

// find looks for a place, and notes the members around it.
func (e *edit) find(n *yamlfile.Node, at yamlfile.Position, above []*yamlfile.Member) bool {
	if n == nil {
		return false
	}
	for i := range n.Members {
		m := &n.Members[i]
		inside := append(slices.Clip(above), m)
		if m.Position == at || is(m.Value, at) || e.find(m.Value, at, inside) {
			if e.above == nil {
				e.above = inside
			}
			return true
		}
	}
	for _, item := range n.Items {
		if is(item, at) && len(above) > 0 {
			e.above = above
			return true
		}
		if e.find(item, at, above) {
			return true
		}
	}
	return e.find(n.Of, at, above)
}

// is reports whether a value is at a place. A mapping without braces begins where its first member
// does, which is meant then.
func is(n *yamlfile.Node, at yamlfile.Position) bool {
	return n != nil && n.Position == at && (n.Kind != yamlfile.Map || len(n.Members) == 0 || n.Members[0].Position != at)
}

// in returns the member of a mapping, and makes it if it is not there.
func in(n *yamlfile.Node, name string) *yamlfile.Member {
	for i := range n.Members {
		if n.Members[i].Name == name {
			return &n.Members[i]
		}
	}
	n.Members = append(n.Members, yamlfile.Member{Name: name, Plain: true, Value: &yamlfile.Node{Kind: yamlfile.Map}})
	return &n.Members[len(n.Members)-1]
}

func parsed(text string) *yamlfile.Node {
	file, fault := yamlfile.Parse([]byte(text))
	if fault != nil {
		panic(fmt.Sprint(text, fault))
	}
	return file.Root
}

// enclosing returns the resource around the place.
func (e *edit) enclosing() *yamlfile.Node { return e.above[min(1, len(e.above)-1)].Value }

func (e *edit) properties() *yamlfile.Node { return in(e.enclosing(), "Properties").Value }

// follow follows one of the forms. It reports whether write has any.
func (e *edit) follow(write string) bool {
	resource := func(name string) *yamlfile.Node { return in(in(e.root, "Resources").Value, name).Value }
	last := e.above[len(e.above)-1]
	switch {
	case aStatement.MatchString(write):
		m := aStatement.FindStringSubmatch(write)
		policy := in(in(resource(m[2]), "Properties").Value, "Policies").Value.Items[0]
		list := in(in(policy, "PolicyDocument").Value, "Statement").Value
		list.Items = append(list.Items, parsed(m[1]))
	case aPolicy.MatchString(write):
		m := aPolicy.FindStringSubmatch(write)
		list := in(in(resource(m[2]), "Properties").Value, "Policies").Value
		list.Kind, list.Items = yamlfile.List, append(list.Items, parsed(m[1]))
	case entries.MatchString(write):
		for _, m := range entries.FindAllStringSubmatch(write, -1) {
			list := in(e.properties(), m[2]).Value
			list.Kind, list.Items = yamlfile.List, append(list.Items, parsed("["+m[1]+"]").Items...)
		}
	case aVariable.MatchString(write):
		variables := in(in(e.properties(), "Environment").Value, "Variables").Value
		for _, m := range parsed(aVariable.FindStringSubmatch(write)[1]).Members {
			in(variables, m.Name).Value = m.Value
		}
	case aMapping.MatchString(write):
		m := aMapping.FindStringSubmatch(write)
		for _, event := range in(e.properties(), "Events").Value.Members {
			in(in(event.Value, "Properties").Value, m[1]).Value = parsed(m[2])
		}
	case aRule.MatchString(write):
		list := in(in(e.properties(), "LifecycleConfiguration").Value, "Rules").Value
		list.Kind, list.Items = yamlfile.List, append(list.Items, parsed(aRule.FindStringSubmatch(write)[1]))
	case aMember.MatchString(write) && !inWords.MatchString(write):
		return e.member(aMember.FindStringSubmatch(write))
	case aNode.MatchString(write) && !inWords.MatchString(write):
		last.Value = parsed(aNode.FindStringSubmatch(write)[1])
	default:
		return false
	}
	return true
}

// member sets a member where the advice says: m has its name, its value, into what, and beside.
func (e *edit) member(m []string) bool {
	last, into := e.above[len(e.above)-1], (*yamlfile.Node)(nil)
	switch {
	case m[3] == "its Properties":
		into = in(last.Value, "Properties").Value
	case m[3] == "it":
		into = last.Value
	case m[3] != "":
		for _, around := range e.above {
			if around.Name == m[3] {
				into = around.Value
			}
		}
	case m[4] != "":
		into = e.above[len(e.above)-2].Value
		for _, index := range into.Items { // beside the name of an index
			if len(index.Members) > 0 && index.Members[0].Position == last.Position {
				into = index
			}
		}
	default:
		for _, around := range slices.Backward(e.above) {
			if around.Name == m[1] {
				around.Value = parsed(m[2])
				return true
			}
		}
		if n := last.Value; n != nil && slices.ContainsFunc(n.Members, func(one yamlfile.Member) bool { return one.Name == m[1] }) {
			into = n
		}
	}
	switch {
	case into == nil && m[3]+m[4] == "" && last.Value != nil && len(last.Value.Members) == 0: // under another name
		last.Name, last.Value = m[1], parsed(m[2])
		return true
	case into == nil:
		return false
	}
	in(into, m[1]).Value = parsed(m[2])
	return true
}
