package check

import (
	"fmt"
	"path"
	"strings"

	"github.com/ingot-events/ingot/internal/tool/check/template"
)

// runtimeRule is about where a function runs, which is a compiled program called bootstrap. Only in
// these runtimes does Lambda look for such a program.
var runtimeRule = rule{name: "runtime", property: "Runtime", must: is("provided.al2023", "provided.al2"),
	whether: "{of} has the runtime of a program of its own",
	missing: "{of} has no Runtime", wrong: "{of} has runtime {is}, which cannot run it: it is a compiled Go program",
	instead: "Runtime: provided.al2023"}

func (c *checker) runtime(f *function) {
	if !c.says(f.Resource, "PackageType", "Image") {
		c.check(c.resource(f.Resource), runtimeRule)
	}
}

// reserved checks the reserved concurrency. If the queue's mapping makes more calls than are
// reserved, they are throttled. Each throttled call counts as a receive of its messages.
func (c *checker) reserved(f *function) {
	n := c.t.Property(f.Resource, "ReservedConcurrentExecutions")
	if n == nil {
		return
	}
	const whether = "ReservedConcurrentExecutions is at least MaximumConcurrency"
	reserved, ok := c.number("concurrency", n, 0, whether)
	if !ok {
		return
	}
	for _, m := range c.mappingsOf(f.Name, false) {
		maximum, each := c.t.Get(m.props, "ScalingConfig", "MaximumConcurrency"), 1
		if pollers := c.t.Get(m.props, "ProvisionedPollerConfig", "MaximumPollers"); pollers != nil {
			maximum, each = pollers, callsOfPoller
		}
		if maximum == nil {
			c.warn("concurrency", n.Position, fmt.Sprintf("%d of %s are reserved, and its mapping has no MaximumConcurrency: further "+
				"calls are throttled, and their messages reach the dead-letter queue without a single try", reserved, f.Name),
				fmt.Sprintf("ScalingConfig: {MaximumConcurrency: %d} into the mapping, and at least as many here,", max(2, reserved)))
			continue
		}
		most, ok := c.number("concurrency", maximum, 0, whether)
		most *= each
		if ok && reserved < most {
			c.mistake("concurrency", n.Position, fmt.Sprintf("%d of %s are reserved, and its mapping calls up to %d: further calls are "+
				"throttled, and their messages reach the dead-letter queue without a single try", reserved, f.Name, most),
				fmt.Sprintf("ReservedConcurrentExecutions: %d", most))
		}
	}
}

// callsOfPoller is how many functions a poller in provisioned mode runs at once ("Using provisioned
// mode with an Amazon SQS event source", AWS).
const callsOfPoller = 10

// pollers checks that a mapping of the queue has one way to scale: Lambda refuses both.
func (c *checker) pollers(f *function) {
	for _, m := range c.mappingsOf(f.Name, false) {
		pollers := c.t.Get(m.props, "ProvisionedPollerConfig")
		if pollers != nil && c.t.Get(m.props, "ScalingConfig", "MaximumConcurrency") != nil {
			c.mistake("pollers", pollers.Position, "Lambda refuses a mapping with both ProvisionedPollerConfig and MaximumConcurrency",
				"one of the two")
		}
	}
}

// codes checks that the code of each function of the template exists. What SAM does not build need
// not exist yet.
func (c *checker) codes() {
	if c.exists == nil {
		return
	}
	for _, r := range c.t.Resources() {
		n := c.t.Property(r, "CodeUri")
		if r.Type != "AWS::Serverless::Function" || n == nil || n.Kind != template.Scalar || strings.Contains(n.Text, "://") {
			continue
		}
		name := c.beside(n.Text)
		switch {
		case c.exists(name):
		case c.t.BuildMethod(r) != nil:
			c.mistake("code", n.Position, fmt.Sprintf("there is no %s, which sam build needs for %s", name, r.Name), c.codeOf(r))
		default:
			c.warn("code", n.Position, fmt.Sprintf("there is no %s, which %s is deployed from; build it before you deploy", name, r.Name),
				"")
		}
	}
}

// beside returns the path of a file that the template names.
func (c *checker) beside(name string) string {
	if name = slashes(name); path.IsAbs(name) {
		return name
	}
	return path.Join(path.Dir(slashes(c.file)), name)
}

// codeOf returns what to write as the code of a function.
func (c *checker) codeOf(r *template.Resource) string {
	for _, f := range c.both() {
		if f.Name == r.Name && c.exists(c.beside("cmd/"+f.role)) {
			return "CodeUri: cmd/" + f.role + "/"
		}
	}
	return "the folder of its main program, as a path from the folder of the template,"
}
