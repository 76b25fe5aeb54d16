package status

import (
	"context"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/lambda"

	"github.com/ingot-events/ingot/internal/tool/pause"
)

// Limits is what the package needs of Lambda to know the limits of the account.
type Limits interface {
	GetAccountSettings(context.Context, *lambda.GetAccountSettingsInput,
		...func(*lambda.Options)) (*lambda.GetAccountSettingsOutput, error)
}

// Account is how many calls of functions may run at a time.
type Account struct {
	// Allowed is what the account allows in this Region, without what is reserved for functions. A
	// new account allows 10, and Lambda raises that with use (Lambda Developer Guide, "Lambda
	// quotas").
	Allowed int `json:"allowed"`
	Needed  int `json:"needed"` // by this stack at its busiest, at least
}

// Short reports whether the stack at its busiest is refused calls. Each call of the ingest function
// that is refused counts as a receive of its messages, so healthy ones end as dead letters.
func (a *Account) Short() bool { return a != nil && a.Allowed < a.Needed }

// fewestShards is how many shards the stream of a new table on demand has: as many as the table has
// partitions (DynamoDB Developer Guide, "On-demand capacity mode").
const fewestShards = 4

func (r *Report) account(ctx context.Context, s Source) {
	if s.Limits == nil {
		return
	}
	out, err := s.Limits.GetAccountSettings(ctx, &lambda.GetAccountSettingsInput{})
	if err != nil || out.AccountLimit == nil {
		r.unknown("what the account allows", err)
		return
	}
	r.Account = &Account{Allowed: int(aws.ToInt32(out.AccountLimit.UnreservedConcurrentExecutions)), Needed: needed(r.Mappings)}
	if r.Account.Short() {
		r.unwell("the account lets Lambda run %d calls at a time, and this stack needs %d at its busiest: what is refused too often "+
			"ends as dead letters. Ask AWS for more (Service Quotas, Concurrent executions), or lower MaximumConcurrency",
			r.Account.Allowed, r.Account.Needed)
	}
}

// needed adds up how many calls the mappings may make at a time.
func needed(list []pause.Mapping) (n int) {
	for _, m := range list {
		if strings.Contains(m.Source, ":dynamodb:") {
			n += fewestShards * m.Factor
		} else {
			n += m.Most
		}
	}
	return n
}
