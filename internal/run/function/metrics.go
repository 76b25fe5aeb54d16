package function

import (
	"strings"
	"time"

	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/handler"
	"github.com/ingot-events/ingot/internal/run/emf"
	"github.com/ingot-events/ingot/tables"
)

// Namespace is the CloudWatch namespace of all metrics. Their dimensions are service (always
// "ingot") and function (the function's name).
const Namespace = "Ingot"

const service = "ingot"

// Metric describes one metric. Each metric is written once for each batch, even if it is 0, except
// those of [PartMetrics], [PutMetrics], [ArrayMetrics] and [PayloadMetrics].
type Metric struct {
	Name  string
	Unit  emf.Unit
	About string
}

// IngestMetrics lists what the ingest function writes, in order.
func IngestMetrics() []Metric { return described(ingestMeters()) }

// PartMetrics lists what the ingest function also writes for a batch that has put parts, in order.
// Pipelines without parts do not pay for these metrics.
func PartMetrics() []Metric { return described(partMeters()) }

// PutMetrics lists what the ingest function also writes for a batch with a verdict that few
// pipelines know ([event.Verdict.Seldom]), or with a transaction that conflicted with another one,
// in order. Pipelines without totals that move with the put do not pay for these metrics.
func PutMetrics() []Metric { return described(putMeters()) }

// ArrayMetrics lists what the ingest function also writes for a batch with messages that are arrays
// of events, in order.
func ArrayMetrics() []Metric { return described(arrayMeters()) }

// StreamsMetrics lists what the streams function writes, in order.
func StreamsMetrics() []Metric { return described(streamsMeters()) }

// PayloadMetrics lists what the streams function also writes for a batch in which payloads were
// lost, in order.
func PayloadMetrics() []Metric { return described(payloadMeters()) }

// WatchMetrics lists what the worker of cmd/worker writes for a run of its schedule, in order. If a
// run fails, the state machine writes the last one.
func WatchMetrics() []Metric {
	return []Metric{
		{"TotalsCompared", emf.Count, "totals that the run has compared with their items"},
		{"TotalsDiffering", emf.Count, "totals that are wrong: both looks agree, and nothing was on its way"},
		{"TotalsUndecided", emf.Count, "totals that differ and may be right, because their events were on their way; no alarm"},
		{"EventsCompared", emf.Count, "items that the run has added up"},
		{"VerifyFailed", emf.Count, "runs in a row that have proved nothing"},
	}
}

// Watched returns the metrics of a run of the schedule that has proved something.
func Watched(totals, differing, undecided, events int) (list []emf.Metric) {
	values := []int{totals, differing, undecided, events, 0}
	for i, m := range WatchMetrics() {
		list = append(list, emf.Metric{Name: m.Name, Unit: m.Unit, Value: float64(values[i])})
	}
	return list
}

// meter is a metric and the source of its value.
type meter[R any] struct {
	Metric
	value func(*batch[R]) float64
}

// batch holds what is known about one batch when it is reported.
type batch[R any] struct {
	report R
	cost   tables.Cost
	took   time.Duration
	cold   bool // the process's first batch
}

func described[R any](meters []meter[R]) []Metric {
	list := make([]Metric, len(meters))
	for i, m := range meters {
		list[i] = m.Metric
	}
	return list
}

type ingested = batch[handler.IngestReport]

func ingestMeters() []meter[handler.IngestReport] {
	meters := []meter[handler.IngestReport]{
		{Metric{"EventsReceived", emf.Count, "messages in the batch; the verdicts add up to it"},
			func(b *ingested) float64 { return float64(b.report.Received) }},
	}
	for _, v := range event.Verdicts {
		if !v.Seldom() {
			meters = append(meters, verdictMeter(v))
		}
	}
	meters = append(meters,
		meter[handler.IngestReport]{Metric{"Returned", emf.Count,
			"messages given back to SQS: retries, and messages that could not be put into quarantine"},
			func(b *ingested) float64 { return float64(b.report.Failed) }},
		meter[handler.IngestReport]{Metric{"OldestEventAgeSeconds", emf.Seconds, "age of the batch's oldest message since it was sent"},
			func(b *ingested) float64 { return max(0, b.report.OldestAge.Seconds()) }},
	)
	return append(meters, costMeters[handler.IngestReport]()...)
}

