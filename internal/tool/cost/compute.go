package cost

import (
	"bytes"
	"cmp"
	"context"
	"log/slog"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/ingot-events/ingot/aggregate"
	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/run/emf"
	"github.com/ingot-events/ingot/internal/run/function"
	"github.com/ingot-events/ingot/internal/tool/estimate"
	"github.com/ingot-events/ingot/pipeline"
)

// Input is what [Compute] computes a cost from.
type Input struct {
	Name         string // of the pipeline's file
	Pipeline     *pipeline.Pipeline
	Rate         float64  // messages a second, above 0
	Duplicates   float64  // repeated deliveries for each message
	Partitions   int      // of the events table, at least 1
	Memory       int      // of each function, in MB
	Architecture string   // of both functions: arm64 or x86_64
	Events       *Sampled // sample events; nil: none
	Prices       *Prices  // nil: none are given
	// Parts is how many parts of each type a message is assumed to have, if its type declares parts
	// with each. It is not used for sample events. 0 means 1.
	Parts int
	// Messages and Changes are how many a function is given at once. 0 means as many as arrive.
	Messages, Changes float64
}

// DefaultMemory is the memory of each function in MB, as in template.yaml.
const DefaultMemory = 576

// hours is the length of a month as AWS bills it.
const hours = 730

// template.yaml creates these, whatever the rate.
const (
	// alarmMetrics is how many metrics the alarms watch, without those of indexes, which have one
	// alarm each.
	alarmMetrics = 16
	// leastPolls is how many requests a second Lambda sends to an empty queue: it has two pollers,
	// and each of their requests waits 20 seconds.
	leastPolls = 2.0 / 20
	// windowSeconds is the tumbling window of the stream's mapping. At its end the function is
	// invoked once more.
	windowSeconds = 900
	// platformLog is about how many bytes Lambda itself logs for an invocation: that it starts,
	// that it ends, and what it took.
	platformLog = 700
)

// load holds what happens in one second.
type load struct {
	*events
	scale    float64 // multiplies a sum over the sample to get a rate a second
	messages float64 // messages that are handed to the ingest function
	put      estimate.Put
	batches  float64 // of the ingest function
	count    estimate.Count
	counted  float64 // batches of the streams function
}

// Compute returns what the pipeline costs.
func Compute(in Input) *Report {
	e := in.events()
	e.duplicates(in.Duplicates)
	own := 1 + in.Duplicates
	if in.Messages == 0 {
		in.Messages = e.inMessage() * estimate.InBatch(in.Rate*own/estimate.Pollers/e.inMessage(), e.bytes/e.sent)
	}
	if in.Changes == 0 {
		in.Changes = estimate.InBatch((e.changes()+e.expire)*in.Rate/e.messages/float64(in.Partitions), 2*e.bytes/e.messages)
	}
	return newLoad(e, in).report(in)
}

// events returns the events of the sample, or else the worst that the pipeline allows.
func (in Input) events() *events {
	if in.Events != nil && in.Events.messages > 0 {
		return in.Events.finish(in.Rate)
	}
	_, worst := dearest(in.Pipeline, max(1, in.Parts))
	return supposed(worst)
}

// inMessage returns how many events a message has.
func (e *events) inMessage() float64 { return math.Max(1, e.messages/math.Max(1, e.sent)) }

// shape holds what a pipeline declares for all items of one event type.
type shape struct {
	indexes int // how many an item can be in
	// transaction says that a transaction puts the item, and inWhole that it is the one of its
	// whole.
	transaction, inWhole bool
	retain               time.Duration           // 0: it is kept for ever
	aggregates           []*aggregate.Definition // that the type feeds
	parts                []partShape             // of a message of the type
}

// partShape is the shape of the parts of one type.
type partShape struct {
	shape
	n int // how many a message yields
}

