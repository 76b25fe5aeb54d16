package sqs

import (
	"context"
	"fmt"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"github.com/ingot-events/ingot/internal/local/embedded/api"
)

var startMessageMoveTask = api.Op("SQS", "StartMessageMoveTask", "SourceArn DestinationArn")

// StartMessageMoveTask moves every visible message of a dead-letter queue back to the queue it came
// from, or to DestinationArn. It returns when that is done. A moved message has a new id and a new
// time of sending.
func (c *Client) StartMessageMoveTask(ctx context.Context, in *sqs.StartMessageMoveTaskInput,
	_ ...func(*sqs.Options)) (*sqs.StartMessageMoveTaskOutput, error) {
	return api.Call(ctx, c.qs.core, startMessageMoveTask, in, c.qs.move)
}

func (qs *Queues) move(in *sqs.StartMessageMoveTaskInput) (*sqs.StartMessageMoveTaskOutput, error) {
	qs.mu.Lock()
	defer qs.unlock()
	source := qs.byARN[aws.ToString(in.SourceArn)]
	if source == nil {
		return nil,
			&types.ResourceNotFoundException{Message: aws.String(
				"The resource that you specified for the SourceArn parameter doesn't exist.")}
	}
	if !qs.isDeadLetter(source) {
		return nil, api.Error("InvalidParameterValue", "Source queue must be configured as a Dead Letter Queue.")
	}
	if in.DestinationArn != nil && qs.byARN[*in.DestinationArn] == nil {
		return nil,
			&types.ResourceNotFoundException{Message: aws.String(
				"The resource that you specified for the DestinationArn parameter doesn't exist.")}
	}
	source.release(qs.core.Now())
	for _, m := range source.visible() {
		target := qs.byARN[m.source]
		if in.DestinationArn != nil {
			target = qs.byARN[*in.DestinationArn]
		}
		if target == nil { // somebody sent it to the dead-letter queue by hand, so there is no way back
			continue
		}
		if !source.fifo {
			source.unready(m)
		}
		source.drop(m)
		qs.resend(m, target)
	}
	return &sqs.StartMessageMoveTaskOutput{TaskHandle: aws.String(fmt.Sprintf("task-%016x", qs.rnd.Uint64()))}, nil
}

func (qs *Queues) isDeadLetter(q *queue) bool {
	for _, other := range qs.byARN {
		if other.redrive.target == q.arn {
			return true
		}
	}
	return false
}

// visible lists the messages that are not in flight, oldest first.
func (q *queue) visible() []*message {
	var out []*message
	for _, m := range q.messages {
		if !m.inFlight() {
			out = append(out, m)
		}
	}
	slices.SortFunc(out, func(a, b *message) int { return int(int64(a.sequence) - int64(b.sequence)) })
	return out
}

// resend puts a copy of m into a queue as a new message.
func (qs *Queues) resend(m *message, target *queue) {
	target.add(&message{
		id: qs.newID(), body: m.body, bodyMD5: m.bodyMD5, attributes: m.attributes, attributesMD5: m.attributesMD5, size: m.size,
		sent: qs.core.Now(), group: m.group, dedupID: m.dedupID,
	})
}
