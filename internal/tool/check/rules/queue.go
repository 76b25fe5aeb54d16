package rules

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ingot-events/ingot/internal/tool/check/template"
)

// These are the values that the services use if the template says nothing.
const (
	defaultVisibility = 30      // seconds; SQS
	defaultRetention  = 345600  // seconds, 4 days; SQS
	defaultTimeout    = 3       // seconds; Lambda
	leastReceives     = 5       // according to Lambda's guide to SQS
	usualReceives     = 10      // what to write
	mostRetention     = 1209600 // seconds, 14 days; SQS
)

const (
	// leastRetention is how long a queue must keep what waits for a function, in seconds: a day, in
	// which somebody can mend a function that fails or is paused.
	leastRetention = 86400
	// leastForPeople is how long a queue must keep what waits for a person, in seconds: four days,
	// so that a long weekend loses nothing.
	leastForPeople = 345600
)

func (c *Checker) ingestMapping() {
	list := c.mappingsOf(c.ingest.Name, false)
	if len(list) == 0 {
		c.Mistake("queue-mapping", c.ingest.Position, c.ingest.Name+" has no mapping of a queue: nothing would be stored",
			"an event of Type SQS into its Events")
		return
	}
	for _, m := range list {
		c.check(c.mapped(m), answerRule("queue-responses", "without it every failed message is deleted as done"))
		c.noFilter(m, "queue-filter", "SQS mappings delete messages that a filter does not let through")
		queue, window := c.queueOf(m), 0
		if queue != nil && c.fifo(queue) {
			for _, one := range fifoSettings {
				c.check(c.mapped(m), one)
			}
			c.check(c.resource(queue), unwiseFIFO)
		} else {
			window = c.batching(m)
		}
		if queue != nil {
			c.check(c.resource(queue), unwiseQueue)
			c.visibility(queue, window)
			c.redrive(queue)
			c.kept(queue)
		}
	}
}

// batching returns the mapping's batching window in seconds. Lambda requires one for batches over
// 10.
func (c *Checker) batching(m *mapping) (window int) {
	n := c.t.Get(m.props, "MaximumBatchingWindowInSeconds")
	window, ok := c.number("batching", n, 0, "the batching window fits the queue's visibility timeout")
	if !ok {
		return 0
	}
	size, ok := c.number("batching", c.t.Get(m.props, "BatchSize"), 10, "BatchSize needs a batching window")
	if ok && size > 10 && window < 1 {
		c.Mistake("batching", where(n, m.Position),
			fmt.Sprintf("a batch of %d needs a batching window: Lambda refuses more than 10 without one", size),
			added(n, "MaximumBatchingWindowInSeconds: 1"))
	}
	return window
}

// queueOf returns the queue that a mapping reads. It returns nil if that cannot be determined. Then
// this has been reported.
func (c *Checker) queueOf(m *mapping) *template.Resource {
	if m.source == nil {
		c.Mistake("queue-source", m.Position, "the mapping names no queue",
			"Queue: !GetAtt "+c.named("IngestQueue", "QUEUE")+".Arn"+properties)
		return nil
	}
	queue := c.referred(m.source)
	if queue == nil || queue.Type != "AWS::SQS::Queue" {
		c.Warn("queue-source", m.source.Position, "cannot tell whether the queue's visibility timeout and dead-letter queue are as they "+
			"must be: it is not a queue of this template", "")
		return nil
	}
	return queue
}

// retention returns how long a queue keeps messages, in seconds, and the property that says so, or
// nil. ok is false if that cannot be determined, or if SQS refuses it. Then this has been reported,
// with the seconds to write.
func (c *Checker) retention(queue *template.Resource, whether string, write int) (n *template.Node, seconds int, ok bool) {
	n = c.t.Property(queue, "MessageRetentionPeriod")
	seconds, ok = c.number("retention", n, defaultRetention, whether)
	if ok && seconds > mostRetention {
		c.Mistake("retention", n.Position, fmt.Sprintf("%s keeps messages for %d s, and SQS takes at most %d", queue.Name, seconds,
			mostRetention), fmt.Sprintf("MessageRetentionPeriod: %d", write))
		ok = false
	}
	return n, seconds, ok
}

// kept checks how long the ingest queue keeps messages. SQS deletes what is older, even if it was
// not stored and did not reach the dead-letter queue yet.
func (c *Checker) kept(queue *template.Resource) {
	n, seconds, ok := c.retention(queue, "the queue keeps messages long enough", defaultRetention)
	if !ok {
		return
	}
	if seconds < leastRetention {
		c.Mistake("retention", where(n, queue.Position),
			fmt.Sprintf(
				"%s keeps messages for %d s: SQS deletes what is not stored by then, for example while the function fails or is paused",
				queue.Name, seconds),
			added(n, fmt.Sprintf("MessageRetentionPeriod: %d", defaultRetention)))
		return
	}
	count := c.t.Property(queue, "RedrivePolicy", "maxReceiveCount")
	receives, ok := c.number("redrive", count, 0, "maxReceiveCount is at least 5")
	hidden, known := c.number("visibility", c.t.Property(queue, "VisibilityTimeout"), defaultVisibility,
		"the visibility timeout is at least 6 times the function's timeout")
	if tries := receives * hidden; ok && known && tries >= seconds {
		at, instead := count.Position, fmt.Sprintf("maxReceiveCount: %d", min(usualReceives, (seconds-1)/hidden))
		if leastReceives*hidden >= seconds { // no number of tries is right
			at, instead = where(n, queue.Position), added(n, fmt.Sprintf("MessageRetentionPeriod: %d", defaultRetention))
		}
		c.Mistake("retention", at, fmt.Sprintf("%d tries, %d s apart, take %d s, and %s keeps messages for %d s: SQS would "+
			"delete a message that fails before it reaches the dead-letter queue", receives, hidden, tries, queue.Name, seconds), instead)
	}
}

