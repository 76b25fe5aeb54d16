package sqs

import (
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"github.com/ingot-events/ingot/internal/local/embedded/api"
)

// This file deletes messages and changes their visibility by their receipt handles, one by one and
// in batches.

// maxHidden is how long a message can stay hidden after it was received, no matter how often its
// visibility timeout is extended.
const maxHidden = 12 * time.Hour

func (q *queue) change(qs *Queues, handle *string, seconds int32) error {
	hidden, err := visibility(seconds)
	if err != nil {
		return err
	}
	m, err := q.byHandle(handle)
	if err != nil {
		return err
	}
	if m == nil || !m.inFlight() {
		return &types.MessageNotInflight{ErrorCodeOverride: queryCode("MessageNotInflight"),
			Message: aws.String("The message referred to isn't in flight.")}
	}
	until := qs.core.Now().Add(hidden)
	if until.After(m.received.Add(maxHidden)) {
		return api.Error("InvalidParameterValue", "Value %d for parameter VisibilityTimeout is invalid. Reason: Total VisibilityTimeout "+
			"for the message is beyond the limit [43200 seconds].", seconds)
	}
	q.fly(m, until)
	q.release(qs.core.Now())
	return nil
}

func (qs *Queues) changeVisibility(in *sqs.ChangeMessageVisibilityInput) (*sqs.ChangeMessageVisibilityOutput, error) {
	qs.mu.Lock()
	defer qs.unlock()
	q, err := qs.queue(in.QueueUrl)
	if err != nil {
		return nil, err
	}
	return &sqs.ChangeMessageVisibilityOutput{}, q.change(qs, in.ReceiptHandle, in.VisibilityTimeout)
}

// each runs one action for each entry of a batch request, and separates successes from failures.
func (qs *Queues) each(url *string, ids []*string, do func(q *queue, i int) error) (done []*string, failed []types.BatchResultErrorEntry,
	err error) {
	if err := checkBatch(ids); err != nil {
		return nil, nil, err
	}
	qs.mu.Lock()
	defer qs.unlock()
	q, err := qs.queue(url)
	if err != nil {
		return nil, nil, err
	}
	for i, id := range ids {
		if err := do(q, i); err != nil {
			failed = append(failed, batchFailure(id, err))
			continue
		}
		done = append(done, id)
	}
	return done, failed, nil
}

func (qs *Queues) deleteBatch(in *sqs.DeleteMessageBatchInput) (*sqs.DeleteMessageBatchOutput, error) {
	ids := make([]*string, len(in.Entries))
	for i, entry := range in.Entries {
		ids[i] = entry.Id
	}
	done, failed, err := qs.each(in.QueueUrl, ids, func(q *queue, i int) error { return q.remove(in.Entries[i].ReceiptHandle) })
	if err != nil {
		return nil, err
	}
	out := &sqs.DeleteMessageBatchOutput{Failed: failed}
	for _, id := range done {
		out.Successful = append(out.Successful, types.DeleteMessageBatchResultEntry{Id: id})
	}
	return out, nil
}

func (qs *Queues) changeVisibilityBatch(in *sqs.ChangeMessageVisibilityBatchInput) (*sqs.ChangeMessageVisibilityBatchOutput, error) {
	ids := make([]*string, len(in.Entries))
	for i, entry := range in.Entries {
		ids[i] = entry.Id
	}
	done, failed, err := qs.each(in.QueueUrl, ids, func(q *queue, i int) error {
		return q.change(qs, in.Entries[i].ReceiptHandle, in.Entries[i].VisibilityTimeout)
	})
	if err != nil {
		return nil, err
	}
	out := &sqs.ChangeMessageVisibilityBatchOutput{Failed: failed}
	for _, id := range done {
		out.Successful = append(out.Successful, types.ChangeMessageVisibilityBatchResultEntry{Id: id})
	}
	return out, nil
}
