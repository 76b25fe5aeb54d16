package rules

import (
	"errors"
	"fmt"
	"strings"

	"github.com/ingot-events/ingot/internal/tool/check/template"
)

// Deployment is what samconfig.toml says of where an environment is deployed. Region and Profile
// are empty if it does not say them.
type Deployment struct {
	Stack, Region, Profile string
	From                   string // the place that names the stack, such as samconfig.toml:13:14
}

// DeploymentOf returns where `sam deploy --config-env NAME` deploys to, by the text of a
// samconfig.toml. Errors name the file.
func DeploymentOf(file string, text []byte, name string) (Deployment, error) {
	root, err := ReadTOML(text)
	var syntax *template.SyntaxError
	if errors.As(err, &syntax) {
		return Deployment{}, fmt.Errorf("%s:%d:%d: %s", file, syntax.Line, syntax.Column, syntax.What)
	}
	if err != nil {
		return Deployment{}, err
	}
	m := root.Member(name)
	if m == nil || m.Value.Kind != template.Map {
		return Deployment{}, fmt.Errorf("%s has no environment %s; it has %s", file, name, strings.Join(Environments(text), ", "))
	}
	of := func(key string) string {
		if n := Setting(m.Value, "deploy", key); n != nil {
			return n.Text
		}
		return ""
	}
	d := Deployment{Stack: of("stack_name"), Region: of("region"), Profile: of("profile")}
	if d.Stack == "" {
		return d,
			fmt.Errorf(
				"%s names no stack under %s: write stack_name = \"NAME\" under [%s.global.parameters], or name the stack with --stack NAME",
				file, name, name)
	}
	at := Setting(m.Value, "deploy", "stack_name").Position
	d.From = fmt.Sprintf("%s:%d:%d", file, at.Line, at.Column)
	return d, nil
}

// Environments returns the names of the environments of a samconfig.toml, in the order of the file.
// It returns none if the file is not TOML.
func Environments(text []byte) (names []string) {
	root, err := ReadTOML(text)
	if err != nil {
		return nil
	}
	for i := range root.Members {
		if m := &root.Members[i]; m.Value.Kind == template.Map {
			names = append(names, m.Name)
		}
	}
	return names
}

// Functions is the size of both functions.
type Functions struct {
	Memory       int    // MB
	Architecture string // arm64 or x86_64
	Traced       bool   // X-Ray gets traces
}

// FunctionsOf returns what the template gives both functions, with the parameters of an environment
// of samconfig.toml. config may be nil, or lack the environment: then the template's defaults hold.
// The error says why it cannot be told.
func FunctionsOf(tpl File, config *File, name string) (Functions, error) {
	var chosen Environment
	if config != nil {
		list, _ := ReadConfig(*config)
		for _, e := range list {
			if e.Name == name {
				chosen = e
			}
		}
	}
	t, err := template.Open(tpl.Text, chosen.Values(nil))
	if err != nil {
		return Functions{}, fmt.Errorf("%s: %w", tpl.Name, err)
	}
	c := NewChecker(tpl.Name, t, nil, Places{})
	if c.find(); c.ingest == nil || c.streams == nil {
		return Functions{}, fmt.Errorf("%s does not have both functions", tpl.Name)
	}
	ingest, streams := c.functions(c.ingest), c.functions(c.streams)
	switch {
	case ingest != streams:
		return Functions{}, fmt.Errorf("%s gives the two functions different memory or processors", tpl.Name)
	case ingest.Memory == 0 || ingest.Architecture == "":
		return Functions{}, fmt.Errorf("only a deployment can tell the memory or the processor of the functions in %s", tpl.Name)
	}
	return ingest, nil
}

// functions returns the size of one function. What cannot be determined is left empty.
func (c *Checker) functions(f *function) (size Functions) {
	size.Memory, _ = c.number("memory", c.t.Property(f.Resource, "MemorySize"), defaultMemory, "the functions have enough memory")
	if n := c.t.Property(f.Resource, "Tracing"); n != nil {
		size.Traced = n.Text == "Active"
	}
	switch n := c.t.Property(f.Resource, "Architectures"); {
	case n == nil:
		size.Architecture = "x86_64" // as Lambda has it
	case n.Kind == template.List && len(n.Items) == 1:
		if one := c.t.Resolve(n.Items[0]); one != nil && one.Kind == template.Scalar {
			size.Architecture = one.Text
		}
	}
	return size
}
