package function

import (
	"strings"
	"time"

	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/handler"
	"github.com/ingot-events/ingot/internal/emf"
	"github.com/ingot-events/ingot/store"
)

// Namespace is the CloudWatch namespace of all metrics. Their dimensions are service (always
// "ingot") and function (the function's name).
const Namespace = "Ingot"

const service = "ingot"

// Metric describes one metric. Each metric is written once a batch, even if it is 0, except those of
// [PartMetrics], [PutMetrics], [ArrayMetrics] and [PayloadMetrics].
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

// PutMetrics lists what the ingest function also writes for a batch with an event that was Rejected, or
// with a transaction that met another one, in order. Pipelines without totals that move with the put do not pay for these metrics.
func PutMetrics() []Metric { return described(putMeters()) }

// ArrayMetrics lists what the ingest function also writes for a batch with messages that are arrays of
// events, in order.
func ArrayMetrics() []Metric { return described(arrayMeters()) }

// StreamsMetrics lists what the streams function writes, in order.
func StreamsMetrics() []Metric { return described(streamsMeters()) }

// PayloadMetrics lists what the streams function also writes for a batch in which payloads were lost, in order.
func PayloadMetrics() []Metric { return described(payloadMeters()) }

// meter is a metric and the source of its value.
type meter[R any] struct {
	Metric
	value func(*batch[R]) float64
}

// batch is what is known of one batch when it is reported.
type batch[R any] struct {
	report R
	cost   store.Cost
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
		if v == event.Rejected {
			continue
		}
		meters = append(meters, meter[handler.IngestReport]{Metric{v.String(), emf.Count, verdictAbout[v]},
			func(b *ingested) float64 { return float64(b.report.Verdicts[v]) }})
	}
	meters = append(meters,
		meter[handler.IngestReport]{Metric{"Returned", emf.Count, "messages given back to SQS: retries, and what quarantine could not take"},
			func(b *ingested) float64 { return float64(b.report.Failed) }},
		meter[handler.IngestReport]{Metric{"OldestEventAgeSeconds", emf.Seconds, "age of the batch's oldest message since it was sent"},
			func(b *ingested) float64 { return max(0, b.report.OldestAge.Seconds()) }},
	)
	return append(meters, costMeters[handler.IngestReport]()...)
}

func partMeters() []meter[handler.IngestReport] {
	return []meter[handler.IngestReport]{
		{Metric{"Parts", emf.Count, "items of parts, beside those of their messages, that the batch has put or found stored, or has tried to"},
			func(b *ingested) float64 { return float64(sum(b.report.Parts[:])) }},
		{Metric{"PartsInserted", emf.Count, "those of them that are new; as with Inserted, at most the number of new items"},
			func(b *ingested) float64 { return float64(b.report.Parts[event.Inserted]) }},
		{Metric{"PartsUnproven", emf.Count, "those of them of which nothing is proven; their messages are delivered again"},
			func(b *ingested) float64 { return float64(b.report.Parts[event.Retry]) }},
	}
}

func putMeters() []meter[handler.IngestReport] {
	return []meter[handler.IngestReport]{
		{Metric{event.Rejected.String(), emf.Count, verdictAbout[event.Rejected]},
			func(b *ingested) float64 { return float64(b.report.Verdicts[event.Rejected]) }},
		{Metric{"RejectedByTotal", emf.Count, "those of them whose total cannot be updated any more: it is full, or holds something else than a number"},
			func(b *ingested) float64 { return float64(b.report.TotalRefused) }},
		{Metric{"TransactionConflicts", emf.Count, "transactions of puts that were refused because another request held one of their items, and were sent again; `spread` makes them fewer"},
			func(b *ingested) float64 { return float64(b.cost.Conflicts) }},
	}
}

func arrayMeters() []meter[handler.IngestReport] {
	return []meter[handler.IngestReport]{
		{Metric{"ArrayEvents", emf.Count, "events of messages that are arrays; the verdicts count such a message once, as the one of them that outweighs the others"},
			func(b *ingested) float64 { return float64(sum(b.report.Events[:])) }},
		{Metric{"ArrayEventsInserted", emf.Count, "those of them that are new; as with Inserted, at most the number of new items"},
			func(b *ingested) float64 { return float64(b.report.Events[event.Inserted]) }},
		{Metric{"ArrayEventsRefused", emf.Count, "those of them that can never be stored; their messages go to quarantine once the others are stored"},
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

var verdictAbout = [len(event.Verdicts) + 1]string{
	event.Inserted:  "new events, stored, as far as the answer arrived: where it is lost the event comes again as a Duplicate, so this is at most the number of new items",
	event.Updated:   "newer revisions that replaced the stored one",
	event.Duplicate: "events that were stored already",
	event.Stale:     "older revisions than the stored one",
	event.Conflict:  "another payload under a stored event's key; quarantined",
	event.Rejected:  "events that a total which moves with the put has refused; quarantined",
	event.Expired:   "events that came after their time; quarantined",
	event.Poison:    "messages that can never be stored; quarantined",
	event.Retry:     "events of which nothing is proven; delivered again",
}

type streamed = batch[handler.StreamsReport]

func streamsMeters() []meter[handler.StreamsReport] {
	return append([]meter[handler.StreamsReport]{
		{Metric{"ChangesReceived", emf.Count, "stream records in the batch"},
			func(b *streamed) float64 { return float64(b.report.Received) }},
		{Metric{"ChangesForeign", emf.Count, "records of items that are not Ingot's; ignored"},
			func(b *streamed) float64 { return float64(b.report.Foreign) }},
		{Metric{"ItemsInserted", emf.Count, "new items, of the records that are not delivered again. A batch whose answer is lost is counted once more, so over time this is at least the number of new items"},
			func(b *streamed) float64 { return float64(b.report.Inserted) }},
		{Metric{"AggregateUpdates", emf.Count, "aggregate items written"},
			func(b *streamed) float64 { return float64(b.report.Updates) }},
		{Metric{"StepsDroppedByMark", emf.Count, "steps found counted already, by mark or receipt, and not counted again"},
			func(b *streamed) float64 { return float64(b.report.Dropped) }},
		{Metric{"LargeTotals", emf.Count, "totals written that take 300 KB or more; from 400 KB on the table takes no update of them"},
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
		{Metric{"PayloadsLost", emf.Count, "expired items that were archived without their payload, because it was not in the payload bucket any more; the log names them. A batch that is delivered again counts them again"},
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
		{Metric{"ThrottlesHotKey", emf.Count, "refusals because one key is too hot; spreading the aggregate or the key helps, capacity does not"},
			func(b *batch[R]) float64 { hot, _ := throttles(b.cost); return float64(hot) }},
		{Metric{"ThrottlesCapacity", emf.Count, "refusals because a table, an index or the account is at its limit"},
			func(b *batch[R]) float64 { _, capacity := throttles(b.cost); return float64(capacity) }},
		{Metric{"BatchMs", emf.Milliseconds, "time taken by the batch"},
			func(b *batch[R]) float64 { return milliseconds(b.took) }},
		{Metric{"ColdStart", emf.Count, "1 for a process's first batch"},
			func(b *batch[R]) float64 { return flag(b.cold) }},
	}
}

// throttles counts refusals by what helps against them. If a reason of DynamoDB contains KeyRange,
// it means one hot key.
func throttles(c store.Cost) (hotKey, capacity int) {
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
