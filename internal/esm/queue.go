package esm

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
)

// QueueClient is what a queue mapping needs of SQS. *sqs.Client implements it.
type QueueClient interface {
	GetQueueAttributes(context.Context, *sqs.GetQueueAttributesInput, ...func(*sqs.Options)) (*sqs.GetQueueAttributesOutput, error)
	ReceiveMessage(context.Context, *sqs.ReceiveMessageInput, ...func(*sqs.Options)) (*sqs.ReceiveMessageOutput, error)
	DeleteMessageBatch(context.Context, *sqs.DeleteMessageBatchInput, ...func(*sqs.Options)) (*sqs.DeleteMessageBatchOutput, error)
}

// QueueConfig describes a mapping from a queue to a function.
type QueueConfig struct {
	Client   QueueClient
	URL      string // of the queue
	Function Function
	// BatchSize is how many messages one invocation gets at most. 0 means 10. The maximum is
	// 10,000, or 10 for a FIFO queue.
	BatchSize int
	// Concurrency is how many invocations run at once. 0 means 1, which starts no goroutine. The
	// maximum is 1,000.
	Concurrency int
	// ReportBatchItemFailures makes the mapping read the answer. Without it, an invocation that
	// returns no error succeeds as a whole, and failed messages are deleted. That is Lambda's
	// default.
	ReportBatchItemFailures bool
	// OnFailure, if set, is called for every batch that failed as a whole.
	OnFailure func(Invocation, error)
}

// Queue is an event source mapping from a queue. [NewQueue] makes one. Its methods are not safe for
// concurrent use.
type Queue struct {
	cfg        QueueConfig
	arn        string
	visibility time.Duration
	fifo       bool
	held       []received // received, but too large for the last event's 6 MB
}

// received is a message with its JSON, and the time when others can see it again.
type received struct {
	message types.Message
	json    []byte
	until   time.Time
}

func (r received) group() string {
	return r.message.Attributes[string(types.MessageSystemAttributeNameMessageGroupId)]
}

// NewQueue checks cfg against the queue, as Lambda does when a mapping is created.
func NewQueue(ctx context.Context, cfg QueueConfig) (*Queue, error) {
	out, err := cfg.Client.GetQueueAttributes(ctx, &sqs.GetQueueAttributesInput{
		QueueUrl:       &cfg.URL,
		AttributeNames: []types.QueueAttributeName{types.QueueAttributeNameQueueArn, types.QueueAttributeNameVisibilityTimeout},
	})
	if err != nil {
		return nil, fmt.Errorf("queue mapping of %s: %w", cfg.URL, err)
	}
	arn := out.Attributes[string(types.QueueAttributeNameQueueArn)]
	seconds, err := strconv.Atoi(out.Attributes[string(types.QueueAttributeNameVisibilityTimeout)])
	if err != nil {
		return nil, fmt.Errorf("queue mapping of %s: visibility timeout: %w", cfg.URL, err)
	}
	q := &Queue{cfg: cfg, arn: arn, visibility: time.Duration(seconds) * time.Second, fifo: strings.HasSuffix(arn, ".fifo")}
	if err := q.check(); err != nil {
		return nil, fmt.Errorf("queue mapping of %s: %w", cfg.URL, err)
	}
	return q, nil
}

func (q *Queue) check() error {
	cfg := &q.cfg
	if cfg.BatchSize == 0 {
		cfg.BatchSize = 10
	}
	if cfg.Concurrency == 0 {
		cfg.Concurrency = 1
	}
	largest := 10_000
	if q.fifo {
		largest = 10
	}
	switch {
	case cfg.BatchSize < 1 || cfg.BatchSize > largest:
		return fmt.Errorf("field BatchSize is %d, not 1 to %d", cfg.BatchSize, largest)
	case cfg.Concurrency < 1 || cfg.Concurrency > 1000:
		return fmt.Errorf("field Concurrency is %d, not 1 to 1000", cfg.Concurrency)
	case cfg.Function.timeout() > q.visibility:
		return fmt.Errorf("field Function.Timeout %v is longer than the queue's visibility timeout %v", cfg.Function.timeout(),
			q.visibility)
	}
	return cfg.Function.check()
}

// ARN returns the ARN of the queue.
func (q *Queue) ARN() string { return q.arn }

// Polled is what one round of a queue mapping did.
type Polled struct {
	Received    int // messages received from the queue in this round
	Invocations int
	Deleted     int // messages that succeeded and were deleted
	Left        int // messages left to become visible again: reported as failed, or in a batch that failed
	FailedWhole int // invocations that deleted nothing because the batch failed as a whole
	Held        int // received messages that did not fit and go into the next round
}

// Idle reports whether there was nothing to do. Messages may still be in flight.
func (p Polled) Idle() bool { return p.Invocations == 0 && p.Received == 0 && p.Held == 0 }

