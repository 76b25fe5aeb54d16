package status

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch"
	cwtypes "github.com/aws/aws-sdk-go-v2/service/cloudwatch/types"
	"github.com/aws/aws-sdk-go-v2/service/lambda"
	lambdatypes "github.com/aws/aws-sdk-go-v2/service/lambda/types"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"go.uber.org/goleak"

	"github.com/ingot-events/ingot/examples"
	"github.com/ingot-events/ingot/internal/local/embedded"
	"github.com/ingot-events/ingot/internal/local/stack"
	"github.com/ingot-events/ingot/internal/tool/pause"
	"github.com/ingot-events/ingot/pipeline"
	"github.com/ingot-events/ingot/store"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var now = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// mappings answers for Lambda: one mapping for each function.
type mappings struct {
	pause.Client // what is not asked for
	state, tag   string
	err          error
}

func (m mappings) ListEventSourceMappings(_ context.Context, in *lambda.ListEventSourceMappingsInput, _ ...func(*lambda.Options)) (*lambda.ListEventSourceMappingsOutput, error) {
	return &lambda.ListEventSourceMappingsOutput{EventSourceMappings: []lambdatypes.EventSourceMappingConfiguration{{UUID: aws.String("u-" + *in.FunctionName),
		State: aws.String(m.state), EventSourceMappingArn: aws.String("arn:aws:lambda:x:0:event-source-mapping:u"), EventSourceArn: aws.String("arn")}}}, m.err
}

func (m mappings) ListTags(context.Context, *lambda.ListTagsInput, ...func(*lambda.Options)) (*lambda.ListTagsOutput, error) {
	tags := map[string]string{}
	if m.tag != "" {
		tags[pause.Tag] = m.tag
	}
	return &lambda.ListTagsOutput{Tags: tags}, nil
}

// watch answers for CloudWatch.
type watch struct {
	metrics map[string]float64
	alarms  []cwtypes.MetricAlarm
	err     error
}

func (w watch) GetMetricStatistics(_ context.Context, in *cloudwatch.GetMetricStatisticsInput, _ ...func(*cloudwatch.Options)) (*cloudwatch.GetMetricStatisticsOutput, error) {
	out := &cloudwatch.GetMetricStatisticsOutput{}
	if v, there := w.metrics[*in.MetricName+" "+*in.Dimensions[0].Value]; there {
		out.Datapoints = []cwtypes.Datapoint{{Maximum: aws.Float64(v / 2)}, {Maximum: &v}, {}}
	}
	return out, w.err
}

func (w watch) DescribeAlarms(_ context.Context, in *cloudwatch.DescribeAlarmsInput, _ ...func(*cloudwatch.Options)) (*cloudwatch.DescribeAlarmsOutput, error) {
	out := &cloudwatch.DescribeAlarmsOutput{}
	for _, a := range w.alarms {
		if strings.HasPrefix(*a.AlarmName, *in.AlarmNamePrefix) {
			out.MetricAlarms = append(out.MetricAlarms, a)
		}
	}
	return out, w.err
}

const declared = `
ingot: 1
epoch: 4
type: "{type}"
events:
  order:
    id: "{id}"
    at: "{at}"
    key: {pk: "ORDER#{id}", sk: "X"}
aggregates:
  daily:
    since: 1
    by: {m: "{m}"}
    window: 1d
    from:
      order: {values: {orders: count}}
`

// source is a stack on which all is well.
func source(t *testing.T) Source {
	t.Helper()
	e := embedded.New(embedded.Config{Now: func() time.Time { return now }})
	s, err := stack.New(t.Context(), e, stack.Config{})
	if err != nil {
		t.Fatal(err)
	}
	p, err := pipeline.Load(fstest.MapFS{"p.yaml": {Data: []byte(declared)}}, "p.yaml")
	if err != nil {
		t.Fatal(err)
	}
	st, err := store.New(store.Config{Client: e.DynamoDB(), Pipeline: p, Aggregates: stack.Aggregates})
	if err == nil {
		err = st.Start(t.Context())
	}
	if err != nil {
		t.Fatal(err)
	}
	return Source{Queues: e.SQS(), Lambda: mappings{state: "Enabled"}, Watch: watch{metrics: map[string]float64{"IteratorAge streams": 2500}}, Store: st, Pipeline: p,
		Queue: s.Queue, Quarantine: s.Quarantine, DeadLetters: s.DeadLetters, Ingest: "ingest", Streams: "streams", AlarmPrefix: "shop-", Now: now}
}

func letter(t *testing.T, s Source, url string) {
	t.Helper()
	if _, err := s.Queues.(*embedded.SQS).SendMessage(t.Context(), &sqs.SendMessageInput{QueueUrl: &url, MessageBody: aws.String("{}")}); err != nil {
		t.Fatal(err)
	}
}

