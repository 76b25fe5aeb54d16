package status

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch"
	cwtypes "github.com/aws/aws-sdk-go-v2/service/cloudwatch/types"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatchlogs"
	logstypes "github.com/aws/aws-sdk-go-v2/service/cloudwatchlogs/types"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	dynamodbtypes "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/lambda"
	lambdatypes "github.com/aws/aws-sdk-go-v2/service/lambda/types"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
	"go.uber.org/goleak"

	"github.com/ingot-events/ingot/aggregate"
	"github.com/ingot-events/ingot/examples"
	"github.com/ingot-events/ingot/handler/quarantine"
	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/internal/local/embedded"
	"github.com/ingot-events/ingot/internal/local/stack"
	"github.com/ingot-events/ingot/internal/plan/lanes"
	"github.com/ingot-events/ingot/internal/testworld/written"
	"github.com/ingot-events/ingot/internal/tool/pause"
	"github.com/ingot-events/ingot/internal/tool/watched"
	"github.com/ingot-events/ingot/pipeline"
	"github.com/ingot-events/ingot/store"
	"github.com/ingot-events/ingot/store/repair"
	"github.com/ingot-events/ingot/tables"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var now = must.Time("2026-03-01T12:00:00Z")

// mappings answers for Lambda: one mapping for each function.
type mappings struct {
	pause.Client // what is not asked for
	state, tag   string
	last         string // of the last batch
	err          error
}

func (m mappings) ListEventSourceMappings(_ context.Context, in *lambda.ListEventSourceMappingsInput,
	_ ...func(*lambda.Options)) (*lambda.ListEventSourceMappingsOutput, error) {
	return &lambda.ListEventSourceMappingsOutput{EventSourceMappings: []lambdatypes.EventSourceMappingConfiguration{{UUID: aws.String("u-" +
		*in.FunctionName),
		State: aws.String(m.state), LastProcessingResult: aws.String(m.last),
		EventSourceMappingArn: aws.String("arn:aws:lambda:x:0:event-source-mapping:u"), EventSourceArn: aws.String("arn")}}}, m.err
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
	metrics map[string][]float64 // one for each minute, the last one first
	alarms  map[string]cwtypes.StateValue
	err     error
}

func (w watch) GetMetricStatistics(_ context.Context, in *cloudwatch.GetMetricStatisticsInput,
	_ ...func(*cloudwatch.Options)) (*cloudwatch.GetMetricStatisticsOutput, error) {
	out := &cloudwatch.GetMetricStatisticsOutput{Datapoints: []cwtypes.Datapoint{{}}}
	for i, v := range w.metrics[*in.MetricName+" "+*in.Dimensions[0].Value] {
		at := now.Add(-time.Duration(i+1) * time.Minute)
		if at.Before(*in.StartTime) || v < 0 {
			continue
		}
		point := cwtypes.Datapoint{Timestamp: &at}
		switch in.Statistics[0] {
		case cwtypes.StatisticMaximum:
			point.Maximum = &v
		case cwtypes.StatisticSum:
			point.Sum = &v
		}
		out.Datapoints = append(out.Datapoints, point)
	}
	return out, w.err
}

// quiet is an alarm that has nothing to say.
var quiet = map[string]cwtypes.StateValue{"shop-Quiet": cwtypes.StateValueOk}

