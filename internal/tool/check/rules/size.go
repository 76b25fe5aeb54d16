package rules

import (
	"fmt"

	"github.com/ingot-events/ingot/internal/tool/check/template"
	"github.com/ingot-events/ingot/internal/tool/textfile"
)

// Functions is the size of both functions.
type Functions struct {
	Memory       int    // MB
	Architecture string // arm64 or x86_64
	Traced       bool   // X-Ray gets traces
}

// Both returns what the template gives both functions. The error says why it cannot be told.
func (c *Checker) Both() (Functions, error) {
	if c.ingest == nil || c.streams == nil {
		return Functions{}, fmt.Errorf("%s does not have both functions", c.File)
	}
	ingest, streams := c.functions(c.ingest), c.functions(c.streams)
	switch {
	case ingest != streams:
		return Functions{}, fmt.Errorf("%s gives the two functions different memory or processors", c.File)
	case ingest.Memory == 0 || ingest.Architecture == "":
		return Functions{}, fmt.Errorf("only a deployment can tell the memory or the processor of the functions in %s", c.File)
	}
	return ingest, nil
}

// Alone returns what the template gives its only function, as [Checker.Both] does.
func (c *Checker) Alone() (Functions, error) {
	var found []Functions
	for _, r := range c.t.Resources() {
		if r.Type == "AWS::Serverless::Function" {
			found = append(found, c.functions(&function{Resource: r}))
		}
	}
	switch {
	case len(found) != 1:
		return Functions{}, fmt.Errorf("%s has %d functions, and such a stack has one", c.File, len(found))
	case found[0].Memory == 0 || found[0].Architecture == "":
		return Functions{}, fmt.Errorf("only a deployment can tell the memory or the processor of the function in %s", c.File)
	}
	return found[0], nil
}

// Open opens a template with the parameters of an environment of samconfig.toml, and finds its
// functions. config may be nil, or lack the environment: then the template's defaults hold.
func Open(tpl textfile.File, config *textfile.File, name string) (*Checker, error) {
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
		return nil, fmt.Errorf("%s: %w", tpl.Name, err)
	}
	c := NewChecker(tpl.Name, t, nil, Places{})
	c.find()
	return c, nil
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
