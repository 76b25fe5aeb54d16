package status

import (
	"context"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/lambda"
	"github.com/aws/aws-sdk-go-v2/service/lambda/types"

	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/internal/tool/pause"
)

type allowing int32

func (n allowing) GetAccountSettings(context.Context, *lambda.GetAccountSettingsInput,
	...func(*lambda.Options)) (*lambda.GetAccountSettingsOutput, error) {
	most := int32(n)
	return &lambda.GetAccountSettingsOutput{AccountLimit: &types.AccountLimit{UnreservedConcurrentExecutions: &most}}, nil
}

// The queue's mapping calls up to its maximum, and the stream's one for each shard and factor. An
// account that allows less makes a stack unwell.
func TestAccount(t *testing.T) {
	list := []pause.Mapping{{Source: "arn:aws:sqs:r:1:events", Most: 10, Factor: 1},
		{Source: "arn:aws:dynamodb:r:1:table/events/stream/x", Factor: 2}}
	must.Equal(t, needed(list), 18)
	for n, unwell := range map[allowing]bool{10: true, 17: true, 18: false, 1000: false} {
		r := &Report{Mappings: list}
		r.account(t.Context(), Source{Limits: n})
		must.Equal(t, r.Account.Short(), unwell, n)
		must.Equal(t, strings.Contains(strings.Join(r.Unwell, ""), "this stack needs 18"), unwell, n)
	}
}
