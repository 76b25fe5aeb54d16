package quarantine

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
	"github.com/aws/smithy-go"

	"github.com/ingot-events/ingot/env"
	"github.com/ingot-events/ingot/internal/base/awserr"
)

// Queue keeps letters until a person looks at them.
type Queue interface {
	// Send returns one error for each letter, in order. nil means that the letter is proven kept.
	// [ErrUnfit] means that it can never be kept.
	Send(ctx context.Context, letters []Letter) []error
}

// ErrUnfit is returned for a letter that the quarantine queue cannot take.
var ErrUnfit = errors.New("does not fit the quarantine queue")

// These are limits of SQS (API reference, SendMessageBatch).
const (
	maxAttributes   = 10
	maxMessageBytes = 1 << 20
	maxEntries      = 10
)

// Client is what the queue needs of SQS. A *sqs.Client is one.
type Client interface {
	SendMessageBatch(context.Context, *sqs.SendMessageBatchInput, ...func(*sqs.Options)) (*sqs.SendMessageBatchOutput, error)
}

// New returns the quarantine queue at url, which must be a standard queue. A function that uses it
// waits between its tries as the function's Env says; see [Within].
func New(client Client, url string) Queue {
	return &queue{client: client, url: url, env: env.Env{}.Real()}
}

// Within returns the queue with the Env of the function that uses it. A Queue that [New] has not
// made is returned as it is.
func Within(e env.Env, q Queue) Queue {
	if own, ok := q.(*queue); ok {
		return &queue{client: own.client, url: own.url, env: e}
	}
	return q
}

type queue struct {
	client Client
	url    string
	env    env.Env
}

// Send tries again until the deadline, as the store does. If a letter is not proven kept, its
// message or its whole batch is delivered again. Send does not try again after a denial, or if a
// letter is refused alone, because the rest of the batch needs the time.
func (q *queue) Send(ctx context.Context, letters []Letter) []error {
	errs := make([]error, len(letters))
	var todo []int
	for i := range letters {
		if errs[i] = letters[i].fit(); errs[i] == nil {
			todo = append(todo, i)
			errs[i] = context.DeadlineExceeded // until proven
		}
	}
	for round := 1; len(todo) > 0 && ctx.Err() == nil; round++ {
		var again []int
		for len(todo) > 0 {
			batch := q.take(letters, todo)
			todo = todo[len(batch):]
			again = append(again, q.sendBatch(ctx, letters, batch, errs)...)
		}
		todo = again
		if len(todo) > 0 && !q.env.Wait(ctx, round) {
			break
		}
	}
	return errs
}

// take returns the next batch: up to ten letters, with up to 1 MiB together.
func (q *queue) take(letters []Letter, todo []int) []int {
	bytes := 0
	for n, i := range todo {
		bytes += letters[i].size()
		if n == maxEntries || (n > 0 && bytes > maxMessageBytes) {
			return todo[:n]
		}
	}
	return todo
}

// sendBatch sends one batch. It returns the places that may be tried again.
func (q *queue) sendBatch(ctx context.Context, letters []Letter, batch []int, errs []error) (again []int) {
	in := &sqs.SendMessageBatchInput{QueueUrl: &q.url}
	for _, i := range batch {
		in.Entries = append(in.Entries, types.SendMessageBatchRequestEntry{
			Id: aws.String(strconv.Itoa(i)), MessageBody: &letters[i].Body, MessageAttributes: letters[i].Attributes})
	}
	out, err := q.client.SendMessageBatch(ctx, in)
	if len(batch) > 1 && awserr.Refuses(err) { // for one of the letters, and the answer does not say which
		for n := range batch {
			again = append(again, q.sendBatch(ctx, letters, batch[n:n+1], errs)...)
		}
		return again
	}
	if err != nil {
		for _, i := range batch {
			errs[i] = fmt.Errorf("quarantine queue: %w", awserr.Quiet(err))
		}
		if awserr.Denied(err) || awserr.Refuses(err) {
			return nil
		}
		return batch
	}
	for _, failed := range out.Failed {
		i, convErr := strconv.Atoi(aws.ToString(failed.Id))
		if convErr != nil || i < 0 || i >= len(errs) {
			continue
		}
		errs[i] = fmt.Errorf("quarantine queue: %w",
			awserr.Quiet(&smithy.GenericAPIError{Code: aws.ToString(failed.Code), Message: aws.ToString(failed.Message)}))
		if !failed.SenderFault {
			again = append(again, i)
		}
	}
	for _, sent := range out.Successful {
		if i, convErr := strconv.Atoi(aws.ToString(sent.Id)); convErr == nil && i >= 0 && i < len(errs) {
			errs[i] = nil
		}
	}
	return again
}
