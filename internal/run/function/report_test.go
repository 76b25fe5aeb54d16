package function

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/lambdacontext"

	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/handler"
	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/tables"
)

// lines returns what a process wrote.
type lines struct{ metrics, log bytes.Buffer }

func (l *lines) process() Process {
	return Process{Out: &l.metrics, Log: slog.New(slog.NewJSONHandler(&l.log, nil))}
}

func decode(t *testing.T, line []byte) map[string]any {
	t.Helper()
	var m map[string]any
	if err := json.Unmarshal(line, &m); err != nil {
		t.Fatalf("%v in %s", err, line)
	}
	return m
}

// list returns what a text of JSON lists.
func list(t *testing.T, text string) (values []any) {
	t.Helper()
	must.Succeed(t, json.Unmarshal([]byte(text), &values))
	return values
}

func request(id string) context.Context {
	return lambdacontext.NewContext(context.Background(), &lambdacontext.LambdaContext{AwsRequestID: id})
}

// Every message has one verdict. So the verdict metrics add up to the messages received, whatever
// the report says.
func TestVerdictMetricsAddUpToReceived(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	r := rand.New(rand.NewPCG(seed, 0))
	for range 100 {
		var report handler.IngestReport
		for range r.IntN(50) {
			report.Verdicts[event.Verdicts[r.IntN(len(event.Verdicts))]]++
			report.Received++
		}
		var out lines
		out.process().ingestReporter(settings{}).batch(context.Background(), report)
		line, sum := decode(t, out.metrics.Bytes()), 0.0
		for _, v := range event.Verdicts {
			n, ok := line[v.String()].(float64)
			if ok != (!v.Seldom() || seldom(report) > 0) || n != float64(report.Verdicts[v]) {
				t.Fatalf("seed %d: metric %s is %v, want %d", seed, v, line[v.String()], report.Verdicts[v])
			}
			sum += n
		}
		if sum != line["EventsReceived"] {
			t.Fatalf("seed %d: verdicts add up to %v, received %v", seed, sum, line["EventsReceived"])
		}
	}
}

func TestIngestReport(t *testing.T) {
	report := handler.IngestReport{Received: 3, Failed: 1, OldestAge: 90 * time.Second, Took: 12500 * time.Microsecond,
		Cost: tables.Cost{Requests: 4, WriteUnits: 5, ReadUnits: 6, Retries: 7, Throttles: map[string]int{
			"TableWriteKeyRangeThroughputExceeded of arn:aws:dynamodb:::table/events": 8,
			"IndexWriteMaxOnDemandThroughputExceeded of arn:index":                    2,
			"ThrottlingWithoutReason": 1,
		}, Hot: map[tables.Partition]int{{Of: "a", Key: "1"}: 1, {Of: "a", Key: "2"}: 3, {Of: "a", Index: "GSI1", Key: "DAY#1"}: 7,
			{Of: "a", Key: "3"}: 2, {Of: "a", Key: "4"}: 2, {Of: "a", Key: "5"}: 2, {Of: "a", Key: "6"}: 1}}}
	report.Verdicts[event.Inserted], report.Verdicts[event.Retry] = 2, 1
	var out lines
	reporter := out.process().ingestReporter(settings{function: "prod-ingest", level: "WARN"})
	reporter.batch(request("r-1"), report)
	got := decode(t, out.metrics.Bytes())
	for name, want := range decode(t, []byte(`{
		"EventsReceived": 3, "Inserted": 2, "Updated": 0, "Retry": 1, "Returned": 1, "OldestEventAgeSeconds": 90,
		"BatchMs": 12.5, "WriteUnits": 5, "ReadUnits": 6, "Requests": 4, "Retries": 7, "ThrottlesHotKey": 8,
		"ThrottlesCapacity": 3, "ColdStart": 1, "service": "ingot", "function": "prod-ingest", "level": "WARN",
		"requestId": "r-1"}`)) {
		must.Match(t, got[name], want, name)
	}
	must.Match(t, got["throttles"], list(t, `[
		{"reason": "IndexWriteMaxOnDemandThroughputExceeded", "resource": "arn:index", "count": 2},
		{"reason": "TableWriteKeyRangeThroughputExceeded", "resource": "arn:aws:dynamodb:::table/events", "count": 8},
		{"reason": "ThrottlingWithoutReason", "count": 1}]`))
	must.Match(t, got["hotPartitions"], list(t, `[
		{"of": "a", "index": "GSI1", "partitionHash": "61bca9e1ad21d2aa", "count": 7},
		{"of": "a", "partitionHash": "d4735e3a265e16ee", "count": 3},
		{"of": "a", "partitionHash": "4b227777d4dd1fc6", "count": 2},
		{"of": "a", "partitionHash": "4e07408562bedb8b", "count": 2},
		{"of": "a", "partitionHash": "ef2d127de37b942b", "count": 2}]`)) // printf %s DAY#1 | sha256sum | cut -c1-16
	log := decode(t, out.log.Bytes())
	must.Match(t, log["level"], "WARN")
	must.Match(t, log["msg"], "ingested")
	for _, m := range IngestMetrics() {
		if log[m.Name] == nil || log[m.Name] != got[m.Name] {
			t.Errorf("%s is %v in the log and %v in the metrics", m.Name, log[m.Name], got[m.Name])
		}
	}
	for _, m := range slices.Concat(PartMetrics(), PutMetrics(), ArrayMetrics()) {
		if got[m.Name] != nil || log[m.Name] != nil {
			t.Errorf("a batch without parts, arrays and Rejected events has %s", m.Name)
		}
	}
	out.metrics.Reset()
	reporter.batch(request("r-2"), handler.IngestReport{})
	if again := decode(t, out.metrics.Bytes()); again["ColdStart"] != 0.0 || again["requestId"] != "r-2" || again["throttles"] != nil {
		t.Errorf("second batch %v", again)
	}
	must.Equal(t, bytes.Count(out.log.Bytes(), []byte("\n")), 2)
}