func verdictMeter(v event.Verdict) meter[handler.IngestReport] {
	return meter[handler.IngestReport]{Metric{v.String(), emf.Count, v.Means()},
		func(b *ingested) float64 { return float64(b.report.Verdicts[v]) }}
}

func partMeters() []meter[handler.IngestReport] {
	return []meter[handler.IngestReport]{
		{Metric{"Parts", emf.Count,
			"items of parts that the batch has put, found stored or tried to put; the items of whole events are not among them"},
			func(b *ingested) float64 { return float64(sum(b.report.Parts[:])) }},
		{Metric{"PartsInserted", emf.Count, "parts that are new; like Inserted, at most the number of new items"},
			func(b *ingested) float64 { return float64(b.report.Parts[event.Inserted]) }},
		{Metric{"PartsUnproven", emf.Count, "parts for which no outcome is proven; their messages are delivered again"},
			func(b *ingested) float64 { return float64(b.report.Parts[event.Retry]) }},
	}
}

func putMeters() []meter[handler.IngestReport] {
	var meters []meter[handler.IngestReport]
	for _, v := range event.Verdicts {
		if v.Seldom() {
			meters = append(meters, verdictMeter(v))
		}
	}
	return append(meters, []meter[handler.IngestReport]{
		{Metric{"RejectedByTotal", emf.Count,
			"rejected events whose total cannot be updated any more: it is full, or holds a value that is not a number"},
			func(b *ingested) float64 { return float64(b.report.TotalRefused) }},
		{Metric{"TransactionConflicts", emf.Count, "transactions of puts that were refused because another request held one of their " +
			"items, and were sent again; `spread` reduces them"},
			func(b *ingested) float64 { return float64(b.cost.Conflicts) }},
	}...)
}

// seldom counts the messages and events of a batch that have a verdict which few pipelines know.
func seldom(r handler.IngestReport) (n int) {
	for _, v := range event.Verdicts {
		if v.Seldom() {
			n += r.Verdicts[v] + r.Events[v]
		}
	}
	return n
}

func arrayMeters() []meter[handler.IngestReport] {
	return []meter[handler.IngestReport]{
		{Metric{"ArrayEvents", emf.Count, "events in messages that are arrays; the metrics named after verdicts count such a message " +
			"once, under the verdict that outweighs those of its other events"},
			func(b *ingested) float64 { return float64(sum(b.report.Events[:])) }},
		{Metric{"ArrayEventsInserted", emf.Count, "events in arrays that are new; like Inserted, at most the number of new items"},
			func(b *ingested) float64 { return float64(b.report.Events[event.Inserted]) }},
		{Metric{"ArrayEventsRefused", emf.Count,
			"events in arrays that can never be stored; their messages go to quarantine once the other events are stored"},
			func(b *ingested) (n float64) {
				for v, of := range b.report.Events {
					if event.Verdict(v).Quarantined() {
						n += float64(of)
					}
				}
				return n
			}},
	}
}

func sum(list []int) (n int) {
	for _, of := range list {
		n += of
	}
	return n
}

type streamed = batch[handler.StreamsReport]

