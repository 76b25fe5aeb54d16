package rules

import (
	"slices"
	"strings"
)

// These settings lose nothing. Samples and guides of AWS have them, and they cost something, or do
// not bring what they seem to.

// unwiseStream is for the mapping of the stream.
var unwiseStream = []rule{
	{name: "stream-bisect", property: "BisectBatchOnFunctionError", must: isNot("true"), warns: true,
		wrong: "BisectBatchOnFunctionError is true: the function's answer already says which change failed, and each half " +
			"would count by itself; take it out"},
	{name: "stream-destination", property: "DestinationConfig", must: absent, warns: true,
		wrong: "the mapping has a DestinationConfig: no change is ever given up, so nothing arrives there; what cannot be counted " +
			"goes to quarantine; take it out"},
}

// unwiseQueue is for the queue of events, and unwiseFIFO if it is a FIFO queue.
var (
	unwiseQueue = rule{name: "delay", property: "DelaySeconds", must: number(0, 0, 0), whether: "the queue hands messages on at once",
		warns: true, instead: "DelaySeconds: 0",
		wrong: "DelaySeconds is {is}: each event is stored so much later, and the queue tries again anyway what fails"}
	unwiseFIFO = rule{name: "fifo-id", property: "ContentBasedDeduplication", must: is("true"), warns: true,
		whether: "SQS makes the deduplication id of a message from its body", instead: "ContentBasedDeduplication: true",
		wrong: "{of} has no ContentBasedDeduplication: SQS refuses a message without MessageDeduplicationId, and takes one that is drawn " +
			"anew with each sending for another message"}
)

// snapStart is for both functions. Lambda has no snapshots of what runs in provided.al2023 (Lambda
// developer guide, "Improving startup performance with Lambda SnapStart").
var snapStart = rule{name: "snapstart", property: "SnapStart.ApplyOn", must: isNot("PublishedVersions"),
	wrong: "{of} has SnapStart, which Lambda refuses for a compiled program; take SnapStart out"}

// tracing is for both functions.
var tracing = []rule{
	{name: "tracing", property: "Tracing", must: isNot("Active"), warns: true, wrong: traced, instead: "Tracing: PassThrough"},
	{name: "tracing", property: "TracingConfig.Mode", must: isNot("Active"), warns: true, wrong: traced, instead: "Mode: PassThrough"},
}

const traced = "{of} traces by itself, and X-Ray bills each trace; the metrics and log lines of a batch say what became of it"

// keptLogs is for the log group of a function.
var keptLogs = rule{name: "logs", property: "RetentionInDays", must: present, warns: true, instead: "RetentionInDays: 30",
	wrong: "{of} keeps logs for ever, and CloudWatch bills them each month"}

// unwise checks what both functions may have.
func (c *Checker) unwise(f *function) {
	on := c.resource(f.Resource)
	c.check(on, snapStart)
	c.check(on, tracing...)
	group := c.t.Property(f.Resource, "LoggingConfig", "LogGroup")
	if logs := c.referred(group); logs != nil && logs.Type == "AWS::Logs::LogGroup" {
		c.check(c.resource(logs), keptLogs)
	} else if group == nil {
		c.Warn("logs", f.Position, f.Name+" names no log group, so Lambda makes one that keeps logs for ever; name an "+
			"AWS::Logs::LogGroup with RetentionInDays in its LoggingConfig", "")
	}
}

// wide warns of statements that allow all actions of a service. With them, a fault or a stolen
// credential could delete what is stored.
func (c *Checker) wide(r *rights) {
	for _, s := range r.statements {
		all := func(action string) bool { return action == "*" || wholeService[action] }
		if s.keyOf == "" && slices.ContainsFunc(s.actions, all) {
			c.Warn("wide", r.at, r.of+" allows "+strings.Join(s.actions, ", ")+": a fault or a stolen credential can delete what is "+
				"stored; name the actions, as Ingot's template.yaml does", "")
		}
	}
}

var wholeService = map[string]bool{"dynamodb:*": true, "sqs:*": true, "s3:*": true}
