package rules

import (
	"bytes"
	"strings"

	"github.com/ingot-events/ingot/internal/tool/check/template"
	"github.com/ingot-events/ingot/internal/tool/textfile"
)

// fifo reports whether a queue is declared as a FIFO queue. If only a deployment knows, it counts
// as a standard queue.
func (c *Checker) fifo(queue *template.Resource) bool { return c.says(queue, "FifoQueue", "true") }

// FIFO reports whether the ingest function of a template reads a FIFO queue, with the defaults of
// the template's parameters. The error says why the template cannot be read. A template without the
// word FifoQueue has no FIFO queue, so FIFO does not parse it.
func FIFO(f textfile.File) (bool, error) {
	if !bytes.Contains(f.Text, []byte("FifoQueue")) {
		return false, nil // ingot dev asks this at each start, and parsing takes longer than all the rest
	}
	t, err := template.Open(f.Text, nil)
	if err != nil {
		return false, err
	}
	c := NewChecker(f.Name, t, nil, Places{})
	c.find()
	if c.ingest == nil {
		return false, nil
	}
	for _, m := range c.mappingsOf(c.ingest.Name, false) {
		if queue := c.queueOf(m); queue != nil && c.fifo(queue) {
			return true, nil
		}
	}
	return false, nil
}

// fifoSettings are for the mapping of a FIFO queue: small batches and no batching window. Lambda
// refuses anything else.
var fifoSettings = []rule{
	{name: "fifo", property: "BatchSize", must: number(10, 0, 10), whether: "BatchSize is at most 10, as for every FIFO queue",
		wrong: "a batch of {is}: Lambda takes at most 10 from a FIFO queue", instead: "BatchSize: 10"},
	{name: "fifo", property: "MaximumBatchingWindowInSeconds", must: number(0, 0, 0),
		whether: "there is no batching window, as for every FIFO queue",
		wrong:   "a batching window of {is} s: Lambda has none for FIFO queues; take MaximumBatchingWindowInSeconds out"},
}

// sameKind checks that a dead-letter queue is of the same kind as its queue, and that the name of a
// FIFO queue says that it is one. SQS refuses anything else.
func (c *Checker) sameKind(queue *template.Resource, target *template.Node) {
	dead := c.referred(target)
	switch {
	case dead == nil:
	case c.fifo(queue) && !c.fifo(dead):
		c.Mistake("fifo", dead.Position, queue.Name+" is a FIFO queue and its dead-letter queue "+dead.Name+" is not: SQS refuses that",
			added(nil, "FifoQueue: true"))
	case !c.fifo(queue) && c.fifo(dead):
		c.Mistake("fifo", dead.Position, dead.Name+" is a FIFO queue, and "+queue.Name+
			", whose dead-letter queue it is, is not: SQS refuses that; take FifoQueue out", "")
	}
	for _, q := range []*template.Resource{queue, dead} {
		if q == nil || !c.fifo(q) {
			continue
		}
		if name := c.t.Property(q, "QueueName"); name != nil && name.Kind == template.Scalar && !strings.HasSuffix(name.Text, ".fifo") {
			c.Mistake("fifo", name.Position, q.Name+" is a FIFO queue, and its name does not end in .fifo: SQS refuses that", "QueueName: "+
				name.Text+".fifo")
		}
	}
}