func TestStreamsReport(t *testing.T) {
	report := handler.StreamsReport{ShardID: "shardId-1", Received: 9, Foreign: 1, Inserted: 10, Quarantined: 2, Archived: 3, Updates: 4,
		Dropped: 5, Large: 11, Behind: 6, Unproven: true,
		Lag: 1500 * time.Millisecond, Took: time.Second, Cost: tables.Cost{Requests: 7, WriteUnits: 8}}
	var out lines
	out.process().streamsReporter(settings{}).batch(request("r"), report)
	got := decode(t, out.metrics.Bytes())
	for name, want := range decode(t, []byte(`{
		"ChangesReceived": 9, "ChangesForeign": 1, "ItemsInserted": 10, "Quarantined": 2, "Archived": 3,
		"AggregateUpdates": 4, "StepsDroppedByMark": 5, "LargeTotals": 11, "Behind": 6, "BatchesUnproven": 1,
		"IteratorLagMs": 1500, "BatchMs": 1000, "Requests": 7, "WriteUnits": 8, "ReadUnits": 0, "Retries": 0,
		"ThrottlesHotKey": 0, "ThrottlesCapacity": 0, "ColdStart": 1, "function": "streams", "level": "INFO"}`)) {
		must.Equal(t, got[name], want, name)
	}
	if log := decode(t, out.log.Bytes()); log["level"] != "WARN" || log["AggregateUpdates"] != 4.0 || log["shardId"] != "shardId-1" {
		t.Errorf("log line %v", log)
	}
	if got["shardId"] != nil {
		t.Errorf("shardId %v among the metrics", got["shardId"])
	}
	// Neither a batch that is done nor one that names no shard has a shardId in its log line.
	report.Unproven = false
	for _, r := range []handler.StreamsReport{report, {Unproven: true}} {
		out.log.Reset()
		out.process().streamsReporter(settings{}).batch(request("r"), r)
		if _, named := decode(t, out.log.Bytes())["shardId"]; named {
			t.Errorf("log line %s", out.log.Bytes())
		}
	}
}

