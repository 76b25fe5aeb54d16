// Package status reads the state of a stack: its queues, how far behind its totals are, the
// mappings of its functions, its alarms, and the flags of its generations. [Read] does this, and
// [Report.Text] writes it for people. The package changes nothing.
package status

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch"
	cwtypes "github.com/aws/aws-sdk-go-v2/service/cloudwatch/types"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"github.com/ingot-events/ingot/internal/tool/pause"
	"github.com/ingot-events/ingot/internal/tool/show"
	"github.com/ingot-events/ingot/pipeline"
	"github.com/ingot-events/ingot/store"
)

// Queues is what the package needs of SQS.
type Queues interface {
	GetQueueAttributes(context.Context, *sqs.GetQueueAttributesInput, ...func(*sqs.Options)) (*sqs.GetQueueAttributesOutput, error)
}

// Watch is what the package needs of CloudWatch.
type Watch interface {
	DescribeAlarms(context.Context, *cloudwatch.DescribeAlarmsInput, ...func(*cloudwatch.Options)) (*cloudwatch.DescribeAlarmsOutput, error)
	GetMetricStatistics(context.Context, *cloudwatch.GetMetricStatisticsInput, ...func(*cloudwatch.Options)) (*cloudwatch.GetMetricStatisticsOutput, error)
}

// Source says what to read, and with what. If a part is nil or empty, the report says that it is
// not known.
type Source struct {
	Queues Queues
	Lambda pause.Client
	Watch  Watch        // nil: there is no CloudWatch, as with ingot dev
	Store  *store.Store // of the aggregates table
	// Pipeline is the deployed one. nil: it cannot be read, and NoPipeline says why.
	Pipeline   *pipeline.Pipeline
	NoPipeline error

	Queue, Quarantine, DeadLetters string // URLs
	Ingest, Streams                string // names of functions
	AlarmPrefix                    string // what the names of the stack's alarms begin with
	Now                            time.Time
}

// Queue is one of the queues.
type Queue struct {
	Name     string `json:"name"` // "queue", "quarantine" or "dead-letter"
	Waiting  int    `json:"waiting"`
	InFlight int    `json:"inFlight"`
	// Oldest is the age of the oldest message, in seconds. nil: not known.
	Oldest *float64 `json:"oldest,omitempty"`
}

// Alarm is an alarm that is not quiet.
type Alarm struct {
	Name  string `json:"name"`
	State string `json:"state"` // ALARM or INSUFFICIENT_DATA
	About string `json:"about"`
}

// Aggregate is the state of a generation.
type Aggregate struct {
	Name     string   `json:"name"`
	Since    int64    `json:"since"`
	Building bool     `json:"building"`
	Flags    []string `json:"flags"`
}

// Report is the state of a stack.
type Report struct {
	Stack string `json:"stack"`
	Epoch int64  `json:"epoch"` // of the deployed pipeline; 0: not known
	// Lag is how far the totals are behind the events, in seconds: the greatest of the last ten
	// minutes. nil: not known, or nothing came.
	Lag        *float64        `json:"lag,omitempty"`
	Queues     []Queue         `json:"queues"`
	Mappings   []pause.Mapping `json:"mappings"`
	Alarms     []Alarm         `json:"alarms"`
	Aggregates []Aggregate     `json:"aggregates"`
	Unwell     []string        `json:"unwell"`  // why the stack is not well
	Unknown    []string        `json:"unknown"` // what could not be read, and why
	// Untold says that something could not be read that should be known.
	Untold bool `json:"untold"`
}

// lagLimit is how far totals may be behind: the threshold of the alarm.
const lagLimit = time.Hour

// Read reads as much as it can. Unknown lists the parts that it could not read.
func Read(ctx context.Context, s Source) *Report {
	r := &Report{Queues: []Queue{}, Mappings: []pause.Mapping{}, Alarms: []Alarm{}, Aggregates: []Aggregate{}, Unwell: []string{}, Unknown: []string{}}
	r.queues(ctx, s)
	r.mappings(ctx, s)
	if s.Watch == nil {
		r.Unknown = append(r.Unknown, "ages, lag and alarms: ingot dev has no CloudWatch")
	} else {
		r.lag(ctx, s)
		r.alarms(ctx, s)
	}
	r.aggregates(ctx, s)
	return r
}

func (r *Report) unknown(what string, err error) {
	r.Unknown = append(r.Unknown, what+": "+strings.ReplaceAll(show.Error(err), "\n", "; "))
	r.Untold = true
}

func (r *Report) unwell(format string, args ...any) {
	r.Unwell = append(r.Unwell, fmt.Sprintf(format, args...))
}

var errNoURL = errors.New("its URL is not known")

