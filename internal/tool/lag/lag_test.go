package lag

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch/types"

	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/internal/tool/drained"
	"github.com/ingot-events/ingot/internal/tool/pause"
	"github.com/ingot-events/ingot/internal/tool/status"
	"github.com/ingot-events/ingot/internal/tool/target"
)

// Where only the tables are known, nobody can be asked.
func TestWithoutAFunction(t *testing.T) {
	at, err := Of(&target.Target{Kind: target.KindEnvironment, EventsTable: "events"}, pause.Pauser{}, 0).Counted(t.Context())
	if err == nil || !strings.Contains(err.Error(), "set INGOT_STREAMS_FUNCTION") || !at.IsZero() {
		t.Error(at, err)
	}
}

// watch has one metric, or refuses to tell it.
type watch struct {
	status.Watch
	refused error
}

func (w watch) GetMetricStatistics(_ context.Context, in *cloudwatch.GetMetricStatisticsInput, _ ...func(*cloudwatch.Options)) (
	*cloudwatch.GetMetricStatisticsOutput, error) {
	if *in.MetricName != "Throttles" || *in.Dimensions[0].Value != "shop-streams" {
		return nil, errors.New("nobody wants to know that")
	}
	return &cloudwatch.GetMetricStatisticsOutput{Datapoints: []types.Datapoint{{Sum: aws.Float64(4)}, {Sum: aws.Float64(3)}}}, w.refused
}

func TestThrottled(t *testing.T) {
	for want, watch := range map[string]status.Watch{
		"; Lambda has throttled 7 calls of it in the last 15 minutes":         watch{},
		"; it is not known whether Lambda throttles it: nobody may know that": watch{refused: errors.New("nobody may know that")},
		"": nil,
	} {
		must.Equal(t, (stackLag{watch, drained.Question{Function: "shop-streams"}}).throttled(t.Context()), want)
	}
}
