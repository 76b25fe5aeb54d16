package main

import (
	"fmt"
	"math/rand/v2"

	"github.com/aws/aws-lambda-go/events"
)

const (
	bodyBytes  = 400   // of one order
	newEvents  = 5_000 // in one run
	duplicates = 30    // these come on top: 0.6 %
	batchSize  = 1_000
	merchants  = 20 // one aggregate each
	cents      = 12_599
)

// order returns the body of the i-th order. It has 400 bytes and is of the year 2099, so it never
// expires.
func order(i int) string {
	return fmt.Sprintf(
		`{"type":"order.placed","merchant_id":"mer_%06d","order_id":"ord_2099_%09d","customer_id":"cus_%08d","placed_at":"2099-02-03T04:05:06.500Z","status":"open","currency":"EUR","total_cents":%d,"quantity":3,"lines":[{"sku":"SKU-001122","quantity":2,"cents":4999},{"sku":"SKU-009988","quantity":1,"cents":2601}],"shipping":{"country":"DE","method":"express"},"trace_id":"%019d"}`,
		i%merchants, i, i*7919%100_000_000, cents, i)
}

// orders returns n new events, and copies of some of them. Half of the copies are in the batch of
// the original, the others in a later one. The seed is fixed, so every run sends the same.
func orders(n, copies int) []string {
	bodies := make([]string, n)
	for i := range bodies {
		bodies[i] = order(i)
	}
	rng := rand.New(rand.NewPCG(1, 1))
	for k := range copies {
		at := rng.IntN(len(bodies) - batchSize)
		again := at + 1 + rng.IntN(batchSize/50) // close to the original, so seldom in another batch
		if k%2 == 1 {
			again = at + batchSize
		}
		bodies = append(bodies[:again:again], append([]string{bodies[at]}, bodies[again:]...)...)
	}
	return bodies
}

// batches returns the bodies as SQS hands them to the function, 1,000 at a time.
func batches(bodies []string) []events.SQSEvent {
	var all []events.SQSEvent
	for i, body := range bodies {
		if i%batchSize == 0 {
			all = append(all, events.SQSEvent{})
		}
		e := &all[len(all)-1]
		e.Records = append(e.Records, message(i, body))
	}
	return all
}

func message(i int, body string) events.SQSMessage {
	return events.SQSMessage{MessageId: fmt.Sprintf("%08d-b21e-4ac1-bd88-01bbb068cb78", i), ReceiptHandle: "receipt", Body: body,
		Attributes:  map[string]string{"ApproximateReceiveCount": "1", "SentTimestamp": "1795256870083"},
		EventSource: "aws:sqs", EventSourceARN: "arn:aws:sqs:eu-central-1:123456789012:events", AWSRegion: "eu-central-1"}
}
