package status

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch/types"

	"github.com/ingot-events/ingot/internal/tool/show"
)

// These are how far back metrics are read. CloudWatch shows a minute late.
const (
	fourMinutes     = 4 * time.Minute // what is older says nothing about now: the stream was idle since
	tenMinutes      = 10 * time.Minute
	quarterOfAnHour = 15 * time.Minute
)

// lagLimit is how far totals may be behind: the threshold of the alarm.
const lagLimit = time.Hour

// points reads one metric of the last while, in minutes.
func (s Source) points(ctx context.Context, namespace, metric, dimension, value string, stat types.Statistic,
	since time.Duration) ([]types.Datapoint, error) {
	out, err := s.Watch.GetMetricStatistics(ctx, &cloudwatch.GetMetricStatisticsInput{Namespace: &namespace, MetricName: &metric,
		Dimensions: []types.Dimension{{Name: &dimension, Value: &value}}, Statistics: []types.Statistic{stat},
		StartTime: aws.Time(s.Now.Add(-since)), EndTime: aws.Time(s.Now), Period: aws.Int32(60)})
	if err != nil {
		return nil, err
	}
	return out.Datapoints, nil
}

// newest returns the maximum of the latest minute that has one. It is nil if none has.
func newest(points []types.Datapoint) (last *float64) {
	var at time.Time
	for _, p := range points {
		if p.Maximum != nil && (last == nil || aws.ToTime(p.Timestamp).After(at)) {
			last, at = p.Maximum, aws.ToTime(p.Timestamp)
		}
	}
	return last
}

// greatest returns the greatest maximum. It is nil if there is none.
func greatest(points []types.Datapoint) (most *float64) {
	for _, p := range points {
		if p.Maximum != nil && (most == nil || *p.Maximum > *most) {
			most = p.Maximum
		}
	}
	return most
}

// lag reads the age of what the streams function was given in the last minutes. A stream on which
// nothing comes has no lag.
func (r *Report) lag(ctx context.Context, s Source) {
	if s.Streams == "" {
		return
	}
	points, err := s.points(ctx, "AWS/Lambda", "IteratorAge", "FunctionName", s.Streams, types.StatisticMaximum, fourMinutes)
	if err != nil {
		r.unknown("lag", err)
		return
	}
	age := greatest(points)
	if age == nil {
		return
	}
	seconds := *age / 1000
	r.Lag = &seconds
	if behind := time.Duration(seconds * float64(time.Second)); behind > lagLimit {
		r.unwell("totals are %s behind", behind.Round(time.Minute))
	}
}

// Throttled returns how many calls of a function Lambda has refused in the last quarter of an hour.
func Throttled(ctx context.Context, w Watch, function string, now time.Time) (int, error) {
	return Source{Watch: w, Now: now}.total(ctx, "Throttles", function)
}

// total adds up one metric of a function over the last quarter of an hour.
func (s Source) total(ctx context.Context, metric, function string) (sum int, err error) {
	points, err := s.points(ctx, "AWS/Lambda", metric, "FunctionName", function, types.StatisticSum, quarterOfAnHour)
	for _, p := range points {
		sum += int(aws.ToFloat64(p.Sum))
	}
	return sum, err
}

// functions reads what became of the calls of both functions. A function that refuses to start
// fails all of its calls.
func (r *Report) functions(ctx context.Context, s Source) {
	for _, name := range []string{s.Ingest, s.Streams} {
		if name == "" {
			continue // the mappings say so
		}
		f := Function{Name: name}
		for metric, to := range map[string]**int{"Invocations": &f.Calls, "Errors": &f.Failed, "Throttles": &f.Throttled} {
			sum, err := s.total(ctx, metric, name)
			if err != nil {
				r.unknown("errors of "+name, err)
				break
			}
			*to = &sum
		}
		r.Functions = append(r.Functions, f)
		if n := aws.ToInt(f.Failed); n > 0 {
			r.unwell("%s: %s of %s failed as a whole in the last 15 minutes; its log says why", name, show.Comma(n),
				show.Count(max(n, aws.ToInt(f.Calls)), "call"))
		}
		if n := aws.ToInt(f.Throttled); n > 0 {
			r.unwell("%s: Lambda refused %s in the last 15 minutes", name, show.Count(n, "call"))
		}
	}
}

// alarms reads the stack's alarms. One without data does not ring, whatever happens. Those that act
// on nothing are halves of composite alarms, and normal when they are on.
func (r *Report) alarms(ctx context.Context, s Source) {
	if s.AlarmPrefix == "" {
		r.unknown("alarms", errors.New("only a stack has a name that they begin with"))
		return
	}
	in, any := &cloudwatch.DescribeAlarmsInput{AlarmNamePrefix: &s.AlarmPrefix,
		AlarmTypes: []types.AlarmType{types.AlarmTypeMetricAlarm, types.AlarmTypeCompositeAlarm}}, false
	var blind []string
	for {
		out, err := s.Watch.DescribeAlarms(ctx, in)
		if err != nil {
			r.unknown("alarms", err)
			return
		}
		for _, a := range out.CompositeAlarms {
			out.MetricAlarms = append(out.MetricAlarms, types.MetricAlarm{AlarmName: a.AlarmName, AlarmDescription: a.AlarmDescription,
				StateValue: a.StateValue, ActionsEnabled: a.ActionsEnabled})
		}
		for _, a := range out.MetricAlarms {
			if rest := strings.TrimPrefix(aws.ToString(a.AlarmName), s.AlarmPrefix); strings.Count(rest, "-") > 1 {
				// It is of another stack, such as shop-dev beside shop. CloudFormation makes names
				// of the stack, the logical id, which has no hyphen, and a random part (User Guide,
				// "Name type").
				continue
			}
			any = true
			if a.StateValue == types.StateValueOk || !aws.ToBool(a.ActionsEnabled) {
				continue
			}
			alarm := Alarm{aws.ToString(a.AlarmName), string(a.StateValue), aws.ToString(a.AlarmDescription)}
			r.Alarms = append(r.Alarms, alarm)
			if a.StateValue == types.StateValueAlarm {
				r.unwell("alarm %s: %s", alarm.Name, alarm.About)
			} else {
				blind = append(blind, alarm.Name)
			}
		}
		if in.NextToken = out.NextToken; aws.ToString(out.NextToken) == "" {
			break
		}
	}
	switch {
	case !any:
		r.unknown("alarms", fmt.Errorf("there is none whose name begins with %s, so none rings", s.AlarmPrefix))
	case len(blind) > 0:
		r.unknown("alarms", fmt.Errorf("these have no data, so they do not ring: %s", strings.Join(blind, ", ")))
	}
}
