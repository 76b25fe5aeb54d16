package check

import (
	"github.com/ingot-events/ingot/aggregate"
	"github.com/ingot-events/ingot/internal/tool/check/template"
	"github.com/ingot-events/ingot/pipeline"
)

// checker applies the rules to one template. It continues after every finding.
type checker struct {
	notes
	t        *template.Template
	p        *pipeline.Pipeline // nil if it has mistakes; then rules that depend on it are skipped
	declared places
	capacity *Capacity // nil: not asked
	exists   func(path string) bool
	// published says that there is a publish.yaml, whose function is in a stack of its own.
	published bool

	ingest, streams *function // nil: not found
	mappings        []*mapping
	unsure          map[string]bool // roles with an unknown part, which may allow the missing rights
}

func newChecker(file string, t *template.Template, p *pipeline.Pipeline, declared places, capacity *Capacity) *checker {
	return &checker{notes: notes{file: file}, t: t, p: p, declared: declared, capacity: capacity, unsure: map[string]bool{}}
}

// all applies every rule. It returns how the streams function counts, if the template says so.
func (c *checker) all() (counting aggregate.Counting, known bool) {
	c.find()
	counting, known = c.counting()
	if c.streams != nil {
		c.streamsMapping(counting, known)
		c.readers()
		c.runtime(c.streams)
		c.keepsUp(c.capacity, counting)
	}
	if c.ingest != nil {
		c.ingestMapping()
		c.order()
		c.runtime(c.ingest)
		c.reserved(c.ingest)
		c.pollers(c.ingest)
	}
	c.codes()
	c.tables()
	c.environment()
	if c.ingest != nil {
		c.quarantineAlarm(c.ingest)
	}
	c.outputs()
	c.rights()
	return counting, known
}

// referred returns the resource of this template that n refers to, or nil if it refers to none.
func (c *checker) referred(n *template.Node) *template.Resource {
	if n == nil || n.Kind != template.Reference {
		return nil
	}
	return c.t.Resource(n.Name)
}

// both returns the two functions, as far as they are found.
func (c *checker) both() (list []*function) {
	for _, f := range []*function{c.ingest, c.streams} {
		if f != nil {
			list = append(list, f)
		}
	}
	return list
}
