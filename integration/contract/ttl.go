package contract

import (
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

func timeToLive(t *testing.T, h *Harness) {
	h.run(t, "enabled once, and what is past its time stays until it is swept", func(t *testing.T) { expiring(t, h) })
}

func expiring(t *testing.T, h *Harness) {
	w := newTable(t, h)
	describe := func() *types.TimeToLiveDescription {
		t.Helper()
		out, err := w.db.DescribeTimeToLive(ctx, &dynamodb.DescribeTimeToLiveInput{TableName: &w.name})
		held(t, err)
		return out.TimeToLiveDescription
	}
	if got := describe().TimeToLiveStatus; got != types.TimeToLiveStatusDisabled {
		t.Errorf("status of a new table: %s", got)
	}
	enable := func(table string) error {
		_, err := w.db.UpdateTimeToLive(ctx, &dynamodb.UpdateTimeToLiveInput{TableName: &table,
			TimeToLiveSpecification: &types.TimeToLiveSpecification{AttributeName: aws.String("expiresAt"), Enabled: aws.Bool(true)}})
		return err
	}
	held(t, enable(w.name))
	h.Until(t, "time to live enabled", func() bool { return describe().TimeToLiveStatus == types.TimeToLiveStatusEnabled })
	if got := aws.ToString(describe().AttributeName); got != "expiresAt" {
		t.Errorf("attribute %q", got)
	}
	refused(t, enable(w.name), pick(t, h, "time to live twice", "ValidationException", ""))
	refused(t, enable(w.name+"-gone"), "ResourceNotFoundException")

	// An item past its time is like any other item until it is swept.
	past := with(key("past", "1"), attrs{"expiresAt": n("1000000000")})
	w.put(past)
	w.stored(past)
	w.conditionFailed(w.putNew(key("past", "1")), past)
}
