package envelope

import (
	"testing"

	"github.com/ingot-events/ingot/event"
)

// A payload that is nearly an envelope says of what, and what it lacks.
func TestNear(t *testing.T) {
	without := func(members []string, name string) string { return object(replaced(members, name, "")...) }
	sns := snsMembers("x", "{}")
	for _, c := range []struct{ payload, want string }{
		{without(sns, "TopicArn"), "it is nearly an SNS notification, but has no TopicArn"},
		{object(replaced(sns, "Type", `"SubscriptionConfirmation"`)...), "it is nearly an SNS notification, but its Type is SubscriptionConfirmation"},
		{object(replaced(sns, "TopicArn", `"x"`)...), "it is nearly an SNS notification, but one of its members has another form"},
		{object(replaced(structuredMembers, "specversion", `"0.3"`)...), "it is nearly a CloudEvent, but its specversion is 0.3, and only 1.0 is read"},
		{without(structuredMembers, "source"), "it is nearly a CloudEvent, but has no source"},
		{without(structuredMembers, "specversion"), ""},
		{object(replaced(eventBridgeMembers, "time", "7")...), "it is nearly an EventBridge event, but its time is a number, not a string"},
		{without(eventBridgeMembers, "resources"), "it is nearly an EventBridge event, but has no resources"},
		{`{"detail-type":"order","source":"shop","detail":{"id":1}}`, "it is nearly an EventBridge event, but has no resources"},
		{`{"id":"1","time":"2026-03-01T09:00:00Z","account":"a","region":"eu","source":"web","version":"0"}`, ""},
		{`{"messageId":"m","body":"{}","receiptHandle":"h","eventSource":"aws:sqs"}`,
			"it is nearly a record of SQS, which is not opened: send what is inside it"},
		{`{"id":"1","source":"web","type":"order","at":"2026-03-01T09:00:00Z"}`, ""},
		{`{"body":"x","headers":{},"type":"mail"}`, ""}, {`{}`, ""},
	} {
		doc, err := event.ParseDocument(c.payload)
		if got := Near(doc.Root()); err != nil || got != c.want {
			t.Errorf("%s: %q, want %q", c.payload, got, c.want)
		}
	}
}
