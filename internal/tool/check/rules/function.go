package rules

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

func (c *Checker) runtime(f *function) {
	if !c.says(f.Resource, "PackageType", "Image") {
		c.check(c.resource(f.Resource), runtimeRule)
	}
}

// reserved checks the reserved concurrency. If the queue's mapping makes more calls than are
// reserved, they are throttled. Each throttled call counts as a receive of its messages.
func (c *Checker) reserved(f *function) {
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
			c.Warn("concurrency", n.Position, fmt.Sprintf("%d of %s are reserved, and its mapping has no MaximumConcurrency: further "+
				"calls are throttled, and their messages reach the dead-letter queue without a single try", reserved, f.Name),
				fmt.Sprintf("ScalingConfig: {MaximumConcurrency: %d} into the mapping, and at least as many here",
					min(max(leastConcurrency, reserved), mostConcurrency)))
			continue
		}
		most, ok := c.number("concurrency", maximum, 0, whether)
		most *= each
		if ok && reserved < most {
			c.Mistake("concurrency", n.Position, fmt.Sprintf("%d of %s are reserved, and its mapping calls up to %d: further calls are "+
				"throttled, and their messages reach the dead-letter queue without a single try", reserved, f.Name, most),
				fmt.Sprintf("ReservedConcurrentExecutions: %d", most))
		}
	}
}

// These are the bounds of MaximumConcurrency, which Lambda sets ("Configuring scaling behavior for
// SQS event source mappings", AWS).
const leastConcurrency, mostConcurrency = 2, 1000

// callsOfPoller is how many functions a poller in provisioned mode runs at once ("Using provisioned
// mode with an Amazon SQS event source", AWS).
const callsOfPoller = 10

// These are the bounds of provisioned pollers of a queue, which Lambda sets (Lambda API reference,
// "ProvisionedPollerConfig").
const leastPollers, mostMinimumPollers, mostPollers = 2, 200, 10_000

// pollerSettings are for a mapping of a queue in provisioned mode.
var pollerSettings = []rule{
	{name: "pollers", property: "MinimumPollers", must: number(leastPollers, leastPollers, mostMinimumPollers),
		whether: "Lambda takes MinimumPollers", wrong: "MinimumPollers is {is}, and Lambda takes 2 to 200", instead: "MinimumPollers: 2"},
	{name: "pollers", property: "MaximumPollers", must: number(mostMinimumPollers, leastPollers, mostPollers),
		whether: "Lambda takes MaximumPollers", wrong: "MaximumPollers is {is}, and Lambda takes 2 to 10000",
		instead: "MaximumPollers: 200"},
}

// pollers checks that a mapping of the queue has one way to scale, because Lambda refuses both, and
// that Lambda takes its numbers of pollers.
func (c *Checker) pollers(f *function) {
	for _, m := range c.mappingsOf(f.Name, false) {
		pollers := c.t.Get(m.props, "ProvisionedPollerConfig")
		if pollers == nil {
			continue
		}
		if c.t.Get(m.props, "ScalingConfig", "MaximumConcurrency") != nil {
			c.Mistake("pollers", pollers.Position, "Lambda refuses a mapping with both ProvisionedPollerConfig and MaximumConcurrency",
				"one of the two")
		}
		c.check(c.value("", pollers, pollers.Position, ""), pollerSettings...)
	}
}

// codes checks that the code of each function of the template exists. What SAM does not build need
// not exist yet.
func (c *Checker) codes() {
	if c.Exists == nil {
		return
	}
	for _, r := range c.t.Resources() {
		n := c.t.Property(r, "CodeUri")
		if r.Type != "AWS::Serverless::Function" || n == nil || n.Kind != template.Scalar || strings.Contains(n.Text, "://") {
			continue
		}
		name := c.beside(n.Text)
		switch {
		case c.Exists(name):
		case c.t.BuildMethod(r) != nil:
			c.Mistake("code", n.Position, fmt.Sprintf("there is no %s, which sam build needs for %s", name, r.Name), c.codeOf(r))
		default:
			c.Warn("code", n.Position, fmt.Sprintf("there is no %s, which %s is deployed from; it must be there before you deploy", name, r.Name),
				"")
		}
	}
}

// beside returns the path of a file that the template names.
func (c *Checker) beside(name string) string {
	if name = slashes(name); path.IsAbs(name) {
		return name
	}
	return path.Join(path.Dir(slashes(c.File)), name)
}

// codeOf returns what to write as the code of a function.
func (c *Checker) codeOf(r *template.Resource) string {
	for _, f := range c.both() {
		if f.Name == r.Name && c.Exists(c.beside("cmd/"+f.role)) {
			return "CodeUri: cmd/" + f.role + "/"
		}
	}
	return "the folder of its main program, as a path from the folder of the template"
}

const defaultMemory = 128 // MB; Lambda

// StreamsMemory returns the memory of the streams function in MB, and where it is set. It is not ok
// if there is no such function, or if the template does not tell; then it warns that it cannot say
// whether the function keeps up.
func (c *Checker) StreamsMemory() (memory int, at template.Position, ok bool) {
	if c.streams == nil {
		return 0, at, false
	}
	n := c.t.Property(c.streams.Resource, "MemorySize")
	memory, ok = c.number("streams-capacity", n, defaultMemory, "the streams function keeps up with the rate")
	return memory, where(n, c.streams.Position), ok
}