// shapeOf returns the shape of a type. A message yields so many parts of each type that has each.
func shapeOf(p *pipeline.Pipeline, spec *pipeline.Spec, typ string, parts int) shape {
	s := shape{indexes: len(spec.Events[typ].Indexes), retain: spec.Events[typ].Retain}
	s.inWhole = spec.Events[spec.Events[typ].Part.Of].Atomic
	s.transaction = s.inWhole || spec.Events[typ].Atomic
	for _, def := range p.Definitions() {
		if _, feeds := spec.Aggregates[def.Name].From[typ]; feeds {
			s.aggregates = append(s.aggregates, def)
			s.transaction = s.transaction || byPut(def)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(spec.Events)) {
		if part := spec.Events[name].Part; part.Of == typ {
			n := 1
			if part.Each != "" {
				n = parts
			}
			s.parts = append(s.parts, partShape{shapeOf(p, spec, name, parts), n})
		}
	}
	return s
}

// units compares what items of a shape cost.
func (s shape) units() float64 {
	units := float64(1+s.indexes) * s.factor()
	for _, def := range s.aggregates {
		units += float64(estimate.Units(def, 0, aggregate.Marks))
	}
	if s.retain > 0 {
		units += float64(len(s.aggregates))
	}
	for _, part := range s.parts {
		units += float64(part.n) * part.units()
	}
	return units
}

// factor returns by how much the cost of the put is multiplied: a put in a transaction costs more.
func (s shape) factor() float64 {
	if s.transaction {
		return estimate.InTransaction
	}
	return 1
}

// dearest returns the event type whose messages cost the most write units. A message yields so many
// parts of each type that has each.
func dearest(p *pipeline.Pipeline, parts int) (name string, worst shape) {
	most := -1.0
	spec := p.Describe().Spec
	for _, typ := range slices.Sorted(maps.Keys(spec.Events)) {
		if p.IsPart(typ) {
			continue // its messages are those of its whole
		}
		s := shapeOf(p, &spec, typ, parts)
		if units := s.units(); units > most {
			name, worst, most = typ, s, units
		}
	}
	return name, worst
}

// newLoad packs the events into batches.
func newLoad(e *events, in Input) *load {
	l := &load{events: e, scale: in.Rate / e.messages}
	l.messages = in.Rate * (1 + in.Duplicates)
	l.batches = l.messages / in.Messages
	share := in.Messages / (e.messages * (1 + in.Duplicates)) // of one batch in the sample
	writes := e.changes() + e.taken() - e.verdicts[event.Updated] - e.moved.items - e.moved.met
	wasted, more := e.moved.again(e.metGroups)
	e.refused += wasted
	l.put = estimate.Put{Messages: in.Messages, Uploads: e.apart.puts * share, Fetched: e.apart.compared * share, Writes: writes * share,
		Taken: (e.taken() - e.moved.met) * share, Transactions: (e.moved.packs + more) * share, Replaced: e.verdicts[event.Updated] * share,
		Compared: e.verdicts[event.Conflict] * share}

	changing := (e.changes() + e.expire) * l.scale
	if changing > 0 {
		l.counted = changing / in.Changes
		updates, leaving, looks := e.updates()
		each := l.scale / l.counted
		l.count = estimate.Count{Changes: in.Changes, Updates: (updates + leaving) * each,
			Looks: (looks + looks*leaving/math.Max(1, updates)) * each, Archived: e.expire * each, Fetched: e.apart.expire * each}
	}
	return l
}

// updates returns the updates of totals when events are stored and when they expire. looks is how
// many of the first are of totals that the function has not seen.
func (e *events) updates() (storing, leaving, looks float64) {
	for _, s := range e.sums {
		if !byPut(s.def) {
			storing, looks = storing+s.updates, looks+s.looks
		}
		leaving += s.updates * s.leave / s.steps
	}
	return storing, leaving, looks
}

// units returns the write units of these updates: without marks, what marks add, and all units of
// events that expire.
func (e *events) units() (plain, marks, leaving float64) {
	for _, s := range e.sums {
		if !byPut(s.def) {
			plain, marks = plain+s.plain, marks+s.full-s.plain
		}
		leaving += s.full * s.leave / s.steps
	}
	return plain, marks, leaving
}

// report writes what a month of the load takes.
func (l *load) report(in Input) *Report {
	r := &Report{Pipeline: in.Name, Rate: in.Rate, Hours: hours, Messages: in.Rate * hours * 3600, Partitions: in.Partitions,
		Memory:       in.Memory,
		Architecture: in.Architecture, Prices: in.Prices.about(), Duplicates: in.Duplicates}
	l.about(in, r)
	each := func(of float64) float64 { return of * l.scale } // a second, for a sum over the sample
	add := func(part, billed, price string, aSecond float64) {
		r.add(in.Prices, part, billed, price, aSecond*hours*3600)
	}

	received := l.messages / l.inMessage() / math.Min(10, l.put.Messages/l.inMessage())
	add("queue", "SQS requests", SQSRequests, each(l.chunks)+math.Max(leastPolls, received)*math.Max(1, l.chunks/l.sent)+received+
		each(l.letters()))
	seconds := l.put.Seconds(in.Memory)
	add("ingest function", "invocations", LambdaRequests, l.batches)
	add("ingest function", "GB-seconds", gbSeconds(in.Architecture), l.batches*seconds*gigabytes(in.Memory))
	add("puts", "write units", WriteUnits, each(l.table))
	add("puts", "DynamoDB requests", "", l.batches*l.put.Requests())
	add("totals by put", "write units", WriteUnits, each(l.moved.totals))
	add("indexes", "write units", WriteUnits, each(l.index))
	add("repetitions", "write units", WriteUnits, each(l.refused))
	if !l.put.Single() {
		add("repetitions", "read units", ReadUnits, each(l.reread))
	}

	add("payload bucket", "PUT requests", S3Puts, each(l.apart.puts))
	add("payload bucket", "GET requests", S3Gets, each(l.apart.compared))
	add("payload bucket", "GB-months", S3Storage, each(l.apart.kept)/gigabyte+each(l.apart.forever)*hours*3600/gigabyte)

	windows := 0.0
	if l.counted > 0 {
		windows = float64(in.Partitions) / windowSeconds
	}
	streaming := l.counted * l.count.Seconds(in.Memory)
	plain, marks, leaving := l.units()
	storing, removing, looks := l.updates()
	asking := l.counted * l.count.Requests()
	add("streams function", "invocations", LambdaRequests, l.counted+windows)
	add("streams function", "GB-seconds", gbSeconds(in.Architecture), streaming*gigabytes(in.Memory))
	add("totals", "write units", WriteUnits, each(plain))
	if !l.count.Single() {
		add("totals", "read units", ReadUnits, each(looks)/2)
	}
	add("totals", "DynamoDB requests", "", share(asking, storing, removing))
	add("marks", "write units", WriteUnits, each(marks))
	add("expiry", "write units", WriteUnits, each(leaving))
	if !l.count.Single() {
		add("expiry", "read units", ReadUnits, each(looks)/2*removing/math.Max(1, storing))
	}
	add("expiry", "DynamoDB requests", "", share(asking, removing, storing))

	add("archive", "PUT requests", S3Puts, each(l.expire))
	add("archive", "GET requests", S3Gets, each(l.apart.expire))
	r.add(in.Prices, "archive", "GB more each month", S3Storage, each(l.expired)*ArchiveForm*hours*3600/gigabyte)
	r.Grows = l.forever.table > 0 // a payload is kept for ever only if its item is
	// What is kept for ever is counted as it is after a month. Backups hold the table without its
	// indexes.
	stored := func(h func(held) float64) float64 {
		return each(h(l.kept))/gigabyte + each(h(l.forever))*hours*3600/gigabyte
	}
	r.add(in.Prices, "storage", "GB-months", Storage, stored(held.all))
	r.add(in.Prices, "storage", "GB-months of backup", Backup, stored(func(h held) float64 { return h.table }))

	ingested := function.IngestMetrics()
	if l.parts > 0 {
		ingested = append(ingested, function.PartMetrics()...)
	}
	r.add(in.Prices, "watching", "metrics", Metrics, float64(len(ingested)+len(function.StreamsMetrics())))
	r.add(in.Prices, "watching", "alarms", Alarms, float64(alarmMetrics+len(in.Pipeline.Indexes())))
	add("watching", "GB of logs", Logs,
		(l.batches*logged("ingest", ingested)+(l.counted+windows)*logged("streams", function.StreamsMetrics()))/gigabyte)
	add("watching", "traces", Traces, traced(l.batches)+traced(l.counted+windows))
	r.add(in.Prices, "secret", "secrets", Secrets, 1)
	r.finish()
	return r
}

// about says what the figures assume.
func (l *load) about(in Input, r *Report) {
	r.Batches.Ingest, r.Batches.Streams = l.put.Messages/l.inMessage(), l.count.Changes
	if l.moved.packs > 0 {
		r.Batches.Transaction = l.moved.items / l.moved.packs
	}
	r.MovedByPut = l.moved.totals > 0
	r.Events = Events{File: l.file, Messages: int(l.events.messages), Bytes: l.bytes / l.events.messages}
	if l.file == "" {
		name, worst := dearest(in.Pipeline, max(1, in.Parts))
		r.Events = Events{Type: name, Bytes: supposedBytes, Indexes: worst.indexes}
	}
	if n := l.inMessage(); n > 1 {
		r.Events.InMessage = n
	}
	r.Events.Parts = l.parts / math.Max(1, l.verdicts[event.Inserted])
	storing, leaving, _ := l.updates()
	r.Events.Updates = (storing + leaving) / math.Max(1, l.changes()+l.expire)
	if l.file != "" {
		r.Partial = l.changes()/float64(in.Partitions) < float64(in.Events.changesIn)
	}
}

// share returns the part of a sum that belongs to one of the two parts of the sum.
func share(sum, one, other float64) float64 {
	if one == 0 {
		return 0
	}
	return sum * one / (one + other)
}

const gigabyte = 1 << 30

// ArchiveForm is how many times as large as its item an object of the archive is. A test compares
// it with the objects that the engine stores.
const ArchiveForm = 1.3

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
