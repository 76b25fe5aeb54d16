package check

import (
	"fmt"

	"github.com/ingot-events/ingot/aggregate"
	"github.com/ingot-events/ingot/internal/tool/check/template"
)

const reportFailures = "ReportBatchItemFailures"

// counting returns how the streams function counts: INGOT_COUNTING, or marks if it is not set.
func (c *checker) counting() (counting aggregate.Counting, known bool) {
	if c.streams == nil {
		return aggregate.Marks, false
	}
	n := c.variable(c.streams.Resource, "INGOT_COUNTING")
	switch {
	case n == nil:
		c.sameCounting(aggregate.Marks)
		return aggregate.Marks, true
	case n.Kind != template.Scalar:
		c.cannotTell("counting", n, "totals are counted by marks or by receipts")
		return aggregate.Marks, false
	}
	counting, err := aggregate.ParseCounting(n.Text)
	if err != nil {
		c.mistake("counting", n.Position, fmt.Sprintf("INGOT_COUNTING is %q", n.Text), "marks or receipts")
		return aggregate.Marks, false
	}
	if counting == aggregate.Receipts && c.p != nil {
		if err := c.p.FitsReceipts(); err != nil {
			c.mistake("counting", n.Position, err.Error(), "")
		}
	}
	c.sameCounting(counting)
	return counting, true
}

// sameCounting checks that both functions count in the same way, if the pipeline has totals that
// move with the put. Then both functions start the store: the first one writes the way of counting
// into the heads, and the other one would refuse to start.
func (c *checker) sameCounting(counting aggregate.Counting) {
	if c.ingest == nil || !c.movesByPut() {
		return
	}
	own, at := aggregate.Marks, c.ingest.Position
	if n := c.variable(c.ingest.Resource, "INGOT_COUNTING"); n != nil {
		if n.Kind != template.Scalar {
			return // the rule about counting reports it
		}
		at = n.Position
		var err error
		if own, err = aggregate.ParseCounting(n.Text); err != nil {
			c.mistake("counting", at, fmt.Sprintf("INGOT_COUNTING is %q", n.Text), "marks or receipts")
			return
		}
	}
	if own != counting {
		c.mistake("counting", at, fmt.Sprintf("%s counts by %s and %s by %s, and both start with totals that are movedBy: put: the second one would refuse to start", c.streams.Name, counting, c.ingest.Name, own),
			fmt.Sprintf("INGOT_COUNTING: %s for both", counting))
	}
}

// streamsMapping checks invariant I2. Under any other setting a change can be lost, or counted
// twice.
func (c *checker) streamsMapping(counting aggregate.Counting, known bool) {
	list := c.mappingsOf(c.streams.Name, true)
	if len(list) == 0 {
		c.mistake("stream-mapping", c.streams.Position, c.streams.Name+" has no mapping of the events table's stream: nothing would be counted", "an event of Type DynamoDB")
		return
	}
	for _, m := range list {
		if known && counting == aggregate.Marks {
			c.window(m)
			c.parallelization(m)
		}
		c.start(m)
		c.forever(m, "stream-retries", "MaximumRetryAttempts", "a change would be given up after so many tries, and its total would be wrong from then on")
		c.forever(m, "stream-age", "MaximumRecordAgeInSeconds", "a change would be given up at that age, and its total would be wrong from then on")
		c.responses(m, "stream-responses", "without it one failure repeats the whole batch, and Lambda does not read which change failed")
		c.noFilter(m, "stream-filter", "changes that a filter does not let through are never counted")
		c.enabled(m)
		c.streamOf(m)
	}
}

func (c *checker) window(m *mapping) {
	const whether = "the mapping has a tumbling window, which marks need"
	n := c.t.Get(m.props, "TumblingWindowInSeconds")
	seconds, ok := c.number("stream-window", n, 0, whether)
	if ok && (seconds < 1 || seconds > 900) {
		what := "the mapping of the stream has no tumbling window: marks need the shard id, which Lambda sends only with a window"
		if n != nil && seconds != 0 {
			what = fmt.Sprintf("a tumbling window of %d s: Lambda takes 1 to 900", seconds)
		}
		c.mistake("stream-window", where(n, m.Position), what, "TumblingWindowInSeconds: 900")
	}
}

