package rules

import (
	"path"
	"strings"

	"github.com/ingot-events/ingot/internal/tool/check/template"
)

// function is one of the two functions.
type function struct {
	*template.Resource
	role string // "ingest" or "streams"
}

// mapping is an event source mapping: an entry of a function's Events, or a resource of its own.
type mapping struct {
	template.Position // position of its name
	function          string
	stream            bool           // whether it is of a DynamoDB stream; otherwise of an SQS queue
	props             *template.Node // its properties
	source            *template.Node // the queue or stream, resolved; nil: not there
}

// find finds the functions and mappings by what they do.
func (c *Checker) find() {
	for _, at := range c.t.Loops() {
		c.Warn("loops", at, "cannot tell what Fn::ForEach creates: resources in a loop are not checked", "")
	}
	var functions []*template.Resource
	for _, r := range c.t.Resources() {
		switch r.Type {
		case "AWS::Serverless::Function", "AWS::Lambda::Function":
			functions = append(functions, r)
			c.events(r)
		case "AWS::Lambda::EventSourceMapping":
			c.mapping(r)
		}
	}
	c.ingest = c.role(functions, "ingest", "INGOT_TABLE", false)
	c.streams = c.role(functions, "streams", "INGOT_AGGREGATES_TABLE", true)
}

// role returns the function of a role. It finds it by its code, or else by its variable and its
// mapping.
func (c *Checker) role(functions []*template.Resource, role, variable string, stream bool) *function {
	var byCode, byWork []*template.Resource
	for _, r := range functions {
		if c.code(r) == "cmd/"+role {
			byCode = append(byCode, r)
		}
		if c.variable(&function{r, role}, variable) != nil && len(c.mappingsOf(r.Name, stream)) > 0 {
			byWork = append(byWork, r)
		}
	}
	found := byCode
	if len(found) == 0 {
		found = byWork
	}
	switch len(found) {
	case 1:
		if found[0].Doubt != "" {
			c.Warn(role+"-function", found[0].Position, "cannot tell whether "+found[0].Name+" is made: "+found[0].Doubt, "")
		}
		return &function{found[0], role}
	case 0:
		c.Mistake(role+"-function", template.Position{Line: 1, Column: 1},
			"there is no "+role+" function: none has code in cmd/"+role+", and none has "+variable+" and "+sourceName(stream)+
				" mapped to it", "")
	default:
		c.Mistake(role+"-function", found[1].Position, found[1].Name+" is a second "+role+" function beside "+found[0].Name+
			": keep one", "")
	}
	return nil
}

func sourceName(stream bool) string {
	if stream {
		return "a DynamoDB stream"
	}
	return "an SQS queue"
}

// code returns the last two parts of a function's CodeUri.
func (c *Checker) code(r *template.Resource) string {
	n := c.t.Property(r, "CodeUri")
	if n == nil || n.Kind != template.Scalar {
		return ""
	}
	clean := path.Clean(slashes(n.Text))
	return path.Join(path.Base(path.Dir(clean)), path.Base(clean))
}

// variable returns a function's environment variable, or nil if it has none of that name, or an
// empty one.
func (c *Checker) variable(f *function, name string) *template.Node {
	n := c.t.Property(f.Resource, "Environment", "Variables", name)
	if n.Is("") {
		return nil
	}
	return n
}

// events reads the mappings that SAM makes of a function's Events.
func (c *Checker) events(r *template.Resource) {
	events := c.t.Property(r, "Events")
	if events == nil || events.Kind != template.Map {
		return
	}
	for i := range events.Members {
		e := &events.Members[i]
		kind := c.t.Get(e.Value, "Type")
		if kind == nil || kind.Text != "SQS" && kind.Text != "DynamoDB" {
			continue
		}
		m := &mapping{Position: e.Position, function: r.Name, stream: kind.Text == "DynamoDB", props: c.t.Get(e.Value, "Properties")}
		name := "Queue"
		if m.stream {
			name = "Stream"
		}
		m.source = c.t.Get(m.props, name)
		c.mappings = append(c.mappings, m)
	}
}

// mapping reads a mapping that is a resource of its own. Its source shows which of the two kinds it
// is: the ARN of a queue or the StreamArn of a table.
func (c *Checker) mapping(r *template.Resource) {
	target := c.t.Property(r, "FunctionName")
	m := &mapping{Position: r.Position, props: c.t.Property(r), source: c.t.Property(r, "EventSourceArn")}
	if target == nil || m.source == nil {
		return
	}
	m.function = target.Name
	if target.Kind == template.Scalar {
		m.function = target.Text
	}
	switch {
	case m.source.Kind == template.Reference:
		m.stream = m.source.Attribute == "StreamArn"
	default:
		m.stream = strings.Contains(m.source.Text, ":dynamodb:") || c.t.Property(r, "StartingPosition") != nil
	}
	c.mappings = append(c.mappings, m)
}

func (c *Checker) mappingsOf(function string, stream bool) []*mapping {
	var list []*mapping
	for _, m := range c.mappings {
		if m.function == function && m.stream == stream {
			list = append(list, m)
		}
	}
	return list
}

// table returns the resource that a function's variable refers to. It returns nil if it cannot be
// determined. Then this has been reported.
func (c *Checker) table(f *function, variable string) *template.Resource {
	if f == nil {
		return nil
	}
	n := c.variable(f, variable)
	switch {
	case n == nil:
		return nil // the rule about variables reports it
	case n.Kind == template.Reference:
		return c.t.Resource(n.Name)
	case n.Kind == template.Scalar:
		for _, r := range c.t.Resources() {
			if c.says(r, "TableName", n.Text) {
				return r
			}
		}
		c.Warn("table", n.Position, "cannot tell whether table "+n.Text+" is as it must be: it is not in this template", "")
	default:
		c.cannotTell("table", n, variable+" names a table as it must be")
	}
	return nil
}