func streamsMeters() []meter[handler.StreamsReport] {
	return append([]meter[handler.StreamsReport]{
		{Metric{"ChangesReceived", emf.Count, "stream records in the batch"},
			func(b *streamed) float64 { return float64(b.report.Received) }},
		{Metric{"ChangesForeign", emf.Count,
			"records of items that are not events, like the one that names the home Region, and fences; no alarm"},
			func(b *streamed) float64 { return float64(b.report.Foreign) }},
		{Metric{"ItemsInserted", emf.Count, "new items among the records that are not delivered again. A batch whose answer is lost is " +
			"counted once more, so over time this is at least the number of new items"},
			func(b *streamed) float64 { return float64(b.report.Inserted) }},
		{Metric{"AggregateUpdates", emf.Count, "aggregate items written"},
			func(b *streamed) float64 { return float64(b.report.Updates) }},
		{Metric{"StepsDroppedByMark", emf.Count,
			"steps that a mark or a receipt showed to be counted already, and that were not counted again"},
			func(b *streamed) float64 { return float64(b.report.Dropped) }},
		{Metric{"LargeTotals", emf.Count, "written totals of 300 KB or more; from 400 KB on, DynamoDB refuses to update them"},
			func(b *streamed) float64 { return float64(b.report.Large) }},
		{Metric{"Quarantined", emf.Count, "records and updates put into quarantine; their totals are flagged"},
			func(b *streamed) float64 { return float64(b.report.Quarantined) }},
		{Metric{"Archived", emf.Count, "expired items kept in the archive bucket"},
			func(b *streamed) float64 { return float64(b.report.Archived) }},
		{Metric{"Behind", emf.Count, "items stamped below an aggregate's epoch: that aggregate is building until it is rebuilt"},
			func(b *streamed) float64 { return float64(b.report.Behind) }},
		{Metric{"BatchesUnproven", emf.Count, "1 if the batch, or part of it, is delivered again"},
			func(b *streamed) float64 { return flag(b.report.Unproven) }},
		{Metric{"IteratorLagMs", emf.Milliseconds, "age of the batch's first record since the table wrote it"},
			func(b *streamed) float64 { return milliseconds(b.report.Lag) }},
	}, costMeters[handler.StreamsReport]()...)
}

func payloadMeters() []meter[handler.StreamsReport] {
	return []meter[handler.StreamsReport]{
		{Metric{"PayloadsLost", emf.Count, "expired items that were archived without their payload, because it was not in the payload " +
			"bucket any more; the log names them. A batch that is delivered again counts them again"},
			func(b *streamed) float64 { return float64(b.report.PayloadsLost) }},
	}
}

// costMeters returns the metrics that both functions have.
func costMeters[R any]() []meter[R] {
	return []meter[R]{
		{Metric{"WriteUnits", emf.Count, "DynamoDB write units, counted from item sizes"},
			func(b *batch[R]) float64 { return b.cost.WriteUnits }},
		{Metric{"ReadUnits", emf.Count, "DynamoDB read units, counted from item sizes"},
			func(b *batch[R]) float64 { return b.cost.ReadUnits }},
		{Metric{"Requests", emf.Count, "requests to DynamoDB"},
			func(b *batch[R]) float64 { return float64(b.cost.Requests) }},
		{Metric{"Retries", emf.Count, "requests and statements sent again after a refusal or a lost answer"},
			func(b *batch[R]) float64 { return float64(b.cost.Retries) }},
		{Metric{"ThrottlesHotKey", emf.Count,
			"refusals because one key is too hot; spreading the aggregate or the key helps, capacity does not"},
			func(b *batch[R]) float64 { hot, _ := throttles(b.cost); return float64(hot) }},
		{Metric{"ThrottlesCapacity", emf.Count, "refusals because a table, an index or the account is at its limit"},
			func(b *batch[R]) float64 { _, capacity := throttles(b.cost); return float64(capacity) }},
		{Metric{"BatchMs", emf.Milliseconds, "time taken by the batch"},
			func(b *batch[R]) float64 { return milliseconds(b.took) }},
		{Metric{"ColdStart", emf.Count, "1 for a process's first batch"},
			func(b *batch[R]) float64 { return flag(b.cold) }},
	}
}

// throttles divides the refusals by their remedy. A reason of DynamoDB that contains KeyRange means
// that one key is hot.
func throttles(c tables.Cost) (hotKey, capacity int) {
	for reason, n := range c.Throttles {
		if strings.Contains(reason, "KeyRange") {
			hotKey += n
		} else {
			capacity += n
		}
	}
	return hotKey, capacity
}

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

func flag(b bool) float64 {
	if b {
		return 1
	}
	return 0
}