// parallelization checks that every earlier record of a shard is delivered before a later one.
// Marks are only correct under this condition.
func (c *checker) parallelization(m *mapping) {
	n := c.t.Get(m.props, "ParallelizationFactor")
	factor, ok := c.number("stream-parallel", n, 1, "ParallelizationFactor is 1, as marks need")
	if ok && factor != 1 {
		c.mistake("stream-parallel", n.Position, fmt.Sprintf("ParallelizationFactor is %d: batches of a shard that run at the same time have no order, and marks need their order", factor), "ParallelizationFactor: 1")
	}
}

func (c *checker) start(m *mapping) {
	n := c.t.Get(m.props, "StartingPosition")
	const instead = "StartingPosition: TRIM_HORIZON"
	switch {
	case n == nil:
		c.mistake("stream-start", m.Position, "the mapping of the stream has no StartingPosition", instead)
	case n.Kind != template.Scalar:
		c.cannotTell("stream-start", n, "the mapping starts at TRIM_HORIZON")
	case n.Text != "TRIM_HORIZON":
		c.mistake("stream-start", n.Position, "StartingPosition is "+n.Text+": changes made while the mapping is created or updated can be missed", instead)
	}
}

// forever checks that a property is -1, which means never to give up. This is also the default.
func (c *checker) forever(m *mapping, rule, property, why string) {
	n := c.t.Get(m.props, property)
	value, ok := c.number(rule, n, -1, property+" is -1")
	if ok && value != -1 {
		c.mistake(rule, n.Position, fmt.Sprintf("%s is %d: %s", property, value, why), property+": -1")
	}
}

func (c *checker) responses(m *mapping, rule, why string) {
	n := c.t.Get(m.props, "FunctionResponseTypes")
	yes, ok := holds(n, c.t, reportFailures)
	switch {
	case !ok:
		c.cannotTell(rule, n, "FunctionResponseTypes has "+reportFailures)
	case !yes:
		c.mistake(rule, where(n, m.Position), "the mapping does not read the function's answer: "+why, "FunctionResponseTypes: ["+reportFailures+"]")
	}
}

func (c *checker) noFilter(m *mapping, rule, why string) {
	if n := c.t.Get(m.props, "FilterCriteria"); n != nil {
		at := n.Position
		if member := m.props.Member("FilterCriteria"); member != nil {
			at = member.Position
		}
		c.mistake(rule, at, "the mapping has FilterCriteria: "+why+"; take it out", "")
	}
}

func (c *checker) enabled(m *mapping) {
	if n := c.t.Get(m.props, "Enabled"); n != nil && n.Kind == template.Scalar && n.Text == "false" {
		c.warn("stream-enabled", n.Position, "the mapping is off: changes disappear from the stream after 24 hours, and the totals then need a rebuild", "Enabled: true")
	}
}

// streamOf checks that the stream is that of the table that the ingest function writes.
func (c *checker) streamOf(m *mapping) {
	switch {
	case m.source == nil:
		c.mistake("stream-source", m.Position, "the mapping names no stream", "Stream: !GetAtt EventsTable.StreamArn")
		return
	case m.source.Kind != template.Reference:
		c.cannotTell("stream-source", m.source, "this is the events table's stream")
		return
	case c.ingest == nil:
		return
	}
	written := c.variable(c.ingest.Resource, "INGOT_TABLE")
	if written != nil && written.Kind == template.Reference && written.Name != m.source.Name {
		c.mistake("stream-source", m.source.Position, fmt.Sprintf("the stream is %s's, and the ingest function writes to %s", m.source.Name, written.Name), "!GetAtt "+written.Name+".StreamArn")
	}
}

// order checks that the ingest function waits for the streams function in a deployment. The streams
// function must know an epoch before the first item that carries this epoch.
func (c *checker) order() {
	if c.streams == nil {
		return
	}
	for _, name := range c.t.DependsOn(c.ingest.Resource) {
		if name == c.streams.Name {
			return
		}
	}
	c.mistake("order", c.ingest.Position, c.ingest.Name+" does not wait for "+c.streams.Name+": it could write items of an epoch that the streams function does not know yet, and that function would stop", "DependsOn: "+c.streams.Name)
}
