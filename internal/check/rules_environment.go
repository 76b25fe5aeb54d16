package check

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/ingot-events/ingot/internal/check/template"
)

// variables are those that Ingot reads, each with the roles that need it or profit from it.
var variables = map[string]string{
	"INGOT_PIPELINE": "", "INGOT_TABLE": "ingest", "INGOT_AGGREGATES_TABLE": "streams", "INGOT_QUARANTINE_URL": "",
	"INGOT_ARCHIVE_BUCKET": "", "INGOT_COUNTING": "", "INGOT_PII_KEY": "", "INGOT_ENDPOINT_URL": "",
}

func (c *checker) environment() {
	for _, f := range []*function{c.ingest, c.streams} {
		if f == nil {
			continue
		}
		c.required(f)
		c.unknownVariables(f)
		c.quarantine(f)
	}
	c.secrets()
	c.archive()
}

func (c *checker) required(f *function) {
	for _, name := range slices.Sorted(maps.Keys(variables)) {
		needed := variables[name] == f.role || f.role == "ingest" && name == "INGOT_AGGREGATES_TABLE" && c.hashesKeys()
		if needed && c.variable(f.Resource, name) == nil {
			c.mistake("variable", f.Position, fmt.Sprintf("%s has no variable %s: it would not start", f.Name, name), name+": !Ref the table")
		}
	}
}

// unknownVariables: a misspelled variable is one that is not set.
func (c *checker) unknownVariables(f *function) {
	n := c.t.Property(f.Resource, "Environment", "Variables")
	if n == nil || n.Kind != template.Map {
		return
	}
	for _, m := range n.Members {
		if _, known := variables[m.Name]; strings.HasPrefix(m.Name, "INGOT_") && !known {
			c.warn("variable", m.Position, "nothing reads variable "+m.Name, "one of "+strings.Join(slices.Sorted(maps.Keys(variables)), ", "))
		}
	}
}

// quarantine: without it, what can never succeed goes round until the dead-letter queue, or flags totals.
func (c *checker) quarantine(f *function) {
	n := c.variable(f.Resource, "INGOT_QUARANTINE_URL")
	switch {
	case n == nil && f.role == "ingest":
		c.warn("quarantine", f.Position, f.Name+" has no quarantine queue: what can never succeed is tried again and again until the dead-letter queue takes it", "INGOT_QUARANTINE_URL: !Ref QuarantineQueue")
	case n == nil:
		c.warn("quarantine", f.Position, f.Name+" has no quarantine queue: a change that can never be counted blocks its shard, and after 24 hours it is lost", "INGOT_QUARANTINE_URL: !Ref QuarantineQueue")
	case n.Kind == template.Reference:
		c.quarantineQueue(n)
	}
}

func (c *checker) quarantineQueue(n *template.Node) {
	queue := c.t.Resource(n.Name)
	if queue == nil || queue.Type != "AWS::SQS::Queue" {
		return
	}
	if n.Attribute != "" && n.Attribute != "QueueUrl" {
		c.mistake("quarantine", n.Position, "INGOT_QUARANTINE_URL is the "+n.Attribute+" of "+n.Name+", not its URL", "!Ref "+n.Name)
	}
	if fifo := c.t.Property(queue, "FifoQueue"); fifo != nil && fifo.Text == "true" {
		c.mistake("quarantine", fifo.Position, n.Name+" is a FIFO queue, and quarantined messages carry no group", "FifoQueue: false")
	}
	if c.ingest == nil {
		return
	}
	for _, m := range c.mappingsOf(c.ingest.Name, false) {
		source := c.referred(m.source)
		if source == nil {
			continue
		}
		if dead := c.t.Property(source, "RedrivePolicy", "deadLetterTargetArn"); dead != nil && dead.Kind == template.Reference && dead.Name == n.Name {
			c.mistake("quarantine", n.Position, n.Name+" is the dead-letter queue of "+source.Name+": when it is redriven, what can never succeed would come back with what may", "a queue of its own")
		}
		if source.Name == n.Name {
			c.mistake("quarantine", n.Position, n.Name+" is the queue that events come from: what is quarantined would come back for ever", "a queue of its own")
		}
	}
}

// secrets: both functions make keys with hmac, and must make the same.
func (c *checker) secrets() {
	if c.p == nil || !c.p.UsesHMAC() || c.ingest == nil || c.streams == nil {
		return
	}
	const name = "INGOT_PII_KEY"
	a, b := c.variable(c.ingest.Resource, name), c.variable(c.streams.Resource, name)
	for _, f := range []*function{c.ingest, c.streams} {
		if c.variable(f.Resource, name) == nil {
			c.mistake("secret", f.Position, fmt.Sprintf("%s uses hmac, and %s has no variable %s: it would not start", c.declared.file, f.Name, name), name+": '{{resolve:secretsmanager:NAME}}'")
		}
	}
	if a == nil || b == nil {
		return
	}
	if a.Kind == template.Scalar && b.Kind == template.Scalar && a.Text != b.Text || a.Kind == template.Reference && b.Kind == template.Reference && a.Name != b.Name {
		c.mistake("secret", b.Position, "the two functions have different keys: totals by personal data would be of other people than the events", "the same "+name)
	}
	if a.Kind == template.Scalar && !strings.Contains(a.Text, "{{resolve:") {
		c.warn("secret", a.Position, "the key stands in the template, where whoever reads it can guess keyed hashes back", "'{{resolve:secretsmanager:NAME}}'")
	}
}

// archive: what expires is gone unless there is a bucket for it.
func (c *checker) archive() {
	if c.p == nil || c.streams == nil || c.variable(c.streams.Resource, "INGOT_ARCHIVE_BUCKET") != nil {
		return
	}
	for _, name := range c.p.Types() {
		if c.p.Retain(name, time.Time{}) != "" {
			c.warn("archive", c.streams.Position, c.streams.Name+" has no archive bucket: items that expire are gone for good", "INGOT_ARCHIVE_BUCKET: !Ref a bucket")
			return
		}
	}
}
