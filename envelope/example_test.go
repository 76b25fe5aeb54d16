package envelope_test

import (
	"fmt"

	"github.com/ingot-events/ingot/envelope"
)

// An event in an SNS notification: what is stored is the payload, in whatever envelopes it came.
func ExampleOpen() {
	opened, err := envelope.Open(envelope.Message{Body: `{
		"Type": "Notification", "MessageId": "n1", "TopicArn": "arn:aws:sns:eu-central-1:111122223333:orders",
		"Timestamp": "2026-03-01T09:00:01Z",
		"Message": "{\"specversion\":\"1.0\",\"id\":\"e1\",\"source\":\"/shop\",\"type\":\"order.placed\",\"data\":{\"order_id\":\"o1\"}}"}`})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(opened.Kind)
	fmt.Println(opened.Type, opened.Data.Text())
	// Output:
	// SNS > CloudEvent (structured)
	// order.placed {"order_id":"o1"}
}
