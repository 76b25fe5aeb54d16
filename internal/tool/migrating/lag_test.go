package migrating

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch"
	cwtypes "github.com/aws/aws-sdk-go-v2/service/cloudwatch/types"
	"github.com/aws/aws-sdk-go-v2/service/lambda"
	"github.com/aws/aws-sdk-go-v2/service/lambda/types"

	"github.com/ingot-events/ingot/env"
	"github.com/ingot-events/ingot/internal/tool/pause"
	"github.com/ingot-events/ingot/migrate"
)

// copier is a function with one mapping, and what CloudWatch knows of it.
type copier struct {
	pause.Client
	mapping types.EventSourceMappingConfiguration
	age     float64 // of what it read, in milliseconds
}

func (c *copier) ListEventSourceMappings(context.Context, *lambda.ListEventSourceMappingsInput,
	...func(*lambda.Options)) (*lambda.ListEventSourceMappingsOutput, error) {
	return &lambda.ListEventSourceMappingsOutput{EventSourceMappings: []types.EventSourceMappingConfiguration{c.mapping}}, nil
}

func (c *copier) GetMetricStatistics(context.Context, *cloudwatch.GetMetricStatisticsInput,
	...func(*cloudwatch.Options)) (*cloudwatch.GetMetricStatisticsOutput, error) {
	return &cloudwatch.GetMetricStatisticsOutput{Datapoints: []cwtypes.Datapoint{{Maximum: &c.age}}}, nil
}

// What a deployed function has captured is known only if its mapping reads the stream that the
// table has now, is on, and has been so for longer than CloudWatch takes.
func TestDeployedFunction(t *testing.T) {
	now := time.Date(2031, 5, 5, 8, 0, 0, 0, time.UTC)
	for name, tt := range map[string]struct {
		change func(*copier)
		want   string // of the error
		behind time.Duration
	}{
		"reads all":   {func(*copier) {}, "", 10 * time.Minute},
		"is behind":   {func(c *copier) { c.age = 3_600_000 }, "", 70 * time.Minute},
		"another one": {func(c *copier) { c.mapping.EventSourceArn = aws.String("arn:before") }, "does not read the stream", 0},
		"is off":      {func(c *copier) { c.mapping.State = aws.String("Disabled") }, pause.ErrUnread.Error(), 0},
		"is new":      {func(c *copier) { c.mapping.LastModified = aws.Time(now.Add(-time.Minute)) }, "ask again", 0},
		"is new and has much to read": {func(c *copier) {
			c.age, c.mapping.LastModified = 3_600_000, aws.Time(now.Add(-30*time.Minute))
		}, "ask again", 0},
	} {
		t.Run(name, func(t *testing.T) {
			c := &copier{mapping: types.EventSourceMappingConfiguration{EventSourceArn: aws.String("arn:now"), State: aws.String("Enabled"),
				LastModified: aws.Time(now.AddDate(0, 0, -2))}}
			tt.change(c)
			d := Deployed{pause.Pauser{Client: c, Env: env.Env{Now: func() time.Time { return now }}}, c, "copier", []string{"arn:now"}}
			at, err := d.Counted(t.Context())
			switch {
			case tt.want != "":
				if err == nil || !strings.Contains(err.Error(), tt.want) {
					t.Errorf("%s, %v, want %s", at, err, tt.want)
				}
			case err != nil || at.After(now) || at.Before(now.Add(-tt.behind)):
				t.Errorf("%s, %v", at, err)
			}
			if stop := (*migrate.StopError)(nil); tt.want == "ask again" && !errors.As(err, &stop) {
				t.Errorf("%v is no reason to stop", err)
			}
		})
	}
}
