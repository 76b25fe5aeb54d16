package rules

import (
	"strconv"

	"github.com/ingot-events/ingot/aggregate"
	"github.com/ingot-events/ingot/internal/tool/check/template"
)

// Billed is what is billed of a stack, beside the size of its functions and what events make it do.
type Billed struct {
	Counting    aggregate.Counting
	Idle        int    // requests that wait at an empty queue at once
	Pollers     int    // of the queue in provisioned mode, at least; 0: Lambda scales by itself
	Archive     string // batches or objects; empty: none
	ArchiveDays int    // 0: the archive keeps events for ever
	OwnKey      bool   // tables and queues have a KMS key of one's own
	Alarms      int    // metrics that alarms watch; an alarm that is made of others counts as CompositeAlarm
	Dashboards  int
	Secrets     int
	Schedule    string // of EventBridge Scheduler; empty: none
}

// CompositeAlarm is the price of an alarm that is made of others, in metrics of alarms (Amazon
// CloudWatch Pricing: $0.50 and $0.10).
const CompositeAlarm = 5

// These are how many pollers Lambda has at an empty queue, at least. Beside MaximumConcurrency, it
// does not go below five (Lambda developer guide, "Configuring scaling behavior for SQS event
// source mappings").
const idlePollers, idleBounded = 2, 5

// Billed returns what is billed of a template. What only a deployment can tell is left empty.
func (c *Checker) Billed() Billed {
	s := Billed{Idle: idlePollers}
	if c.ingest != nil {
		c.polled(&s)
		events := c.table(c.ingest, "INGOT_TABLE")
		s.OwnKey = events != nil && c.t.Property(events, "SSESpecification", "KMSMasterKeyId") != nil
	}
	if c.streams != nil {
		s.Counting, _, _ = c.countingOf(c.streams)
		c.archived(&s)
	}
	for _, r := range c.t.Resources() {
		switch r.Type {
		case "AWS::CloudWatch::Alarm":
			s.Alarms += c.metricsOf(r)
		case "AWS::CloudWatch::CompositeAlarm":
			s.Alarms += CompositeAlarm
		case "AWS::CloudWatch::Dashboard":
			s.Dashboards++
		case "AWS::SecretsManager::Secret":
			s.Secrets++
		case "AWS::Scheduler::Schedule":
			if n := c.t.Property(r, "ScheduleExpression"); n != nil {
				s.Schedule = n.Text
			}
		}
	}
	return s
}

// metricsOf returns how many metrics an alarm watches.
func (c *Checker) metricsOf(alarm *template.Resource) (n int) {
	for _, metric := range c.t.Items(c.t.Property(alarm, "Metrics")) {
		if c.t.Get(metric, "MetricStat") != nil {
			n++
		}
	}
	return max(1, n)
}

// polled says how Lambda polls the queue.
func (c *Checker) polled(s *Billed) {
	for _, m := range c.mappingsOf(c.ingest.Name, false) {
		if c.t.Get(m.props, "ScalingConfig", "MaximumConcurrency") != nil {
			s.Idle = idleBounded
		}
		if n := c.t.Get(m.props, "ProvisionedPollerConfig", "MinimumPollers"); n != nil {
			s.Pollers, _ = c.number("pollers", n, 0, "pollers are billed")
			s.Idle = s.Pollers
		}
	}
}

// archived says how the archive keeps events.
func (c *Checker) archived(s *Billed) {
	bucket := c.variable(c.streams, "INGOT_ARCHIVE_BUCKET")
	if bucket == nil {
		return
	}
	s.Archive = "batches"
	if c.variable(c.streams, "INGOT_ARCHIVE").Is("objects") {
		s.Archive = "objects"
	}
	of := c.referred(bucket)
	if of == nil {
		return
	}
	for _, rule := range c.t.Items(c.t.Property(of, "LifecycleConfiguration", "Rules")) {
		if n := c.t.Get(rule, "ExpirationInDays"); n != nil && n.Kind == template.Scalar {
			s.ArchiveDays, _ = strconv.Atoi(n.Text)
		}
	}
}
