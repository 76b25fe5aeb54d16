package migrate

import (
	"context"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/lambda"
	"github.com/aws/aws-sdk-go-v2/service/lambda/types"

	"github.com/ingot-events/ingot/internal/tool/pause"
)

// copier is a function with one mapping.
type copier struct {
	pause.Client
	mapping types.EventSourceMappingConfiguration
}

func (c *copier) ListEventSourceMappings(context.Context, *lambda.ListEventSourceMappingsInput,
	...func(*lambda.Options)) (*lambda.ListEventSourceMappingsOutput, error) {
	return &lambda.ListEventSourceMappingsOutput{EventSourceMappings: []types.EventSourceMappingConfiguration{c.mapping}}, nil
}

// A deployed function captures only if its mapping reads the stream that the table has now, and is
// on. What Lambda says of the mapping is said.
func TestDeployedFunction(t *testing.T) {
	for name, tt := range map[string]struct {
		change func(*copier)
		want   string // of the error
	}{
		"reads all":   {func(*copier) {}, ""},
		"another one": {func(c *copier) { c.mapping.EventSourceArn = aws.String("arn:before") }, "does not read the stream arn:now"},
		"is off":      {func(c *copier) { c.mapping.State = aws.String("Disabled") }, "is Disabled, and nobody has said why: switch it on"},
	} {
		t.Run(name, func(t *testing.T) {
			c := &copier{mapping: types.EventSourceMappingConfiguration{EventSourceArn: aws.String("arn:now"), State: aws.String("Enabled"),
				LastProcessingResult: aws.String("PROBLEM: Function call failed")}}
			tt.change(c)
			d := CaptureFunction{Client: c, Name: "copier"}
			if err := d.Reads(t.Context(), []string{"arn:now"}); tt.want == "" && err != nil || tt.want != "" {
				stops(t, err, tt.want)
			}
			if why := d.Why(t.Context(), "arn:now"); tt.want == "" &&
				why != `. Its mapping is Enabled, and Lambda says of its last batch "PROBLEM: Function call failed"` {
				t.Error(why)
			}
		})
	}
}
