package demo

import (
	"context"
	"strconv"

	"github.com/ingot-events/ingot/handler/quarantine"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
)

// empty takes the messages out of the quarantine queue, and counts them by the verdict in their
// note. Operators of a stack do the same within the two weeks for which the queue keeps them. So a
// long run does not hold many messages.
func (w *world) empty(ctx context.Context) error {
	for {
		out, err := w.Engine.SQS().ReceiveMessage(ctx, &sqs.ReceiveMessageInput{QueueUrl: &w.Quarantine, MaxNumberOfMessages: 10,
			MessageAttributeNames: []string{quarantine.Attribute}})
		if err != nil || len(out.Messages) == 0 {
			return err
		}
		entries := make([]types.DeleteMessageBatchRequestEntry, len(out.Messages))
		for i, m := range out.Messages {
			note, _ := quarantine.ReadNote(aws.ToString(m.MessageAttributes[quarantine.Attribute].StringValue))
			w.ledger.quarantined[note.Verdict]++
			entries[i] = types.DeleteMessageBatchRequestEntry{Id: aws.String(strconv.Itoa(i)), ReceiptHandle: m.ReceiptHandle}
		}
		if _, err := w.Engine.SQS().DeleteMessageBatch(ctx,
			&sqs.DeleteMessageBatchInput{QueueUrl: &w.Quarantine, Entries: entries}); err != nil {
			return err
		}
	}
}
