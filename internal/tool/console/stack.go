package console

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch/types"

	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/tool/hot"
)

// CloudWatch is the part of the CloudWatch client that the console needs.
type CloudWatch interface {
	GetMetricData(context.Context, *cloudwatch.GetMetricDataInput, ...func(*cloudwatch.Options)) (*cloudwatch.GetMetricDataOutput, error)
}

// These constants say how often the metrics of a stack are read, and which.
const (
	pollEvery  = time.Minute // at most one poll, however many pages are open
	watched    = time.Hour
	late       = time.Minute // the metrics of a minute are complete only some time after it ends
	namespace  = "Ingot"
	metricStep = 60
)

// Remote is a deployed stack. It keeps no past of its events, so a journey shows what is stored.
type Remote struct {
	Resources
	CloudWatch CloudWatch // nil: there are no metrics to read
	Logs       hot.Logs   // of the functions
	LogGroups  []string   // empty: they are not known
	// IngestFunction and StreamsFunction are the names of the functions, as their metrics have
	// them.
	IngestFunction, StreamsFunction string

	mu    sync.Mutex
	asked time.Time
	last  *Flow
}

// About describes the stack.
func (s *Remote) About(context.Context) (*About, error) { return s.about(false), nil }

// Journey shows what is stored of an event.
func (s *Remote) Journey(ctx context.Context, q Question) (*Journey, error) {
	return s.journey(ctx, q, func(event.Key) *trace { return nil })
}

// ingestMetrics and streamsMetrics hold, by the name of a series of [Flow], the name of its metric.
var ingestMetrics = map[string]string{"received": "EventsReceived", "returned": "Returned",
	"ingestRequests": "Requests", "ingestWrites": "WriteUnits", "ingestReads": "ReadUnits"}
var streamsMetrics = map[string]string{"changes": "ChangesReceived", "updates": "AggregateUpdates", "dropped": "StepsDroppedByMark",
	"archived": "Archived", "streamsRequests": "Requests", "streamsWrites": "WriteUnits", "streamsReads": "ReadUnits"}

const lagSeries = "lag"

// Flow reads the metrics of the last hour and how full the queues are, at most once a minute.
// Within a minute it returns the last answer again.
func (s *Remote) Flow(ctx context.Context) (*Flow, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.now()
	if s.last != nil && now.Sub(s.asked) < pollEvery {
		return s.last, nil
	}
	s.asked = now
	end := now.Add(-late).Truncate(time.Minute)
	out := &Flow{AsOf: end.UTC(), Step: metricStep, Poll: int(pollEvery.Seconds()), Series: map[string][]float64{}, Recent: []Recent{}}
	for at := end.Add(-watched); at.Before(end); at = at.Add(time.Minute) {
		out.At = append(out.At, at.Unix())
	}
	out.Queues, out.Missing = s.queues(ctx)
	if err := s.metrics(ctx, out, end); err != nil {
		out.Missing = "the metrics cannot be read: " + err.Error()
	}
	list, err := hot.Read(ctx, s.Logs, s.LogGroups, s.Pipeline(), now)
	if err != nil {
		out.Missing = "where writes are refused is not known: " + err.Error()
	}
	for _, p := range list {
		out.Hot = append(out.Hot, p.String())
	}
	s.last = out
	return out, nil
}

// queries are the metrics to read. The id of a query is q with its place in names.
func (s *Remote) queries() (queries []types.MetricDataQuery, names []string) {
	add := func(series, metric, function, stat string) {
		if function == "" {
			return
		}
		queries = append(queries, types.MetricDataQuery{Id: aws.String("q" + strconv.Itoa(len(names))), MetricStat: &types.MetricStat{
			Period: aws.Int32(metricStep), Stat: &stat,
			Metric: &types.Metric{Namespace: aws.String(namespace), MetricName: &metric, Dimensions: []types.Dimension{
				{Name: aws.String("service"), Value: aws.String("ingot")}, {Name: aws.String("function"), Value: &function}}}}})
		names = append(names, series)
	}
	for _, v := range event.Verdicts {
		add(v.String(), v.String(), s.IngestFunction, "Sum")
	}
	for series, metric := range ingestMetrics {
		add(series, metric, s.IngestFunction, "Sum")
	}
	for series, metric := range streamsMetrics {
		add(series, metric, s.StreamsFunction, "Sum")
	}
	add(lagSeries, "IteratorLagMs", s.StreamsFunction, "Maximum")
	return queries, names
}

// metrics fills the series. In a minute without a datum, nothing happened.
func (s *Remote) metrics(ctx context.Context, out *Flow, end time.Time) error {
	queries, names := s.queries()
	if s.CloudWatch == nil || len(queries) == 0 {
		return fmt.Errorf("the names of the functions are not known; name the stack with --stack")
	}
	for _, name := range names {
		out.Series[name] = make([]float64, len(out.At))
	}
	for token := (*string)(nil); ; {
		page, err := s.CloudWatch.GetMetricData(ctx, &cloudwatch.GetMetricDataInput{StartTime: aws.Time(end.Add(-watched)), EndTime: &end,
			MetricDataQueries: queries, NextToken: token})
		if err != nil {
			return err
		}
		for _, r := range page.MetricDataResults {
			i, err := strconv.Atoi(strings.TrimPrefix(aws.ToString(r.Id), "q"))
			if err != nil || i < 0 || i >= len(names) {
				continue
			}
			for n, at := range r.Timestamps {
				place := int(at.Sub(end.Add(-watched)) / time.Minute)
				if n < len(r.Values) && place >= 0 && place < len(out.At) {
					out.Series[names[i]][place] = r.Values[n]
				}
			}
		}
		if token = page.NextToken; token == nil {
			break
		}
	}
	if lags := out.Series[lagSeries]; len(lags) > 0 {
		// The lag of the last minute in which a batch was counted.
		for i := len(lags) - 1; i >= 0; i-- {
			if lags[i] > 0 {
				lag := lags[i] / 1000
				out.Lag = &lag
				break
			}
		}
		delete(out.Series, lagSeries)
	}
	return nil
}