// Documents are compared with these lists. Each metric has one line in them, and is really written.
func TestMetricLists(t *testing.T) {
	for name, tt := range map[string]struct {
		list []Metric
		emit func(p Process)
	}{
		"ingest": {IngestMetrics(), func(p Process) { p.ingestReporter(settings{}).batch(context.Background(), handler.IngestReport{}) }},
		"lost payloads": {slices.Concat(StreamsMetrics(), PayloadMetrics()), func(p Process) {
			p.streamsReporter(settings{}).batch(context.Background(), handler.StreamsReport{PayloadsLost: 1})
		}},
		"streams": {StreamsMetrics(), func(p Process) {
			p.streamsReporter(settings{}).batch(context.Background(), handler.StreamsReport{})
		}},
	} {
		t.Run(name, func(t *testing.T) {
			var out lines
			tt.emit(out.process())
			var line struct {
				AWS struct {
					CloudWatchMetrics []struct {
						Namespace string
						Metrics   []struct{ Name, Unit string }
					}
				} `json:"_aws"`
			}
			must.Succeed(t, json.Unmarshal(out.metrics.Bytes(), &line))
			written := line.AWS.CloudWatchMetrics[0]
			if written.Namespace != Namespace || len(written.Metrics) != len(tt.list) {
				t.Fatalf("%d metrics written in %s, %d listed", len(written.Metrics), written.Namespace, len(tt.list))
			}
			for i, m := range tt.list {
				if written.Metrics[i].Name != m.Name || written.Metrics[i].Unit != string(m.Unit) || strings.TrimSpace(m.About) == "" {
					t.Errorf("metric %d is written as %v and listed as %v", i, written.Metrics[i], m)
				}
			}
		})
	}
}

// A metric that cannot be written is reported and harms nothing.
func TestMetricsNotWritten(t *testing.T) {
	var out lines
	out.process().ingestReporter(settings{function: "\x00"}).batch(context.Background(), handler.IngestReport{})
	must.Say(t, out.log.String(), "metrics not written", `"msg":"ingested"`)
}

// A user's own program may write its metrics into its own namespace.
func TestNamespaceIsTheProcessesOwn(t *testing.T) {
	for given, want := range map[string]string{"": Namespace, "Shop": "Shop"} {
		var out lines
		p := out.process()
		p.Namespace = given
		p.streamsReporter(settings{}).batch(context.Background(), handler.StreamsReport{})
		must.Say(t, out.metrics.String(), `"Namespace":"`+want+`"`)
	}
}

// TestReportOfParts shows that parts and the events of arrays are counted beside messages, in the
// metrics and in the log.
func TestReportOfParts(t *testing.T) {
	report := handler.IngestReport{Received: 2}
	report.Verdicts[event.Inserted], report.Verdicts[event.Retry] = 1, 1
	report.Parts[event.Inserted], report.Parts[event.Duplicate], report.Parts[event.Retry] = 5, 3, 1
	report.Events[event.Inserted], report.Events[event.Conflict], report.Events[event.Poison], report.Events[event.Retry] = 4, 1, 2, 1
	reports(t, report, slices.Concat(IngestMetrics(), PartMetrics(), ArrayMetrics()), `{
		"EventsReceived": 2, "Inserted": 1, "Retry": 1, "Parts": 9, "PartsInserted": 5, "PartsUnproven": 1,
		"ArrayEvents": 8, "ArrayEventsInserted": 4, "ArrayEventsRefused": 3}`)
}

// reports checks the values of a report, in the metrics and in the log, and that all of these
// metrics are declared.
func reports(t *testing.T, report handler.IngestReport, declared []Metric, want string) {
	t.Helper()
	var out lines
	out.process().ingestReporter(settings{}).batch(request("r-1"), report)
	got, log := decode(t, out.metrics.Bytes()), decode(t, out.log.Bytes())
	for name, n := range decode(t, []byte(want)) {
		if got[name] != n || log[name] != n {
			t.Errorf("%s is %v in the metrics and %v in the log, want %v", name, got[name], log[name], n)
		}
	}
	for _, m := range declared {
		if got[m.Name] == nil || !bytes.Contains(out.metrics.Bytes(), []byte(`"Name":"`+m.Name+`"`)) {
			t.Errorf("%s is not declared as a metric", m.Name)
		}
	}
}

// TestReportOfRejected shows that a batch with Rejected events says how many, and how many of them
// no floor is to blame for. Alarms watch the second number alone.
func TestReportOfRejected(t *testing.T) {
	report := handler.IngestReport{Received: 4, TotalRefused: 1, Cost: tables.Cost{Conflicts: 2}}
	report.Verdicts[event.Inserted], report.Verdicts[event.Rejected] = 1, 3
	reports(t, report, append(IngestMetrics(), PutMetrics()...), `{
		"EventsReceived": 4, "Inserted": 1, "Rejected": 3, "RejectedByTotal": 1, "TransactionConflicts": 2}`)
}