func TestWell(t *testing.T) {
	s := source(t)
	letter(t, s, s.Queue) // work is not trouble
	s.Watch.(watch).metrics["ApproximateAgeOfOldestMessage "+s.Queue[strings.LastIndexByte(s.Queue, '/')+1:]] = 12
	r := Read(t.Context(), s)
	if len(r.Unwell) != 0 || r.Untold || len(r.Unknown) != 0 {
		t.Errorf("unwell %q, unknown %q", r.Unwell, r.Unknown)
	}
	if r.Epoch != 4 || *r.Lag != 2.5 || len(r.Mappings) != 2 || len(r.Queues) != 3 || r.Queues[0].Waiting != 1 || *r.Queues[0].Oldest != 12 || len(r.Aggregates) != 1 {
		t.Errorf("%+v", r)
	}
	r.Stack = "stack shop"
	var text, metrics bytes.Buffer
	if err := errors.Join(r.Text(&text, 80), r.Prometheus(&metrics)); err != nil {
		t.Fatal(err)
	}
	if want := `stack shop
epoch 4 is deployed

QUEUES
               waiting  in flight  oldest
  queue              1          0     12s
  quarantine         0          0       -
  dead-letter        0          0       -

FUNCTIONS
  ingest             Enabled
  streams            Enabled
  lag of the totals  3s

AGGREGATES
  daily  since 1  counting

Nothing is wrong with what is known.
`; text.String() != want {
		t.Errorf("got\n%s\nwant\n%s", &text, want)
	}
	for _, line := range []string{`ingot_queue_messages{queue="queue",state="waiting"} 1`, `ingot_queue_oldest_seconds{queue="queue"} 12`, "ingot_lag_seconds 2.5",
		`ingot_mapping_enabled{function="streams",mapping="u-streams"} 1`, `ingot_aggregate_building{aggregate="daily"} 0`, "ingot_well 1", "ingot_unknown 0"} {
		if !strings.Contains(metrics.String(), line+"\n") {
			t.Errorf("no %s in\n%s", line, &metrics)
		}
	}
}

// What a floor refuses is in quarantine every day. So that makes no stack unwell that has alarms
// for the rest.
func TestQuarantineWithFloors(t *testing.T) {
	s := source(t)
	letter(t, s, s.Quarantine)
	p, err := pipeline.Load(examples.Files, "ledger/pipeline.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct {
		watch Watch
		p     *pipeline.Pipeline
		want  int
	}{"floors": {s.Watch, p, 0}, "no floors": {s.Watch, s.Pipeline, 1}, "floors, and no alarms": {nil, p, 1}, "not known": {s.Watch, nil, 1}} {
		of := s
		of.Watch, of.Pipeline = tt.watch, tt.p
		var r Report
		if r.queues(t.Context(), of); len(r.Unwell) != tt.want || r.Queues[1].Waiting != 1 {
			t.Errorf("%s: %q, %v", name, r.Unwell, r.Queues)
		}
	}
}

// Each kind of trouble alone makes a stack unwell, or says that it is not known.
func TestTrouble(t *testing.T) {
	for name, tt := range map[string]struct {
		make            func(*testing.T, *Source)
		unwell, unknown string
	}{
		"quarantine":  {func(t *testing.T, s *Source) { letter(t, *s, s.Quarantine) }, "1 message is in quarantine", ""},
		"dead letter": {func(t *testing.T, s *Source) { letter(t, *s, s.DeadLetters) }, "1 message is in the dead-letter queue", ""},
		"switched off": {func(_ *testing.T, s *Source) { s.Lambda = mappings{state: "Disabled"} },
			"ingest is switched off, and it is not known by whom", ""},
		"alarm": {func(_ *testing.T, s *Source) {
			s.Watch = watch{alarms: []cwtypes.MetricAlarm{{AlarmName: aws.String("shop-Lag-1"), AlarmDescription: aws.String("behind"), StateValue: cwtypes.StateValueAlarm},
				{AlarmName: aws.String("shop-Quiet"), StateValue: cwtypes.StateValueOk}, {AlarmName: aws.String("other-Lag"), StateValue: cwtypes.StateValueAlarm}}}
		}, "alarm shop-Lag-1: behind", ""},
		"lag": {func(_ *testing.T, s *Source) {
			s.Watch = watch{metrics: map[string]float64{"IteratorAge streams": 7.2e6}}
		}, "totals are 2h0m0s behind", ""},
		"no Lambda":     {func(_ *testing.T, s *Source) { s.Lambda = mappings{err: errors.New("denied")} }, "", "mappings of ingest: the event source mappings of ingest: denied"},
		"no names":      {func(_ *testing.T, s *Source) { s.Ingest = "" }, "", "mappings: the names of the functions are not known"},
		"no queue":      {func(_ *testing.T, s *Source) { s.Queue = "" }, "", "queue: its URL is not known"},
		"no such":       {func(_ *testing.T, s *Source) { s.DeadLetters = "http://x/000000000000/gone" }, "", "dead-letter: "},
		"no metrics":    {func(_ *testing.T, s *Source) { s.Watch = watch{err: errors.New("denied")} }, "", "lag: denied"},
		"no pipeline":   {func(_ *testing.T, s *Source) { s.Pipeline, s.NoPipeline = nil, errors.New("not there") }, "", "aggregates: not there"},
		"no CloudWatch": {func(_ *testing.T, s *Source) { s.Watch = nil }, "", "ages, lag and alarms: ingot dev has no CloudWatch"},
	} {
		t.Run(name, func(t *testing.T) {
			s := source(t)
			tt.make(t, &s)
			r := Read(t.Context(), s)
			if (len(r.Unwell) > 0) != (tt.unwell != "") || tt.unwell != "" && !slices.Contains(r.Unwell, tt.unwell) {
				t.Errorf("unwell: %q", r.Unwell)
			}
			if !slices.ContainsFunc(append(r.Unknown, ""), func(u string) bool { return strings.HasPrefix(u, tt.unknown) }) || r.Untold != (tt.unknown != "" && s.Watch != nil) {
				t.Errorf("unknown: %q, untold %t", r.Unknown, r.Untold)
			}
			var text bytes.Buffer
			if err := r.Text(&text, 80); err != nil || strings.Contains(text.String(), "Nothing is wrong") == (tt.unwell != "") {
				t.Errorf("%v: %s", err, &text)
			}
		})
	}
}
