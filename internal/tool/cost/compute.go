package cost

import (
	"bytes"
	"cmp"
	"context"
	"iter"
	"log/slog"
	"math"
	"slices"
	"time"

	"github.com/ingot-events/ingot/aggregate"
	"github.com/ingot-events/ingot/envelope"
	"github.com/ingot-events/ingot/internal/run/emf"
	"github.com/ingot-events/ingot/internal/run/function"
	"github.com/ingot-events/ingot/internal/tool/check/rules"
	"github.com/ingot-events/ingot/internal/tool/estimate"
	"github.com/ingot-events/ingot/internal/tool/rehearse"
	"github.com/ingot-events/ingot/pipeline"
)

// Input is what [Compute] computes a cost from.
type Input struct {
	Name         string             // of the pipeline's file
	Pipeline     *pipeline.Pipeline // with a secret
	Rate         float64            // events a second, above 0
	Duplicates   float64            // repeated deliveries for each message
	Peak         float64            // events a second at the peak, at least Rate; 0: nothing is compared
	Together     int                // messages that producers send in a request, 1 to 10; 0: 1
	Partitions   int                // of the events table, at least 1
	Memory       int                // of each function, in MB
	Architecture string             // of both functions: arm64 or x86_64
	Traced       bool               // X-Ray gets traces of them
	Stack        *rules.Billed      // nil: as template.yaml has it
	Beside       []Stack            // that stand beside it
	Prices       *Prices

	File  string           // of the messages; empty: they are made up, and no two of them move the same totals
	Now   time.Time        // when the messages come
	Clock func() time.Time // tells how long the rehearsal takes; nil: it may take any time
}

// DefaultMemory is the memory of each function in MB, as in template.yaml.
const DefaultMemory = 576

// hours is the length of a month as AWS bills it.
const hours = 730

// template.yaml creates these, whatever the rate.
const (
	// alarmMetrics is how many metrics the alarms watch, without those of indexes, which have one
	// alarm each.
	alarmMetrics = 18
	// mappingMetrics is how many metrics of EventCount the stream's mapping writes. It is supposed
	// that they cost what own ones do.
	mappingMetrics = 6
	// longPoll is how many seconds a request waits at an empty queue.
	longPoll = 20
	// keyUses is how often KMS is asked in five minutes, at least, as long as events come. SQS
	// keeps a data key for that long, and asks twice for producers and once for Lambda (SQS
	// developer guide, "Key management", estimating costs). DynamoDB keeps the key of a table for
	// that long for each caller (DynamoDB developer guide, "Encryption at rest: how it works"), and
	// both functions call both tables.
	keyUses = 3 + 4
	// windowSeconds is the tumbling window of the stream's mapping. At its end the function is
	// invoked once more.
	windowSeconds = 900
	// olderVersions is how many days the archive keeps what has ended, as an older version.
	olderVersions = 30
	// platformLog is about how many bytes Lambda itself logs for an invocation: that it starts,
	// that it ends, and what it took.
	platformLog = 700
)

// usual is what is billed of template.yaml with its defaults.
func usual(p *pipeline.Pipeline) *rules.Billed {
	return &rules.Billed{Idle: 5, Archive: "batches", Alarms: alarmMetrics + rules.CompositeAlarm + len(p.Indexes()), Dashboards: 1,
		Secrets: 1}
}

// Compute rehearses messages, and returns what they cost.
func Compute(in Input, messages iter.Seq2[envelope.Message, error]) (*Report, error) {
	s, err := in.sample(messages)
	if err != nil {
		return nil, err
	}
	archived, err := s.Archived()
	if err != nil {
		return nil, err
	}
	return s.report(float64(archived)), nil
}

