package rules

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/ingot-events/ingot/internal/tool/check/template"
)

// variables are the variables that Ingot reads.
var variables = []string{"INGOT_AGGREGATES_TABLE", "INGOT_ARCHIVE", "INGOT_ARCHIVE_BUCKET", "INGOT_COUNTING", "INGOT_ENDPOINT_URL",
	"INGOT_PAYLOAD_BUCKET", "INGOT_PII_KEY", "INGOT_PIPELINE", "INGOT_POINTER_BUCKETS", "INGOT_QUARANTINE_URL", "INGOT_TABLE"}

func (c *Checker) environment() {
	for _, f := range c.both() {
		c.required(f)
		c.unknownVariables(f)
		c.quarantine(f)
	}
	c.secrets()
	c.archive()
	c.payloads()
	c.pipelineFile()
}

// usualTables are the names that the tables of the variables have in Ingot's template.
var usualTables = map[string]string{"INGOT_TABLE": "EventsTable", "INGOT_AGGREGATES_TABLE": "AggregatesTable"}

// required checks that a function has the variables of the tables that it needs.
func (c *Checker) required(f *function) {
	for _, n := range c.needsOf(f) {
		if strings.HasSuffix(n.on, "_TABLE") && c.variable(f, n.on) == nil {
			c.Mistake("variable", f.Position, fmt.Sprintf("%s has no variable %s: it would not start", f.Name, n.on),
				c.sameVariable(n.on, c.named(usualTables[n.on], "TABLE")))
		}
	}
}

// unknownVariables reports unknown variables. A misspelled variable is not set.
func (c *Checker) unknownVariables(f *function) {
	n := c.t.Property(f.Resource, "Environment", "Variables")
	if n == nil || n.Kind != template.Map {
		return
	}
	for _, m := range n.Members {
		if strings.HasPrefix(m.Name, "INGOT_") && !slices.Contains(variables, m.Name) {
			c.Warn("variable", m.Position, "nothing reads variable "+m.Name, "one of "+strings.Join(variables, ", "))
		}
	}
}

// quarantine checks that there is a quarantine. Without one, a message that can never succeed is
// delivered again until it reaches the dead-letter queue, and an update that can never succeed
// flags its total.
func (c *Checker) quarantine(f *function) {
	n := c.variable(f, "INGOT_QUARANTINE_URL")
	switch {
	case n == nil && f.role == "ingest":
		c.Warn("quarantine", f.Position,
			f.Name+" has no quarantine queue: a message that can never succeed is tried again and again until it reaches the "+
				"dead-letter queue", c.sameVariable("INGOT_QUARANTINE_URL", c.named("QuarantineQueue", "QUEUE")))
	case n == nil:
		c.Warn("quarantine", f.Position,
			f.Name+" has no quarantine queue: a change that can never be counted blocks its shard, and after 24 hours it is lost",
			c.sameVariable("INGOT_QUARANTINE_URL", c.named("QuarantineQueue", "QUEUE")))
	case n.Kind == template.Reference:
		c.quarantineQueue(n)
	}
}

// variablesOf says where the variable of a function goes.
const variablesOf = " among its variables"

// sameVariable returns a variable that a function lacks: it refers to what the other function's one
// refers to, or else to a resource of this name.
func (c *Checker) sameVariable(variable, resource string) string {
	return variable + ": !Ref " + c.same(variable, resource) + variablesOf
}

// same returns the name of the resource that a variable of either function refers to, or otherwise
// a name.
func (c *Checker) same(variable, otherwise string) string {
	for _, f := range c.both() {
		if r := c.referred(c.variable(f, variable)); r != nil {
			return r.Name
		}
	}
	return otherwise
}

// named returns the name of a resource, if the template has it, or otherwise a name to be filled
// in.
func (c *Checker) named(resource, otherwise string) string {
	if c.t.Resource(resource) != nil {
		return resource
	}
	return otherwise
}

func (c *Checker) quarantineQueue(n *template.Node) {
	queue := c.t.Resource(n.Name)
	if queue == nil || queue.Type != "AWS::SQS::Queue" {
		return
	}
	if n.Attribute != "" && n.Attribute != "QueueUrl" {
		c.Mistake("quarantine", n.Position, "INGOT_QUARANTINE_URL is the "+n.Attribute+" of "+n.Name+", not its URL", "!Ref "+n.Name)
	}
	if fifo := c.t.Property(queue, "FifoQueue"); fifo != nil && fifo.Text == "true" {
		c.Mistake("quarantine", fifo.Position, n.Name+" is a FIFO queue, and quarantined messages carry no group; take FifoQueue out", "")
	}
	c.keptForPeople(queue)
	if c.ingest == nil {
		return
	}
	for _, m := range c.mappingsOf(c.ingest.Name, false) {
		source := c.referred(m.source)
		if source == nil {
			continue
		}
		if dead := c.t.Property(source, "RedrivePolicy", "deadLetterTargetArn"); dead != nil && dead.Kind == template.Reference &&
			dead.Name == n.Name {
			c.Mistake("quarantine", n.Position, n.Name+" is the dead-letter queue of "+source.Name+
				": a redrive would bring back messages that can never succeed, together with those that may", "a queue of its own")
		}
		if source.Name == n.Name {
			c.Mistake("quarantine", n.Position, n.Name+" is the queue that events come from: quarantined messages would come back for ever",
				"a queue of its own")
		}
	}
}

