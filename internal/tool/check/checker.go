package check

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/ingot-events/ingot/aggregate"
	"github.com/ingot-events/ingot/internal/tool/check/template"
	"github.com/ingot-events/ingot/pipeline"
)

// checker applies the rules to one template. It continues after every finding.
type checker struct {
	file     string
	t        *template.Template
	p        *pipeline.Pipeline // nil if it has mistakes; then rules that depend on it are skipped
	declared places
	capacity *Capacity // nil: not asked
	exists   func(path string) bool
	findings []Finding

	ingest, streams *function // nil: not found
	mappings        []*mapping
	unsure          map[string]bool // roles with an unknown part, which may allow the missing rights
}

func newChecker(file string, t *template.Template, p *pipeline.Pipeline, declared places, capacity *Capacity) *checker {
	return &checker{file: file, t: t, p: p, declared: declared, capacity: capacity, unsure: map[string]bool{}}
}

// all applies every rule. It returns how the streams function counts, if the template says so.
func (c *checker) all() (counting aggregate.Counting, known bool) {
	c.find()
	counting, known = c.counting()
	if c.streams != nil {
		c.streamsMapping(counting, known)
		c.runtime(c.streams)
		c.keepsUp(c.capacity, counting)
	}
	if c.ingest != nil {
		c.ingestMapping()
		c.order()
		c.runtime(c.ingest)
		c.reserved(c.ingest)
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

func (c *checker) mistake(rule string, at template.Position, what, instead string) {
	c.findings = append(c.findings, Finding{Mistake, rule, c.file, at.Line, at.Column, what, instead})
}

func (c *checker) warn(rule string, at template.Position, what, instead string) {
	c.findings = append(c.findings, Finding{Warning, rule, c.file, at.Line, at.Column, what, instead})
}

// referred returns the resource of this template that n refers to, or nil if it refers to none.
func (c *checker) referred(n *template.Node) *template.Resource {
	if n == nil || n.Kind != template.Reference {
		return nil
	}
	return c.t.Resource(n.Name)
}

// cannotTell warns that a rule cannot be checked, because only a deployment knows the value.
func (c *checker) cannotTell(rule string, n *template.Node, whether string) {
	why := n.Why
	switch n.Kind {
	case template.Reference:
		why = "it refers to " + n.Name + ", which is only known while deploying"
	case template.List, template.Map:
		why = "a single value is expected there"
	}
	c.warn(rule, n.Position, "cannot tell whether "+whether+": "+why, "")
}

// number returns n as a whole number. If n is nil, it returns absent. ok is false if the number
// cannot be determined. Then this has been reported.
func (c *checker) number(rule string, n *template.Node, absent int, whether string) (value int, ok bool) {
	if n == nil {
		return absent, true
	}
	if n.Kind != template.Scalar {
		c.cannotTell(rule, n, whether)
		return 0, false
	}
	value, err := strconv.Atoi(strings.TrimSpace(n.Text))
	if err != nil {
		c.mistake(rule, n.Position, fmt.Sprintf("%q is not a whole number", n.Text), "a whole number")
		return 0, false
	}
	return value, true
}

// where returns n's position. If n is missing, it returns the position of the value that lacks it.
func where(n *template.Node, missingIn template.Position) template.Position {
	if n == nil {
		return missingIn
	}
	return n.Position
}

// holds reports in yes whether a list or a single value contains text. ok is false if this cannot
// be determined.
func holds(n *template.Node, t *template.Template, text string) (yes, ok bool) {
	switch {
	case n == nil:
		return false, true
	case n.Kind == template.Scalar:
		return n.Text == text, true
	case n.Kind != template.List:
		return false, false
	}
	ok = true
	for _, item := range n.Items {
		item = t.Resolve(item)
		switch {
		case item == nil:
		case item.Kind != template.Scalar:
			ok = false
		case item.Text == text:
			return true, true
		}
	}
	return false, ok
}
