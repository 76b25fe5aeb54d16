package demo

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/ingot-events/ingot/aggregate"
	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/internal/local/embedded"
	"github.com/ingot-events/ingot/internal/local/stack"
	"github.com/ingot-events/ingot/internal/plan/lanes"
	"github.com/ingot-events/ingot/internal/testworld"
)

// keptTotal is the total that these tests tamper with.
var keptTotal = testworld.Key("A#network_day#1#0#ci", "2018-01-31T00:00:00Z")

func addOne(attribute string) func(context.Context, *embedded.Engine) error {
	return func(ctx context.Context, e *embedded.Engine) error {
		_, err := e.DynamoDB().UpdateItem(ctx, &dynamodb.UpdateItemInput{TableName: aws.String(stack.Aggregates), Key: keptTotal,
			UpdateExpression: aws.String("ADD #a :one"), ConditionExpression: aws.String("attribute_exists(PK)"),
			ExpressionAttributeNames:  map[string]string{"#a": attribute},
			ExpressionAttributeValues: map[string]types.AttributeValue{":one": &types.AttributeValueMemberN{Value: "1"}}})
		return err
	}
}

func deleteTotal(ctx context.Context, e *embedded.Engine) error {
	_, err := e.DynamoDB().DeleteItem(ctx, &dynamodb.DeleteItemInput{TableName: aws.String(stack.Aggregates), Key: keptTotal})
	return err
}

// TestChecksSeeTampering shows that the checks find what they are for.
func TestChecksSeeTampering(t *testing.T) {
	for name, test := range map[string]struct {
		tamper  func(context.Context, *embedded.Engine) error
		verify  string // what verify says
		tallied bool   // whether the tally finds it too
	}{
		"a value":     {addOne("count"), "count is 38, and its items add up to 37", true},
		"an extreme":  {addOne("largest"), "largest is 3.37, and its items add up to 2.37", true},
		"n":           {addOne("n"), "n is 38, and its items add up to 37", false},
		"fingerprint": {addOne("fp"), "fp is ", false},
		"a total":     {deleteTotal, "missing is nothing", true},
	} {
		c := firstDays(t, aggregate.Marks)
		c.Tamper = test.tamper
		s := mustRun(t, c)
		found := checks(s)
		if d := found["verify"].Differences; s.Same || len(d) != 1 || !strings.Contains(d[0], test.verify) {
			t.Errorf("%s: same %v, verify says %q", name, s.Same, d)
		}
		must.Equal(t, len(found["tally"].Differences) > 0, test.tallied, name)
	}
}

// TestFlagsAreShown shows that what totals and aggregates report about themselves appears in the
// summary and in its text, even if there is no difference.
func TestFlagsAreShown(t *testing.T) {
	if s := mustRun(t, firstDays(t, aggregate.Marks)); len(s.Flags)+len(s.Expiry.Flags) > 0 {
		t.Errorf("without a reason: %q and %q", s.Flags, s.Expiry.Flags)
	}
	c := firstDays(t, aggregate.Marks)
	def, _ := c.Plan.Definition("network_day")
	head := testworld.Key(lanes.HeadKey(def).PK, lanes.HeadKey(def).SK)
	c.Tamper = func(ctx context.Context, e *embedded.Engine) error {
		for _, key := range []map[string]types.AttributeValue{keptTotal, head} {
			if _, err := e.DynamoDB().UpdateItem(ctx, &dynamodb.UpdateItemInput{TableName: aws.String(stack.Aggregates), Key: key,
				UpdateExpression:         aws.String("SET #flag = :odd, #building = :true"),
				ConditionExpression:      aws.String("attribute_exists(PK)"),
				ExpressionAttributeNames: map[string]string{"#flag": "flag", "#building": "building"},
				ExpressionAttributeValues: map[string]types.AttributeValue{":odd": &types.AttributeValueMemberS{Value: "odd " +
					key["PK"].(*types.AttributeValueMemberS).Value}, ":true": &types.AttributeValueMemberBOOL{Value: true}}}); err != nil {
				return err
			}
		}
		return nil
	}
	s := mustRun(t, c)
	want := []string{
		"network_day since 1 by ci at 2018-01-31T00:00:00Z: odd A#network_day#1#0#ci",
		"network_day since 1, all totals: odd G#network_day#1",
		"network_day since 1, all totals: building: older items may not be counted yet",
	}
	if !s.Same || !slices.Equal(s.Flags, want) || !slices.Equal(s.Expiry.Flags, want) {
		t.Errorf("same %v, flags %q and after expiry %q", s.Same, s.Flags, s.Expiry.Flags)
	}
	var text strings.Builder
	must.Succeed(t, s.Text(&text, 0))
	if section := "\nFLAGS  totals that say of themselves that something about them is not proven, or not complete\n  " +
		strings.Join(want, "\n  ") + "\n"; strings.Count(text.String(), section) != 2 {
		t.Errorf("the text does not show them:\n%s", text.String())
	}
	if !strings.HasSuffix(text.String(), "\nNothing differs, but some totals are flagged: see FLAGS.\n") {
		t.Errorf("it ends otherwise:\n%s", text.String())
	}
}

// TestAccountsSeeALostItem shows that an item that is gone is missed.
func TestAccountsSeeALostItem(t *testing.T) {
	c := firstDays(t, aggregate.Marks)
	c.Tamper = func(ctx context.Context, e *embedded.Engine) error {
		out, err := e.DynamoDB().Scan(ctx, &dynamodb.ScanInput{TableName: aws.String(stack.Events), Limit: aws.Int32(1)})
		if err != nil {
			return err
		}
		key := map[string]types.AttributeValue{"PK": out.Items[0]["PK"], "SK": out.Items[0]["SK"]}
		_, err = e.DynamoDB().DeleteItem(ctx, &dynamodb.DeleteItemInput{TableName: aws.String(stack.Events), Key: key})
		return err
	}
	s := mustRun(t, c)
	d := checks(s)["accounts"].Differences
	if len(d) != 2 || !strings.Contains(d[0], "299 items are stored, and the producer's list has 300") ||
		!strings.Contains(d[1], "stored unheard") {
		t.Errorf("accounts say %q", d)
	}
	if len(checks(s)["verify"].Differences) == 0 {
		t.Error("verify does not miss the item")
	}
}

// TestAccountsSeeWhatWasNotReported shows that the accounts also find an item that nobody reported
// as Inserted and that no lost answer and no kill explains.
func TestAccountsSeeWhatWasNotReported(t *testing.T) {
	for _, test := range []struct {
		inserted, unheard, items int
		want                     string
	}{
		{8, 2, 10, ""},
		{8, 1, 10, "10 items are stored, and 8 were reported Inserted and 1 stored unheard"},
		{10, 1, 10, "10 items are stored, and 10 were reported Inserted and 1 stored unheard"},
	} {
		w := &world{ledger: newLedger(aggregate.Marks)}
		w.ledger.verdicts[event.Inserted], w.ledger.deliveries = test.inserted, test.inserted
		must.Equal(t, strings.Join(w.accounts(10, 10, Kept{Items: test.items, Unheard: test.unheard}, true).Differences, "\n"),
			test.want, test)
	}
	w := &world{ledger: newLedger(aggregate.Marks)}
	must.Equal(t, len(w.accounts(10, 12, Kept{Items: 12}, true).Differences), 0, "events of two items")
	must.Match(t, w.accounts(10, 12, Kept{Items: 11}, true).Differences,
		[]string{"11 items are stored, and the producer's list has 10 events of 12 items"})
}