// Poll does one round. It gathers up to Concurrency batches, calls the function with each, and
// deletes the messages that succeeded. An error comes from the queue, never from the function. An
// error does not undo what the round has done.
func (q *Queue) Poll(ctx context.Context) (Polled, error) {
	var p Polled
	var batches [][]received
	var gatherErr error
	for len(batches) < q.cfg.Concurrency && gatherErr == nil {
		var batch []received
		batch, gatherErr = q.gather(ctx, &p)
		if len(batch) == 0 {
			break
		}
		batches = append(batches, batch)
		// A held message may be of a group in this batch, so it must wait until the batch is done.
		if len(q.held) > 0 {
			break
		}
	}
	results := make([]result, len(batches))
	each(len(batches), q.cfg.Concurrency, func(i int) { results[i] = q.run(ctx, batches[i]) })
	errs := []error{gatherErr}
	for i, r := range results {
		p.Invocations++
		p.Deleted += r.deleted
		p.Left += len(batches[i]) - r.deleted
		if r.whole {
			p.FailedWhole++
		}
		errs = append(errs, r.err)
		q.release(r.failedGroups)
	}
	p.Held = len(q.held)
	return p, errors.Join(errs...)
}

// gather receives messages until the batch is full, the event is full, or the queue returns no
// message.
func (q *Queue) gather(ctx context.Context, p *Polled) ([]received, error) {
	batch := q.stillOurs()
	q.held = nil
	size := 0
	for _, r := range batch {
		size += len(r.json)
	}
	var err error
	for len(batch) < q.cfg.BatchSize {
		var more []received
		more, err = q.receive(ctx, min(10, q.cfg.BatchSize-len(batch)))
		p.Received += len(more)
		batch = append(batch, more...)
		for _, r := range more {
			size += len(r.json)
		}
		if err != nil || len(more) == 0 || size > maxEvent {
			break
		}
	}
	n := fit(encoded(batch), 0)
	batch, q.held = batch[:n:n], batch[n:]
	return batch, err
}

// stillOurs returns the held messages whose visibility timeout is still running. The other messages
// are visible in the queue again.
func (q *Queue) stillOurs() []received {
	now := q.cfg.Function.now()
	var ours []received
	for _, r := range q.held {
		if now.Before(r.until) {
			ours = append(ours, r)
		}
	}
	return ours
}

func encoded(batch []received) [][]byte {
	records := make([][]byte, len(batch))
	for i, r := range batch {
		records[i] = r.json
	}
	return records
}

func (q *Queue) receive(ctx context.Context, n int) ([]received, error) {
	until := q.cfg.Function.now().Add(q.visibility)
	out, err := q.cfg.Client.ReceiveMessage(ctx, &sqs.ReceiveMessageInput{
		QueueUrl:                    &q.cfg.URL,
		MaxNumberOfMessages:         int32(n),
		MessageAttributeNames:       []string{"All"},
		MessageSystemAttributeNames: []types.MessageSystemAttributeName{types.MessageSystemAttributeNameAll},
	})
	if err != nil {
		return nil, fmt.Errorf("receive from %s: %w", q.arn, err)
	}
	list := make([]received, len(out.Messages))
	for i, m := range out.Messages {
		list[i] = received{message: m, json: encodeMessage(m, q.arn), until: until}
	}
	return list, nil
}

// result is the outcome of one batch.
type result struct {
	deleted      int
	whole        bool
	failedGroups map[string]bool
	err          error
}

// run calls the function with one batch and deletes the messages that succeeded. If the process
// stops before the deletion, all messages become visible again.
func (q *Queue) run(ctx context.Context, batch []received) result {
	inv := Invocation{Source: q.arn, Payload: append(openEvent(encoded(batch)), '}')}
	for _, r := range batch {
		inv.IDs = append(inv.IDs, aws.ToString(r.message.MessageId))
	}
	var failed map[int]bool
	answer, whole := q.cfg.Function.invoke(ctx, inv)
	if whole == nil && q.cfg.ReportBatchItemFailures {
		failed, whole = failures(answer, inv.IDs)
	}
	if whole != nil && q.cfg.OnFailure != nil {
		q.cfg.OnFailure(inv, whole)
	}
	r := result{whole: whole != nil, failedGroups: map[string]bool{}}
	var done []received
	forgotten := whole == nil && happens(q.cfg.Function.Faults.Forget, inv)
	for i, m := range batch {
		if whole != nil || failed[i] || forgotten {
			r.failedGroups[m.group()] = true
		} else {
			done = append(done, m)
		}
	}
	r.deleted, r.err = q.delete(ctx, done)
	return r
}

// delete deletes messages, ten at a time, and returns how many it deleted. The queue delivers a
// message again if it could not be deleted.
func (q *Queue) delete(ctx context.Context, done []received) (int, error) {
	deleted := 0
	var errs []error
	for len(done) > 0 {
		n := min(10, len(done))
		in := &sqs.DeleteMessageBatchInput{QueueUrl: &q.cfg.URL}
		for i, m := range done[:n] {
			in.Entries = append(in.Entries, types.DeleteMessageBatchRequestEntry{Id: aws.String(strconv.Itoa(i)),
				ReceiptHandle: m.message.ReceiptHandle})
		}
		out, err := q.cfg.Client.DeleteMessageBatch(ctx, in)
		if err != nil {
			errs = append(errs, fmt.Errorf("delete from %s: %w", q.arn, err))
		} else {
			deleted += n - len(out.Failed)
		}
		done = done[n:]
	}
	return deleted, errors.Join(errs...)
}

// release drops the held messages of FIFO groups in which a message failed. The function must not
// get them before the failed message. The queue delivers them again after it.
func (q *Queue) release(groups map[string]bool) {
	if !q.fifo || len(groups) == 0 {
		return
	}
	var kept []received
	for _, r := range q.held {
		if !groups[r.group()] {
			kept = append(kept, r)
		}
	}
	q.held = kept
}