// keptForPeople checks how long a queue keeps messages that only a person can do something about.
func (c *Checker) keptForPeople(queue *template.Resource) {
	n, seconds, ok := c.retention(queue, queue.Name+" keeps messages until somebody has seen them", mostRetention)
	if ok && seconds < leastForPeople {
		c.Mistake("retention", where(n, queue.Position),
			fmt.Sprintf("%s keeps messages for %d s, and SQS deletes them before anybody has seen them", queue.Name, seconds),
			added(n, fmt.Sprintf("MessageRetentionPeriod: %d", mostRetention)))
	}
}

// visibility checks the queue's visibility timeout. A message must not come back while it is
// processed, while it waits for its batch to fill, or while Lambda retries a throttled invocation.
func (c *Checker) visibility(queue *template.Resource, window int) {
	const whether = "the visibility timeout is at least 6 times the function's timeout"
	timeout, ok := c.number("visibility", c.t.Property(c.ingest.Resource, "Timeout"), defaultTimeout, whether)
	if !ok {
		return
	}
	n := c.t.Property(queue, "VisibilityTimeout")
	visibility, ok := c.number("visibility", n, defaultVisibility, whether)
	if least := 6*timeout + window; ok && visibility < least {
		c.Mistake("visibility", where(n, queue.Position), fmt.Sprintf("a message stays hidden for %d s, and 6 times the function's "+
			"timeout of %d s and the batching window of %d s are %d s: it would come back while it is still being processed", visibility,
			timeout, window, least),
			added(n, fmt.Sprintf("VisibilityTimeout: %d", least)))
	}
}

// redriveSettings are for the queue of events.
var redriveSettings = []rule{
	{name: "redrive", property: "RedrivePolicy", must: present,
		wrong:   "{of} has no RedrivePolicy: a message that fails is delivered again and again until it is deleted unseen",
		instead: "RedrivePolicy: {deadLetterTargetArn: …, maxReceiveCount: 10}"},
	{name: "redrive", property: "RedrivePolicy.maxReceiveCount", must: number(0, leastReceives, unlimited),
		whether: "maxReceiveCount is at least 5",
		missing: "maxReceiveCount is 0: " + throttledReceives, wrong: "maxReceiveCount is {is}: " + throttledReceives,
		instead: "maxReceiveCount: 10"},
}

const throttledReceives = "receives are counted even when Lambda is throttled and no code ran, so healthy messages would be given up"

func (c *Checker) redrive(queue *template.Resource) {
	settings := slices.Clone(redriveSettings)
	settings[0].instead = strings.ReplaceAll(settings[0].instead, "…", "!GetAtt "+c.named("DeadLetterQueue", "QUEUE")+".Arn")
	c.check(c.resource(queue), settings...)
	if policy := c.t.Property(queue, "RedrivePolicy"); policy != nil && policy.Kind == template.Map {
		target := c.t.Get(policy, "deadLetterTargetArn")
		c.sameKind(queue, target)
		c.deadLetters(queue, target)
	}
}

// deadLetters checks how long the dead-letter queue keeps messages. For a standard queue, its clock
// runs from the first send, so a message that was given up late would be deleted at once. In a FIFO
// queue the clock starts again.
func (c *Checker) deadLetters(queue *template.Resource, target *template.Node) {
	const whether = "the dead-letter queue keeps messages for longer than the queue"
	dead := c.referred(target)
	if dead == nil {
		if target != nil && target.Kind != template.Reference {
			c.cannotTell("dead-letters", target, whether)
		}
		return
	}
	own, kept, ok := c.retention(queue, whether, defaultRetention)
	if c.fifo(queue) || !ok {
		c.keptForPeople(dead)
		return
	}
	n, after, ok := c.retention(dead, whether, mostRetention)
	if !ok || after > kept {
		c.keptForPeople(dead)
		return
	}
	at, seconds := where(n, dead.Position), mostRetention
	if kept == mostRetention { // no dead-letter queue can keep them for longer
		n, at, seconds = own, where(own, queue.Position), defaultRetention
	}
	c.Mistake("dead-letters", at, fmt.Sprintf("%s keeps messages for %d s and %s for %d s, both from the first send: what is given up "+
		"late would be deleted before anybody sees it", dead.Name, after, queue.Name, kept),
		added(n, fmt.Sprintf("MessageRetentionPeriod: %d", seconds)))
}