// report writes what a month takes.
func (s *sampled) report(archived float64) *Report {
	in, storing, counting, expiring := s.in, s.Used(rehearse.Storing), s.Used(rehearse.Counting), s.Used(rehearse.Expiring)
	r := &Report{Pipeline: in.Name, Rate: in.Rate, Hours: hours, Messages: in.Rate * hours * 3600, Partitions: in.Partitions,
		Memory: in.Memory, Architecture: in.Architecture, Prices: in.Prices.about(), Duplicates: in.Duplicates}
	s.about(r)
	each := func(of float64) float64 { return of * s.scale() } // a second, for a sum over the sample
	count := func(of int) float64 { return each(float64(of)) }
	add := func(part, billed, price string, aSecond float64) {
		r.add(in.Prices, part, billed, price, aSecond*hours*3600)
	}

	messages := in.Rate * (1 + in.Duplicates) / s.inMessage()
	received, idle := messages/math.Min(10, r.Batches.Ingest), float64(in.Stack.Idle)/longPoll
	add("queue", "SQS requests", SQSRequests,
		each(s.sent+chunksOf(s.unsent))+math.Max(idle, received)*math.Max(1, s.chunks/s.messages)+received+count(storing.Letters))
	r.add(in.Prices, "queue", "poller-hours", LambdaPollers, float64(in.Stack.Pollers)*hours)
	batches := messages / r.Batches.Ingest
	inBatch := r.Batches.Ingest * s.inMessage() // events
	seconds := estimate.Put{Messages: inBatch, Requests: float64(storing.Requests+s.required.requests) / float64(storing.Batches),
		Uploads: float64(storing.Puts) / s.events * inBatch, Fetched: float64(storing.Gets) / s.events * inBatch}.Seconds(in.Memory)
	add("ingest function", "invocations", LambdaRequests, batches)
	add("ingest function", "GB-seconds", gbSeconds(in.Architecture), batches*seconds*gigabytes(in.Memory))
	add("puts", "write units", WriteUnits, each(storing.Events.Write-storing.Events.Refused))
	add("puts", "DynamoDB requests", "", count(storing.Requests))
	add("requires", "read units", ReadUnits, each(s.required.units))
	add("requires", "DynamoDB requests", "", count(s.required.requests))
	add("totals by put", "write units", WriteUnits,
		each(storing.Totals.Write-storing.Totals.Refused+storing.Totals.IndexWrite+s.marks(rehearse.Storing)))
	add("indexes", "write units", WriteUnits, each(storing.Events.IndexWrite))
	add("repetitions", "write units", WriteUnits, each(storing.Events.Refused+storing.Totals.Refused))
	add("repetitions", "read units", ReadUnits, each(storing.Events.Read+storing.Totals.Read))

	add("payload bucket", "PUT requests", S3Puts, count(storing.Puts))
	add("payload bucket", "GET requests", S3Gets, count(storing.Gets))
	// What is kept for ever is counted as it is after a month.
	stored := func(of func(held) float64) float64 {
		return each(of(s.kept))/gigabyte + each(of(s.forever))*hours*3600/gigabyte
	}
	r.add(in.Prices, "payload bucket", "GB-months", S3Storage, stored(func(h held) float64 { return h.payloads }))

	changes := storing.Changes + expiring.Changes
	counted, windows := count(changes)/r.Batches.Streams, 0.0
	if changes > 0 && in.Stack.Counting == aggregate.Marks {
		windows = float64(in.Partitions) / windowSeconds
	}
	together := math.Max(float64(changes), 1) / r.Batches.Streams // batches, with changes of both kinds
	inEach := func(of int) float64 { return float64(of) / together }
	streaming := counted * estimate.Count{Changes: r.Batches.Streams, Updates: inEach(counting.Updates + expiring.Updates),
		Requests: float64(counting.Requests+expiring.Requests) / math.Max(1, together), // a short sample is one batch
		Archived: inEach(expiring.Puts), Fetched: inEach(expiring.Gets)}.Seconds(in.Memory)
	add("streams function", "invocations", LambdaRequests, counted+windows)
	add("streams function", "GB-seconds", gbSeconds(in.Architecture), streaming*gigabytes(in.Memory))
	add("totals", "write units", WriteUnits, each(counting.Totals.Write+counting.Totals.IndexWrite))
	add("totals", "read units", ReadUnits, each(s.looks(rehearse.Counting)))
	add("totals", "DynamoDB requests", "", count(counting.Requests))
	add("marks", "write units", WriteUnits, each(s.marks(rehearse.Counting)))
	add("expiry", "write units", WriteUnits, each(expiring.Totals.Write+expiring.Totals.IndexWrite+s.marks(rehearse.Expiring)))
	add("expiry", "read units", ReadUnits, each(s.looks(rehearse.Expiring)))
	add("expiry", "DynamoDB requests", "", count(expiring.Requests))

	add("archive", "PUT requests", S3Puts, count(expiring.Puts))
	add("archive", "GET requests", S3Gets, count(expiring.Gets))
	if days := in.Stack.ArchiveDays; days > 0 {
		r.add(in.Prices, "archive", "GB-months", S3Storage, each(archived)*float64(days+olderVersions)*86_400/gigabyte)
	} else {
		r.add(in.Prices, "archive", "GB more each month", S3Storage, each(archived)*hours*3600/gigabyte)
	}
	r.Grows = s.forever.table > 0 // a payload is kept for ever only if its item is
	// Backups hold the table without its indexes.
	r.add(in.Prices, "storage", "GB-months", Storage, stored(func(h held) float64 { return h.table + h.indexes }))
	r.add(in.Prices, "storage", "GB-months of backup", Backup, stored(func(h held) float64 { return h.table }))
	if dollars, known := in.Prices.Dollars(Restored, stored(func(h held) float64 { return h.table + h.indexes })); known {
		r.RestoreDollars = &dollars
	} else {
		r.lacks(Restored)
	}

	ingested := function.IngestMetrics()
	if s.parts > 0 {
		ingested = append(ingested, function.PartMetrics()...)
	}
	r.add(in.Prices, "watching", "metrics", Metrics, float64(len(ingested)+len(function.StreamsMetrics())+mappingMetrics))
	r.add(in.Prices, "watching", "dashboards", Dashboards, float64(in.Stack.Dashboards))
	r.add(in.Prices, "watching", "alarms", Alarms, float64(in.Stack.Alarms))
	add("watching", "GB of logs", Logs,
		(batches*logged("ingest", ingested)+(counted+windows)*logged("streams", function.StreamsMetrics()))/gigabyte)
	if in.Traced {
		add("watching", "traces", Traces, traced(batches)+traced(counted+windows))
	}
	r.add(in.Prices, "secret", "secrets", Secrets, float64(in.Stack.Secrets))
	if in.Stack.OwnKey {
		r.add(in.Prices, "key", "keys", Keys, 1)
		r.add(in.Prices, "key", "KMS requests", KeyRequests, keyUses*hours*12)
	}
	s.stacks(r, stored(func(h held) float64 { return h.table }))
	r.finish()
	r.capacity(in)
	s.beside(r, "put and ADD by hand", hand{})
	s.beside(r, "ADD with a marker", hand{marked: true})
	s.beside(r, "with Powertools", hand{around: 2})
	s.beside(r, "all of it by hand", hand{marked: true, whole: true})
	return r
}

