package rules

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ingot-events/ingot/aggregate"
	"github.com/ingot-events/ingot/internal/tool/check/template"
)

const reportFailures = "ReportBatchItemFailures"

// counting returns how the streams function counts: INGOT_COUNTING, or marks if it is not set.
func (c *Checker) counting() (counting aggregate.Counting, known bool) {
	if c.streams == nil {
		return aggregate.Marks, false
	}
	counting, n, known := c.countingOf(c.streams)
	if !known {
		return aggregate.Marks, false
	}
	if n != nil && counting == aggregate.Receipts && c.p != nil {
		if err := c.p.FitsReceipts(); err != nil {
			c.Mistake("counting", n.Position, err.Error(), "")
		}
	}
	if c.ingest != nil && c.movesByPut() {
		c.sameCounting(counting)
	}
	return counting, true
}

// countingOf returns how a function counts, and the variable that says so, or nil.
func (c *Checker) countingOf(f *function) (counting aggregate.Counting, n *template.Node, known bool) {
	n = c.variable(f, "INGOT_COUNTING")
	if n == nil {
		return aggregate.Marks, nil, true
	}
	if n.Kind != template.Scalar {
		c.cannotTell("counting", n, "totals are counted by marks or by receipts")
		return aggregate.Marks, n, false
	}
	counting, err := aggregate.ParseCounting(n.Text)
	if err != nil {
		c.Mistake("counting", n.Position, fmt.Sprintf("INGOT_COUNTING is %q", n.Text), "marks or receipts")
	}
	return counting, n, err == nil
}

// sameCounting checks that both functions count in the same way, if the pipeline has totals that
// move with the put. Then both functions start the store: the first one writes the way of counting
// into the heads, and the other one would refuse to start.
func (c *Checker) sameCounting(counting aggregate.Counting) {
	own, n, known := c.countingOf(c.ingest)
	instead := fmt.Sprintf("INGOT_COUNTING: %s", counting)
	if n == nil {
		instead += variablesOf
	}
	if known && own != counting {
		c.Mistake("counting", where(n, c.ingest.Position),
			fmt.Sprintf(
				"%s counts by %s and %s by %s, and both start with totals that are movedBy: put: the second one would refuse to start",
				c.streams.Name, counting, c.ingest.Name, own), instead)
	}
}

// streamSettings are invariant I2. Under any other setting a change can be lost, or counted twice.
var streamSettings = []rule{
	{name: "stream-start", property: "StartingPosition", must: is("TRIM_HORIZON"), whether: "the mapping starts at TRIM_HORIZON",
		missing: "the mapping of the stream has no StartingPosition", instead: "StartingPosition: TRIM_HORIZON",
		wrong: "StartingPosition is {is}: changes made while the mapping is created or updated can be missed"},
	{name: "stream-retries", property: "MaximumRetryAttempts", must: number(-1, -1, -1), whether: "MaximumRetryAttempts is -1",
		wrong:   "MaximumRetryAttempts is {is}: a change would be given up after so many tries, and its total would be wrong from then on",
		instead: "MaximumRetryAttempts: -1"},
	{name: "stream-age", property: "MaximumRecordAgeInSeconds", must: number(-1, -1, -1), whether: "MaximumRecordAgeInSeconds is -1",
		wrong:   "MaximumRecordAgeInSeconds is {is}: a change would be given up at that age, and its total would be wrong from then on",
		instead: "MaximumRecordAgeInSeconds: -1"},
	answerRule("stream-responses", "without it one failure repeats the whole batch, and Lambda does not read which change failed"),
	{name: "stream-enabled", property: "Enabled", must: isNot("false"), warns: true, instead: "Enabled: true",
		wrong: "the mapping is off: changes disappear from the stream after 24 hours, and the totals then need a rebuild"},
}

