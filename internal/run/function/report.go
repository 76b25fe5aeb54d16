package function

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/aws/aws-lambda-go/lambdacontext"

	"github.com/ingot-events/ingot/handler"
	"github.com/ingot-events/ingot/internal/run/emf"
	"github.com/ingot-events/ingot/tables"
)

// reporter writes two lines with the same counts for each batch: the metrics, for CloudWatch, and a
// line of the log, for people. It is safe for concurrent use.
type reporter[R any] struct {
	emitter *emf.Emitter
	log     *slog.Logger
	text    string
	meters  func(*batch[R]) []meter[R]
	measure func(R) batch[R]
	trouble func(R) bool   // whether a part of the batch is delivered again
	shard   func(R) string // which shard then waits; nil if there are none
	warm    atomic.Bool
}

func (p Process) ingestReporter(s settings) *reporter[handler.IngestReport] {
	plain, parts, put, arrays := ingestMeters(), partMeters(), putMeters(), arrayMeters()
	of := func(b *ingested) []meter[handler.IngestReport] {
		meters := plain[:len(plain):len(plain)]
		if sum(b.report.Parts[:]) > 0 {
			meters = append(meters, parts...)
		}
		if seldom(b.report)+b.cost.Conflicts > 0 {
			meters = append(meters, put...)
		}
		if sum(b.report.Events[:]) > 0 {
			meters = append(meters, arrays...)
		}
		return meters
	}
	return &reporter[handler.IngestReport]{emitter: p.emitter(s, "ingest"), log: p.Log, text: "ingested", meters: of,
		measure: func(r handler.IngestReport) ingested { return ingested{report: r, cost: r.Cost, took: r.Took} },
		trouble: func(r handler.IngestReport) bool { return r.Failed > 0 }}
}

func (p Process) streamsReporter(s settings) *reporter[handler.StreamsReport] {
	plain, lost := streamsMeters(), payloadMeters()
	of := func(b *streamed) []meter[handler.StreamsReport] {
		if b.report.PayloadsLost == 0 {
			return plain
		}
		return append(plain[:len(plain):len(plain)], lost...)
	}
	return &reporter[handler.StreamsReport]{emitter: p.emitter(s, "streams"), log: p.Log, text: "streamed", meters: of,
		measure: func(r handler.StreamsReport) streamed { return streamed{report: r, cost: r.Cost, took: r.Took} },
		trouble: func(r handler.StreamsReport) bool { return r.Unproven }, shard: func(r handler.StreamsReport) string { return r.ShardID }}
}

func (p Process) emitter(s settings, role string) *emf.Emitter {
	name := s.function
	if name == "" {
		name = role
	}
	return &emf.Emitter{Out: p.Out, Namespace: cmp.Or(p.Namespace, Namespace), Service: service, Function: name, Level: s.level}
}

// Emit writes the metrics of a batch, with the request id. If they cannot be written, it only logs
// that, because the batch itself is done.
func Emit(ctx context.Context, log *slog.Logger, to *emf.Emitter, metrics []emf.Metric, properties ...emf.Property) {
	var id string
	if lc, ok := lambdacontext.FromContext(ctx); ok {
		id = lc.AwsRequestID
	}
	if err := to.Emit(id, metrics, properties...); err != nil {
		log.ErrorContext(ctx, "metrics not written", "error", err.Error())
	}
}

// batch reports one batch.
func (p *reporter[R]) batch(ctx context.Context, r R) {
	b := p.measure(r)
	b.cold = !p.warm.Swap(true)
	meters := p.meters(&b)
	metrics, attrs := make([]emf.Metric, len(meters)), make([]slog.Attr, len(meters))
	for i, m := range meters {
		value := m.value(&b)
		metrics[i] = emf.Metric{Name: m.Name, Unit: m.Unit, Value: value}
		attrs[i] = slog.Float64(m.Name, value)
	}
	var properties []emf.Property
	if list := throttled(b.cost); len(list) > 0 {
		properties = append(properties, emf.Property{Name: "throttles", Value: list})
		attrs = append(attrs, slog.Any("throttles", list))
	}
	if list := hottest(b.cost.Hot); len(list) > 0 {
		properties = append(properties, emf.Property{Name: "hotPartitions", Value: list})
	}
	Emit(ctx, p.log, p.emitter, metrics, properties...)
	level := slog.LevelInfo
	if p.trouble(r) {
		level = slog.LevelWarn
		if p.shard != nil && p.shard(r) != "" {
			attrs = append(attrs, slog.String("shardId", p.shard(r)))
		}
	}
	p.log.LogAttrs(ctx, level, p.text, attrs...)
}

// throttle is one reason for refusals, in the service's own words.
type throttle struct {
	Reason   string `json:"reason"`
	Resource string `json:"resource,omitempty"` // ARN of the table or index
	Count    int    `json:"count"`
}

func throttled(c tables.Cost) []throttle {
	var list []throttle
	for _, text := range slices.Sorted(maps.Keys(c.Throttles)) {
		reason, resource, _ := strings.Cut(text, " of ")
		list = append(list, throttle{reason, resource, c.Throttles[text]})
	}
	return list
}

// mostHot is how many partitions a batch names.
const mostHot = 5

// hot is a partition that writes were refused to. The key itself may be personal.
type hot struct {
	Of    string `json:"of"`              // event type or aggregate
	Index string `json:"index,omitempty"` // absent: the table's own key
	Hash  string `json:"partitionHash"`   // first 16 hex digits of the SHA-256 of the partition key
	Count int    `json:"count"`
}

// hottest returns the partitions with the most refusals.
func hottest(refused map[tables.Partition]int) []hot {
	list := make([]hot, 0, len(refused))
	for p, n := range refused {
		sum := sha256.Sum256([]byte(p.Key))
		list = append(list, hot{p.Of, p.Index, hex.EncodeToString(sum[:8]), n})
	}
	slices.SortFunc(list, func(a, b hot) int {
		return cmp.Or(b.Count-a.Count, cmp.Compare(a.Index, b.Index), cmp.Compare(a.Hash, b.Hash))
	})
	return list[:min(len(list), mostHot)]
}