// hand is another way to store and to count, with two functions.
type hand struct {
	// around is how many writes more each message and each change takes: a record of idempotency is
	// written before, and once more after.
	around float64
	// marked says that the totals of a change are added in one transaction with a marker of it,
	// which is put if it is absent.
	marked bool
	// whole says that what expires is archived and leaves the totals, and that alarms watch.
	whole bool
}

// beside adds what the same events would cost with two functions that put an event if it is absent,
// and add its changes to the totals one by one. Such functions fold nothing and send one request
// after the other. Only if they do the whole job, they do something when an event expires.
func (s *sampled) beside(r *Report, name string, by hand) {
	in, storing, counting := s.in, s.Used(rehearse.Storing), s.Used(rehearse.Counting)
	other := &Report{Messages: r.Messages, Prices: r.Prices}
	same := []string{"queue", "puts", "requires", "indexes", "repetitions", "storage"}
	if by.whole {
		same = append(same, "archive", "watching")
	}
	for _, p := range r.Parts {
		if slices.Contains(same, p.Name) {
			other.Parts = append(other.Parts, p)
		}
	}
	add := func(billed, price string, aSecond float64) {
		other.add(in.Prices, name, billed, price, aSecond*hours*3600)
	}
	messages := in.Rate * (1 + in.Duplicates) / s.inMessage()
	changes, updates := s.scale()*float64(storing.Changes), s.scale()*float64(counting.Updates)
	if expiring := s.Used(rehearse.Expiring); by.whole {
		changes, updates = changes+s.scale()*float64(expiring.Changes), updates+s.scale()*float64(expiring.Updates)
	}
	records, requests, units := by.around*(messages+changes), updates, updates
	if by.marked {
		requests, units = changes, estimate.InTransaction*(changes+updates)
	}
	add("invocations", LambdaRequests, messages/r.Batches.Ingest+changes/r.Batches.Streams)
	add("GB-seconds", gbSeconds(in.Architecture), (messages+requests+records)*estimate.Latency*gigabytes(in.Memory))
	add("write units", WriteUnits, units+records)
	other.finish()
	r.Beside = append(r.Beside, Beside{Name: name, DollarsAMillion: other.DollarsAMillion, DollarsAMonth: other.DollarsAMonth})
}