// marksSettings are what marks need besides: every earlier record of a shard is delivered before a
// later one, and the shard is known.
var marksSettings = []rule{
	{name: "stream-window", property: "TumblingWindowInSeconds", must: number(0, 1, unlimited), whether: windowed, instead: window900,
		wrong: "the mapping of the stream has no tumbling window: marks need the shard id, which Lambda sends only with a window"},
	{name: "stream-window", property: "TumblingWindowInSeconds", must: number(0, 0, 900), whether: windowed, instead: window900,
		wrong: "a tumbling window of {is} s: Lambda takes 1 to 900"},
	{name: "stream-parallel", property: "ParallelizationFactor", must: number(1, 1, 1),
		whether: "ParallelizationFactor is 1, as marks need",
		wrong:   "ParallelizationFactor is {is}: batches of a shard that run at the same time have no order, and marks need their order",
		instead: "ParallelizationFactor: 1"},
}

const (
	windowed  = "the mapping has a tumbling window, which marks need"
	window900 = "TumblingWindowInSeconds: 900"
)

// answerRule is the rule that a mapping reads which messages or changes of a batch failed.
func answerRule(name, why string) rule {
	return rule{name: name, property: "FunctionResponseTypes", must: has(reportFailures), whether: "FunctionResponseTypes has " +
		reportFailures,
		wrong: "the mapping does not read the function's answer: " + why, instead: "FunctionResponseTypes: [" + reportFailures + "]"}
}

func (c *Checker) streamsMapping(counting aggregate.Counting, known bool) {
	list := c.mappingsOf(c.streams.Name, true)
	if len(list) == 0 {
		c.Mistake("stream-mapping", c.streams.Position, c.streams.Name+
			" has no mapping of the events table's stream: nothing would be counted", "an event of Type DynamoDB into its Events")
		return
	}
	for _, m := range list {
		on := c.mapped(m)
		if known && counting == aggregate.Marks {
			c.check(on, marksSettings...)
		}
		c.check(on, streamSettings...)
		c.check(on, unwiseStream...)
		c.noFilter(m, "stream-filter", "changes that a filter does not let through are never counted")
		c.streamOf(m)
	}
}

func (c *Checker) noFilter(m *mapping, rule, why string) {
	if c.t.Get(m.props, "FilterCriteria") != nil {
		at := m.Position
		if member := m.props.Member("FilterCriteria"); member != nil {
			at = member.Position
		}
		c.Mistake(rule, at, "the mapping has FilterCriteria: "+why+"; take it out", "")
	}
}

// streamOf checks that the stream is that of the table that the ingest function writes.
func (c *Checker) streamOf(m *mapping) {
	switch {
	case m.source == nil:
		c.Mistake("stream-source", m.Position, "the mapping names no stream",
			"Stream: !GetAtt "+c.same("INGOT_TABLE", "TABLE")+".StreamArn"+properties)
		return
	case m.source.Kind != template.Reference:
		c.cannotTell("stream-source", m.source, "this is the events table's stream")
		return
	case c.ingest == nil:
		return
	}
	written := c.variable(c.ingest, "INGOT_TABLE")
	if written != nil && written.Kind == template.Reference && written.Name != m.source.Name {
		c.Mistake("stream-source", m.source.Position, fmt.Sprintf("the stream is %s's, and the ingest function writes to %s", m.source.Name,
			written.Name), "!GetAtt "+written.Name+".StreamArn")
	}
}

// order checks that the ingest function waits for the streams function in a deployment. The streams
// function must know an epoch before the first item that carries this epoch.
func (c *Checker) order() {
	if c.streams == nil {
		return
	}
	others := c.t.DependsOn(c.ingest.Resource)
	if slices.Contains(others, c.streams.Name) {
		return
	}
	instead := "DependsOn: " + c.streams.Name + " into it"
	if len(others) > 0 {
		instead = "DependsOn: [" + strings.Join(append(others, c.streams.Name), ", ") + "]"
	}
	c.Mistake("order", c.ingest.Position, c.ingest.Name+" does not wait for "+c.streams.Name+
		": it could write items of an epoch that the streams function does not know yet, and that function would stop", instead)
}
