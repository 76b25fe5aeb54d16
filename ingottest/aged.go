package ingottest

import (
	"context"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"github.com/ingot-events/ingot/internal/esm"
)

// deletes counts the messages that the mapping deletes from the queue.
type deletes struct {
	esm.QueueClient
	count *int
}

func (d deletes) DeleteMessageBatch(ctx context.Context, in *sqs.DeleteMessageBatchInput,
	options ...func(*sqs.Options)) (*sqs.DeleteMessageBatchOutput, error) {
	out, err := d.QueueClient.DeleteMessageBatch(ctx, in, options...)
	if err == nil {
		*d.count += len(out.Successful)
	}
	return out, err
}

// aged returns how many messages SQS has deleted for their age. The queue is drained. So every
// message that it took and no longer holds was deleted by the mapping, is in the dead-letter queue,
// or was deleted for its age.
func (w *World) aged() int {
	w.t.Helper()
	w.collect()
	return w.accepted - w.deleted - len(w.dead)
}

func messagesWere(n int) string {
	if n == 1 {
		return "1 message was"
	}
	return fmt.Sprintf("%d messages were", n)
}
