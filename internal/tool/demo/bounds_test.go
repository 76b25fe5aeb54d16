package demo

import (
	"context"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/ingot-events/ingot/aggregate"
	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/internal/kit/slow"
	"github.com/ingot-events/ingot/internal/local/embedded"
	"github.com/ingot-events/ingot/internal/local/stack"
	"github.com/ingot-events/ingot/internal/testworld"
)

const bankAccounts = 24

// TestLedger draws on every account from all sides, through all trouble. No balance is below its
// floor after any transaction, the customers have what came in from outside, and all entries add up
// to 0.
func TestLedger(t *testing.T) {
	seeds := uint64(1)
	if slow.All() {
		seeds = 10
	}
	for n := range seeds {
		for _, counting := range []aggregate.Counting{aggregate.Marks, aggregate.Receipts} {
			c := example(t, "ledger", seed+n, counting)
			s := mustRun(t, c)
			agree(t, s)
			all := checks(s)
			if rejected := s.Deliveries.Verdicts[event.Rejected.String()]; rejected < 20 || all["bounds"].Compared < 2000 ||
				s.Kept.Items >= 3*s.Data.Events || (s.Kept.Items-bankAccounts-1)%3 != 0 {
				t.Errorf("seed %d: %d rejected, %d items of %d events, %+v", seed+n, rejected, s.Kept.Items, s.Data.Events, all["bounds"])
			}
			sums, drawn := map[string]event.Decimal{}, 0
			for _, total := range s.Totals {
				cents := event.Decimal{}
				for _, v := range total.Values {
					if n, err := event.ParseDecimal(v.Stored); err == nil && v.Name != "entries" {
						cents = cents.Add(n)
					}
				}
				if total.Aggregate == "balances" {
					if drawn++; cents.Sign() < 0 {
						t.Errorf("seed %d: %v is %s", seed+n, total.By, cents)
					}
				}
				sums[total.Aggregate] = sums[total.Aggregate].Add(cents)
			}
			if drawn != bankAccounts || !sums["balances"].Add(sums["outside"]).IsZero() || sums["balances"].Sign() <= 0 ||
				!sums["trial"].IsZero() || !sums["balanced"].IsZero() {
				t.Errorf("seed %d, by %s: %d accounts, %v", seed+n, counting, drawn, sums)
			}
		}
	}
}

// TestLedgerChecksBite shows that a balance which is taken below its floor is seen right after it,
// and that a cent which is lost is seen in the end.
func TestLedgerChecksBite(t *testing.T) {
	c := example(t, "ledger", seed, aggregate.Marks)
	w, err := newWorld(t.Context(), c, must.Time("2024-05-27T00:00:00Z"))
	must.Succeed(t, err)
	update := &types.Update{TableName: aws.String(stack.Aggregates), Key: testworld.Key("A#balances#1#0#ada", "-"),
		UpdateExpression:          aws.String("ADD cents :c"),
		ExpressionAttributeValues: map[string]types.AttributeValue{":c": &types.AttributeValueMemberN{Value: "-1"}}}
	in := &dynamodb.TransactWriteItemsInput{TransactItems: []types.TransactWriteItem{{Update: update}}}
	_, err = w.Engine.DynamoDB().TransactWriteItems(t.Context(), in)
	must.Succeed(t, err)
	w.watch(t.Context(), in)
	if got := w.bounds.check(); got.Compared != 1 || len(got.Differences) != 1 ||
		got.Differences[0] != "A#balances#1#0#ada: cents is -1, below its floor of 0" {
		t.Errorf("%+v", got)
	}

	c.Tamper = func(ctx context.Context, e *embedded.Engine) error {
		out, err := e.DynamoDB().Scan(ctx, &dynamodb.ScanInput{TableName: aws.String(stack.Aggregates)})
		if err != nil {
			return err
		}
		for _, img := range out.Items {
			if pk, _ := img["PK"].(*types.AttributeValueMemberS); pk != nil && strings.HasPrefix(pk.Value, "A#balances#") {
				_, err := e.DynamoDB().UpdateItem(ctx, &dynamodb.UpdateItemInput{TableName: aws.String(stack.Aggregates),
					Key:                       map[string]types.AttributeValue{"PK": img["PK"], "SK": img["SK"]},
					UpdateExpression:          aws.String("ADD cents :c"),
					ExpressionAttributeValues: map[string]types.AttributeValue{":c": &types.AttributeValueMemberN{Value: "-1"}}})
				return err
			}
		}
		return nil
	}
	s := mustRun(t, c)
	if all := checks(s); len(all["verify"].Differences) != 1 || len(all["list"].Differences) != 1 {
		t.Errorf("%+v", s.Checks)
	}
}
