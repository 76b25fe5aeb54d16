package rules

import (
	"slices"

	"github.com/ingot-events/ingot/internal/base/excerpt"
	"github.com/ingot-events/ingot/internal/tool/check/template"
)

// indexAlarms checks the alarms for throttled writes to the indexes of the events table. The metric
// of the table itself does not include its indexes. A template without any such alarm is not
// judged, because it may be watched from elsewhere, or not at all.
func (c *Checker) indexAlarms(table *template.Resource) {
	var watched []*template.Node
	for _, r := range c.t.Resources() {
		if r.Type != "AWS::CloudWatch::Alarm" || !c.says(r, "Namespace", "AWS/DynamoDB") ||
			!c.says(r, "MetricName", "WriteThrottleEvents") {
			continue
		}
		switch index, told := c.watches(r, table); {
		case !told:
			return
		case index != nil:
			watched = append(watched, index)
		}
	}
	indexes, doubts := c.indexesOf(table, global)
	if len(doubts) > 0 || len(watched) == 0 {
		return
	}
	var there []*template.Node
	for _, i := range indexes {
		index := i.name
		there = append(there, index)
		if !named(watched, index.Text) && (c.p == nil || c.uses(index.Text)) {
			c.Warn("index-alarm", index.Position, "index "+index.Text+
				" has no alarm: when it refuses writes, so does the table, and the table's own alarm does not see it",
				"an alarm beside that for index "+watched[0].Text+", like it but with GlobalSecondaryIndexName "+index.Text)
		}
	}
	for _, index := range watched {
		if !named(there, index.Text) && !c.uses(index.Text) {
			c.Warn("index-alarm", index.Position, "there is no index "+index.Text+": this alarm never goes off; take it out", "")
		}
	}
}

// uses reports whether the pipeline uses an index.
func (c *Checker) uses(index string) bool {
	return c.p != nil && slices.Contains(c.p.Indexes(), index)
}

func named(list []*template.Node, name string) bool {
	return slices.ContainsFunc(list, func(n *template.Node) bool { return n.Is(name) })
}

func (c *Checker) says(r *template.Resource, property, text string) bool {
	return c.t.Property(r, property).Is(text)
}

// watches returns the index of table that an alarm is for, or nil if it is for no index, or for
// another table. told is false if only a deployment knows it.
func (c *Checker) watches(alarm, table *template.Resource) (index *template.Node, told bool) {
	list := c.t.Property(alarm, "Dimensions")
	if list == nil {
		return nil, true
	}
	if list.Kind != template.List {
		return nil, false
	}
	var of *template.Node
	for _, item := range list.Items {
		name, value := c.t.Get(item, "Name"), c.t.Get(item, "Value")
		switch {
		case name == nil || value == nil || name.Kind != template.Scalar:
			return nil, false
		case name.Text == "TableName":
			of = value
		case name.Text == "GlobalSecondaryIndexName":
			index = value
		}
	}
	switch {
	case index == nil || of == nil:
		return nil, true
	case index.Kind != template.Scalar || of.Kind != template.Scalar && of.Kind != template.Reference:
		return nil, false
	case of.Kind == template.Reference && of.Name != table.Name, of.Kind == template.Scalar && !c.says(table, "TableName", of.Text):
		return nil, true
	}
	return index, true
}

// quarantineAlarm checks that no alarm goes off for each event that a bound refuses. Such events
// are normal, although they are in quarantine together with messages that need attention.
func (c *Checker) quarantineAlarm(f *function) {
	queue := c.referred(c.variable(f, "INGOT_QUARANTINE_URL"))
	if queue == nil || c.p == nil || !c.p.HasBounds() {
		return
	}
	for _, r := range c.t.Resources() {
		if r.Type != "AWS::CloudWatch::Alarm" || !c.says(r, "Namespace", "AWS/SQS") ||
			!c.says(r, "MetricName", "ApproximateNumberOfMessagesVisible") {
			continue
		}
		for _, item := range c.t.Items(c.t.Property(r, "Dimensions")) {
			if of := c.referred(c.t.Get(item, "Value")); of != nil && of.Name == queue.Name {
				c.Warn("quarantine-alarm", r.Position,
					r.Name+" goes off for every event that a bound (atLeast, atMost) refuses, and such events are normal",
					"an alarm on the metrics of the other verdicts, as "+excerpt.Page("watch.md#quarantine")+" has it")
			}
		}
	}
}
