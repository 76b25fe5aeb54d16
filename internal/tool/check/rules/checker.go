package rules

import (
	"github.com/ingot-events/ingot/aggregate"
	"github.com/ingot-events/ingot/internal/tool/check/template"
	"github.com/ingot-events/ingot/pipeline"
)

// Checker applies the rules to one template. It continues after every finding.
type Checker struct {
	Notes
	t        *template.Template
	p        *pipeline.Pipeline // nil if it has mistakes; then rules that depend on it are skipped
	declared Places
	Exists   func(path string) bool
	// Readers are the functions of other stacks that read the events table's stream too.
	Readers []string

	ingest, streams *function // nil: not found
	mappings        []*mapping
	unsure          map[string]bool // roles with an unknown part, which may allow the missing rights
}

// NewChecker returns a checker of the template in a file. declared is where the findings about the
// pipeline go.
func NewChecker(file string, t *template.Template, p *pipeline.Pipeline, declared Places) *Checker {
	return &Checker{Notes: Notes{File: file}, t: t, p: p, declared: declared, unsure: map[string]bool{}}
}

// All applies every rule. It returns how the streams function counts, if the template says so.
func (c *Checker) All() (counting aggregate.Counting, known bool) {
	c.find()
	counting, known = c.counting()
	if c.streams != nil {
		c.streamsMapping(counting, known)
		c.readers()
		c.canary(c.streams)
		c.runtime(c.streams)
		c.unwise(c.streams)
	}
	if c.ingest != nil {
		c.ingestMapping()
		c.order()
		c.runtime(c.ingest)
		c.unwise(c.ingest)
		c.reserved(c.ingest)
		c.pollers(c.ingest)
	}
	c.codes()
	c.tables()
	c.bucketsStay()
	c.environment()
	if c.ingest != nil {
		c.quarantineAlarm(c.ingest)
	}
	c.outputs()
	c.rights()
	return counting, known
}

// referred returns the resource of this template that n refers to, or nil if it refers to none.
func (c *Checker) referred(n *template.Node) *template.Resource {
	if n == nil || n.Kind != template.Reference {
		return nil
	}
	return c.t.Resource(n.Name)
}

// both returns the two functions, as far as they are found.
func (c *Checker) both() (list []*function) {
	for _, f := range []*function{c.ingest, c.streams} {
		if f != nil {
			list = append(list, f)
		}
	}
	return list
}
