package try_test

import (
	"context"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch"
	cwtypes "github.com/aws/aws-sdk-go-v2/service/cloudwatch/types"
	"github.com/aws/aws-sdk-go-v2/service/lambda"
	"github.com/aws/aws-sdk-go-v2/service/lambda/types"

	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/internal/tool/pause"
	"github.com/ingot-events/ingot/internal/tool/status"
	"github.com/ingot-events/ingot/internal/tool/try"
)

// around is Lambda and CloudWatch around a stack.
type around struct {
	pause.Client
	status.Watch
	state, last string
	readers     []string
	allowed     int32
	alarm       cwtypes.StateValue
	named       string
}

func (a around) ListEventSourceMappings(_ context.Context, in *lambda.ListEventSourceMappingsInput,
	_ ...func(*lambda.Options)) (*lambda.ListEventSourceMappingsOutput, error) {
	out := &lambda.ListEventSourceMappingsOutput{}
	add := func(function, source string, most int32) {
		c := types.EventSourceMappingConfiguration{FunctionArn: aws.String("arn:aws:lambda:r:1:function:" + function), State: &a.state,
			EventSourceArn: &source, LastProcessingResult: &a.last}
		if most > 0 {
			c.ScalingConfig = &types.ScalingConfig{MaximumConcurrency: &most}
		}
		out.EventSourceMappings = append(out.EventSourceMappings, c)
	}
	switch aws.ToString(in.FunctionName) {
	case "ingest":
		add("ingest", "arn:aws:sqs:r:1:events", 10)
	case "streams":
		add("streams", "arn:aws:dynamodb:r:1:table/events/stream/x", 0)
	default: // who reads the stream
		for _, name := range a.readers {
			add(name, *in.EventSourceArn, 0)
		}
	}
	return out, nil
}

func (a around) GetAccountSettings(context.Context, *lambda.GetAccountSettingsInput,
	...func(*lambda.Options)) (*lambda.GetAccountSettingsOutput, error) {
	return &lambda.GetAccountSettingsOutput{AccountLimit: &types.AccountLimit{UnreservedConcurrentExecutions: &a.allowed}}, nil
}

func (a around) DescribeAlarms(context.Context, *cloudwatch.DescribeAlarmsInput,
	...func(*cloudwatch.Options)) (*cloudwatch.DescribeAlarmsOutput, error) {
	return &cloudwatch.DescribeAlarmsOutput{CompositeAlarms: []cwtypes.CompositeAlarm{{AlarmName: aws.String(a.named), StateValue: a.alarm,
		ActionsEnabled: aws.Bool(true)}}}, nil
}

// A trial says what it saw of the account, the mappings, the readers of the stream and the alarms,
// and what of it is wrong.
func TestAround(t *testing.T) {
	l := live(t, "leaderboard")
	for _, c := range []struct {
		make  func(*around)
		wrong string // the detail of the only wrong check; empty: all is right
	}{
		{func(*around) {}, ""},
		{func(a *around) { a.allowed = 10 }, "10 calls at a time, and the stack needs 14 at its busiest"},
		{func(a *around) { a.state = "Disabled" }, "ingest is Disabled; streams is Disabled"},
		{func(a *around) { a.last = "PROBLEM: Function call failed" }, "streams is Enabled PROBLEM: Function call failed"},
		{func(a *around) { a.readers = []string{"publish", "capture", "streams"} }, "capture, publish, streams, of 2"},
		{func(a *around) { a.alarm = cwtypes.StateValueAlarm }, "shop-Silent-1"},
	} {
		a := around{state: "Enabled", readers: []string{"streams"}, allowed: 1000, alarm: cwtypes.StateValueOk, named: "shop-Silent-1"}
		c.make(&a)
		l.config.Stack = &status.Source{Lambda: a, Limits: a, Watch: a, Ingest: "ingest", Streams: "streams", AlarmPrefix: "shop-"}
		var wrong []string
		right := 0
		for _, check := range l.run().Checks {
			if check.Result == try.Wrong {
				wrong = append(wrong, check.Detail)
			} else if check.Result == try.Right {
				right++
			}
		}
		if c.wrong == "" {
			must.Match(t, wrong, []string(nil))
			must.Equal(t, right >= 13, true, right)
		} else if len(wrong) != 1 || !strings.Contains(wrong[0], c.wrong) {
			t.Errorf("wrong: %q, want %q", wrong, c.wrong)
		}
	}
}