func (r *Report) queues(ctx context.Context, s Source) {
	for _, q := range []struct{ name, url, unwell string }{{"queue", s.Queue, ""}, {"quarantine", s.Quarantine, "in quarantine"}, {"dead-letter", s.DeadLetters, "in the dead-letter queue"}} {
		if q.url == "" {
			r.unknown(q.name, errNoURL)
			continue
		}
		out, err := s.Queues.GetQueueAttributes(ctx, &sqs.GetQueueAttributesInput{QueueUrl: &q.url, AttributeNames: []types.QueueAttributeName{
			types.QueueAttributeNameApproximateNumberOfMessages, types.QueueAttributeNameApproximateNumberOfMessagesNotVisible}})
		if err != nil {
			r.unknown(q.name, err)
			continue
		}
		one := Queue{Name: q.name}
		one.Waiting, _ = strconv.Atoi(out.Attributes["ApproximateNumberOfMessages"]) // SQS writes a number
		one.InFlight, _ = strconv.Atoi(out.Attributes["ApproximateNumberOfMessagesNotVisible"])
		if s.Watch != nil && one.Waiting > 0 {
			name := q.url[strings.LastIndexByte(q.url, '/')+1:]
			if one.Oldest, err = s.greatest(ctx, "AWS/SQS", "ApproximateAgeOfOldestMessage", "QueueName", name); err != nil {
				r.unknown("age of "+q.name, err)
			}
		}
		r.Queues = append(r.Queues, one)
		if q.name == "quarantine" && s.Watch != nil && s.Pipeline != nil && s.Pipeline.HasFloors() {
			continue // events that a floor refuses are there too, which is normal; the alarm is for the others
		}
		if n := one.Waiting + one.InFlight; q.unwell != "" && n > 0 {
			verb := "are"
			if n == 1 {
				verb = "is"
			}
			r.unwell("%s %s %s", show.Count(n, "message"), verb, q.unwell)
		}
	}
}

// greatest returns the greatest value of a metric in the last ten minutes. It is nil if there is
// none.
func (s Source) greatest(ctx context.Context, namespace, metric, dimension, value string) (*float64, error) {
	out, err := s.Watch.GetMetricStatistics(ctx, &cloudwatch.GetMetricStatisticsInput{Namespace: &namespace, MetricName: &metric,
		Dimensions: []cwtypes.Dimension{{Name: &dimension, Value: &value}}, Statistics: []cwtypes.Statistic{cwtypes.StatisticMaximum},
		StartTime: aws.Time(s.Now.Add(-10 * time.Minute)), EndTime: aws.Time(s.Now), Period: aws.Int32(60)})
	if err != nil {
		return nil, err
	}
	var most *float64
	for _, point := range out.Datapoints {
		if point.Maximum != nil && (most == nil || *point.Maximum > *most) {
			most = point.Maximum
		}
	}
	return most, nil
}

func (r *Report) mappings(ctx context.Context, s Source) {
	for _, function := range []string{s.Ingest, s.Streams} {
		if function == "" {
			r.unknown("mappings", errors.New("the names of the functions are not known"))
			return
		}
		list, err := pause.Read(ctx, s.Lambda, function)
		if err != nil {
			r.unknown("mappings of "+function, err)
			continue
		}
		r.Mappings = append(r.Mappings, list...)
		for _, m := range list {
			switch {
			case m.Off() && m.By != "":
				r.unwell("%s is paused by %s since %s", function, m.By, m.At.UTC().Format(time.RFC3339))
			case m.Off():
				r.unwell("%s is switched off, and it is not known by whom", function)
			}
		}
	}
}

func (r *Report) lag(ctx context.Context, s Source) {
	if s.Streams == "" {
		return
	}
	age, err := s.greatest(ctx, "AWS/Lambda", "IteratorAge", "FunctionName", s.Streams)
	if err != nil {
		r.unknown("lag", err)
		return
	}
	if age == nil {
		return
	}
	seconds := *age / 1000
	r.Lag = &seconds
	if behind := time.Duration(seconds * float64(time.Second)); behind > lagLimit {
		r.unwell("totals are %s behind", behind.Round(time.Minute))
	}
}

func (r *Report) alarms(ctx context.Context, s Source) {
	if s.AlarmPrefix == "" {
		r.unknown("alarms", errors.New("only a stack has a name that they begin with"))
		return
	}
	in := &cloudwatch.DescribeAlarmsInput{AlarmNamePrefix: &s.AlarmPrefix}
	for {
		out, err := s.Watch.DescribeAlarms(ctx, in)
		if err != nil {
			r.unknown("alarms", err)
			return
		}
		for _, a := range out.MetricAlarms {
			if a.StateValue != cwtypes.StateValueAlarm {
				continue
			}
			r.Alarms = append(r.Alarms, Alarm{aws.ToString(a.AlarmName), string(a.StateValue), aws.ToString(a.AlarmDescription)})
			r.unwell("alarm %s: %s", aws.ToString(a.AlarmName), aws.ToString(a.AlarmDescription))
		}
		if aws.ToString(out.NextToken) == "" {
			return
		}
		in.NextToken = out.NextToken
	}
}

func (r *Report) aggregates(ctx context.Context, s Source) {
	if s.Pipeline == nil {
		r.unknown("aggregates", s.NoPipeline)
		return
	}
	r.Epoch = s.Pipeline.Epoch()
	for _, def := range s.Pipeline.Definitions() {
		head, err := s.Store.Head(ctx, def)
		if err != nil {
			r.unknown("aggregate "+def.Name, err)
			continue
		}
		one := Aggregate{Name: def.Name, Since: def.Since, Flags: []string{}}
		if head == nil {
			one.Flags = append(one.Flags, "no streams function has started with it, so nothing is counted yet")
		} else {
			one.Building, one.Flags = head.Building, append(one.Flags, head.Flags()...)
		}
		r.Aggregates = append(r.Aggregates, one)
		for _, flag := range one.Flags {
			r.unwell("aggregate %s: %s", def.Name, flag)
		}
	}
}