// secrets checks that both functions have the same secret. Both make keys with hmac, and these must
// be the same.
func (c *Checker) secrets() {
	if c.p == nil || !c.p.UsesHMAC() || c.ingest == nil || c.streams == nil {
		return
	}
	const name = "INGOT_PII_KEY"
	a, b := c.variable(c.ingest, name), c.variable(c.streams, name)
	for _, f := range []*function{c.ingest, c.streams} {
		if c.variable(f, name) == nil {
			c.Mistake("secret", f.Position, fmt.Sprintf("%s uses hmac, and %s has no variable %s: it would not start", c.declared.File,
				f.Name, name), name+": '{{resolve:secretsmanager:NAME}}'"+variablesOf)
		}
	}
	if a == nil || b == nil {
		return
	}
	if a.Kind == template.Scalar && b.Kind == template.Scalar && a.Text != b.Text || a.Kind == template.Reference &&
		b.Kind == template.Reference && a.Name != b.Name {
		c.Mistake("secret", b.Position, "the two functions have different secrets, so totals by personal data would not match the events",
			"the same "+name)
	}
	if a.Kind == template.Scalar && !strings.Contains(a.Text, "{{resolve:") {
		c.Warn("secret", a.Position,
			"the secret is in the template, so everybody who reads the template can find out what keyed hashes stand for",
			"'{{resolve:secretsmanager:NAME}}'")
	}
}

// archive checks that there is a bucket for the archive. Without one, expired events are gone.
func (c *Checker) archive() {
	if c.p == nil || c.streams == nil || c.variable(c.streams, "INGOT_ARCHIVE_BUCKET") != nil {
		return
	}
	for _, t := range c.p.Describe().Spec.Events {
		if t.RetainAt(time.Time{}) != 0 {
			c.Warn("archive", c.streams.Position, c.streams.Name+" has no archive bucket: items that expire are gone for good",
				"INGOT_ARCHIVE_BUCKET: !Ref "+c.named("ArchiveBucket", "BUCKET")+variablesOf)
			return
		}
	}
}

// pipelineFile checks the file that INGOT_PIPELINE names. The functions use it in place of the one
// in their binaries. Both must use the same file, it must be there, and it should be the file that
// is checked.
func (c *Checker) pipelineFile() {
	const name = "INGOT_PIPELINE"
	if c.ingest == nil || c.streams == nil {
		return
	}
	a, b := c.variable(c.ingest, name), c.variable(c.streams, name)
	switch {
	case a == nil && b == nil:
		return
	case a == nil || b == nil:
		with, without := c.ingest, c.streams
		if a == nil {
			a, with, without = b, c.streams, c.ingest
		}
		c.Mistake("pipeline-file", a.Position, fmt.Sprintf("%s has %s and %s does not: they would use two different pipelines", with.Name,
			name, without.Name), "it among the variables of "+without.Name+", too")
		return
	case a.Kind != template.Scalar || b.Kind != template.Scalar:
		return
	case a.Text != b.Text:
		c.Mistake("pipeline-file", b.Position, fmt.Sprintf("%s uses %s and %s uses %s", c.ingest.Name, a.Text, c.streams.Name, b.Text),
			"the same "+name)
		return
	}
	rest, inLayer := strings.CutPrefix(a.Text, "/opt/")
	if !inLayer {
		c.besideBinary(a)
		return
	}
	for _, f := range []*function{c.ingest, c.streams} {
		if c.t.Property(f.Resource, "Layers") == nil {
			c.Mistake("pipeline-file", f.Position, fmt.Sprintf("%s is a file of a layer, and %s has no layer: it would not start", a.Text,
				f.Name), "Layers: [!Ref LAYER]"+properties)
			return
		}
	}
	c.checkedFile(a, rest)
}

// besideBinary checks that a file next to the binary can exist. For Go, SAM builds the program and
// nothing else.
func (c *Checker) besideBinary(n *template.Node) {
	name := strings.TrimPrefix(n.Text, "/var/task/")
	if path.IsAbs(name) {
		return
	}
	for _, f := range []*function{c.streams, c.ingest} {
		if m := c.t.BuildMethod(f.Resource); m != nil && m.Text == "go1.x" {
			c.Mistake("pipeline-file", m.Position,
				fmt.Sprintf("%s is a file beside the program, and sam build puts only the program there: %s would not start",
					n.Text, f.Name),
				"no BuildMethod, and as CodeUri a folder with the built program and "+name+", or the file in a layer")
			return
		}
	}
}

// checkedFile checks that the file in a layer is the one that is checked, if the only layer is in
// this template.
func (c *Checker) checkedFile(n *template.Node, rest string) {
	layers := c.t.Property(c.ingest.Resource, "Layers")
	if len(layers.Items) != 1 {
		return
	}
	layer := c.referred(c.t.Resolve(layers.Items[0]))
	if layer == nil {
		return
	}
	content := c.t.Property(layer, "ContentUri")
	if content == nil || content.Kind != template.Scalar || strings.Contains(content.Text, "://") {
		return
	}
	deployed := path.Join(path.Dir(slashes(c.File)), slashes(content.Text))
	if path.Base(deployed) != rest { // a folder; SAM makes a layer of a single file, too
		deployed = path.Join(deployed, rest)
	}
	checked := path.Clean(slashes(c.declared.File))
	if path.IsAbs(checked) == path.IsAbs(deployed) && checked != deployed {
		c.Warn("pipeline-file", n.Position, fmt.Sprintf("both functions use %s, and this check read %s; run ingot check --pipeline %s",
			deployed, checked, deployed), "")
	}
}

// slashes returns a path of any system with slashes.
func slashes(name string) string { return strings.ReplaceAll(name, `\`, "/") }