// about says what the figures assume.
func (s *sampled) about(r *Report) {
	storing, counting, expiring := s.Used(rehearse.Storing), s.Used(rehearse.Counting), s.Used(rehearse.Expiring)
	changes := storing.Changes + expiring.Changes
	r.Batches.Ingest, r.Batches.Streams = s.messagesInBatch(), s.inBatch(changes)
	if storing.Transactions > 0 {
		r.Batches.Transaction = s.transacted / float64(storing.Transactions)
	}
	r.MovedByPut = storing.Totals.Write > 0
	r.Events = Events{File: s.in.File, Messages: int(s.events), More: s.more, Bytes: s.bytes / s.events,
		Parts: s.parts / math.Max(1, s.stored), Updates: float64(counting.Updates+expiring.Updates) / float64(max(1, changes))}
	if s.in.File == "" {
		r.Events.Indexes = s.indexes
	}
	if n := s.inMessage(); n > 1 {
		r.Events.InMessage = n
	}
	r.Partial = s.in.File != "" && float64(storing.Changes)/float64(s.in.Partitions) < math.Round(s.inBatch(storing.Changes))
}

const gigabyte = 1 << 30

func gigabytes(memory int) float64 { return float64(memory) / 1024 }

func gbSeconds(architecture string) string {
	if architecture == "x86_64" {
		return LambdaX86
	}
	return LambdaArm
}

// traced returns how many traces a second X-Ray records for a function with so many invocations a
// second: one, and a twentieth of the others (Lambda developer guide, "Visualize Lambda function
// invocations using AWS X-Ray").
func traced(aSecond float64) float64 {
	return math.Min(1, aSecond) + math.Max(0, aSecond-1)/20
}

// logged returns how many bytes a function logs in an invocation: its metrics, the line for people,
// and Lambda's own lines.
func logged(name string, metrics []function.Metric) float64 {
	var out bytes.Buffer
	at := time.Date(2026, 1, 2, 3, 4, 5, 123456789, time.UTC) // any time, as long as it is always the same
	emitter := emf.Emitter{Out: &out, Now: func() time.Time {
		return at
	}, Namespace: function.Namespace, Service: "ingot", Function: cmp.Or(name, "function")}
	values, attrs := make([]emf.Metric, len(metrics)), make([]slog.Attr, len(metrics))
	for i, m := range metrics {
		values[i], attrs[i] = emf.Metric{Name: m.Name, Unit: m.Unit, Value: 100}, slog.Float64(m.Name, 100)
	}
	if err := emitter.Emit("00000000-0000-0000-0000-000000000000", values); err != nil {
		return platformLog // cannot happen: a buffer accepts everything
	}
	record := slog.NewRecord(at, slog.LevelInfo, name, 0)
	record.AddAttrs(attrs...)
	_ = slog.NewJSONHandler(&out, nil).Handle(context.Background(), record) // to a buffer
	return float64(out.Len() + platformLog)
}