func (w watch) DescribeAlarms(_ context.Context, in *cloudwatch.DescribeAlarmsInput,
	_ ...func(*cloudwatch.Options)) (*cloudwatch.DescribeAlarmsOutput, error) {
	out := &cloudwatch.DescribeAlarmsOutput{}
	for name, state := range w.alarms {
		if strings.HasPrefix(name, *in.AlarmNamePrefix) {
			a := cwtypes.MetricAlarm{AlarmName: &name, AlarmDescription: aws.String("behind"), StateValue: state,
				ActionsEnabled: aws.Bool(!strings.HasSuffix(name, "Half"))}
			if !strings.HasSuffix(name, "Silent") {
				out.MetricAlarms = append(out.MetricAlarms, a)
			} else if slices.Contains(in.AlarmTypes, cwtypes.AlarmTypeCompositeAlarm) {
				out.CompositeAlarms = append(out.CompositeAlarms, cwtypes.CompositeAlarm{AlarmName: a.AlarmName,
					AlarmDescription: a.AlarmDescription, StateValue: a.StateValue, ActionsEnabled: a.ActionsEnabled})
			}
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

// stocked is a source with the client of its tables.
type stocked struct {
	Source
	tables *embedded.DynamoDB
}

// source is a stack on which all is well.
func source(t *testing.T) Source { return stockedSource(t).Source }

// logLines answers with one line for each, whatever is asked. If there is none, it is denied.
type logLines []string

func (l logLines) FilterLogEvents(context.Context, *cloudwatchlogs.FilterLogEventsInput,
	...func(*cloudwatchlogs.Options)) (*cloudwatchlogs.FilterLogEventsOutput, error) {
	out := &cloudwatchlogs.FilterLogEventsOutput{}
	for i := range l {
		if l[i] == "denied" {
			return nil, errors.New("AccessDenied")
		}
		out.Events = append(out.Events, logstypes.FilteredLogEvent{Message: &l[i]})
	}
	return out, nil
}

// Where writes are refused is no reason to be unwell, because alarms decide that. It is said, with
// what helps; and it is said if it cannot be read.
func TestHotPartitions(t *testing.T) {
	s := source(t)
	s.Logs = logLines{`{"hotPartitions":[{"of":"daily","partitionHash":"0123456789abcdef","count":12}]}`}
	r := Read(t.Context(), s)
	var text bytes.Buffer
	must.Succeed(t, r.Text(&text, 80))
	const want = "\nHOT PARTITIONS OF THE LAST HOUR\n  daily, partition 0123456789abcdef: 12 writes refused; spread: "
	if len(r.Hot) != 1 || len(r.Unwell) > 0 || !strings.Contains(text.String(), want) {
		t.Errorf("%+v, unwell %q\n%s", r.Hot, r.Unwell, &text)
	}
	s.Logs = logLines{"denied"}
	const denied = "hot partitions: reading the log group ingest-logs"
	if r := Read(t.Context(), s); !r.Incomplete || len(r.Unknown) != 1 || !strings.HasPrefix(r.Unknown[0], denied) {
		t.Errorf("%q", r.Unknown)
	}
	s.LogGroups = nil
	if r := Read(t.Context(), s); !r.Incomplete || len(r.Unknown) != 1 || !strings.Contains(r.Unknown[0], "IngestLogGroup") {
		t.Errorf("%q", r.Unknown)
	}
}

func stockedSource(t *testing.T) stocked {
	t.Helper()
	e := embedded.New(embedded.Config{Now: func() time.Time { return now }})
	s, err := stack.New(t.Context(), e, stack.Config{})
	must.Succeed(t, err)
	p := written.Pipeline(t, declared)
	st, err := store.New(tables.Config{Client: e.DynamoDB(), Pipeline: p, Aggregates: stack.Aggregates})
	if err == nil {
		err = st.Start(t.Context())
	}
	must.Succeed(t, err)
	return stocked{tables: e.DynamoDB(),
		Source: Source{Queues: e.SQS(), Lambda: mappings{state: "Enabled"},
			Watch: watch{metrics: map[string][]float64{"IteratorAge streams": {1250, 2500}, "Invocations ingest": {2, 3}},
				alarms: quiet}, Store: st, Pipeline: p,
			Logs: logLines{}, LogGroups: []string{"ingest-logs"},
			Queue: s.Queue, Quarantine: s.Quarantine, DeadLetters: s.DeadLetters, Ingest: "ingest", Streams: "streams",
			AlarmPrefix: "shop-", Now: now, Home: func(context.Context) (string, error) { return "eu-west-1", nil }}}
}

// letter sends a message with a note that says why it is in quarantine, or without one.
func letter(t *testing.T, s Source, url, note string) {
	t.Helper()
	in := &sqs.SendMessageInput{QueueUrl: &url, MessageBody: aws.String("{}")}
	if note != "" {
		in.MessageAttributes = map[string]types.MessageAttributeValue{
			quarantine.Attribute: {DataType: aws.String("String"), StringValue: &note}}
	}
	_, err := s.Queues.SendMessage(t.Context(), in)
	must.Succeed(t, err)
}

func TestWell(t *testing.T) {
	s := source(t)
	letter(t, s, s.Queue, "")                                                            // work is not trouble
	s.Watch.(watch).metrics["ApproximateAgeOfOldestMessage events"] = []float64{12, 900} // it was older
	r := Read(t.Context(), s)
	if len(r.Unwell) != 0 || r.Incomplete || len(r.Unknown) != 0 {
		t.Errorf("unwell %q, unknown %q", r.Unwell, r.Unknown)
	}
	if r.Epoch != 4 || *r.Lag != 2.5 || len(r.Mappings) != 2 || len(r.Queues) != 3 || r.Queues[0].Waiting != 1 ||
		*r.Queues[0].Oldest != 12 || len(r.Aggregates) != 1 {
		t.Errorf("%+v", r)
	}
	r.Stack = "stack shop"
	var text, metrics bytes.Buffer
	must.Succeed(t, errors.Join(r.Text(&text, 80), r.Prometheus(&metrics)))
	must.Equal(t, text.String(), `stack shop
epoch 4 is deployed
events are stored and counted in eu-west-1

QUEUES
               waiting  in flight  oldest
  queue              1          0     12s
  quarantine         0          0       -
  dead-letter        0          0       -
  URL  https://sqs.us-east-1.amazonaws.com/000000000000/events
  ARN  arn:aws:sqs:us-east-1:000000000000:events

FUNCTIONS
  ingest             Enabled
  streams            Enabled
  ingest, 15 min     5 calls  0 failed, 0 refused by Lambda
  streams, 15 min    0 calls  0 failed, 0 refused by Lambda
  lag of the totals  3s

AGGREGATES
  daily  since 1  counting

Nothing is wrong with what is known.
`)
	for _, line := range []string{`ingot_queue_messages{queue="queue",state="waiting"} 1`, `ingot_queue_oldest_seconds{queue="queue"} 12`,
		"ingot_lag_seconds 2.5",
		`ingot_mapping_enabled{function="streams",mapping="u-streams"} 1`, `ingot_aggregate_building{aggregate="daily"} 0`, "ingot_well 1",
		"ingot_unknown 0"} {
		must.Say(t, metrics.String(), line+"\n")
	}
}

// What a floor refuses is in quarantine every day. So that alone makes no stack unwell. Every other
// reason does, and is counted. Of messages that cannot be looked at, only a pipeline without floors
// knows that they are trouble.
func TestQuarantineIsCountedByReason(t *testing.T) {
	s := source(t)
	floors, err := pipeline.Load(examples.Files, "ledger/pipeline.yaml")
	must.Succeed(t, err)
	const low = `{"verdict":"Rejected","reason":"below-floor"}`
	for range 10 {
		letter(t, s, s.Quarantine, low)
	}
	held, err := s.Queues.ReceiveMessage(t.Context(), &sqs.ReceiveMessageInput{QueueUrl: &s.Quarantine, MaxNumberOfMessages: 10,
		VisibilityTimeout: 60})
	if err != nil || len(held.Messages) != 10 {
		t.Fatal(err)
	}
	for range 2 {
		letter(t, s, s.Quarantine, low)
		letter(t, s, s.Quarantine, `{"verdict":"Poison","reason":"unknown-type"}`)
	}
	letter(t, s, s.Quarantine, `{"verdict":"Conflict","reason":"digest-differs"}`)
	counted := func(want string) {
		t.Helper()
		var r Report
		r.queues(t.Context(), s)
		must.Equal(t, fmt.Sprint(reasons(r.Quarantine), r.Unwell, r.Unknown), want)
		must.Equal(t, r.Queues[1].Waiting+r.Queues[1].InFlight, 15)
	}
	const (
		seen   = "[Poison (unknown-type) 2 Rejected (below-floor) 2 Conflict (digest-differs) 1] "
		why    = " in quarantine: 2 Poison (unknown-type), 1 Conflict (digest-differs)] "
		unseen = "[why messages are in quarantine: 10 messages are not looked at: they are in flight, or beyond the first 1,000]"
	)
	counted(seen + "[13 messages are" + why + unseen)
	s.Pipeline = nil
	counted(seen + "[13 messages are" + why + unseen)
	s.Pipeline = floors
	counted(seen + "[3 messages are" + why + unseen)
	for _, m := range held.Messages {
		_, err := s.Queues.ChangeMessageVisibility(t.Context(),
			&sqs.ChangeMessageVisibilityInput{QueueUrl: &s.Quarantine, ReceiptHandle: m.ReceiptHandle})
		must.Succeed(t, err)
	}
	const all = "[Rejected (below-floor) 12 Poison (unknown-type) 2 Conflict (digest-differs) 1] [3 messages are" + why + "[]"
	counted(all)
	counted(all) // the first look has made all of them visible again

	s.Pipeline = nil
	s.Queues = blind{s.Queues}
	denied := "[why messages are in quarantine: receiving from " + s.Quarantine + ": denied]"
	counted("[] [15 messages are in quarantine] " + denied)
	s.Pipeline = floors
	counted("[] [] " + denied)
}

func reasons(list []Reason) (texts []string) {
	for _, why := range list {
		texts = append(texts, fmt.Sprint(why, " ", why.Count))
	}
	return texts
}

// blind is a queue that gives no messages.
type blind struct{ Queues }

func (blind) ReceiveMessage(context.Context, *sqs.ReceiveMessageInput, ...func(*sqs.Options)) (*sqs.ReceiveMessageOutput, error) {
	return nil, errors.New("denied")
}

// An age comes up to three minutes late. An older one says nothing about a stream on which nothing
// comes since.
func TestIdleStreamIsNotBehind(t *testing.T) {
	s := source(t)
	for want, ages := range map[string][]float64{"5m0s": {-1, 1000, 300_000, -1, 900_000}, "6m0s": {-1, -1, -1, 360_000},
		"-": {-1, -1, -1, -1, 277_000}} {
		s.Watch = watch{metrics: map[string][]float64{"IteratorAge streams": ages}}
		must.Equal(t, age(Read(t.Context(), s).Lag), want, ages)
	}
}

// Each kind of trouble alone makes a stack unwell, or says that it is not known.
func TestTrouble(t *testing.T) {
	measured := func(metrics map[string][]float64) func(*testing.T, *Source) {
		return func(_ *testing.T, s *Source) { s.Watch = watch{metrics: metrics, alarms: quiet} }
	}
	alarms := func(list map[string]cwtypes.StateValue) func(*testing.T, *Source) {
		return func(_ *testing.T, s *Source) { s.Watch = watch{alarms: list} }
	}
	for name, tt := range map[string]struct {
		make            func(*testing.T, *Source)
		unwell, unknown string
	}{
		"quarantine": {func(t *testing.T, s *Source) { letter(t, *s, s.Quarantine, "") }, "1 message is in quarantine: 1 without a reason",
			""},
		"dead letter": {func(t *testing.T, s *Source) { letter(t, *s, s.DeadLetters, "") }, "1 message is in the dead-letter queue", ""},
		"being changed": {func(_ *testing.T, s *Source) { s.Lambda = mappings{state: "Updating"} },
			"the event source mapping of ingest is Updating: nothing may call it meanwhile", ""},
		"switched off": {func(_ *testing.T, s *Source) { s.Lambda = mappings{state: "Disabled"} },
			"ingest is switched off, and it is not known by whom", ""},
		"alarm": {alarms(map[string]cwtypes.StateValue{"shop-Lag-1": "ALARM", "shop-Quiet": "OK", "other-Lag": "ALARM",
			"shop-dev-Lag-1": "ALARM", "shop-Half": "ALARM"}),
			"alarm shop-Lag-1: behind", ""},
		"alarm of two": {alarms(map[string]cwtypes.StateValue{"shop-Silent": "ALARM", "shop-Half": "ALARM"}),
			"alarm shop-Silent: behind", ""},
		"lag": {measured(map[string][]float64{"IteratorAge streams": {7.2e6}}), "totals are 2h0m0s behind", ""},
		"refuses to start": {measured(map[string][]float64{"Errors ingest": {3, 2}, "Invocations ingest": {3, 3}}),
			"ingest: 5 of 6 calls failed as a whole in the last 15 minutes; its log says why", ""},
		"refused by Lambda": {measured(map[string][]float64{"Throttles streams": {1}}),
			"streams: Lambda refused 1 call in the last 15 minutes", ""},
		"last batch": {func(_ *testing.T, s *Source) {
			s.Lambda = mappings{state: "Enabled", last: "PROBLEM: Function call failed"}
		},
			"ingest: of its last batch, Lambda says PROBLEM: Function call failed; its log says why", ""},
		"alarm without data": {alarms(map[string]cwtypes.StateValue{"shop-Lag-1": "INSUFFICIENT_DATA", "shop-Quiet": "OK"}), "",
			"alarms: these have no data, so they do not ring: shop-Lag-1"},
		"alarms of another stack": {alarms(map[string]cwtypes.StateValue{"shop-dev-Lag-1": "ALARM"}), "", "alarms: there is none"},
		"no alarms":               {alarms(nil), "", "alarms: there is none whose name begins with shop-, so none rings"},
		"no Lambda": {func(_ *testing.T, s *Source) {
			s.Lambda = mappings{err: errors.New("denied")}
		}, "", "mappings of ingest: the event source mappings of ingest: denied"},
		"no names":   {func(_ *testing.T, s *Source) { s.Ingest = "" }, "", "mappings: the names of the functions are not known"},
		"no queue":   {func(_ *testing.T, s *Source) { s.Queue = "" }, "", "queue: its URL is not known"},
		"no such":    {func(_ *testing.T, s *Source) { s.DeadLetters = "http://x/000000000000/gone" }, "", "dead-letter: "},
		"no metrics": {func(_ *testing.T, s *Source) { s.Watch = watch{err: errors.New("denied")} }, "", "lag: denied"},
		"no pipeline": {func(_ *testing.T, s *Source) {
			s.Pipeline, s.NoPipeline = nil, errors.New("not there")
		}, "", "aggregates: not there"},
	} {
		t.Run(name, func(t *testing.T) {
			s := source(t)
			tt.make(t, &s)
			r := Read(t.Context(), s)
			if (len(r.Unwell) > 0) != (tt.unwell != "") || tt.unwell != "" && !slices.Contains(r.Unwell, tt.unwell) {
				t.Errorf("unwell: %q", r.Unwell)
			}
			if !slices.ContainsFunc(append(r.Unknown, ""), func(u string) bool {
				return strings.HasPrefix(u, tt.unknown)
			}) || r.Incomplete != (tt.unknown != "") {
				t.Errorf("unknown: %q, incomplete %t", r.Unknown, r.Incomplete)
			}
			var text bytes.Buffer
			if err := r.Text(&text, 80); err != nil || strings.Contains(text.String(), "Nothing is wrong") == (tt.unwell != "") {
				t.Errorf("%v: %s", err, &text)
			}
		})
	}
}

// Flagged totals are named with the reason. A flag that somebody has accepted is shown, and makes
// no stack unwell.
func TestFlagsAreShown(t *testing.T) {
	s := stockedSource(t)
	def := s.Pipeline.Definitions()[0]
	for by, attribute := range map[string][2]string{"a": {"flag", "an event was removed"},
		"b": {"i:accepted", "2026-03-01T10:00:00Z by jo: it is known"}} {
		key := lanes.Key(def, 0, []string{by}, now.Unix())
		_, err := s.tables.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: aws.String(stack.Aggregates),
			Item: map[string]dynamodbtypes.AttributeValue{"PK": text(key.PK), "SK": text(key.SK), attribute[0]: text(attribute[1])}})
		must.Succeed(t, err)
	}
	_, err := repair.Of(s.Store).Flag(t.Context(), []*aggregate.Definition{def}, now, "odd")
	must.Succeed(t, err)
	want := "2 totals, [1 total is flagged: ingot rebuild mend computes them again, or ingot rebuild --accept accepts the flags]"
	check := func(unwell int) {
		t.Helper()
		r := Read(t.Context(), s.Source)
		if got := fmt.Sprintf("%d totals, %q", len(r.Flagged), r.Unwell[len(r.Unwell)-1:]); strings.ReplaceAll(got, `"`, "") != want ||
			len(r.Unwell) != unwell {
			t.Errorf("%s, %q", got, r.Unwell)
		}
		var text bytes.Buffer
		must.Succeed(t, r.Text(&text, 0))
		must.Say(t, text.String(), `FLAGGED TOTALS
  daily since 1 m=a at 2026-03-01T12:00:00Z: an event was removed
  daily since 1 m=b at 2026-03-01T12:00:00Z: accepted 2026-03-01T10:00:00Z by jo: it is known
`)
	}
	check(2)
	if is, err := repair.Of(s.Store).Accept(t.Context(), lanes.HeadKey(def), "2026-03-01T12:00:00Z odd", "jo"); !is || err != nil {
		t.Fatal(is, err)
	}
	check(1)
}

// What the schedule of cmd/worker has found is told, and runs that its state machine has counted.
func TestVerifiedBySchedule(t *testing.T) {
	s := stockedSource(t)
	check := func(unwell string, lines ...string) {
		t.Helper()
		r := Read(t.Context(), s.Source)
		var text bytes.Buffer
		must.Succeed(t, r.Text(&text, 0))
		must.Match(t, r.verifications(), lines)
		must.Equal(t, strings.Join(r.Unwell, "\n"), unwell)
		for _, line := range lines {
			must.Say(t, text.String(), "  "+line+"\n")
		}
	}
	check("")
	last := watched.Last{At: "2026-03-01T06:00:00Z", Totals: 1234, Events: 5000, Undecided: 2, LeftOut: "daily since 2 is building"}
	must.Succeed(t, watched.Keep(t.Context(), s.tables, stack.Aggregates, last))
	found := "2026-03-01T06:00:00Z: 1,234 totals of 5,000 events, 0 wrong, 2 undecided"
	check("", found, "left out: daily since 2 is building")
	last.Differing, last.LeftOut = 1, ""
	must.Succeed(t, watched.Keep(t.Context(), s.tables, stack.Aggregates, last))
	wrong := "the last scheduled verification found 1 total wrong: ingot verify --twice names them"
	found = strings.Replace(found, "0 wrong", "1 wrong", 1)
	check(wrong, found)
	for n, want := range []string{wrong, wrong + "\nthe last 2 scheduled verifications proved nothing: the state machine of cmd/worker " +
		"says why\nno scheduled verification has proved anything since 2026-03-01T06:00:00Z: look at the schedule of cmd/worker " +
		"and at its state machine"} {
		s.Now = time.Date(2026, 4, 3, 6, 0, n, 0, time.UTC) // 33 days later, and then more
		at := fmt.Sprintf("2026-03-%02dT06:00:00Z", 8+7*n)
		_, err := s.tables.UpdateItem(t.Context(), &dynamodb.UpdateItemInput{TableName: aws.String(stack.Aggregates),
			Key:              map[string]dynamodbtypes.AttributeValue{"PK": text("V#"), "SK": text("-")},
			UpdateExpression: aws.String("ADD failed :one SET failedAt = :at"), // as in cmd/worker/machine.asl.json
			ExpressionAttributeValues: map[string]dynamodbtypes.AttributeValue{":one": &dynamodbtypes.AttributeValueMemberN{Value: "1"},
				":at": text(at)}})
		must.Succeed(t, err)
		check(want, found, fmt.Sprintf("%s: failed, %s in a row", at, []string{"1 run", "2 runs"}[n]))
	}
}

func text(s string) dynamodbtypes.AttributeValue {
	return &dynamodbtypes.AttributeValueMemberS{Value: s}
}
