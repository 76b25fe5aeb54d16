package main

import (
	"encoding/json"
	"fmt"
	"os"
	"time"

	"github.com/aws/aws-lambda-go/events"
)

// firstBatch returns the payload of the invocation: the text of the event file, or one SQS message
// with an order for the pipeline.yaml in the root folder. The order is placed now, because an older
// one might be expired.
func (o options) firstBatch() ([]byte, error) {
	if o.event != "" {
		event, err := os.ReadFile(o.event)
		if err != nil {
			return nil, fmt.Errorf("read the event to send: %w", err)
		}
		if !json.Valid(event) {
			return nil, fmt.Errorf("the event to send, %s, is not JSON", o.event)
		}
		return event, nil
	}
	return orderBatch(time.Now())
}

func orderBatch(now time.Time) ([]byte, error) {
	body, err := json.Marshal(map[string]any{
		"type":        "order.placed",
		"merchant_id": "m-1017",
		"order_id":    "o-20260001",
		"customer_id": "c-5501",
		"product_id":  "p-33",
		"quantity":    2,
		"placed_at":   now.UTC().Format(time.RFC3339),
		"status":      "placed",
		"currency":    "EUR",
		"total_cents": 12950,
		"note":        "leave it with the neighbour, and ring twice",
	})
	if err != nil {
		return nil, err
	}
	return json.Marshal(events.SQSEvent{Records: []events.SQSMessage{{
		MessageId:      "19dd0b57-b21e-4ac1-bd88-01bbb068cb78",
		ReceiptHandle:  "receipt",
		Body:           string(body),
		EventSource:    "aws:sqs",
		EventSourceARN: "arn:aws:sqs:eu-central-1:123456789012:events",
		AWSRegion:      "eu-central-1",
		Attributes:     map[string]string{"ApproximateReceiveCount": "1", "SentTimestamp": fmt.Sprint(now.UnixMilli())},
	}}})
}
